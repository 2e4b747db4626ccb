package engine

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/pawl-dev/pawl/engine/definition"
)

// moment is what decide has to know beside the instance: when it is, whether
// the worker goes on with the next state, and who computes expressions.
type moment struct {
	now    time.Time
	worker string
	// lease is the end of the lease for the next state; zero frees it.
	lease time.Time
	// runs tells whether this worker has a handler for the step.
	runs func(step string) bool
	// outbox is the workflow that emitted events start; nil if this program
	// does not have it, which then runs nothing that emits.
	outbox *definition.Definition
	// oracle answers in the place of the data; nil asks the data.
	oracle *oracle
}

// decide turns the outcome of an attempt into the transition to store, and the
// instance as it is after that. It is a pure function: retry, catch:, guards,
// on_failure:, compensation, pivot, waits, deadline and the limits are decided
// here and nowhere else.
func decide(s *snapshot, o outcome, m moment) (Transition, *snapshot) {
	d := newDraft(s, m)
	d.duration = o.duration
	var st *definition.State
	if s.def != nil {
		st = s.def.State(s.State)
	}
	switch {
	case o.kind == outcomeParked:
		return d.park(o.message)
	case o.kind == outcomeReturned:
		return d.giveBack(st, o)
	case st == nil:
		return d.park(fmt.Sprintf("state %s is not in the definition", s.State))
	case s.undoing():
		return d.undo(st, o)
	}
	switch o.kind {
	case outcomeDone:
		return d.succeed(st, o)
	case outcomeFailed:
		return d.fail(st, o)
	case outcomeWait:
		return d.wait(o)
	case outcomeElapsed:
		return d.elapse(st)
	case outcomeSignal:
		return d.receive(st, o)
	case outcomeDeadline:
		return d.overdue(st)
	case outcomeCancelled:
		return d.cancelled(st, o)
	default:
		return d.park(o.message)
	}
}

// draft is a transition in the making.
type draft struct {
	snapshot // its maps are copies; its Instance is the row as it shall be
	m        moment
	before   Instance // the row as it was
	duration time.Duration
	tr       Transition
}

func newDraft(s *snapshot, m moment) *draft {
	d := &draft{snapshot: *s, m: m, before: s.Instance}
	d.progress = s.progress.clone()
	d.outputs = maps.Clone(s.outputs)
	d.UpdatedAt = m.now
	d.LeaseOwner, d.LeaseUntil = "", time.Time{}
	d.Note = ""
	return d
}

// succeed records the output of st and moves on.
func (d *draft) succeed(st *definition.State, o outcome) (Transition, *snapshot) {
	if len(o.out) > MaxPayload {
		return d.fail(st, outcome{
			kind: outcomeFailed, code: definition.CodeTooLarge, began: true, verdict: Verdict{Permanent: true},
			message: fmt.Sprintf("the output of %s has %d bytes, the limit is %d; store it elsewhere and return its address",
				st.Step, len(o.out), MaxPayload),
		})
	}
	d.record(st.Name, o.out)
	d.progress.Pivot = d.progress.Pivot || st.Irreversible
	d.completed(st, o.out)
	d.Code, d.Message, d.Doubt = "", "", false
	to, err := d.branch(st.Next, o.out)
	if err != nil {
		return d.toFailure(d.def.OnFailure, definition.CodeExpression, err.Error(), st.Name)
	}
	d.decline(st, to, fmt.Sprintf("%s succeeded, and its output leads to %s; see the output of %s", st.Step, to, st.Name))
	return d.move(st, to, ReasonDone)
}

// record keeps the output of a completed state.
func (d *draft) record(state string, out json.RawMessage) {
	if d.progress.Outputs == nil {
		d.progress.Outputs = make(map[string]json.RawMessage)
	}
	d.progress.Outputs[state] = out
	delete(d.outputs, state)
}

// decline gives an error to an instance that is led to a failed end without
// one. A state whose only way leads there is a clean-up after an error.
func (d *draft) decline(st *definition.State, to, message string) {
	next := d.def.State(to)
	if next == nil || next.Kind != definition.EndState || !next.Failed {
		return
	}
	if st.Kind == definition.AwaitState || len(st.Next) > 1 || d.progress.Error == nil {
		d.setError(definition.CodeDeclined, message, st.Name)
	}
}

// fail decides between another attempt, catch: and on_failure:.
func (d *draft) fail(st *definition.State, o outcome) (Transition, *snapshot) {
	wait := d.count(st.Retry, o)
	_, caught := st.Catch[o.code]
	caught = caught && !definition.ReservedCode(o.code)
	final := o.verdict.Permanent || caught || slices.Contains(st.Retry.Except, o.code)
	if !final && (wait || d.Failures < st.Retry.MaxAttempts) {
		return d.retry(st.Retry, o, wait)
	}
	branches, ok := st.Catch[o.code]
	if !ok {
		branches, ok = st.Catch[definition.CodeAny]
	}
	ok = ok && !definition.PastCatch(o.code)
	if !ok && st.OnFailure.Policy == definition.Forward {
		return d.stuck(st, o)
	}
	d.doubtful(st)
	if !ok {
		return d.toFailure(st.OnFailure, o.code, o.message, st.Name)
	}
	return d.caught(st, branches, ReasonCaught, o)
}

