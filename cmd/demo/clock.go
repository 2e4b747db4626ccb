package demo

import (
	"sync"
	"time"
)

// clock stands still but where the demo moves it on. The store, the engine and
// the steps share it.
type clock struct {
	mu  sync.Mutex
	now time.Time
}

// newClock begins well before the real time, so that nothing of the demo lies
// in the future for whoever looks at it afterwards.
func newClock(now time.Time) *clock {
	const ahead = time.Hour
	return &clock{now: now.Add(-ahead).UTC().Truncate(time.Second)}
}

func (c *clock) time() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

// skipTo moves the clock on to t and returns by how much.
func (c *clock) skipTo(t time.Time) time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	d := max(t.Sub(c.now), 0)
	c.now = c.now.Add(d)
	return d
}
