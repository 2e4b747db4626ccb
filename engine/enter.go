package engine

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/pawl-dev/pawl/engine/definition"
)

// branch returns where the first branch leads whose guard is true. output is
// that of the state which is left, nil for catch:.
func (d *draft) branch(branches []definition.Branch, output json.RawMessage) (string, error) {
	var vars *definition.Vars
	for _, b := range branches {
		if b.When == nil {
			return b.To, nil
		}
		if vars == nil {
			var err error
			if vars, err = d.vars(d.m.now); err != nil {
				return "", err
			}
			if output != nil {
				vars.Output = d.outputs[d.State]
			}
		}
		ok, err := d.m.oracle.bool(b.When, vars)
		if err != nil {
			return "", err
		}
		if ok {
			return b.To, nil
		}
	}
	return "", fmt.Errorf("no branch of state %s is open", d.State)
}

// move leaves from for another state.
func (d *draft) move(from *definition.State, to, reason string) (Transition, *snapshot) {
	st := d.def.State(to)
	if st == nil {
		return d.park(fmt.Sprintf("state %s is not in the definition", to))
	}
	if st.Kind == definition.EndState && st.Failed {
		return d.endFailed(st, from.OnFailure.Policy, reason)
	}
	if st.Kind != definition.EndState && d.progress.Moves >= MaxTransitions {
		return d.toFailure(d.def.OnFailure, definition.CodeLimit,
			fmt.Sprintf("the instance has entered %d states, which is the limit; is there a cycle without a way out?", MaxTransitions),
			d.State)
	}
	if err := d.enter(st); err != nil {
		return d.toFailure(d.def.OnFailure, definition.CodeExpression, err.Error(), to)
	}
	return d.note(reason)
}

// toFailure goes the way of on_failure: and keeps the error.
func (d *draft) toFailure(way definition.OnFailure, code, message, state string) (Transition, *snapshot) {
	d.setError(code, message, state)
	st := d.def.State(way.To)
	if st == nil || st.Kind != definition.EndState {
		return d.park(fmt.Sprintf("%s: %s; and on_failure has no end for it", code, message))
	}
	return d.endFailed(st, way.Policy, ReasonFailed)
}

// endFailed enters a failed end, or undoes first what was done.
func (d *draft) endFailed(end *definition.State, policy definition.Policy, reason string) (Transition, *snapshot) {
	if policy == definition.Compensate && !d.progress.Pivot && len(d.progress.Done) > 0 {
		return d.startUndo(end)
	}
	if err := d.enter(end); err != nil {
		e := d.progress.Error
		return d.park(fmt.Sprintf("cannot enter %s: %v; it was to end there because of %s: %s", end.Name, err, e.Code, e.Message))
	}
	return d.note(reason)
}

// enter puts the instance into st: everything that is written in the
// transaction of the transition into a state is made here. An error leaves
// the draft as it was, except for what toFailure sets anew.
func (d *draft) enter(st *definition.State) error {
	now := d.m.now
	var vars *definition.Vars
	if len(st.Emit) > 0 || st.With != nil || st.Output != nil || st.Concurrency != nil || st.Wait != nil {
		var err error
		if vars, err = d.vars(now); err != nil {
			return err
		}
		if st.Kind != definition.EndState || !st.Failed {
			vars.Error = nil
		}
	}
	visit := d.progress.Visits[st.Name] + 1
	events, err := d.events(st, visit, vars)
	if err != nil {
		return err
	}
	switch st.Kind {
	case definition.EndState:
		err = d.enterEnd(st, vars)
	case definition.WaitState, definition.AwaitState:
		err = d.enterWait(st, vars)
	default:
		err = d.enterStep(st, vars)
	}
	if err != nil {
		return err
	}
	if d.progress.Visits == nil {
		d.progress.Visits = make(map[string]int)
	}
	d.progress.Visits[st.Name] = visit
	d.progress.Moves++
	d.State, d.EnteredAt = st.Name, now
	d.tr.Start = events
	return nil
}

func (d *draft) enterStep(st *definition.State, vars *definition.Vars) error {
	with, err := d.m.payload(st.With, vars, "with of "+st.Name)
	if err != nil {
		return err
	}
	var acquire []Hold
	if c := st.Concurrency; c != nil {
		name, err := d.m.concurrencyKey(c, vars, d.Workflow+"/"+st.Name)
		if err != nil {
			return err
		}
		acquire = append(acquire, Hold{Name: name})
	}
	d.release(func(h hold) bool { return h.State != "" })
	for _, h := range acquire {
		d.progress.Holds = append(d.progress.Holds, hold{State: st.Name, Name: h.Name})
	}
	d.tr.Acquire = append(d.tr.Acquire, acquire...)
	d.Status, d.Step, d.With = Running, st.Step, with
	d.progress.WithOf = st.Name
	d.DueAt = d.m.now
	d.begin()
	return nil
}

// begin starts the attempts of a new state from zero.
func (d *draft) begin() {
	d.Attempt, d.Failures, d.Doubt = 0, 0, false
	d.goOn()
}

// goOn counts the first attempt of the step that is next if this worker makes
// it.
func (d *draft) goOn() {
	if !d.m.lease.IsZero() && d.m.runs(d.Step) {
		d.Attempt = 1
		d.keepLease()
	}
}

// keepLease keeps the instance for this worker.
func (d *draft) keepLease() {
	d.LeaseOwner, d.LeaseUntil, d.DueAt = d.m.worker, d.m.lease, d.m.lease
}

