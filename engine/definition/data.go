package definition

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// ReadJSON decodes data for use in expressions. Whole numbers become int,
// other numbers float64 where that keeps every digit, else json.Number, so
// that encoding the value again changes nothing. Nothing at all is nil.
func ReadJSON(raw json.RawMessage) (any, error) {
	if len(bytes.TrimSpace(raw)) == 0 {
		return nil, nil
	}
	v, err := decodeJSON(raw)
	if err != nil {
		return nil, fmt.Errorf("read JSON: %w", err)
	}
	return numbers(v), nil
}

// numbers replaces, in place, the numbers of v.
func numbers(v any) any {
	switch v := v.(type) {
	case json.Number:
		return number(v)
	case []any:
		for i, item := range v {
			v[i] = numbers(item)
		}
	case map[string]any:
		for k, item := range v {
			v[k] = numbers(item)
		}
	}
	return v
}

// number returns n as an int, as a float64 if that keeps every digit, or n
// itself.
func number(n json.Number) any {
	if i, err := strconv.ParseInt(n.String(), 10, 0); err == nil && n != "-0" {
		return int(i)
	}
	if f, ok := exactFloat(n); ok {
		return f
	}
	return n
}

// exactFloat returns n as a float64 if its shortest text has the digits of n.
func exactFloat(n json.Number) (float64, bool) {
	f, err := strconv.ParseFloat(n.String(), 64)
	if err != nil {
		return 0, false
	}
	digits, exp := decimal(n.String())
	back, backExp := decimal(strconv.FormatFloat(f, 'e', -1, 64))
	return f, digits == back && exp == backExp
}

// decimal splits a number into its significant digits, with the sign, and the
// power of ten of the last one.
func decimal(s string) (digits string, exp int) {
	mantissa, power, _ := strings.Cut(strings.ToLower(s), "e")
	exp, _ = strconv.Atoi(power) // absent, or too large for a float anyway
	sign := ""
	if rest, ok := strings.CutPrefix(mantissa, "-"); ok {
		sign, mantissa = "-", rest
	}
	whole, fraction, _ := strings.Cut(mantissa, ".")
	digits = strings.TrimLeft(whole+fraction, "0")
	exp -= len(fraction)
	short := strings.TrimRight(digits, "0")
	exp += len(digits) - len(short)
	if short == "" {
		exp = 0
	}
	return sign + short, exp
}

// decodeJSON decodes one JSON value and leaves the numbers as they are.
func decodeJSON(raw json.RawMessage) (any, error) {
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	var v any
	if err := dec.Decode(&v); err != nil {
		if errors.Is(err, io.EOF) {
			err = io.ErrUnexpectedEOF
		}
		return nil, err
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("there is more than one value")
	}
	return v, nil
}

// twice returns a key that an object of raw, which is the valid JSON of v, has
// more than once. The decoder keeps the last of them in silence, so there are
// fewer keys than colons then.
func twice(raw json.RawMessage, v any) (string, bool) {
	if colons(raw) == countKeys(v) {
		return "", false
	}
	dec := json.NewDecoder(bytes.NewReader(raw))
	return findTwice(dec)
}

// colons counts the colons of raw that are not in strings.
func colons(raw json.RawMessage) int {
	n, quoted := 0, false
	for i := 0; i < len(raw); i++ {
		switch c := raw[i]; {
		case c == '"':
			quoted = !quoted
		case quoted && c == '\\':
			i++
		case !quoted && c == ':':
			n++
		}
	}
	return n
}

func countKeys(v any) int {
	n := 0
	switch v := v.(type) {
	case map[string]any:
		n = len(v)
		for _, item := range v {
			n += countKeys(item)
		}
	case []any:
		for _, item := range v {
			n += countKeys(item)
		}
	}
	return n
}

// findTwice reads one value and returns the first key that its object or an
// object within repeats.
func findTwice(dec *json.Decoder) (string, bool) {
	token, err := dec.Token()
	if err != nil || token != json.Delim('{') && token != json.Delim('[') {
		return "", false
	}
	seen := map[string]bool{}
	for dec.More() {
		if token == json.Delim('{') {
			key, err := dec.Token()
			name, ok := key.(string)
			if err != nil || !ok {
				return "", false
			}
			if seen[name] {
				return name, true
			}
			seen[name] = true
		}
		if name, ok := findTwice(dec); ok {
			return name, true
		}
	}
	_, err = dec.Token()
	return "", err != nil
}
