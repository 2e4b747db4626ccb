package engine

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/pawl-dev/pawl/engine/definition"
)

// The steps of states that no handler runs. They are claimed like others when
// they are due.
const (
	stepWait  = "pawl.wait"
	stepAwait = "pawl.await"
)

// waitSteps are claimed by every worker.
func waitSteps() []string { return []string{stepWait, stepAwait} }

// enterWait puts the instance to sleep until its time has come.
func (d *draft) enterWait(st *definition.State, vars *definition.Vars) error {
	wake, err := d.wakeAt(st, vars)
	if err != nil {
		return err
	}
	d.release(func(h hold) bool { return h.State != "" })
	d.With, d.progress.WithOf = nil, ""
	d.progress.Wake = 0
	if !wake.IsZero() {
		d.progress.Wake = wake.UnixMicro()
	}
	d.sleep(st)
	return nil
}

// wakeAt returns when the wait of st is over; the zero time means never.
func (d *draft) wakeAt(st *definition.State, vars *definition.Vars) (time.Time, error) {
	switch {
	case st.Kind == definition.AwaitState && st.Timeout > 0:
		return d.m.now.Add(st.Timeout), nil
	case st.Kind == definition.AwaitState:
		return time.Time{}, nil
	case st.Wait.Until != nil:
		return d.m.oracle.time(st.Wait.Until, vars)
	}
	pause, err := d.m.oracle.duration(st.Wait.For, vars)
	return d.m.now.Add(pause), err
}

// sleep waits for what the visit of st was entered to wait for.
func (d *draft) sleep(st *definition.State) {
	d.Status, d.Step = Waiting, stepWait
	if st.Kind == definition.AwaitState {
		d.Step = stepAwait
	}
	d.Attempt, d.Failures, d.Doubt = 0, 0, false
	d.DueAt = time.Time{}
	if d.progress.Wake != 0 {
		d.DueAt = time.UnixMicro(d.progress.Wake).UTC()
	}
	if !d.DeadlineAt.IsZero() && (d.DueAt.IsZero() || d.DueAt.After(d.DeadlineAt)) {
		d.DueAt = d.DeadlineAt
	}
	if !d.m.lease.IsZero() && !d.DueAt.IsZero() && !d.DueAt.After(d.m.now) {
		d.keepLease()
	}
}

// elapse goes on when the time of a wait is over. A tick may look earlier, for
// example after the instance has stood in line for a key.
func (d *draft) elapse(st *definition.State) (Transition, *snapshot) {
	d.before.Attempt = 0 // a claim counts attempts, but a wait makes none
	if d.progress.Wake == 0 || d.m.now.Before(time.UnixMicro(d.progress.Wake)) {
		d.sleep(st)
		return d.finish()
	}
	if st.Kind == definition.WaitState {
		return d.leave(st, st.Next, nil, ReasonElapsed)
	}
	o := outcome{
		kind: outcomeFailed, code: definition.CodeTimeout,
		message: fmt.Sprintf("no signal came within %s", definition.FormatDuration(st.Timeout)),
	}
	if branches, ok := st.Catch[definition.CodeTimeout]; ok {
		return d.caught(st, branches, ReasonCaught, o)
	}
	return d.toFailure(st.OnFailure, o.code, o.message, st.Name)
}

// receive takes the signal that an await waits for.
func (d *draft) receive(st *definition.State, o outcome) (Transition, *snapshot) {
	d.before.Attempt = 0
	for _, sig := range st.Signals {
		if sig.Name != o.signal {
			continue
		}
		out, err := json.Marshal(received{Signal: o.signal, Payload: o.out})
		if err != nil {
			return d.park(fmt.Sprintf("encode the signal %s: %v", o.signal, err))
		}
		d.record(st.Name, out)
		return d.leave(st, sig.Next, out, ReasonSignal)
	}
	return d.park(fmt.Sprintf("state %s does not wait for the signal %q", st.Name, o.signal))
}

// received is the output of an await.
type received struct {
	Signal  string          `json:"signal"`
	Payload json.RawMessage `json:"payload,omitempty"`
}

// leave goes on from a state that has no step.
func (d *draft) leave(st *definition.State, branches []definition.Branch, out json.RawMessage, reason string) (Transition, *snapshot) {
	d.Code, d.Message = "", ""
	to, err := d.branch(branches, out)
	if err != nil {
		return d.toFailure(d.def.OnFailure, definition.CodeExpression, err.Error(), st.Name)
	}
	d.decline(st, to, fmt.Sprintf("%s led to %s", st.Name, to))
	return d.move(st, to, reason)
}
