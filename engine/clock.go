package engine

import (
	"fmt"
	"sync"
	"time"
)

// clock is the local clock corrected by the store's, so that engines whose
// clocks differ agree on what is due and which lease is over.
type clock struct {
	local func() time.Time
	most  time.Duration // tolerated change between two measurements

	mu     sync.Mutex
	offset time.Duration
}

func newClock(local func() time.Time, most time.Duration) *clock {
	return &clock{local: local, most: most}
}

// now returns the corrected time, to the microsecond, in UTC.
func (c *clock) now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.local().Add(c.offset).UTC().Truncate(time.Microsecond)
}

// set takes over the store's time.
func (c *clock) set(store time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.offset = offset(store, c.local())
}

// offset is rounded, so that a store on this machine, whose time is exact to
// the microsecond only, has none.
func offset(store, local time.Time) time.Duration { return store.Sub(local).Round(time.Millisecond) }

// adjust takes over the store's time, which an answer brought that was asked
// for at the local time asked. It returns [ErrClockSkew] if one of the clocks
// has moved against the other by more than is tolerated, so that the caller
// stops; the next call finds the clocks in step again. A difference below
// the time that the answer took is noise and is let be.
func (c *clock) adjust(store, asked time.Time) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	local := c.local()
	after := offset(store, local)
	drift := (after - c.offset).Abs()
	if drift <= local.Sub(asked).Abs()+time.Millisecond {
		return nil
	}
	before := c.offset
	c.offset = after
	if drift > c.most {
		return fmt.Errorf("%w: the clocks of this machine and of the store moved by %s against each other (from %s to %s), more than a third of the lease; check time synchronisation",
			ErrClockSkew, drift, before, after)
	}
	return nil
}
