package expression

import (
	"errors"
	"math"
	"time"
)

// Faults of arithmetic with timestamps and durations.
var (
	errDuration  = errors.New("the duration does not fit, it is longer than 292 years")
	errTimestamp = errors.New("the timestamp is not between the years 0 and 9999")
	errTimes     = errors.New("a duration times a duration is nothing; multiply by a number")
)

// addTimes returns a+b if a timestamp or duration is added to another.
func addTimes(a, b any) (v any, ok bool, err error) {
	switch x := a.(type) {
	case time.Time:
		if d, ok := b.(time.Duration); ok {
			v, err = inRange(x.Add(d))
			return v, true, err
		}
	case time.Duration:
		switch y := b.(type) {
		case time.Time:
			v, err = inRange(y.Add(x))
			return v, true, err
		case time.Duration:
			sum := x + y
			if (sum > x) != (y > 0) {
				return nil, true, errDuration
			}
			return sum, true, nil
		}
	}
	return nil, false, nil
}

// subtractTimes returns a-b if a timestamp or duration is taken from another.
func subtractTimes(a, b any) (v any, ok bool, err error) {
	switch x := a.(type) {
	case time.Time:
		switch y := b.(type) {
		case time.Time:
			d := x.Sub(y) // the least or greatest duration if it does not fit
			if !y.Add(d).Equal(x) {
				return nil, true, errDuration
			}
			return d, true, nil
		case time.Duration:
			if y == math.MinInt64 { // -y does not fit
				x, y = x.Add(1), y+1
			}
			v, err = inRange(x.Add(-y))
			return v, true, err
		}
	case time.Duration:
		if y, ok := b.(time.Duration); ok {
			diff := x - y
			if (diff < x) != (y > 0) {
				return nil, true, errDuration
			}
			return diff, true, nil
		}
	}
	return nil, false, nil
}

// multiplyTimes returns a*b if a duration is multiplied by a number.
func multiplyTimes(a, b any) (v any, ok bool, err error) {
	d, ok := a.(time.Duration)
	if !ok {
		a, b = b, a
		if d, ok = a.(time.Duration); !ok {
			return nil, false, nil
		}
	}
	switch n := b.(type) {
	case time.Duration:
		return nil, true, errTimes
	case int:
		if p, ok := product(int64(d), int64(n)); ok {
			return time.Duration(p), true, nil
		}
		return nil, true, errDuration
	case float64:
		f := math.Round(float64(d) * n)
		if f < math.MinInt64 || f >= math.MaxInt64 || math.IsNaN(f) { // the limits are exact as floats
			return nil, true, errDuration
		}
		return time.Duration(f), true, nil
	}
	return nil, false, nil
}

// inRange returns t if JSON can hold it.
func inRange(t time.Time) (any, error) {
	if y := t.Year(); y < 0 || y > 9999 {
		return nil, errTimestamp
	}
	return t, nil
}
