package expression_test

import (
	"errors"
	"math"
	"testing"
	"time"

	"github.com/pawl-dev/pawl/engine/expression"
)

func TestParseDuration(t *testing.T) {
	tests := []struct {
		text string
		want time.Duration
	}{
		{"30s", 30 * time.Second},
		{"5m", 5 * time.Minute},
		{"1h30m", 90 * time.Minute},
		{"7d", 7 * 24 * time.Hour},
		{"250ms", 250 * time.Millisecond},
		{"1d2h3m4s5ms", 26*time.Hour + 3*time.Minute + 4*time.Second + 5*time.Millisecond},
		{"90m", 90 * time.Minute},
		{"0s", 0},
		{"-5s", -5 * time.Second},
		{"1m1ms", time.Minute + time.Millisecond},
	}
	for _, tt := range tests {
		if got, err := expression.ParseDuration(tt.text); got != tt.want || err != nil {
			t.Errorf("ParseDuration(%q) = %s, %v, want %s", tt.text, got, err, tt.want)
		}
	}
}

func TestParseDurationErrors(t *testing.T) {
	tests := []struct {
		text string
		want error
	}{
		{"", expression.ErrDuration},
		{"-", expression.ErrDuration},
		{"30", expression.ErrNoUnit},
		{"0", expression.ErrNoUnit},
		{"1h30", expression.ErrDuration},
		{"1.5h", expression.ErrDuration},
		{"5 m", expression.ErrDuration},
		{"s", expression.ErrDuration},
		{"1s1m", expression.ErrDuration},
		{"1s1s", expression.ErrDuration},
		{"1w", expression.ErrDuration},
		{"1sec", expression.ErrDuration},
		{"+1s", expression.ErrDuration},
		{"106752d", expression.ErrDuration},
		{"99999999999999999999s", expression.ErrDuration},
		{"106751d24h", expression.ErrDuration},
	}
	for _, tt := range tests {
		if got, err := expression.ParseDuration(tt.text); !errors.Is(err, tt.want) {
			t.Errorf("ParseDuration(%q) = %s, %v, want %v", tt.text, got, err, tt.want)
		}
	}
}

func TestFormatDuration(t *testing.T) {
	tests := map[time.Duration]string{
		0: "0s", 90 * time.Second: "1m30s", 7 * 24 * time.Hour: "7d", 36 * time.Hour: "1d12h",
		250 * time.Millisecond: "250ms", -90 * time.Second: "-1m30s", 1500 * time.Microsecond: "1.5ms",
		math.MinInt64: "-2562047h47m16.854775808s",
	}
	for d, want := range tests {
		if got := expression.FormatDuration(d); got != want {
			t.Errorf("FormatDuration(%d) = %q, want %q", d, got, want)
		}
	}
}

func FuzzDuration(f *testing.F) {
	for _, s := range []string{"1h30m", "-5s", "7d", "0ms", "1s1m"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		d, err := expression.ParseDuration(s)
		if err != nil {
			return
		}
		if back, err := expression.ParseDuration(expression.FormatDuration(d)); back != d || err != nil {
			t.Errorf("ParseDuration(%q) = %d, formatted and parsed again %d, %v", s, d, back, err)
		}
	})
}
