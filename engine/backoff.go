package engine

import (
	"hash/fnv"
	"math"
	"strconv"
	"time"

	"github.com/pawl-dev/pawl/engine/definition"
)

// delay returns how long to wait after the attempt-th attempt: exponential,
// capped at max_delay, then up to the share jitter of it taken away, so that
// max_delay is never exceeded. It is at least a millisecond. The jitter comes from
// key and attempt, so the same attempt of the same step always waits as long,
// and many instances that failed together do not come back together.
func delay(r definition.Retry, attempt int, key string) time.Duration {
	d := float64(r.InitialDelay) * math.Pow(max(r.Backoff, 1), float64(max(attempt, 1)-1))
	if most := float64(r.MaxDelay); d > most || math.IsNaN(d) {
		d = most
	}
	d -= d * min(max(r.Jitter, 0), 1) * fraction(key, attempt)
	return max(time.Duration(d), time.Millisecond)
}

// fraction returns a number in [0, 1) that depends on its arguments alone.
func fraction(key string, attempt int) float64 {
	h := fnv.New64a()
	h.Write([]byte(key))
	h.Write([]byte{0})
	h.Write([]byte(strconv.Itoa(attempt)))
	// FNV leaves the high bits of short inputs alike; mix them once.
	x := h.Sum64()
	x ^= x >> 33
	x *= 0xff51afd7ed558ccd
	x ^= x >> 33
	return float64(x>>11) / (1 << 53)
}
