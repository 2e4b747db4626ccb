package definition

// edges returns the states that s leads to: on success, and by errors.
func edges(s *State) (success, failure []string) {
	for _, b := range s.Next {
		success = append(success, b.To)
	}
	for _, sig := range s.Signals {
		for _, b := range sig.Next {
			success = append(success, b.To)
		}
	}
	for _, code := range sortedCodes(s.Catch) {
		for _, b := range s.Catch[code] {
			failure = append(failure, b.To)
		}
	}
	if s.OnFailure.To != "" {
		failure = append(failure, s.OnFailure.To)
	}
	return success, failure
}

// reach returns the states that can be entered from start, without start
// itself unless a path leads back to it.
func (d *Definition) reach(start string, next func(*State) []string) map[string]bool {
	seen := map[string]bool{}
	todo := []string{start}
	for len(todo) > 0 {
		s := d.State(todo[len(todo)-1])
		todo = todo[:len(todo)-1]
		for _, to := range next(s) {
			if !seen[to] {
				seen[to] = true
				todo = append(todo, to)
			}
		}
	}
	return seen
}

func onSuccess(s *State) []string {
	success, _ := edges(s)
	return success
}

func onAny(s *State) []string {
	success, failure := edges(s)
	return append(success, failure...)
}

// checkGraph is phase 4.
func (p *parser) checkGraph() {
	d := p.def
	reached := d.reach(d.Start, onAny)
	reached[d.Start] = true
	reached[d.OnFailure.To] = true // by the deadline
	success := false
	for _, s := range d.States {
		if !reached[s.Name] {
			p.errorf(s.at, "unreachable-state",
				"no path from %s leads to state %s; point a next: or catch: at it, or remove it", d.Start, s.Name)
			continue
		}
		success = success || s.Kind == EndState && !s.Failed
		if s.Kind == EndState {
			continue
		}
		if !d.endsFrom(s) {
			p.errorf(s.at, "no-end", "no end can be reached from state %s by its own transitions; break the cycle", s.Name)
		}
		if s.Irreversible && d.reach(s.Name, onAny)[s.Name] {
			p.errorf(s.at, "irreversible-cycle",
				"state %s is irreversible but a path leads back to it, so it could run twice; break the cycle", s.Name)
		}
	}
	if !success {
		p.errorf(p.starts, "no-success", "no state with end: succeeded can be reached from %s; add one", d.Start)
	}
}

func (d *Definition) endsFrom(s *State) bool {
	for name := range d.reach(s.Name, onSuccess) {
		if d.State(name).Kind == EndState {
			return true
		}
	}
	return false
}

