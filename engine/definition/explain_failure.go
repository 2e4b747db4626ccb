package definition

import (
	"slices"
	"strings"

	"github.com/pawl-dev/pawl/engine/expression"
)

// errors says where the errors of a state lead.
func (x *explainer) errors(s *State) string {
	var parts []string
	rest := "on_failure"
	for _, code := range sortedCodes(s.Catch) {
		to := showBranches(s.Catch[code])
		switch {
		case code == CodeAny:
			rest = to
		case s.Kind == AwaitState:
			parts = append(parts, code+" to "+to)
		case ReservedCode(code):
			parts = append(parts, code+", out of attempts, to "+to)
		default:
			parts = append(parts, code+" at once to "+to)
		}
	}
	if s.Kind == AwaitState {
		if len(parts) == 0 {
			parts = append(parts, CodeTimeout+" to "+rest)
		}
		return strings.Join(parts, "; ")
	}
	uncaught := slices.DeleteFunc(slices.Clone(s.Retry.Except), func(code string) bool { return s.Catch[code] != nil })
	if len(uncaught) > 0 {
		parts = append(parts, strings.Join(uncaught, ", ")+" at once to "+rest)
	}
	all := "the rest, out of attempts, to "
	if len(parts) == 0 {
		all = "all, out of attempts, to "
	}
	return strings.Join(append(parts, all+rest), "; ")
}

// onFailure explains what a failure of a state does that no catch: takes.
func (x *explainer) onFailure(at string, s *State) {
	path := at + ".on_failure"
	x.inherit(path+".policy", string(s.OnFailure.Policy), x.policy(s), "on_failure.policy", FromWorkflow)
	if s.OnFailure.To != "" {
		x.inherit(path+".to", s.OnFailure.To, "", "on_failure.to", FromWorkflow)
	}
}

// policy says what the policy means for a failure of s.
func (x *explainer) policy(s *State) string {
	i := x.graph.at[s.Name]
	switch {
	case s.OnFailure.Policy == Forward:
		return "the step is tried until it works; out of attempts the instance shows as stuck"
	case s.OnFailure.Policy == MarkFailed:
		return "the instance ends at once, nothing is undone; an operator can have this state run again"
	case !x.pre[i]:
		return "an irreversible state has run before, so nothing is undone: the instance ends at once"
	case s.Irreversible:
		return "what was done before is undone, last first, unless this step may have happened"
	case x.post[i]:
		return "what was done is undone, last first, unless an irreversible state has run before"
	}
	return "what was done is undone, last first, and then the instance ends"
}

// compensation explains how the effect of a step is undone, and whether it
// ever is.
func (x *explainer) compensation(at string, s *State) {
	path := at + ".compensate"
	c := s.Compensate
	switch {
	case c == nil:
		x.add(path, "absent", "")
	case c.None:
		x.add(path, noCompensation, "")
	default:
		x.undo(path, c)
	}
	x.fact(at+".undone", x.undone(s), x.undoneNote(s))
}

func (x *explainer) undo(path string, c *Compensation) {
	// The short form is the handler itself.
	x.inherit(path+".step", c.Step, "", path, FromFile)
	x.with(path+".with", c.With, "the recorded input and output of the step")
	x.inherit(path+".timeout", expression.FormatDuration(c.Timeout), "of one attempt", "defaults.timeout", FromDefaults)
	x.retry(path+".retry", "", c.Retry, false)
	x.fact(path+".worst_case", expression.FormatDuration(worstCase(c.Retry, c.Timeout)),
		attempts(c.Retry.MaxAttempts)+"; after that the instance waits for an operator as compensation_failed")
}

func (x *explainer) undone(s *State) string {
	if s.Undoes() && x.undoes && x.pre[x.graph.at[s.Name]] {
		return "by " + s.Compensate.Step
	}
	return "never"
}

func (x *explainer) undoneNote(s *State) string {
	i := x.graph.at[s.Name]
	switch {
	case s.Irreversible:
		return "the step is irreversible: once it has run, or may have, nothing is undone any more"
	case !x.undoes:
		return "no failure of this workflow is compensated"
	case !x.pre[i]:
		return "it runs only after an irreversible state"
	case s.Compensate == nil || s.Compensate.None:
		return "there is nothing to undo"
	case x.post[i]:
		return "if a later failure is compensated and no irreversible state has run"
	}
	return "if the step has run, or may have, and a failure is compensated before an irreversible state has run"
}
