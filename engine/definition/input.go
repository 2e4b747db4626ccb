package definition

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/pawl-dev/pawl/engine/expression"
)

// ReadInput decodes and checks the start data of an instance against the
// input schema: unknown and missing fields, wrong types and keys written twice
// are errors, all of them reported at once. Absent optional fields are set to
// nil. Nothing at all is an empty object.
//
// An integer becomes int, a number float64 (int or json.Number where that
// would lose digits), a timestamp time.Time, a duration time.Duration, a list
// []any and an object map[string]any.
func (d *Definition) ReadInput(raw json.RawMessage) (map[string]any, error) {
	return readObject("input", raw, d.Input)
}

// reader converts data by a schema and collects what does not fit.
type reader struct{ errs []error }

func (r *reader) errorf(format string, args ...any) {
	r.errs = append(r.errs, fmt.Errorf(format, args...))
}

// object converts the fields of m in place.
func (r *reader) object(path string, m map[string]any, fields []Field) {
	names := make([]string, len(fields))
	for i, f := range fields {
		names[i] = f.Name
	}
	for _, key := range slices.Sorted(maps.Keys(m)) {
		if !slices.Contains(names, key) {
			r.errorf("%s.%s is not known; %s", path, shorten(key), mend(key, names))
		}
	}
	for _, f := range fields {
		v, ok := m[f.Name]
		switch {
		case ok:
			m[f.Name] = r.value(path+"."+f.Name, v, &f.Type)
		case !f.Type.Optional:
			r.errorf("%s.%s is missing; it must be %s", path, f.Name, f.Type)
		}
	}
}

func (r *reader) value(path string, v any, t *Type) any {
	if v == nil && (t.Optional || t.Kind == Any) {
		return nil
	}
	got, ok := r.convert(path, v, t)
	if !ok {
		r.errorf("%s must be %s, not %s", path, t, jsonType(v))
	}
	return got
}

// convert returns v as t has it, and whether it fits.
func (r *reader) convert(path string, v any, t *Type) (any, bool) {
	switch t.Kind {
	case Any:
		return numbers(v), true
	case Boolean:
		b, ok := v.(bool)
		return b, ok
	case Integer:
		n, ok := v.(json.Number)
		i, err := strconv.ParseInt(n.String(), 10, 0)
		return int(i), ok && err == nil
	case Number:
		n, ok := v.(json.Number)
		if f, exact := exactFloat(n); exact {
			return f, ok
		}
		return number(n), ok
	case List:
		return r.list(path, v, t)
	case Object:
		m, ok := v.(map[string]any)
		if !ok {
			return nil, false
		}
		if t.Fields == nil {
			return numbers(m), true
		}
		r.object(path, m, t.Fields)
		return m, true
	case String, Timestamp, Duration:
		s, ok := v.(string)
		if !ok {
			return nil, false
		}
		return text(s, t)
	}
	return nil, false
}

// text converts a value that JSON has as a string.
func text(s string, t *Type) (any, bool) {
	switch t.Kind {
	case Timestamp:
		at, err := time.Parse(time.RFC3339, s)
		return at, err == nil
	case Duration:
		d, err := expression.ParseDuration(s)
		return d, err == nil
	default:
		return s, len(t.Enum) == 0 || slices.Contains(t.Enum, s)
	}
}

func (r *reader) list(path string, v any, t *Type) (any, bool) {
	list, ok := v.([]any)
	if !ok {
		return nil, false
	}
	for i, item := range list {
		if t.Elem == nil {
			list[i] = numbers(item)
			continue
		}
		list[i] = r.value(fmt.Sprintf("%s[%d]", path, i), item, t.Elem)
	}
	return list, true
}

// String returns the type as a file has it, with the values of an enum and
// the form of what JSON has no type for.
func (t Type) String() string {
	s := string(t.Kind)
	if t.Kind == List && t.Elem != nil {
		s = "list of " + t.Elem.String()
	}
	if t.Optional {
		s = "optional " + s
	}
	switch {
	case len(t.Enum) > 0:
		s += " (one of " + strings.Join(t.Enum, ", ") + ")"
	case t.Kind == Timestamp:
		s += " (like 2026-01-31T12:00:00Z)"
	case t.Kind == Duration:
		s += " (like 1h30m)"
	}
	return s
}

// jsonType names a value of JSON for messages.
func jsonType(v any) string {
	switch v := v.(type) {
	case nil:
		return "null"
	case bool:
		return strconv.FormatBool(v)
	case string:
		return strconv.Quote(shorten(v))
	case json.Number:
		return shorten(v.String())
	case []any:
		return "a list"
	}
	return "an object"
}
