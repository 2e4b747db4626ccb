package engine

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"
	"time"

	"github.com/pawl-dev/pawl/engine/definition"
)

// settle is how long a handler whose context has ended may take to return
// before it is left behind.
const settle = time.Second

var (
	errGoexit  = errors.New("the handler ended its goroutine (runtime.Goexit)")
	errNotDone = errors.New("verify says that nothing was done")
)

// attempt runs the step of the instance's state once, or says why not.
func (s *session) attempt(r *run) outcome {
	st, o, ok := s.prepare(r)
	if !ok {
		s.skip(r)
		return o
	}
	h := s.e.handlers[r.snap.Step]
	ctx, lost := context.WithCancelCause(s.handlers)
	defer lost(nil)
	s.mu.Lock()
	r.lost = lost
	s.mu.Unlock()
	defer func() {
		s.mu.Lock()
		r.lost = nil
		s.mu.Unlock()
	}()
	begun := time.Now()
	o = s.perform(ctx, r, st, h)
	o.duration = time.Since(begun)
	return o
}

// prepare checks all that keeps the step from running. ok is false if the
// outcome stands without a run.
func (s *session) prepare(r *run) (*definition.State, outcome, bool) {
	if o, ok := s.pin(r); !ok {
		return nil, o, false
	}
	snap := r.snap
	st := snap.def.State(snap.State)
	switch {
	case st == nil:
		return nil, outcome{kind: outcomeParked, message: fmt.Sprintf("version %d of %s has no state %s", snap.DefVersion, snap.Workflow, snap.State)}, false
	case !snap.undoing() && !snap.DeadlineAt.IsZero() && !s.e.now().Before(snap.DeadlineAt):
		return nil, outcome{kind: outcomeDeadline}, false
	case snap.Status != Queued && (st.Kind == definition.WaitState || st.Kind == definition.AwaitState):
		return nil, outcome{kind: outcomeElapsed}, false
	case snap.Status == Queued || !s.open() || s.isDown(snap.Step):
		return nil, outcome{kind: outcomeReturned}, false
	}
	return st, outcome{}, true
}

// pin loads the definition of a freshly claimed instance.
func (s *session) pin(r *run) (outcome, bool) {
	if r.snap.def != nil {
		return outcome{}, true
	}
	in := r.snap.Instance
	def, err := s.e.Definition(s.ctx, in)
	if err == nil {
		var snap *snapshot
		if snap, err = newSnapshot(in, def); err == nil {
			r.snap = snap
			return s.canEmit(def)
		}
		err = fmt.Errorf("%w: %w", errDefinition, err)
	}
	if errors.Is(err, errDefinition) {
		return outcome{kind: outcomeParked, message: err.Error()}, false
	}
	s.fault(fmt.Errorf("load the definition of %s: %w", in.ID, err))
	return outcome{kind: outcomeReturned}, false
}

// canEmit keeps instances from running whose events could not be written:
// another program may have what this one lacks, so they wait.
func (s *session) canEmit(def *definition.Definition) (outcome, bool) {
	if s.e.outbox != nil || !emits(def) {
		return outcome{}, true
	}
	return outcome{
		kind: outcomeWait, message: errNoOutbox.Error(),
		verdict: Verdict{Wait: true, Definite: true, After: s.e.cfg.Lease},
	}, false
}

// perform asks verify where an earlier attempt is in doubt, then calls the
// handler if attempts are left.
func (s *session) perform(ctx context.Context, r *run, st *definition.State, h *handler) outcome {
	snap := r.snap
	w := snap.work(st)
	call := Call[json.RawMessage]{
		In: snap.With, Instance: snap.ID, Workflow: snap.Workflow, State: snap.State,
		Attempt: snap.Attempt, Key: snap.key(), StartedAt: snap.StartedAt, Labels: snap.Labels,
	}
	if st.With == nil && !snap.undoing() {
		call.In = snap.Input
	}
	settled := false
	if snap.Doubt && h.verify != nil {
		s.skip(r) // nobody's batch waits for the answer
		o, done := s.verify(ctx, r, w, h, call)
		if done {
			return o
		}
		settled = true
	}
	if snap.Failures >= w.retry.MaxAttempts && !w.forward {
		s.skip(r)
		return outcome{
			kind: outcomeFailed, code: definition.CodeUnknown, counted: true, settled: settled,
			verdict: Verdict{Permanent: true, Definite: settled},
			message: fmt.Sprintf("the worker was lost in attempt %d of %d of %s", snap.Failures, w.retry.MaxAttempts, w.step),
		}
	}
	s.count(func(r *Report) { r.Steps++ })
	var o outcome
	if h.batch != nil {
		o = s.inBatch(r, w, h, call)
	} else {
		reply := s.invoke(ctx, w.timeout, []*run{r}, func(ctx context.Context) []Result[json.RawMessage] {
			out, err := h.run(ctx, call)
			return []Result[json.RawMessage]{{Out: out, Err: err}}
		})
		o = reply.outcome(0)
	}
	o.settled = settled
	return o
}

