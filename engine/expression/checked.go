package expression

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/bits"
	"reflect"
	"strconv"
	"strings"
	"time"

	"github.com/expr-lang/expr/builtin"
	"github.com/expr-lang/expr/conf"
	"github.com/expr-lang/expr/vm/runtime"
)

// Faults of arithmetic. expr itself wraps integers and computes infinities,
// with which a guard would then compare as if nothing had happened.
var (
	errOverflow  = errors.New("the result does not fit in a 64-bit integer")
	errNotFinite = errors.New("the result is not a finite number")
	errDivide    = errors.New("division by zero")
)

type anyFunc = func(...any) (any, error)

// checkedFunctions are the checked forms, with the types that the checker of
// expr needs to know.
func checkedFunctions() conf.FunctionsTable {
	t := table{}
	t.add("/"+floatSuffix, two(divide), func(any, any) float64 { return 0 })
	t.add("^"+floatSuffix, two(power), func(any, any) float64 { return 0 })
	t.add("int"+anySuffix, toInt, func(any) int { return 0 })
	t.add("float"+anySuffix, toFloat, func(any) float64 { return 0 })
	t.add("string"+anySuffix, toString, func(any) string { return "" })
	t.add("duration"+anySuffix, toDuration, func(string) time.Duration { return 0 })
	t.add("order"+floatSuffix, order, func(any) float64 { return 0 })
	t.add("boolean"+anySuffix, toBoolean, func(any) bool { return false })
	t.add("bound"+anySuffix, toBound, func(any) int { return 0 })
	t.add("slice"+stringSuffix, sliceOf, func(any, any, any) string { return "" })
	t.add("slice"+anySuffix, sliceOf, func(any, any, any) any { return nil })
	for name, f := range map[string]anyFunc{
		"number": toNumber, "list": toList, "indexed": toIndexed, "index": toIndex, "first": end("first", 0), "last": end("last", -1),
	} {
		t.add(name+anySuffix, f, func(any) any { return nil })
	}
	for op, f := range map[string]func(a, b any) (any, error){"+": add, "-": subtract, "*": multiply} {
		t.typed("binary "+op, two(f), kinds{
			intSuffix: func(int, int) int { return 0 }, floatSuffix: func(any, any) float64 { return 0 },
			durationSuffix: func(any, any) time.Duration { return 0 }, timeSuffix: func(any, any) time.Time { return time.Time{} },
			anySuffix: func(any, any) any { return nil },
		})
	}
	for name, f := range map[string]anyFunc{
		"-": negate, "abs": abs,
		"ceil": rounded("ceil", math.Ceil), "floor": rounded("floor", math.Floor), "round": rounded("round", math.Round),
	} {
		t.typed(name, f, kinds{
			intSuffix: func(int) int { return 0 }, floatSuffix: func(any) float64 { return 0 },
			durationSuffix: func(time.Duration) time.Duration { return 0 }, anySuffix: func(any) any { return nil },
		})
	}
	for name, f := range map[string]anyFunc{"min": extreme("min", -1), "max": extreme("max", 1)} {
		t.typed(name, f, kinds{
			intSuffix: func(...any) int { return 0 }, floatSuffix: func(...any) float64 { return 0 },
			durationSuffix: func(...any) time.Duration { return 0 }, anySuffix: func(...any) any { return nil },
		})
	}
	return conf.FunctionsTable(t)
}

type table conf.FunctionsTable

// kinds are functions by the suffix for what they return. Only their types
// matter.
type kinds map[string]any

// add binds a name to f, which takes and returns what form does.
func (t table) add(name string, f anyFunc, form any) {
	t[name] = &builtin.Function{Name: name, Func: f, Types: []reflect.Type{reflect.TypeOf(form)}}
}

// typed adds f once for each kind of result.
func (t table) typed(name string, f anyFunc, forms kinds) {
	for suffix, form := range forms {
		t.add(name+suffix, f, form)
	}
}

func two(f func(a, b any) (any, error)) anyFunc {
	return func(args ...any) (any, error) { return f(args[0], args[1]) }
}

func add(a, b any) (any, error) {
	x, ok1 := a.(int)
	y, ok2 := b.(int)
	if !ok1 || !ok2 {
		if v, ok, err := addTimes(a, b); ok {
			return v, err
		}
		return finite(runtime.Add(a, b))
	}
	sum := x + y
	if (sum > x) != (y > 0) {
		return nil, errOverflow
	}
	return sum, nil
}

func subtract(a, b any) (any, error) {
	x, ok1 := a.(int)
	y, ok2 := b.(int)
	if !ok1 || !ok2 {
		if v, ok, err := subtractTimes(a, b); ok {
			return v, err
		}
		return finite(runtime.Subtract(a, b))
	}
	diff := x - y
	if (diff < x) != (y > 0) {
		return nil, errOverflow
	}
	return diff, nil
}

func multiply(a, b any) (any, error) {
	x, ok1 := a.(int)
	y, ok2 := b.(int)
	if !ok1 || !ok2 {
		if v, ok, err := multiplyTimes(a, b); ok {
			return v, err
		}
		return finite(runtime.Multiply(a, b))
	}
	product, ok := product(int64(x), int64(y))
	if !ok {
		return nil, errOverflow
	}
	return int(product), nil
}

