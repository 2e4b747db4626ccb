package engine

import (
	"errors"
	"testing"
	"time"
)

// The offset follows the store's clock; a jump beyond a third of the lease is
// reported once, and after that the clocks are in step again. See C15.
func TestClockFollowsTheStore(t *testing.T) {
	base := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	local := base
	c := newClock(func() time.Time { return local }, 10*time.Second)
	c.set(base.Add(-10 * time.Minute))
	if got := c.now(); !got.Equal(base.Add(-10 * time.Minute)) {
		t.Fatalf("now = %s, want the store's time", got)
	}
	local = base.Add(time.Minute)
	if err := c.adjust(base.Add(-9*time.Minute+2*time.Second), local); err != nil {
		t.Errorf("a drift of 2 s: %v, want it taken over", err)
	}
	if got := c.now(); !got.Equal(base.Add(-9*time.Minute + 2*time.Second)) {
		t.Errorf("now = %s after a small drift, want the store's time", got)
	}
	if err := c.adjust(base.Add(51*time.Minute), local); !errors.Is(err, ErrClockSkew) {
		t.Errorf("a jump of an hour: %v, want ErrClockSkew", err)
	}
	if err := c.adjust(base.Add(51*time.Minute), local); err != nil {
		t.Errorf("the call after the jump: %v, want none", err)
	}
	// What the answer took is no drift.
	c.set(local)
	asked := local
	local = local.Add(30 * time.Second)
	if err := c.adjust(asked.Add(time.Second), asked); err != nil {
		t.Errorf("a slow answer: %v, want none", err)
	}
	if got := c.now(); !got.Equal(local) {
		t.Errorf("now = %s after a slow answer, want %s", got, local)
	}
}