func (d *draft) enterEnd(st *definition.State, vars *definition.Vars) error {
	out, err := d.m.payload(st.Output, vars, "output of "+st.Name)
	if err != nil {
		return err
	}
	keep := d.def.Retention.Succeeded
	d.Status = Succeeded
	if st.Failed {
		keep = d.def.Retention.Failed
		d.Status = Failed
		d.FailedState = d.State
		if e := d.progress.Error; e != nil {
			d.FailedState, d.Code, d.Message = e.State, e.Code, e.Message
		}
		d.tr.Free = !d.progress.Pivot
	} else {
		d.With = nil
		d.Code, d.Message, d.FailedState = "", "", ""
	}
	d.Step, d.DueAt, d.Output, d.EndedAt = "", time.Time{}, out, d.m.now
	d.ExpireAt = time.Time{}
	if keep > 0 {
		d.ExpireAt = d.m.now.Add(keep)
	}
	d.release(func(hold) bool { return true })
	return nil
}

// release gives the keys back that match.
func (d *draft) release(match func(hold) bool) {
	keep := d.progress.Holds[:0:0]
	for _, h := range d.progress.Holds {
		if match(h) {
			d.tr.Release = append(d.tr.Release, h.Name)
		} else {
			keep = append(keep, h)
		}
	}
	d.progress.Holds = keep
}

// events makes the outbox instances of the state's emit: list. Their ids
// depend on instance, state, visit and place alone.
func (d *draft) events(st *definition.State, visit int, vars *definition.Vars) ([]New, error) {
	events := make([]New, 0, len(st.Emit))
	for i, e := range st.Emit {
		if d.m.outbox == nil {
			return nil, errNoOutbox
		}
		key := ""
		if e.Key != nil {
			var err error
			if key, err = d.m.oracle.text(e.Key, vars); err != nil {
				return nil, err
			}
		}
		body, err := d.m.payload(e.Payload, vars, "payload of event "+e.Event)
		if err != nil {
			return nil, err
		}
		if body == nil {
			body = json.RawMessage("{}")
		}
		in, err := json.Marshal(outboxInput{
			EventID:   eventID(d.ID, st.Name, visit, i),
			EventType: e.Event, Key: key, Payload: body,
		})
		if err != nil {
			return nil, fmt.Errorf("encode event %s: %w", e.Event, err)
		}
		n, err := newInstance(d.m.outbox, StartRequest{Workflow: d.m.outbox.Workflow, Input: in}, d.m)
		if err != nil {
			return nil, fmt.Errorf("event %s: %w", e.Event, err)
		}
		events = append(events, n)
	}
	return events, nil
}

// errNoOutbox means that an instance emits events and this program does not
// have the workflow that delivers them.
var errNoOutbox = errors.New("it emits events, and the outbox workflow is not among the definitions of this program; add it")

// outboxInput is the input of the outbox workflow.
type outboxInput struct {
	EventID   string          `json:"event_id"`
	EventType string          `json:"event_type"`
	Key       string          `json:"key"`
	Payload   json.RawMessage `json:"payload"`
}

// eventID is stable and short enough for every queue's message id.
func eventID(instance, state string, visit, place int) string {
	sum := sha256.Sum256(fmt.Appendf(nil, "%s\x00%s\x00%d\x00%d", instance, state, visit, place))
	return hex.EncodeToString(sum[:16])
}

// payload evaluates v, which may be nil, and holds it to the size limit.
func (m moment) payload(v *definition.Value, vars *definition.Vars, what string) (json.RawMessage, error) {
	if v == nil {
		return nil, nil
	}
	b, err := m.oracle.json(v, vars)
	if err != nil {
		return nil, err
	}
	if len(b) > MaxPayload {
		return nil, fmt.Errorf("the %s has %d bytes, the limit is %d", what, len(b), MaxPayload)
	}
	return b, nil
}

// concurrencyKey evaluates the key within its scope.
func (m moment) concurrencyKey(c *definition.Concurrency, vars *definition.Vars, scope string) (string, error) {
	key, err := m.oracle.text(c.Key, vars)
	if err != nil {
		return "", err
	}
	if err := checkKey("concurrency key", key); err != nil {
		return "", err
	}
	return scope + "/" + key, nil
}

// stay writes a line for a transition that does not leave the state.
func (d *draft) stay(reason string) (Transition, *snapshot) {
	d.tr.Start = nil
	return d.note(reason)
}

// note adds the line of the history and completes the transition.
func (d *draft) note(reason string) (Transition, *snapshot) {
	h := &History{
		At: d.m.now, From: d.before.State, To: d.State, Reason: reason,
		Attempt: d.before.Attempt, Duration: d.duration, Actor: d.m.worker,
	}
	switch reason {
	case ReasonWait, ReasonReturned, ReasonParked, ReasonOperator:
		h.Message = d.Note // the row may still have the error of an attempt before
	case ReasonUndone:
		// The error of the instance stands in the line of the failure.
		if d.Status != Compensating {
			h.Code, h.Message = d.Code, d.Message
		}
	default:
		h.Code, h.Message = d.Code, d.Message
	}
	if d.Status == Failed || reason == ReasonUndo {
		h.FailedState = d.FailedState
	}
	d.tr.History = h
	d.tr.LateNote = true
	return d.finish()
}

// finish encodes the progress and hands out the transition.
func (d *draft) finish() (Transition, *snapshot) {
	if d.def != nil && d.m.oracle == nil {
		// Else there is nothing to store: the definition could not be had, so
		// the data was not decoded, or this is a model.
		data, err := json.Marshal(d.progress)
		if err != nil {
			// Outputs and events were encoded before, so this cannot happen with
			// JSON that a handler gave; keep the old data and let people look.
			d.Status, d.Step, d.DueAt = Parked, "", time.Time{}
			d.Note = cleanText(fmt.Sprintf("encode the progress: %v", err))
			data = d.before.Data
		}
		d.Data = data
	}
	d.tr.Instance = d.Instance
	next := d.snapshot
	return d.tr, &next
}
