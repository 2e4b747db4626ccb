package engine

import (
	"fmt"
	"strings"

	"github.com/pawl-dev/pawl/engine/definition"
)

// The rules of the model check.
const (
	ruleStuck    = "model-stuck"
	ruleTwice    = "model-twice"
	ruleUndoLeft = "model-undo-left"
	ruleUndoData = "model-undo-data"
	ruleSize     = "model-size"
)

// report keeps the first finding of its kind at a place.
func (x *explorer) report(f *definition.Diagnostic, kind string) {
	key := fmt.Sprint(f.Rule, " ", kind, " ", f.Line, ":", f.Col)
	if !x.found[key] {
		x.found[key] = true
		x.out.Findings = append(x.out.Findings, f)
	}
}

// judge holds the situation that ev led to against the rules.
func (x *explorer) judge(s *situation, ev event, o *oracle, to *situation) {
	x.judgeStuck(o, to)
	x.judgeTwice(s, to)
	x.judgeOrder(to)
	if to.snap.Status.Ended() && !ev.retry {
		x.judgeLeft(s, ev, to)
	}
}

func (x *explorer) judgeStuck(o *oracle, to *situation) {
	switch next := to.snap; {
	case next.Status == CompensationFailed && next.Code == definition.CodeExpression:
		f := x.def.Finding(next.State, "compensate.with", ruleUndoData, fmt.Sprintf(
			"the undo of %s cannot be computed: %s (%s); allow for it with ?. and ??, or do it in the step", next.State, o.why, to.way()))
		x.report(f, "")
	case next.Status == Parked && o.fault != nil && x.def.OnFailure.To == "":
		x.report(x.def.FindingAt(o.fault, ruleStuck, fmt.Sprintf(
			"an instance can get stuck: %s, and the workflow has no end for that (%s); make the expression safe, or give on_failure a policy with to:",
			o.why, to.way())), "no end")
	case next.Status == Parked && o.fault != nil:
		x.report(x.def.FindingAt(o.fault, ruleStuck, fmt.Sprintf(
			"an instance can get stuck: its end cannot be entered, since %s (%s); make the expression safe, or leave it out", o.why, to.way())), "end")
	case next.Status == Parked:
		f := x.def.Finding("", "on_failure", ruleStuck, fmt.Sprintf(
			"an instance can get stuck: there is no end for it (%s); give on_failure a policy with to:", to.way()))
		x.report(f, "no end")
	case next.Status == Waiting && next.DueAt.IsZero():
		f := x.def.Finding(next.State, "", ruleStuck, fmt.Sprintf(
			"if no signal comes, an instance waits in %s for ever; add timeout:, or a deadline: to the workflow", next.State))
		f.Warning = true
		x.report(f, "wait")
	}
}

// judgeTwice looks at the entry into an irreversible state.
func (x *explorer) judgeTwice(s, to *situation) {
	st := x.def.State(to.snap.State)
	if !st.Irreversible || to.snap.progress.Visits[st.Name] <= s.snap.progress.Visits[st.Name] {
		return
	}
	for _, name := range to.world.final {
		ran := x.def.State(name)
		switch {
		case name == st.Name:
			x.report(x.def.Finding(st.Name, "", ruleTwice, fmt.Sprintf(
				"%s is irreversible but can run twice (%s); let no way lead from behind it to before it", name, to.way())), "")
		case definition.SameWork(ran, st):
			x.report(x.def.Finding(st.Name, "step", ruleTwice, fmt.Sprintf(
				"%s does the same as %s, which may have happened before (%s); make sure of it first, or mark it failed", st.Name, name, to.way())), "")
		}
	}
}

// judgeOrder holds the engine's own books against what the world has seen: an
// undo begins only while nothing irreversible has happened, and it is complete.
func (x *explorer) judgeOrder(to *situation) {
	next := to.snap
	if next.Status == Compensating && len(to.world.final) > 0 {
		x.report(x.def.Finding(next.State, "compensate", ruleUndoLeft, fmt.Sprintf(
			"%s is undone although %s may have happened (%s); this is a fault of the engine, report it",
			next.State, to.world.final[0], to.way())), "order")
	}
	if next.progress.Undone && len(to.world.open) > 0 {
		x.report(x.def.Finding(to.world.open[0].state, "compensate", ruleUndoLeft, fmt.Sprintf(
			"%s is not undone although everything else is (%s); this is a fault of the engine, report it",
			to.world.open[0].state, to.way())), "order")
	}
}

// judgeLeft looks at what an end leaves behind.
func (x *explorer) judgeLeft(s *situation, ev event, to *situation) {
	from := x.def.State(s.snap.State)
	var left, late []string
	for _, e := range to.world.open {
		if e.late {
			late = append(late, e.state)
		} else {
			left = append(left, e.state)
		}
	}
	pivot := to.snap.progress.Pivot
	switch {
	case to.snap.Status == Failed && pivot && len(late) > 0:
		x.left(late[0], "compensate", fmt.Sprintf(
			"%s can run behind an irreversible state, where nothing is undone any more (%s); split it in two states, or write compensate: none",
			late[0], to.way()))
	case len(left) == 0 || pivot:
	case to.snap.Status == Succeeded && ev.outcome.kind == outcomeFailed:
		x.left(from.Name, "catch", fmt.Sprintf(
			"the failure of %s ends in success and leaves %s as it is, not undone (%s); lead it to a state with end: failed",
			from.Name, names(left), to.way()))
	case to.snap.Status == Failed && !meantToStay(x.def, to.snap):
		x.left(x.policyPlace(from, ev), "on_failure", fmt.Sprintf(
			"a failure leaves %s as it is, not undone, since the policy mark_failed is in force (%s); make it compensate", names(left), to.way()))
	}
}

// left reports an effect that nobody undoes. It may be meant, so it is a
// warning.
func (x *explorer) left(state, field, message string) {
	f := x.def.Finding(state, field, ruleUndoLeft, message)
	f.Warning = true
	x.report(f, "")
}

// policyPlace returns the state whose policy is in force, or "" if it is that
// of the workflow.
func (x *explorer) policyPlace(from *definition.State, ev event) string {
	if ev.outcome.kind == outcomeDeadline || ev.outcome.kind == outcomeCancelled || from.OnFailure == x.def.OnFailure {
		return ""
	}
	return from.Name
}

// meantToStay reports whether the failed state is irreversible with a policy of
// its own: its author has thought of what a failure there means.
func meantToStay(def *definition.Definition, s *snapshot) bool {
	st := def.State(s.FailedState)
	return st != nil && st.Irreversible && st.OnFailure != def.OnFailure
}

func names(list []string) string { return strings.Join(list, " and ") }
