package expression

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/bits"
	"strconv"
	"time"

	"github.com/expr-lang/expr"
	"github.com/expr-lang/expr/vm/runtime"
)

// Faults of arithmetic. expr itself wraps integers and computes infinities,
// with which a guard would then compare as if nothing had happened.
var (
	errOverflow  = errors.New("the result does not fit in a 64-bit integer")
	errNotFinite = errors.New("the result is not a finite number")
	errDivide    = errors.New("division by zero")
)

// Names of the functions that take the place of operators and of builtins.
// They have a space, so no expression can call them.
const (
	intSuffix   = " int"   // both sides are integers
	floatSuffix = " float" // the result is a float
	anySuffix   = " any"   // only the data tells
)

// checkedFunctions are the checked forms, with the types that the checker of
// expr needs to know.
func checkedFunctions() []expr.Option {
	ints, floats, anys := new(func(int, int) int), new(func(any, any) float64), new(func(any, any) any)
	list := []expr.Option{
		expr.Function("/"+floatSuffix, two(divide), floats),
		expr.Function("^"+floatSuffix, two(power), floats),
		expr.Function("-"+intSuffix, negate, new(func(int) int)),
		expr.Function("int"+anySuffix, toInt, new(func(any) int)),
		expr.Function("float"+anySuffix, toFloat, new(func(any) float64)),
		expr.Function("string"+anySuffix, toString, new(func(any) string)),
		expr.Function("duration"+anySuffix, toDuration, new(func(string) time.Duration)),
	}
	for op, f := range map[string]func(a, b any) (any, error){"+": add, "-": subtract, "*": multiply} {
		name := "binary " + op
		list = append(list,
			expr.Function(name+intSuffix, two(f), ints),
			expr.Function(name+floatSuffix, two(f), floats),
			expr.Function(name+anySuffix, two(f), anys))
	}
	return list
}

func two(f func(a, b any) (any, error)) func(...any) (any, error) {
	return func(args ...any) (any, error) { return f(args[0], args[1]) }
}

func add(a, b any) (any, error) {
	x, ok1 := a.(int)
	y, ok2 := b.(int)
	if !ok1 || !ok2 {
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
		return finite(runtime.Multiply(a, b))
	}
	hi, lo := bits.Mul64(magnitude(x), magnitude(y))
	negative := (x < 0) != (y < 0)
	if hi != 0 || lo > math.MaxInt64 && (!negative || lo > 1<<63) {
		return nil, errOverflow
	}
	return x * y, nil
}

func magnitude(x int) uint64 {
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

func parseFloat(s string) (any, error) {
	f, err := strconv.ParseFloat(s, 64)
	if err != nil || math.IsNaN(f) || math.IsInf(f, 0) {
		return nil, fmt.Errorf("float: %.40q is no finite number", s)
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

func describe(v any) string {
	switch v.(type) {
	case nil:
		return "nil"
	case []any:
		return "a list"
	case map[string]any:
		return "an object"
	}
	return fmt.Sprintf("a value of type %T", v)
}
