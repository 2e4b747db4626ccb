package engine

import (
	"context"
	"log/slog"
	"maps"
	"sync"
	"time"
)

// session is one tick, or the ticks of one Run: the instances that it has
// leased, each on a goroutine of its own, and the committer that they share.
// No goroutine of a session outlives close.
type session struct {
	e        *Engine
	resident bool            // faults of the store are logged and survived
	ctx      context.Context //nolint:containedctx // a session is one call: of the caller
	handlers context.Context //nolint:containedctx // ends after ctx and the grace
	cancel   context.CancelCauseFunc
	commits  chan *commitRequest
	wake     chan struct{}    // an instance left, or something became due
	over     <-chan time.Time // the budget is used up; nil if there is none

	wg        sync.WaitGroup // watch, renewer, instances
	committer sync.WaitGroup

	mu       sync.Mutex
	stopped  bool
	isMore   bool
	runs     map[*run]struct{}
	down     map[string]string // steps whose target is down -> error
	batchers map[string]*batcher
	report   Report
	err      error
}

// run is an instance that this session has leased.
type run struct {
	snap  *snapshot
	order int // of the claim: oldest due first

	// Guarded by session.mu, for the renewer:
	lease     Lease
	leased    time.Time // when the lease was last set, by the engine's clock
	committed bool      // a commit is under way: the version is about to change
	lost      context.CancelCauseFunc

	expected *batcher // that waits for this instance before it calls
}

func newSession(ctx context.Context, e *Engine, budget time.Duration, resident bool) *session {
	s := &session{
		e:        e,
		resident: resident,
		ctx:      ctx,
		commits:  make(chan *commitRequest, e.cfg.Concurrency),
		wake:     make(chan struct{}, 1),
		runs:     make(map[*run]struct{}),
		down:     make(map[string]string),
		batchers: make(map[string]*batcher),
	}
	s.handlers, s.cancel = context.WithCancelCause(context.WithoutCancel(ctx))
	if budget > 0 {
		s.over = time.After(budget)
	}
	s.wg.Go(s.renew)
	s.wg.Go(s.watch)
	s.committer.Go(s.commitLoop)
	return s
}

// watch cancels the handlers when the grace after ctx is over.
func (s *session) watch() {
	select {
	case <-s.handlers.Done():
		return
	case <-s.ctx.Done():
	}
	s.stop()
	grace := time.NewTimer(s.e.cfg.Grace)
	defer grace.Stop()
	select {
	case <-s.handlers.Done():
	case <-grace.C:
		s.cancel(ErrShutdown)
	}
}

// close ends the goroutines of the session. All instances have left by then.
func (s *session) close() {
	s.cancel(ErrShutdown)
	s.wg.Wait()
	close(s.commits)
	s.committer.Wait()
}

// stop keeps steps from beginning.
func (s *session) stop() {
	s.mu.Lock()
	s.stopped = true
	s.mu.Unlock()
	s.signal()
}

// open reports whether steps may begin.
func (s *session) open() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return !s.stopped && s.ctx.Err() == nil && s.err == nil
}

// load returns how many instances run and for how many more there is room.
func (s *session) load() (running, free int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.runs), s.e.cfg.Concurrency - len(s.runs)
}

// signal wakes the loop of the session.
func (s *session) signal() {
	select {
	case s.wake <- struct{}{}:
	default:
	}
}

// more says that something became due in the store.
func (s *session) more() {
	s.mu.Lock()
	s.isMore = true
	s.mu.Unlock()
	s.signal()
}

func (s *session) takeMore() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	is := s.isMore
	s.isMore = false
	return is
}

func (s *session) count(f func(*Report)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	f(&s.report)
}

func (s *session) result() (Report, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.report, s.err
}

// claimable returns the steps that may be claimed: those of the registry whose
// target is not known to be down.
func (s *session) claimable(limit int) []StepLimit {
	s.mu.Lock()
	defer s.mu.Unlock()
	steps := make([]StepLimit, 0, len(s.e.steps))
	for _, name := range s.e.steps {
		if _, down := s.down[name]; !down {
			steps = append(steps, StepLimit{Step: name, Limit: limit})
		}
	}
	return steps
}

