package engine

import (
	"context"
	"fmt"
	"log/slog"
	"time"
)

// Tick runs what is due, and what becomes due by it, until nothing is left or
// the budget is used up. No step begins after the budget; those that run are
// let finish, so Tick may take the longest step's timeout more. When ctx ends,
// no step begins either, and running handlers are cancelled after
// [Config.Grace].
//
// Any number of ticks may run at once, in any number of processes. An error
// means that the store failed; what was done until then stands in the report.
func (e *Engine) Tick(ctx context.Context, budget time.Duration) (Report, error) {
	if budget <= 0 {
		return Report{}, fmt.Errorf("%w: the budget of a tick is %s; give it some time, for example 10s", ErrInvalid, budget)
	}
	s := newSession(ctx, e, budget, false)
	defer s.close()
	// While slow handlers run, others may become due.
	ticker := time.NewTicker(time.Second)
	defer ticker.Stop()
	s.drain(ticker.C)
	return s.result()
}

// Run ticks every so often until ctx ends, then lets running handlers finish
// for [Config.Grace] and returns nil. A store that fails is logged and tried
// again at the next tick. A start by this engine wakes it at once.
func (e *Engine) Run(ctx context.Context, every time.Duration) error {
	_, err := e.RunFor(ctx, 0, every)
	return err
}

// RunFor is [Engine.Run] for a caller with limited time, such as a function
// that a timer starts each minute: after the budget no step begins, those that
// run are let finish, and the report of all ticks is returned. A budget of
// zero has no end.
func (e *Engine) RunFor(ctx context.Context, budget, every time.Duration) (Report, error) {
	if every <= 0 || budget < 0 {
		return Report{}, fmt.Errorf("%w: ticks every %s for %s; give a period above zero, for example 5s", ErrInvalid, every, budget)
	}
	s := newSession(ctx, e, budget, true)
	defer s.close()
	ticker := time.NewTicker(every)
	defer ticker.Stop()
	s.drain(ticker.C)
	report, _ := s.result()
	return report, nil
}

// drain claims and runs instances until nothing is due, or, in a resident
// session, until it is over. Each value of tick makes it look again.
func (s *session) drain(tick <-chan time.Time) {
	look := true // the store may have more than is running
	var woken <-chan struct{}
	if s.resident {
		woken = s.e.woken
	}
	var last time.Time // of the last claim
	for {
		look = s.takeMore() || look
		if look && s.open() && s.roomy(time.Since(last)) {
			last = time.Now()
			look = s.claim()
			continue
		}
		running, free := s.load()
		if running == 0 && (!s.open() || !s.resident && !look) {
			return
		}
		var soon <-chan time.Time
		if look && free > 0 && running > 0 {
			soon = time.After(claimPause)
		}
		select {
		case <-s.wake:
		case <-soon:
		case <-tick:
			look = true
			if s.resident {
				s.forgetDown()
			}
		case <-woken:
			look = true
		case <-s.over:
			s.over = nil
			s.stop()
		}
	}
}

// claimPause is how long a session waits for half of its places to get free
// before it claims for fewer.
const claimPause = 50 * time.Millisecond

// roomy reports whether there is room enough for a claim to be worth its
// commit.
func (s *session) roomy(since time.Duration) bool {
	running, free := s.load()
	return free > 0 && (running == 0 || free >= s.e.cfg.Concurrency/2 || since >= claimPause)
}

// claim takes due instances and sets them going. It reports whether there may
// be more of them.
func (s *session) claim() bool {
	_, free := s.load()
	steps := s.claimable(free)
	if len(steps) == 0 || free == 0 {
		return false
	}
	asked := s.e.cfg.Clock()
	now := s.e.now()
	got, err := s.e.cfg.Store.Claim(s.ctx, ClaimRequest{
		Owner: s.e.cfg.Worker, Now: now, Until: now.Add(s.e.cfg.Lease), Steps: steps, Limit: free,
	})
	if err == nil {
		err = s.e.clock.adjust(got.Now, asked)
	}
	// What was claimed is ours to run even if the clock moved: its leases are
	// fenced by version.
	s.launch(got.Instances)
	if err != nil {
		s.fault(fmt.Errorf("claim: %w", err))
		return false
	}
	if got.Expired {
		s.purge()
	}
	return len(got.Instances) == free
}

// purge deletes one batch of what is past its retention.
func (s *session) purge() {
	const batch = 500
	n, err := s.e.cfg.Store.Purge(s.ctx, s.e.now(), batch)
	if err != nil {
		s.fault(fmt.Errorf("purge: %w", err))
		return
	}
	s.count(func(r *Report) { r.Purged += n })
	if n == batch {
		s.more()
	}
}

// fault keeps the first error for the report. A resident session logs it and
// goes on.
func (s *session) fault(err error) {
	if s.resident {
		if s.ctx.Err() == nil {
			s.e.cfg.Logger.LogAttrs(s.ctx, slog.LevelError, "tick failed", slog.Any(keyError, err))
		}
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.err == nil {
		s.err = err
	}
}
