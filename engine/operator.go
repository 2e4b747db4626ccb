package engine

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/pawl-dev/pawl/engine/definition"
)

// Operator says who asks for a change of an instance, and on what condition.
type Operator struct {
	Actor  string // who; required
	Reason string // why
	// ExpectVersion refuses the change unless the instance has this version.
	// Zero means any.
	ExpectVersion int64
	// DryRun checks everything and changes nothing.
	DryRun bool
}

// Retried tells what a retry will do.
type Retried struct {
	ID      string
	State   string // the state that is entered again
	Step    string // the step that will run
	Version int64  // of the instance after the retry
	// QueuedBehind is the holder of the concurrency key that it waits for.
	QueuedBehind string
}

// Retry makes a failed, stuck or parked instance run again, at its failed
// state, with the stored input, fresh attempts and a fresh deadline. Nothing
// before that state runs again. If it could not undo a state, it goes on with
// that undo. Any other instance is [ErrConflict], naming its state; so is one
// that has undone what it did.
func (e *Engine) Retry(ctx context.Context, id string, op Operator) (Retried, error) {
	if op.Actor == "" {
		return Retried{}, fmt.Errorf("%w: retry needs an actor, so that the history says who did it", ErrInvalid)
	}
	in, err := e.cfg.Store.Load(ctx, id)
	if err != nil {
		return Retried{}, fmt.Errorf("retry %s: %w", id, err)
	}
	tr, err := e.planRetry(ctx, in, op)
	if err != nil {
		return Retried{}, fmt.Errorf("retry %s: %w", id, err)
	}
	plan := Retried{ID: id, State: tr.Instance.State, Step: tr.Instance.Step, Version: in.Version}
	if op.DryRun {
		return plan, nil
	}
	out, err := e.commitOne(ctx, tr)
	if err != nil {
		return Retried{}, fmt.Errorf("retry %s: %w", id, err)
	}
	switch out.Result {
	case Done:
	case InLine:
		plan.QueuedBehind = out.By
	case Taken:
		return Retried{}, fmt.Errorf("retry %s: %w: its key is held by %s", id, ErrConflict, out.By)
	case Absent:
		return Retried{}, fmt.Errorf("retry %s: %w", id, ErrNotFound)
	default:
		return Retried{}, fmt.Errorf("retry %s: %w: somebody was faster; look at it again", id, ErrConflict)
	}
	plan.Version = out.Version
	e.logCommit(ctx, tr, out)
	e.nudge()
	return plan, nil
}

// planRetry checks that the instance can be retried and makes the transition.
func (e *Engine) planRetry(ctx context.Context, in Instance, op Operator) (Transition, error) {
	if op.ExpectVersion != 0 && op.ExpectVersion != in.Version {
		return Transition{}, fmt.Errorf("%w: it has version %d, not %d (state %s, %s)", ErrConflict, in.Version, op.ExpectVersion, in.State, in.Status)
	}
	switch in.Status {
	case Failed, Parked, CompensationFailed, Stuck:
	default:
		return Transition{}, fmt.Errorf("%w: it has not failed: state %s, %s", ErrConflict, in.State, in.Status)
	}
	def, err := e.Definition(ctx, in)
	if errors.Is(err, errDefinition) {
		return Transition{}, fmt.Errorf("%w: %w", ErrConflict, err)
	}
	if err != nil {
		return Transition{}, err
	}
	s, err := newSnapshot(in, def)
	if err != nil {
		return Transition{}, fmt.Errorf("%w: %w", ErrConflict, err)
	}
	m := moment{now: e.now(), worker: op.Actor, outbox: e.outbox}
	tr, _, err := retryFailed(s, op.Reason, m)
	tr.Token = newToken()
	return tr, err
}

