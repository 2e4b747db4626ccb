package definition

import "strings"

// checkNames is phase 3 as far as it needs no handlers.
func (p *parser) checkNames() {
	all := p.def.stateNames()
	for _, t := range p.targets {
		if p.def.State(t.name) == nil {
			p.errorf(t.at, "unknown-state", "there is no state %q; %s", shorten(t.name), mend(t.name, all))
		}
	}
	p.checkClashes()
	if s := p.def.State(p.def.Start); s != nil && s.Kind == EndState {
		p.errorf(p.starts, "start", "start must name a state with work to do; %s is an end", s.Name)
	}
	for _, t := range p.failures {
		switch s := p.def.State(t.name); {
		case s == nil:
		case s.Kind != EndState:
			p.errorf(t.at, "on-failure", "on_failure.to must name a state with end: failed; %s is %s", s.Name, aKind(s.Kind))
		case !s.Failed:
			p.errorf(t.at, "on-failure", "on_failure.to must name a state with end: failed; %s is end: succeeded", s.Name)
		}
	}
	for _, s := range p.def.States {
		if s.Kind == AwaitState {
			p.checkAwait(s)
		}
		if s.Batch > 0 && s.AtMostOnce && !p.stored {
			p.errorf(s.parts["batch"], "batch",
				"batch cannot stand beside at_most_once: one lost call would leave all instances of the batch unknown; remove one of them")
		}
	}
	for _, c := range p.codes {
		p.checkCode(c)
	}
}

// checkClashes refuses states whose names differ only in case.
func (p *parser) checkClashes() {
	lower := make(map[string]string, len(p.def.States))
	for _, s := range p.def.States {
		key := strings.ToLower(s.Name)
		if other, ok := lower[key]; ok {
			p.errorf(s.at, "name-clash", "state %s differs from %s only in case; rename one", s.Name, other)
			continue
		}
		lower[key] = s.Name
	}
}