// caught goes the way that catch: names for the error.
func (d *draft) caught(st *definition.State, branches []definition.Branch, reason string, o outcome) (Transition, *snapshot) {
	d.setError(o.code, o.message, st.Name)
	to, err := d.branch(branches, nil)
	if err != nil {
		return d.toFailure(d.def.OnFailure, definition.CodeExpression, err.Error(), st.Name)
	}
	return d.move(st, to, reason)
}

// count takes a failed attempt into account, and reports whether the target is
// down, so that the attempt does not count.
func (d *draft) count(rule definition.Retry, o outcome) bool {
	d.Doubt = d.Doubt && !o.settled || !o.verdict.Definite
	wait := o.verdict.TargetDown && !rule.CountOutage
	if !wait && !o.counted {
		d.Failures++
	}
	return wait
}

// stuck keeps a step going whose policy is forward. Only a new error makes a
// line in the history.
func (d *draft) stuck(st *definition.State, o outcome) (Transition, *snapshot) {
	news := d.before.Status != Stuck || d.before.Code != o.code
	d.Status, d.Code, d.Message = Stuck, o.code, o.message
	d.Note = "it is out of attempts; by policy forward it is tried on until it works"
	pause := max(delay(st.Retry, longAgo, d.key()), o.verdict.After)
	d.DueAt = d.notAfterDeadline(d.m.now.Add(pause))
	if !news {
		return d.finish()
	}
	return d.stay(ReasonStuck)
}

// longAgo is an attempt whose delay has come to max_delay.
const longAgo = 10_000

// retry keeps the state and waits for the next attempt.
func (d *draft) retry(rule definition.Retry, o outcome, down bool) (Transition, *snapshot) {
	d.Code, d.Message = o.code, o.message
	pause := max(delay(rule, d.Attempt, d.key()), o.verdict.After)
	d.DueAt = d.notAfterDeadline(d.m.now.Add(pause))
	reason := ReasonRetry
	if down {
		reason = ReasonDown
	}
	return d.stay(reason)
}

// wait keeps the state at no cost of attempts. Only a new reason to wait makes
// a line in the history: polls of a slow CI would fill it.
func (d *draft) wait(o outcome) (Transition, *snapshot) {
	news := o.message != d.before.Note
	d.Attempt = max(d.Attempt-1, 0)
	d.Note = o.message
	d.DueAt = d.notAfterDeadline(d.m.now.Add(o.verdict.After))
	if !news {
		return d.finish()
	}
	return d.stay(ReasonWait)
}

// giveBack returns an attempt that shutdown or the end of the budget cut off,
// or that never began.
func (d *draft) giveBack(st *definition.State, o outcome) (Transition, *snapshot) {
	if o.began && st != nil && st.AtMostOnce && !d.undoing() {
		return d.fail(st, outcome{
			kind: outcomeFailed, code: definition.CodeUnknown, began: true,
			message: fmt.Sprintf("a shutdown cut off the only attempt of %s", st.Step),
		})
	}
	d.Attempt = max(d.Attempt-1, 0)
	d.DueAt = d.m.now
	if d.Status == Queued {
		d.DueAt = d.DeadlineAt
	}
	d.Note = d.before.Note
	if !o.began {
		return d.finish()
	}
	d.Doubt = true
	return d.stay(ReasonReturned)
}

// overdue ends an instance that took longer than its deadline.
func (d *draft) overdue(st *definition.State) (Transition, *snapshot) {
	text := fmt.Sprintf("the deadline of %s is over since %s", d.def.Deadline, d.DeadlineAt.UTC().Format(time.RFC3339))
	if d.Message != "" {
		text += "; the last error was " + d.Code + ": " + d.Message
	}
	d.doubtful(st)
	return d.toFailure(d.def.OnFailure, definition.CodeDeadline, cleanText(text), st.Name)
}

// cancelled ends an instance by an operator's word.
func (d *draft) cancelled(st *definition.State, o outcome) (Transition, *snapshot) {
	d.doubtful(st)
	return d.toFailure(d.def.OnFailure, definition.CodeCancelled, o.message, st.Name)
}

// park takes the instance out of the ticks' sight until an operator looks.
func (d *draft) park(reason string) (Transition, *snapshot) {
	d.Status, d.Step, d.DueAt = Parked, "", time.Time{}
	d.Attempt = max(d.Attempt-1, 0)
	d.Note = cleanText(reason)
	return d.stay(ReasonParked)
}

// notAfterDeadline returns the time by which a tick must look. The deadline
// does not cut off what is being undone.
func (d *draft) notAfterDeadline(t time.Time) time.Time {
	if !d.undoing() && !d.DeadlineAt.IsZero() && t.After(d.DeadlineAt) {
		return d.DeadlineAt
	}
	return t
}

func (d *draft) setError(code, message, state string) {
	d.progress.Error = &definition.ErrorVars{Code: code, Message: message, State: state}
	d.Code, d.Message = code, message
}
