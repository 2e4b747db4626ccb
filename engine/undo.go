package engine

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/pawl-dev/pawl/engine/definition"
)

// undoSuffix ends the idempotency key of a compensation.
const undoSuffix = "/undo"

// undoOf names the input of the undo of a state in progress.WithOf.
func undoOf(state string) string { return state + undoSuffix }

// undoing reports whether a compensation is what runs now.
func (s *snapshot) undoing() bool {
	return s.progress.UndoTo != "" && len(s.progress.Done) > 0 &&
		(s.Status == Compensating || s.Status == CompensationFailed || s.Status == Parked)
}

// work is what runs in the state that an instance is in: its step or, when it
// is compensated, its undo.
type work struct {
	step    string
	retry   definition.Retry
	timeout time.Duration
	batch   int
	forward bool // attempts never run out
}

func (s *snapshot) work(st *definition.State) work {
	if s.undoing() {
		c := st.Compensate
		return work{step: c.Step, retry: c.Retry, timeout: c.Timeout}
	}
	return work{
		step: st.Step, retry: st.Retry, timeout: st.Timeout, batch: st.Batch,
		forward: st.OnFailure.Policy == definition.Forward,
	}
}

// completed remembers a visit that a later failure may have to undo.
func (d *draft) completed(st *definition.State, out json.RawMessage) {
	if !st.Undoes() {
		return
	}
	done := doneVisit{State: st.Name, Visit: d.progress.Visits[st.Name], Out: out}
	if st.With != nil {
		done.In = d.With
	}
	// An operator's retry ends a visit that was in doubt before.
	d.progress.Done = slices.DeleteFunc(d.progress.Done, func(v doneVisit) bool {
		return v.State == done.State && v.Visit == done.Visit
	})
	d.progress.Done = append(d.progress.Done, done)
}

// doubtful draws the consequences of leaving st, which is in doubt, by a
// failure: what may have happened must be undone, or cannot be any more.
func (d *draft) doubtful(st *definition.State) {
	if !d.Doubt || st.Kind != definition.StepState {
		return
	}
	d.progress.Pivot = d.progress.Pivot || st.Irreversible
	d.completed(st, nil)
}

// startUndo begins to undo what was done; the instance ends in end after that.
func (d *draft) startUndo(end *definition.State) (Transition, *snapshot) {
	d.progress.UndoTo = end.Name
	d.FailedState = d.progress.Error.State
	d.release(func(h hold) bool { return h.State != "" })
	d.nextUndo()
	return d.note(ReasonUndo)
}

// nextUndo makes the last visit the one to undo. What it needs is computed
// once, like the input of a step.
func (d *draft) nextUndo() {
	done := d.progress.Done[len(d.progress.Done)-1]
	st := d.def.State(done.State)
	d.State, d.EnteredAt = done.State, d.m.now
	d.Status, d.Attempt, d.Failures, d.Doubt = Compensating, 0, 0, false
	d.LeaseOwner, d.LeaseUntil = "", time.Time{}
	if d.progress.WithOf != undoOf(done.State) {
		with, err := d.undoInput(st, done)
		if err != nil {
			d.giveUp(definition.CodeExpression, err.Error())
			return
		}
		d.With, d.progress.WithOf = with, undoOf(done.State)
	}
	d.Step, d.DueAt = st.Compensate.Step, d.m.now
	d.goOn()
}

// undoInput is with: of compensate:, or the recorded input and output.
func (d *draft) undoInput(st *definition.State, done doneVisit) (json.RawMessage, error) {
	if st.Compensate.With == nil {
		in, out := done.In, done.Out
		if in == nil {
			in = d.Input
		}
		return json.Marshal(Undone[json.RawMessage, json.RawMessage]{In: in, Out: rawOrNil(out)})
	}
	vars, err := d.vars(d.m.now)
	if err != nil {
		return nil, err
	}
	// Each visit is undone by its own output, and one in doubt has none.
	if vars.States, err = withOutput(vars.States, done.State, done.Out); err != nil {
		return nil, err
	}
	return d.m.payload(st.Compensate.With, vars, "with of compensate of "+st.Name)
}

func rawOrNil(raw json.RawMessage) *json.RawMessage {
	if raw == nil {
		return nil
	}
	return &raw
}

// withOutput returns states with the output of one of them replaced; a nil one
// is absent.
func withOutput(states map[string]any, name string, out json.RawMessage) (map[string]any, error) {
	changed := make(map[string]any, len(states)+1)
	maps.Copy(changed, states)
	delete(changed, name)
	if out == nil {
		return changed, nil
	}
	v, err := definition.ReadJSON(out)
	if err != nil {
		return nil, fmt.Errorf("read the recorded output of %s: %w", name, err)
	}
	changed[name] = v
	return changed, nil
}

// undo decides what follows from an attempt of a compensation.
func (d *draft) undo(st *definition.State, o outcome) (Transition, *snapshot) {
	switch o.kind {
	case outcomeDone:
		return d.undone()
	case outcomeWait:
		return d.wait(o)
	case outcomeFailed:
	default:
		return d.park(fmt.Sprintf("the undo of %s cannot be ended by this (%d)", st.Name, o.kind))
	}
	rule := st.Compensate.Retry
	wait := d.count(rule, o)
	final := o.verdict.Permanent || slices.Contains(rule.Except, o.code)
	if !final && (wait || d.Failures < rule.MaxAttempts) {
		return d.retry(rule, o, wait)
	}
	d.giveUp(o.code, o.message)
	return d.stay(ReasonUndoLost)
}

// giveUp stops at an undo that does not work. What was done before is not
// undone either: the order is a promise.
func (d *draft) giveUp(code, message string) {
	d.Status, d.Step, d.DueAt = CompensationFailed, "", time.Time{}
	d.Code, d.Message = code, message
	d.Note = fmt.Sprintf("the undo of %s failed; a retry goes on there", d.State)
}

// undone goes on with the visit before, or to the end.
func (d *draft) undone() (Transition, *snapshot) {
	last := len(d.progress.Done) - 1
	d.progress.Done = d.progress.Done[:last]
	d.progress.WithOf, d.With = "", nil
	d.Code, d.Message = d.progress.Error.Code, d.progress.Error.Message
	if last > 0 {
		d.nextUndo()
		return d.note(ReasonUndone)
	}
	return d.endUndo(ReasonUndone)
}

// endUndo enters the end for which everything was undone.
func (d *draft) endUndo(reason string) (Transition, *snapshot) {
	to := d.progress.UndoTo
	d.Failures, d.Doubt = 0, false
	d.progress.Undone, d.progress.UndoTo = true, ""
	if err := d.enter(d.def.State(to)); err != nil {
		d.progress.Undone, d.progress.UndoTo = false, to
		return d.park(fmt.Sprintf("everything is undone, but %s cannot be entered: %v; it was to end there because of %s: %s",
			to, err, d.Code, d.Message))
	}
	return d.note(reason)
}
