package definition

import "slices"

// checkPolicy is phase 5: what happens after a failure.
func (p *parser) checkPolicy() {
	pre := p.graph.beforePivot()
	undoes := p.policyInForce(Compensate)
	if !undoes {
		p.unusedCompensation()
	}
	for i, s := range p.states {
		at, given := s.keys["compensate"]
		switch {
		case s.Kind != StepState:
		case s.Irreversible:
			if given {
				p.errorf(at, "irreversible-compensate",
					"state %s is irreversible, so it cannot have compensate:; remove one of them", s.Name)
			}
		case !undoes:
		case pre[i] && !given:
			p.errorf(s.at, "compensate-missing", "state %s has no compensate:, but a later failure is compensated; "+
				"name a step, or write compensate: none if there is nothing to undo", s.Name)
		case !pre[i] && given:
			p.errorf(at, "compensate-after-pivot",
				"state %s runs only after an irreversible state, so this never runs; remove it", s.Name)
		}
		if !pre[i] && s.onFailure != nil && s.onFailure.Policy == Compensate {
			p.errorf(s.keys["on_failure"], "compensate-after-pivot",
				"state %s runs only after an irreversible state, so policy compensate undoes nothing; "+
					"write mark_failed or forward", s.Name)
		}
	}
	p.unkeyed()
}

// beforePivot returns which states can run while everything before them can
// still be undone: those that are reached without the success of an
// irreversible one.
func (g *graph) beforePivot() []bool {
	next := g.all()
	for i, s := range g.states {
		if s.Irreversible {
			next[i] = g.failure[i]
		}
	}
	return reach(next, g.start)
}

// policyInForce reports whether the workflow or a state asks for a policy.
func (p *parser) policyInForce(policy Policy) bool {
	return p.def.OnFailure.Policy == policy || slices.ContainsFunc(p.states, func(s *draftState) bool {
		return s.onFailure != nil && s.onFailure.Policy == policy
	})
}

// unusedCompensation refuses compensations that no policy asks for. The first
// stands for all: most likely it is the policy that is to be mended.
func (p *parser) unusedCompensation() {
	for _, s := range p.states {
		if at, given := s.keys["compensate"]; given && !s.Irreversible {
			p.errorf(at, "compensate-unused",
				"nothing here uses policy compensate, so this never runs; remove it or set on_failure.policy: compensate")
			return
		}
	}
}

// unkeyed warns if nothing keeps a repeated start from a second run of what
// cannot be undone.
func (p *parser) unkeyed() {
	if p.def.InstanceKey != nil {
		return
	}
	for _, s := range p.def.States {
		if s.Irreversible {
			p.warnf(s.at, "start-unkeyed",
				"this workflow has an irreversible state but no instance_key, so two starts run it twice; add instance_key:")
			return
		}
	}
}
