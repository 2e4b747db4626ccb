package engine

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/pawl-dev/pawl/engine/definition"
)

// The delay is never zero, never negative and never above the cap, for any
// rule that the language allows, up to attempt 10,000.
func TestDelayStaysWithinItsRule(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	rules := []definition.Retry{
		{InitialDelay: time.Millisecond, Backoff: 10, MaxDelay: 100 * 365 * 24 * time.Hour, Jitter: 1},
		{InitialDelay: 5 * time.Second, Backoff: 1, MaxDelay: 5 * time.Second},
	}
	for range 200 {
		most := time.Duration(rng.Int64N(int64(30*24*time.Hour))) + time.Millisecond
		rules = append(rules, definition.Retry{
			InitialDelay: time.Duration(rng.Int64N(int64(most))) + 1,
			Backoff:      1 + 9*rng.Float64(), MaxDelay: most, Jitter: rng.Float64(),
		})
	}
	for i, r := range rules {
		key := fmt.Sprint("pr-merge/", i)
		for attempt := 1; attempt <= 10_000; attempt++ {
			d := delay(r, attempt, key)
			if d <= 0 || d > max(r.MaxDelay, time.Millisecond) {
				t.Fatalf("rule %+v, attempt %d: delay %s, want in (0, %s]", r, attempt, d, r.MaxDelay)
			}
			if again := delay(r, attempt, key); again != d {
				t.Fatalf("rule %+v, attempt %d: delay %s, then %s for the same key", r, attempt, d, again)
			}
		}
	}
}

func TestDelayGrowsByBackoff(t *testing.T) {
	r := definition.Retry{InitialDelay: 5 * time.Second, Backoff: 2, MaxDelay: time.Minute}
	want := []time.Duration{5 * time.Second, 10 * time.Second, 20 * time.Second, 40 * time.Second, time.Minute, time.Minute}
	for i, w := range want {
		if got := delay(r, i+1, "k"); got != w {
			t.Errorf("delay of attempt %d = %s, want %s", i+1, got, w)
		}
	}
}

// Instances that failed together do not come back together.
func TestDelayJitterSpreads(t *testing.T) {
	r := definition.Retry{InitialDelay: 100 * time.Second, Backoff: 1, MaxDelay: 100 * time.Second, Jitter: 0.2}
	var buckets [10]int
	for i := range 1000 {
		d := delay(r, 1, fmt.Sprint("outbox-delivery/", i))
		if d < 80*time.Second {
			t.Fatalf("delay %s takes more than the jitter of 0.2 away", d)
		}
		buckets[min(int((d-80*time.Second)/(2*time.Second)), 9)]++
	}
	for i, n := range buckets {
		if n < 50 || n > 200 {
			t.Errorf("bucket %d of the jitter has %d of 1000 delays, want about 100; all: %v", i, n, buckets)
		}
	}
}
