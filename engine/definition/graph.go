package definition

import "strings"

// graph is the states of a definition by their place in the file, and where
// they lead.
type graph struct {
	states  []*State
	at      map[string]int // place of a state
	start   int
	success [][]int // where next: and the signals of an await lead
	failure [][]int // where catch: and on_failure: lead
	// fallback is where the workflow's on_failure: leads, which the deadline, a
	// cancel or a fault of an expression can enter from everywhere. It is empty
	// under policy forward.
	fallback []int
}

func newGraph(d *Definition) *graph {
	g := &graph{
		states:  d.States,
		at:      make(map[string]int, len(d.States)),
		success: make([][]int, len(d.States)),
		failure: make([][]int, len(d.States)),
	}
	for i, s := range d.States {
		g.at[s.Name] = i
	}
	g.start = g.at[d.Start]
	if d.OnFailure.To != "" {
		g.fallback = []int{g.at[d.OnFailure.To]}
	}
	for i, s := range d.States {
		if s.Kind == EndState {
			continue
		}
		g.success[i] = g.targets(nil, s.Next)
		for _, sig := range s.Signals {
			g.success[i] = g.targets(g.success[i], sig.Next)
		}
		for _, code := range sortedCodes(s.Catch) {
			g.failure[i] = g.targets(g.failure[i], s.Catch[code])
		}
		if s.OnFailure.To != "" {
			g.failure[i] = append(g.failure[i], g.at[s.OnFailure.To])
		}
		g.failure[i] = append(g.failure[i], g.fallback...)
	}
	return g
}

func (g *graph) targets(list []int, branches []Branch) []int {
	for _, b := range branches {
		list = append(list, g.at[b.To])
	}
	return list
}

// all returns where the states lead at all.
func (g *graph) all() [][]int {
	next := make([][]int, len(g.states))
	for i := range next {
		next[i] = append(next[i], g.success[i]...)
		next[i] = append(next[i], g.failure[i]...)
	}
	return next
}

// mark returns which states f holds for.
func (g *graph) mark(f func(i int, s *State) bool) []bool {
	marks := make([]bool, len(g.states))
	for i, s := range g.states {
		marks[i] = f(i, s)
	}
	return marks
}

// names returns the names of these states, as a list for messages.
func (g *graph) names(list []int) string {
	names := make([]string, len(list))
	for i, at := range list {
		names[i] = g.states[at].Name
	}
	return strings.Join(names, ", ")
}

// checkGraph is phase 4. The graph is kept for the phases after it only if it
// has no error, since what they would find might be its consequence.
func (p *parser) checkGraph() {
	g := newGraph(p.def)
	all := g.all()
	reached := reach(all, g.start)
	p.checkReached(g, all, reached)
	p.checkEnds(g, reached)
	p.checkPivots(g, all)
	if p.failed() {
		return
	}
	p.graph = g
	p.tightCycles(g, all)
	p.worstCases()
	p.shortRetention()
}

// checkReached refuses states that no path leads to. Of several that lead to
// each other only the first is reported: the others are mended with it.
func (p *parser) checkReached(g *graph, all [][]int, reached []bool) {
	lost := g.mark(func(i int, _ *State) bool { return !reached[i] })
	for _, part := range parts(all, lost) {
		if s := g.states[part.nodes[0]]; !part.entered {
			p.errorf(s.at, "unreachable-state",
				"no path from %s leads to state %s; point a next: or catch: at it, or remove it", p.def.Start, s.Name)
		}
	}
}

// checkEnds refuses states whose successes lead round and round, and a
// workflow that cannot succeed.
func (p *parser) checkEnds(g *graph, reached []bool) {
	var ends []int
	succeeds := false
	for i, s := range g.states {
		if s.Kind == EndState {
			ends = append(ends, i)
			succeeds = succeeds || !s.Failed // if it is not reached, that is said already
		}
	}
	if !succeeds {
		p.errorf(p.starts, "no-success", "no state with end: succeeded can be reached from %s; add one", p.def.Start)
	}
	ending := reach(reversed(g.success), ends...)
	stuck := g.mark(func(i int, _ *State) bool { return reached[i] && !ending[i] })
	for _, part := range parts(g.success, stuck) {
		if part.left { // it leads to the part to mend
			continue
		}
		s, mend := g.states[part.nodes[0]], "lead it to an end"
		if others := part.nodes[1:]; len(others) > 0 {
			mend = "lead one of " + g.names(others) + " to an end"
		}
		p.errorf(s.at, "no-end", "no end can be reached from state %s by its own transitions; %s", s.Name, mend)
	}
}

// checkPivots refuses irreversible states that could run twice.
func (p *parser) checkPivots(g *graph, all [][]int) {
	for _, part := range parts(all, g.mark(func(int, *State) bool { return true })) {
		if !part.cycle {
			continue
		}
		for _, i := range part.nodes {
			if s := g.states[i]; s.Irreversible {
				p.errorf(p.states[i].keys["irreversible"], "irreversible-cycle",
					"state %s is irreversible but a path leads back to it, so it could run twice; break the cycle", s.Name)
				break
			}
		}
	}
}