// retryFailed is the pure part of Retry.
func retryFailed(s *snapshot, reason string, m moment) (Transition, *snapshot, error) {
	if s.progress.Undone {
		return Transition{}, nil, fmt.Errorf("%w: what it did has been undone; start it anew", ErrConflict)
	}
	if s.progress.UndoTo != "" {
		tr, next := retryUndo(s, reason, m)
		return tr, next, nil
	}
	name := s.FailedState
	if s.Status != Failed {
		name = s.State
	}
	st := s.def.State(name)
	if st == nil || st.Kind == definition.EndState {
		return Transition{}, nil, fmt.Errorf("%w: there is no step to run again in state %q", ErrConflict, name)
	}
	if e := s.progress.Error; e != nil && e.Code == definition.CodeExpression && e.State == name && s.progress.WithOf == name {
		return Transition{}, nil, fmt.Errorf("%w: step %s has succeeded, but the way on from %s cannot be evaluated (%s); running it again cannot help", ErrConflict, st.Step, name, e.Message)
	}
	d := newDraft(s, m)
	d.progress.Error, d.progress.Moves = nil, 0
	d.Code, d.Message, d.FailedState = "", "", ""
	d.EndedAt, d.ExpireAt, d.DeadlineAt, d.Output = time.Time{}, time.Time{}, time.Time{}, nil
	if s.def.Deadline > 0 {
		d.DeadlineAt = m.now.Add(s.def.Deadline)
	}
	if err := d.takeKeys(st, m); err != nil {
		return Transition{}, nil, fmt.Errorf("%w: %w", ErrConflict, err)
	}
	if d.progress.WithOf == name {
		doubt := d.Doubt
		d.Status, d.Step, d.DueAt = Running, st.Step, m.now
		d.State, d.EnteredAt = name, m.now
		d.begin()
		d.Doubt = doubt
	} else {
		// It is no new visit: the idempotency key of what may have happened
		// stays, and so do the ids of the events.
		if d.progress.Visits[name] > 0 {
			d.progress.Visits[name]--
		}
		if err := d.enter(st); err != nil {
			return Transition{}, nil, fmt.Errorf("%w: %w", ErrConflict, err)
		}
	}
	d.tr.Reclaim = d.Key != ""
	d.Note = cleanText(reason)
	tr, next := d.note(ReasonOperator)
	return tr, next, nil
}

// retryUndo goes on with an undo that did not work, or with the end after the
// last one.
func retryUndo(s *snapshot, reason string, m moment) (tr Transition, next *snapshot) {
	d := newDraft(s, m)
	if len(d.progress.Done) == 0 {
		tr, next = d.endUndo(ReasonOperator)
	} else {
		d.Code, d.Message = d.progress.Error.Code, d.progress.Error.Message
		d.nextUndo()
		tr, next = d.note(ReasonOperator)
	}
	if tr.History.Message == "" {
		tr.History.Message = cleanText(reason)
	}
	return tr, next
}

// takeKeys asks for the concurrency keys that an instance in st holds.
func (d *draft) takeKeys(st *definition.State, m moment) error {
	vars, err := d.vars(m.now)
	if err != nil {
		return err
	}
	d.progress.Holds = nil
	take := func(c *definition.Concurrency, state, scope string) error {
		if c == nil {
			return nil
		}
		name, err := m.concurrencyKey(c, vars, scope)
		if err != nil {
			return err
		}
		d.tr.Acquire = append(d.tr.Acquire, Hold{Name: name})
		d.progress.Holds = append(d.progress.Holds, hold{State: state, Name: name})
		return nil
	}
	if err := take(d.def.Concurrency, "", d.Workflow); err != nil {
		return err
	}
	if d.progress.WithOf != st.Name {
		return nil // enter takes the key of the state
	}
	return take(st.Concurrency, st.Name, d.Workflow+"/"+st.Name)
}

// commitOne commits a transition of an operator and settles an unknown
// outcome by repeating it.
func (e *Engine) commitOne(ctx context.Context, tr Transition) (Outcome, error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), commitTimeout)
	defer cancel()
	outs, err := commitRepeated(ctx, e, []Transition{tr})
	if err != nil {
		return Outcome{}, err
	}
	return outs[0], nil
}