// product returns x*y, and whether it fits.
func product(x, y int64) (int64, bool) {
	hi, lo := bits.Mul64(magnitude(x), magnitude(y))
	negative := (x < 0) != (y < 0)
	return x * y, hi == 0 && (lo <= math.MaxInt64 || negative && lo == 1<<63)
}

func magnitude(x int64) uint64 {
	if x < 0 {
		return -uint64(x)
	}
	return uint64(x)
}

func divide(a, b any) (any, error) {
	v := runtime.Divide(a, b)
	if runtime.ToFloat64(b) == 0 {
		return nil, errDivide
	}
	return finite(v)
}

func power(a, b any) (any, error) { return finite(runtime.Exponent(a, b)) }

func negate(args ...any) (any, error) {
	x, ok := args[0].(int)
	if !ok {
		return runtime.Negate(args[0]), nil
	}
	if x == math.MinInt {
		return nil, errOverflow
	}
	return -x, nil
}

func abs(args ...any) (any, error) {
	switch x := args[0].(type) {
	case int:
		if x < 0 {
			return negate(x)
		}
		return x, nil
	case time.Duration:
		if x == math.MinInt64 {
			return nil, errDuration
		}
		return x.Abs(), nil
	}
	f, err := toNumeric("abs", args[0])
	return math.Abs(f), err
}

func rounded(name string, round func(float64) float64) anyFunc {
	return func(args ...any) (any, error) {
		f, err := toNumeric(name, args[0])
		return round(f), err
	}
}

// toNumeric returns a number, but not the text of one, as a float.
func toNumeric(function string, v any) (float64, error) {
	switch v := v.(type) {
	case int:
		return float64(v), nil
	case float64:
		return v, nil
	case json.Number:
		return parseFloat(v.String())
	}
	return 0, fmt.Errorf("%s: %s is no number", function, describe(v))
}

func toNumber(args ...any) (any, error) {
	_, err := toNumeric("+", args[0])
	return args[0], err
}

// order makes a number with more digits than a float has comparable.
func order(args ...any) (any, error) {
	if n, ok := args[0].(json.Number); ok {
		f, _ := strconv.ParseFloat(n.String(), 64) // out of range it is an infinity, which is in order
		return f, nil
	}
	return args[0], nil
}

func toBoolean(args ...any) (any, error) {
	b, ok := args[0].(bool)
	if !ok {
		return nil, fmt.Errorf("%s is not true or false", describe(args[0]))
	}
	return b, nil
}

func finite(v any) (any, error) {
	if f, ok := v.(float64); ok && (math.IsNaN(f) || math.IsInf(f, 0)) {
		return nil, errNotFinite
	}
	return v, nil
}

func toInt(args ...any) (any, error) {
	switch v := args[0].(type) {
	case int:
		return v, nil
	case float64:
		// The limits are exact as floats; 2^63 itself is one too many.
		if v < math.MinInt64 || v >= math.MaxInt64 || math.IsNaN(v) {
			return nil, errOverflow
		}
		return int(v), nil
	case json.Number:
		return parseInt(v.String())
	case string:
		return parseInt(v)
	}
	return nil, fmt.Errorf("int: %s is no number", describe(args[0]))
}

func parseInt(s string) (any, error) {
	n, err := strconv.ParseInt(s, 10, 64)
	if err != nil {
		return nil, fmt.Errorf("int: %.40q is no whole number of 64 bits", s)
	}
	return int(n), nil
}

func toFloat(args ...any) (any, error) {
	switch v := args[0].(type) {
	case int:
		return float64(v), nil
	case float64:
		return v, nil
	case json.Number:
		return parseFloat(v.String())
	case string:
		return parseFloat(v)
	}
	return nil, fmt.Errorf("float: %s is no number", describe(args[0]))
}

func parseFloat(s string) (float64, error) {
	f, err := strconv.ParseFloat(s, 64)
	// Go reads infinities, hexadecimals and underscores, too.
	if err != nil || strings.Trim(s, "+-.0123456789eE") != "" {
		return 0, fmt.Errorf("float: %.40q is no finite number", s)
	}
	return f, nil
}

// toString writes a scalar as JSON data has it, so string(x) does not depend
// on how Go prints.
func toString(args ...any) (any, error) {
	switch v := args[0].(type) {
	case string:
		return v, nil
	case bool:
		return strconv.FormatBool(v), nil
	case int:
		return strconv.Itoa(v), nil
	case json.Number:
		return v.String(), nil
	case time.Time:
		return v.Format(time.RFC3339Nano), nil
	case time.Duration:
		return FormatDuration(v), nil
	case float64:
		b, err := json.Marshal(v)
		return string(b), err
	}
	return nil, fmt.Errorf("string: %s is no text, number or boolean", describe(args[0]))
}

func toDuration(args ...any) (any, error) {
	s, ok := args[0].(string)
	if !ok {
		return nil, fmt.Errorf("duration: %s is no text", describe(args[0]))
	}
	d, err := ParseDuration(s)
	if err != nil {
		return nil, fmt.Errorf("duration %.40q: %w", s, err)
	}
	return d, nil
}

// describe names a value for messages.
func describe(v any) string {
	switch v.(type) {
	case nil:
		return "nil"
	case []any:
		return "a list"
	case map[string]any:
		return "an object"
	case string:
		return "a text"
	case bool:
		return "a boolean"
	case int, float64, json.Number:
		return "a number"
	case time.Time:
		return "a timestamp"
	case time.Duration:
		return "a duration"
	}
	return fmt.Sprintf("a value of type %T", v)
}