// verify asks whether an attempt in doubt has done its work. done is true if
// the outcome stands: the step succeeded, or the doubt remains.
func (s *session) verify(ctx context.Context, r *run, w work, h *handler, call Call[json.RawMessage]) (outcome, bool) {
	reply := s.invoke(ctx, w.timeout, []*run{r}, func(ctx context.Context) []Result[json.RawMessage] {
		out, done, err := h.verify(ctx, call)
		if err == nil && !done {
			err = errNotDone
		}
		return []Result[json.RawMessage]{{Out: out, Err: err}}
	})
	o := reply.outcome(0)
	switch {
	case reply.ended == nil && len(reply.results) == 1 && errors.Is(reply.results[0].Err, errNotDone):
		return o, false
	case o.kind == outcomeFailed:
		o.message = cleanText("verify: " + o.message)
		// Verify failed, so nothing is settled, whatever its error says of
		// itself.
		o.verdict.Definite = false
		o.counted = r.snap.Failures >= w.retry.MaxAttempts && !w.forward
	}
	return o, true
}

// timeoutError is the cause of a context that ended with the step's timeout.
type timeoutError time.Duration

func (t timeoutError) Error() string {
	return fmt.Sprintf("the attempt timed out after %s", time.Duration(t))
}

// reply is what a call of a handler came to.
type reply struct {
	results []Result[json.RawMessage]
	panics  error // the handler panicked or left its goroutine
	ended   error // why the context ended before the handler returned
}

// outcome judges the result of the i-th item.
func (r reply) outcome(i int) outcome {
	switch {
	case r.ended != nil && errors.Is(r.ended, ErrShutdown):
		return outcome{kind: outcomeReturned, began: true}
	case r.ended != nil:
		code := definition.CodeUnknown
		if _, ok := errors.AsType[timeoutError](r.ended); ok {
			code = definition.CodeTimeout
		}
		return outcome{kind: outcomeFailed, began: true, code: code, message: cleanText(r.ended.Error())}
	case r.panics != nil:
		return outcome{kind: outcomeFailed, began: true, code: definition.CodePanic, message: cleanText(r.panics.Error())}
	case i >= len(r.results):
		return failure(errors.New("the handler gave no result for this item"))
	case r.results[i].Err != nil:
		o := failure(r.results[i].Err)
		if o.kind == outcomeFailed && o.verdict.Code != "" && definition.ReservedCode(o.code) {
			o.code, o.message = definition.CodeFailed, fmt.Sprintf("the handler failed with the reserved code %q: %s", o.verdict.Code, o.message)
		}
		return o
	}
	return outcome{kind: outcomeDone, began: true, out: r.results[i].Out}
}

// invoke calls f under the timeout, for the attempts of runs. f is not our
// code: its panics are contained, and if it does not heed its context it is
// left behind and what it brings later is noted and ignored. A result that
// comes after the end of the context is not taken: a handler that returns nil
// because it was cancelled has not succeeded.
func (s *session) invoke(ctx context.Context, timeout time.Duration, runs []*run, f func(context.Context) []Result[json.RawMessage]) reply {
	ctx, cancel := context.WithTimeoutCause(ctx, timeout, timeoutError(timeout))
	defer cancel()
	ch := make(chan reply, 1)
	go func() {
		rep := reply{panics: errGoexit}
		defer func() {
			if v := recover(); v != nil {
				rep = reply{panics: fmt.Errorf("panic: %v\n%s", v, debug.Stack())}
			}
			ch <- rep
		}()
		rep = reply{results: f(ctx)}
	}()
	select {
	case rep := <-ch:
		if ctx.Err() != nil {
			rep.ended = context.Cause(ctx)
		}
		return rep
	case <-ctx.Done():
	}
	cause := context.Cause(ctx)
	timer := time.NewTimer(settle)
	defer timer.Stop()
	select {
	case rep := <-ch:
		rep.ended = cause
		return rep
	case <-timer.C:
	}
	for _, r := range runs {
		s.e.late.add(lateName(r.snap))
	}
	go s.e.awaitLate(ch, snapshots(runs))
	return reply{ended: cause}
}

func lateName(s *snapshot) string { return s.ID + " in " + s.State }

func snapshots(runs []*run) []*snapshot {
	list := make([]*snapshot, len(runs))
	for i, r := range runs {
		list[i] = r.snap
	}
	return list
}

// awaitLate waits for a handler that was left behind and notes in the history
// that its result came too late.
func (e *Engine) awaitLate(ch <-chan reply, snaps []*snapshot) {
	rep := <-ch
	trs := make([]Transition, len(snaps))
	for i, s := range snaps {
		text := "it succeeded"
		if o := rep.outcome(i); o.kind != outcomeDone {
			text = "it failed: " + o.message
		}
		// No row has the version -1, so the line is all that is written.
		in := s.Instance
		in.Version = -1
		trs[i] = Transition{Instance: in, Token: e.token, LateNote: true, History: &History{
			At: e.now(), From: s.State, To: s.State, Reason: ReasonLate,
			Attempt: s.Attempt, Message: cleanText(text), Actor: e.cfg.Worker,
		}}
	}
	ctx, cancel := context.WithTimeout(context.Background(), commitTimeout)
	defer cancel()
	outs, err := e.cfg.Store.Commit(ctx, e.now(), trs)
	for i, s := range snaps {
		if err == nil {
			e.logCommit(ctx, trs[i], outs[i])
		}
		e.late.done(lateName(s))
	}
	if err != nil {
		e.cfg.Logger.LogAttrs(ctx, slog.LevelError, "late result not noted", slog.Any(keyError, err))
	}
}
