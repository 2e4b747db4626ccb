package expression

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/expr-lang/expr/vm/runtime"
)

// toList demands a list: expr takes the bytes of a text for one.
func toList(args ...any) (any, error) {
	if _, ok := args[0].([]any); !ok {
		return nil, fmt.Errorf("%s is no list", describe(args[0]))
	}
	return args[0], nil
}

// toIndexed lets through what [..] is defined for, and nil for ?.
func toIndexed(args ...any) (any, error) {
	switch args[0].(type) {
	case []any, map[string]any, nil:
		return args[0], nil
	}
	return nil, fmt.Errorf("%s has no items", describe(args[0]))
}

// toIndex lets through what can stand in [..].
func toIndex(args ...any) (any, error) {
	switch args[0].(type) {
	case int, string:
		return args[0], nil
	}
	return nil, fmt.Errorf("%s is no index", describe(args[0]))
}

// toBound lets through what can stand beside the colon of [:].
func toBound(args ...any) (any, error) {
	if _, ok := args[0].(int); !ok {
		return nil, fmt.Errorf("%s is no index", describe(args[0]))
	}
	return args[0], nil
}

// end returns the function of a list that gives its item at the place, or nil
// if there is none.
func end(function string, place int) anyFunc {
	return func(args ...any) (any, error) {
		list, ok := args[0].([]any)
		switch {
		case !ok && args[0] != nil:
			return nil, fmt.Errorf("%s: %s is no list", function, describe(args[0]))
		case len(list) == 0:
			return nil, nil
		case place < 0:
			return list[len(list)+place], nil
		}
		return list[place], nil
	}
}

// sliceOf returns a part of a list, or of a text in characters.
func sliceOf(args ...any) (any, error) {
	text, isText := args[0].(string)
	list, isList := args[0].([]any)
	runes := []rune(text)
	size := len(list)
	if isText {
		size = len(runes)
	}
	if !isText && !isList {
		return nil, fmt.Errorf("%s has no parts", describe(args[0]))
	}
	to := bound(args[2], size, size)
	from := min(bound(args[1], 0, size), to)
	if isText {
		return string(runes[from:to]), nil
	}
	return list[from:to], nil
}

// bound returns where a part begins or ends, within the size.
func bound(v any, missing, size int) int {
	i, ok := v.(int)
	switch {
	case !ok:
		return missing
	case i < 0:
		return max(size+i, 0)
	}
	return min(i, size)
}

// extreme returns the least (sign -1) or greatest (1) of numbers, of lists of
// numbers or of durations; nil if there is none.
func extreme(function string, sign int) anyFunc {
	return func(args ...any) (any, error) {
		var best any
		for _, arg := range args {
			list, ok := arg.([]any)
			if !ok {
				list = []any{arg}
			}
			for _, v := range list {
				if !comparableNumber(v) {
					return nil, fmt.Errorf("%s: %s is no number", function, describe(v))
				}
				if best == nil || beats(v, best, sign) {
					best = v
				}
			}
		}
		return best, nil
	}
}

func comparableNumber(v any) bool {
	switch v.(type) {
	case int, float64, json.Number, time.Duration:
		return true
	}
	return false
}

func beats(v, best any, sign int) bool {
	v, _ = order(v)
	best, _ = order(best)
	if sign < 0 {
		return runtime.Less(v, best)
	}
	return runtime.More(v, best)
}
