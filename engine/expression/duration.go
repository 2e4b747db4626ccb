package expression

import (
	"errors"
	"math"
	"strconv"
	"strings"
	"time"
)

const day = 24 * time.Hour

// units are the units of durations, the largest first.
func units() [5]unit {
	return [...]unit{{"d", day}, {"h", time.Hour}, {"m", time.Minute}, {"s", time.Second}, {"ms", time.Millisecond}}
}

type unit struct {
	name string
	size time.Duration
}

// What ParseDuration may find wrong.
var (
	// ErrNoUnit means that the text is a bare number.
	ErrNoUnit = errors.New("a duration needs a unit: d, h, m, s or ms")
	// ErrDuration means that the text is not a duration.
	ErrDuration = errors.New("a duration is written as 30s, 5m, 1h30m, 7d or 250ms")
)

// ParseDuration reads a duration like 30s, 5m, 1h30m, 7d or 250ms: whole
// numbers with the units d, h, m, s and ms, the largest first. Zero needs a
// unit, too; a minus sign may stand in front.
func ParseDuration(text string) (time.Duration, error) {
	rest, negative := strings.CutPrefix(text, "-")
	if rest == "" {
		return 0, ErrDuration
	}
	var sum time.Duration
	for next := 0; rest != ""; {
		n := len(rest) - len(strings.TrimLeft(rest, "0123456789"))
		if n == 0 {
			return 0, ErrDuration
		}
		count, err := strconv.ParseInt(rest[:n], 10, 64)
		if err != nil {
			return 0, ErrDuration
		}
		rest = rest[n:]
		if rest == "" {
			if next == 0 {
				return 0, ErrNoUnit
			}
			return 0, ErrDuration
		}
		i := unitOf(rest)
		if i < next {
			return 0, ErrDuration
		}
		u := units()[i]
		if count > int64((math.MaxInt64-sum)/u.size) {
			return 0, ErrDuration
		}
		sum += time.Duration(count) * u.size
		rest = rest[len(u.name):]
		next = i + 1
	}
	if negative {
		sum = -sum
	}
	return sum, nil
}

// unitOf returns the index of the unit that s begins with, or -1.
func unitOf(s string) int {
	n := len(s) - len(strings.TrimLeft(s, "dhms"))
	for i, u := range units() {
		if s[:n] == u.name {
			return i
		}
	}
	return -1
}

// FormatDuration is the inverse of [ParseDuration]: 90 minutes are 1h30m. A
// part below a millisecond, which that cannot read, is written in the form of
// Go.
func FormatDuration(d time.Duration) string {
	if d%time.Millisecond != 0 || d == math.MinInt64 {
		return d.String()
	}
	if d == 0 {
		return "0s"
	}
	var b strings.Builder
	if d < 0 {
		b.WriteByte('-')
		d = -d
	}
	for _, u := range units() {
		if n := d / u.size; n > 0 {
			b.WriteString(strconv.FormatInt(int64(n), 10))
			b.WriteString(u.name)
			d -= n * u.size
		}
	}
	return b.String()
}
