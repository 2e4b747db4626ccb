package engine

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/pawl-dev/pawl/engine/definition"
)

// moment is what decide has to know beside the instance: when it is, and
// whether the worker goes on with the next state.
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
}

// decide turns the outcome of an attempt into the transition to store, and the
// instance as it is after that. It is a pure function: retry, catch:, guards,
// on_failure:, pivot, deadline and the limits are decided here and nowhere
// else.
func decide(s *snapshot, o outcome, m moment) (Transition, *snapshot) {
	d := newDraft(s, m)
	d.duration = o.duration
	var st *definition.State
	if s.def != nil {
		st = s.def.State(s.State)
	}
	if st == nil && o.kind != outcomeParked && o.kind != outcomeReturned {
		return d.park(fmt.Sprintf("state %s is not in the definition", s.State))
	}
	switch o.kind {
	case outcomeDone:
		return d.succeed(st, o)
	case outcomeFailed:
		return d.fail(st, o)
	case outcomeWait:
		return d.wait(o)
	case outcomeReturned:
		return d.giveBack(o)
	case outcomeDeadline:
		return d.overdue(st)
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
	if d.progress.Outputs == nil {
		d.progress.Outputs = make(map[string]json.RawMessage)
	}
	d.progress.Outputs[st.Name] = o.out
	delete(d.outputs, st.Name)
	d.progress.Pivot = d.progress.Pivot || st.Irreversible
	d.Code, d.Message, d.Doubt = "", "", false
	to, err := d.branch(st.Next, o.out)
	if err != nil {
		return d.toFailure(d.def.OnFailure.To, definition.CodeExpression, err.Error(), st.Name)
	}
	if next := d.def.State(to); next != nil && next.Kind == definition.EndState && next.Failed {
		if len(st.Next) > 1 || d.progress.Error == nil {
			d.setError(definition.CodeDeclined, fmt.Sprintf("%s succeeded, and its output leads to %s; see the output of %s", st.Step, to, st.Name), st.Name)
		}
	}
	return d.move(to, ReasonDone)
}

// fail decides between another attempt, catch: and on_failure:.
func (d *draft) fail(st *definition.State, o outcome) (Transition, *snapshot) {
	d.Doubt = d.Doubt && !o.settled || !o.verdict.Definite
	wait := o.verdict.TargetDown && !st.Retry.CountOutage
	if !wait && !o.counted {
		d.Failures++
	}
	_, caught := st.Catch[o.code]
	caught = caught && !definition.ReservedCode(o.code)
	final := o.verdict.Permanent || caught || slices.Contains(st.Retry.Except, o.code)
	if !final && (wait || d.Failures < st.Retry.MaxAttempts) {
		return d.retry(st, o, wait)
	}
	if st.Irreversible && d.Doubt {
		d.progress.Pivot = true
	}
	branches, ok := st.Catch[o.code]
	if !ok {
		branches, ok = st.Catch[definition.CodeAny]
	}
	if !ok || definition.PastCatch(o.code) {
		return d.toFailure(st.OnFailure.To, o.code, o.message, st.Name)
	}
	d.setError(o.code, o.message, st.Name)
	to, err := d.branch(branches, nil)
	if err != nil {
		return d.toFailure(d.def.OnFailure.To, definition.CodeExpression, err.Error(), st.Name)
	}
	return d.move(to, ReasonCaught)
}

// retry keeps the state and waits for the next attempt.
func (d *draft) retry(st *definition.State, o outcome, down bool) (Transition, *snapshot) {
	d.Code, d.Message = o.code, o.message
	pause := max(delay(st.Retry, d.Attempt, d.key()), o.verdict.After)
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
func (d *draft) giveBack(o outcome) (Transition, *snapshot) {
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
	if st.Irreversible && d.Doubt {
		d.progress.Pivot = true
	}
	text := fmt.Sprintf("the deadline of %s is over since %s", d.def.Deadline, d.DeadlineAt.UTC().Format(time.RFC3339))
	if d.Message != "" {
		text += "; the last error was " + d.Code + ": " + d.Message
	}
	return d.toFailure(d.def.OnFailure.To, definition.CodeDeadline, cleanText(text), st.Name)
}

// park takes the instance out of the ticks' sight until an operator looks.
func (d *draft) park(reason string) (Transition, *snapshot) {
	d.Status, d.Step, d.DueAt = Parked, "", time.Time{}
	d.Attempt = max(d.Attempt-1, 0)
	d.Note = cleanText(reason)
	return d.stay(ReasonParked)
}

func (d *draft) notAfterDeadline(t time.Time) time.Time {
	if !d.DeadlineAt.IsZero() && t.After(d.DeadlineAt) {
		return d.DeadlineAt
	}
	return t
}

func (d *draft) setError(code, message, state string) {
	d.progress.Error = &definition.ErrorVars{Code: code, Message: message, State: state}
	d.Code, d.Message = code, message
}