// setDown keeps the rest of the step's instances from being tried in this
// tick.
func (s *session) setDown(step, message string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.down[step] = message
	if s.report.Down == nil {
		s.report.Down = make(map[string]string)
	}
	s.report.Down[step] = message
}

func (s *session) isDown(step string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	_, down := s.down[step]
	return down
}

// forgetDown begins a new tick of a resident session: targets are tried again.
func (s *session) forgetDown() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.down = make(map[string]string)
}

// launch sets claimed instances going.
func (s *session) launch(list []Instance) {
	if len(list) == 0 {
		return
	}
	runs := make([]*run, len(list))
	now := s.e.now()
	s.mu.Lock()
	for i, in := range list {
		r := &run{snap: &snapshot{Instance: in}, order: s.report.Claimed + i, lease: Lease{ID: in.ID, Version: in.Version}, leased: now}
		s.runs[r] = struct{}{}
		runs[i] = r
	}
	s.report.Claimed += len(list)
	s.mu.Unlock()
	for _, r := range runs {
		s.expect(r)
	}
	for _, r := range runs {
		s.wg.Go(func() {
			defer s.leave(r)
			s.advance(r)
		})
	}
}

func (s *session) leave(r *run) {
	s.mu.Lock()
	delete(s.runs, r)
	s.mu.Unlock()
	s.signal()
}

// advance runs the instance on from state to state while it is ours.
func (s *session) advance(r *run) {
	for {
		o := s.attempt(r)
		if o.kind == outcomeFailed && o.verdict.TargetDown {
			s.setDown(r.snap.Step, o.message)
		}
		m := moment{now: s.e.now(), worker: s.e.cfg.Worker, runs: s.runsStep, outbox: s.e.outbox}
		if s.open() {
			m.lease = m.now.Add(s.e.cfg.Lease)
		}
		tr, next := decide(r.snap, o, m)
		tr.Token = s.e.token
		res, ok := s.commit(r, tr)
		if ok && o.kind == outcomeReturned && res.Result == Done {
			s.count(func(r *Report) { r.Returned++ })
		}
		if !ok || res.Result != Done || next.LeaseUntil.IsZero() {
			return
		}
		next.Version = res.Version
		s.mu.Lock()
		r.snap, r.lease.Version, r.leased = next, res.Version, m.now
		s.mu.Unlock()
	}
}

// runsStep reports whether a step is to be gone on with here.
func (s *session) runsStep(step string) bool {
	return s.e.handlers[step] != nil && !s.isDown(step)
}

// renew extends the leases of all running steps together, at a third of their
// length. Steps that end sooner cost no renewal.
func (s *session) renew() {
	third := s.e.cfg.Lease / 3
	ticker := time.NewTicker(third)
	defer ticker.Stop()
	for {
		select {
		case <-s.handlers.Done():
			return
		case <-ticker.C:
			s.extend(third)
		}
	}
}

func (s *session) extend(third time.Duration) {
	now := s.e.now()
	s.mu.Lock()
	held := make([]*run, 0, len(s.runs))
	leases := make([]Lease, 0, len(s.runs))
	for r := range maps.Keys(s.runs) {
		if !r.committed && now.Sub(r.leased) >= third/2 {
			held, leases = append(held, r), append(leases, r.lease)
		}
	}
	s.mu.Unlock()
	if len(leases) == 0 {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(s.ctx), third)
	defer cancel()
	ok, err := s.e.cfg.Store.Extend(ctx, now.Add(s.e.cfg.Lease), leases)
	if err != nil {
		s.e.cfg.Logger.LogAttrs(ctx, slog.LevelError, "leases not extended", slog.Any(keyError, err))
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for i, r := range held {
		switch {
		case ok[i]:
			r.leased = now
		case r.lease == leases[i] && !r.committed && r.lost != nil:
			r.lost(ErrLeaseLost)
		}
	}
}
