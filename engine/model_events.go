package engine

import (
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/pawl-dev/pawl/engine/definition"
)

// event is something that can happen to an instance.
type event struct {
	name    string
	outcome outcome
	doubt   bool // an attempt before ended unknown, or is under way
	last    bool // the attempts are used up by it
	retry   bool // an operator's retry, not an outcome
}

// events returns all that can happen in a situation.
func (x *explorer) events(s *situation) []event {
	st := x.def.State(s.snap.State)
	switch s.snap.Status {
	case Failed, Parked, CompensationFailed:
		return []event{{name: "an operator retries", retry: true}}
	case Compensating:
		return undoEvents(st)
	case Succeeded:
		return nil
	case Running, Queued, Waiting, Stuck:
	}
	var list []event
	switch st.Kind {
	case definition.StepState:
		list = stepEvents(st)
	case definition.WaitState:
		list = []event{{name: "the wait of " + st.Name + " is over", outcome: outcome{kind: outcomeElapsed}}}
	case definition.AwaitState:
		list = awaitEvents(st)
	case definition.EndState:
	}
	return append(list, x.interruptions(st)...)
}

func stepEvents(st *definition.State) []event {
	list := []event{{
		name:    st.Name + " succeeds",
		outcome: outcome{kind: outcomeDone, began: true, out: json.RawMessage("{}")},
	}}
	codes := codesOf(st)
	for _, code := range codes {
		list = append(list, event{name: st.Name + " " + failsWith(code), last: true, outcome: definite(code)})
	}
	for _, u := range []struct{ name, code string }{
		{"times out", definition.CodeTimeout}, {"ends unknown", definition.CodeUnknown}, {"panics", definition.CodePanic},
	} {
		list = append(list, event{name: st.Name + " " + u.name, last: true, outcome: outcome{
			kind: outcomeFailed, code: u.code, message: u.code, began: true,
		}})
	}
	if st.Retry.MaxAttempts == 1 {
		return list
	}
	for _, code := range codes {
		list = append(list, event{
			name:  st.Name + " ends unknown, and in the next attempt " + failsWith(code),
			doubt: true, last: true, outcome: definite(code),
		})
	}
	return list
}

func definite(code string) outcome {
	return outcome{kind: outcomeFailed, code: code, message: code, began: true, verdict: Verdict{Definite: true}}
}

func failsWith(code string) string {
	if code == definition.CodeFailed {
		return "fails"
	}
	return "fails with " + code
}

// codesOf returns the codes of definite failures that make a difference in st:
// those that it names, and failed for all others.
func codesOf(st *definition.State) []string {
	codes := []string{definition.CodeFailed}
	for code := range st.Catch {
		if !definition.ReservedCode(code) {
			codes = append(codes, code)
		}
	}
	slices.Sort(codes[1:])
	return codes
}

func awaitEvents(st *definition.State) []event {
	var list []event
	for _, sig := range st.Signals {
		list = append(list, event{
			name:    fmt.Sprintf("the signal %s comes in %s", sig.Name, st.Name),
			outcome: outcome{kind: outcomeSignal, signal: sig.Name, out: json.RawMessage("{}")},
		})
	}
	if st.Timeout > 0 {
		list = append(list, event{
			name: "no signal comes in " + st.Name, outcome: outcome{kind: outcomeElapsed},
		})
	}
	return list
}

// interruptions are the deadline and a cancel, while an attempt is under way
// and while none is.
func (x *explorer) interruptions(st *definition.State) []event {
	doubts := []bool{false}
	if st.Kind == definition.StepState {
		doubts = append(doubts, true)
	}
	var list []event
	for _, doubt := range doubts {
		where := "in " + st.Name
		if doubt {
			where = "while " + st.Name + " runs"
		}
		if x.def.Deadline > 0 {
			list = append(list, event{name: "the deadline passes " + where, doubt: doubt, outcome: outcome{kind: outcomeDeadline}})
		}
		// Where the workflow only goes forward there is no end to cancel to,
		// so a cancel is refused.
		if x.def.OnFailure.Policy != definition.Forward {
			list = append(list, event{name: "it is cancelled " + where, doubt: doubt, outcome: outcome{
				kind: outcomeCancelled, message: "cancelled",
			}})
		}
	}
	return list
}

func undoEvents(st *definition.State) []event {
	return []event{
		{name: "the undo of " + st.Name + " succeeds", outcome: outcome{kind: outcomeDone, began: true, out: json.RawMessage("{}")}},
		{name: "the undo of " + st.Name + " fails", last: true, outcome: outcome{
			kind: outcomeFailed, code: definition.CodeUnknown, message: "unknown", began: true,
		}},
	}
}

// each lets ev happen in s, with every answer of the expressions.
func (x *explorer) each(s *situation, ev event) {
	x.answers(func(o *oracle) {
		m := x.moment(o)
		from := *s.snap
		if ev.retry {
			_, next, err := retryFailed(&from, "", m)
			if err == nil { // else it is refused, and the instance stays as it is
				x.arrive(s, ev, o, next)
			}
			return
		}
		from.Doubt = from.Doubt || ev.doubt
		if ev.last {
			from.Failures = from.work(x.def.State(from.State)).retry.MaxAttempts - 1
		}
		if ev.outcome.kind == outcomeElapsed {
			m.now = time.UnixMicro(from.progress.Wake)
		}
		_, next := decide(&from, ev.outcome, m)
		x.arrive(s, ev, o, next)
	})
}

// arrive looks at what ev made of s, and goes on from there.
func (x *explorer) arrive(s *situation, ev event, o *oracle, next *snapshot) {
	to := &situation{snap: next, before: s, event: ev.name}
	to.world = s.world.after(x.def, s.snap, ev)
	x.judge(s, ev, o, to)
	x.visit(to)
}

// after returns what the world has seen when ev has happened.
func (w outside) after(def *definition.Definition, s *snapshot, ev event) outside {
	w.final, w.open = slices.Clip(w.final), slices.Clone(w.open)
	st := def.State(s.State)
	if ev.retry || st.Kind != definition.StepState {
		return w
	}
	if s.undoing() {
		if ev.outcome.kind == outcomeDone {
			undone := s.progress.Done[len(s.progress.Done)-1]
			w.open = slices.DeleteFunc(w.open, func(e effect) bool { return e.state == undone.State && e.visit == undone.Visit })
		}
		return w
	}
	unknown := ev.outcome.kind == outcomeFailed && !ev.outcome.verdict.Definite
	if ev.outcome.kind != outcomeDone && !unknown && !ev.doubt && !s.Doubt {
		return w
	}
	if st.Irreversible && !slices.Contains(w.final, st.Name) {
		w.final = append(w.final, st.Name)
	}
	if st.Undoes() {
		visit := s.progress.Visits[st.Name]
		w.open = slices.DeleteFunc(w.open, func(e effect) bool { return e.state == st.Name && e.visit == visit })
		w.open = append(w.open, effect{state: st.Name, visit: visit, late: s.progress.Pivot})
	}
	return w
}
