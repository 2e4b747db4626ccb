package definition

import (
	"slices"
	"strings"

	"github.com/pawl-dev/pawl/engine/expression"
)

// checkOrder refuses states.X.output where X has not surely succeeded before,
// unless the expression says what to do then, and where it never can have.
// Without a sound graph, and after a mistake in the reference itself, there is
// nothing to check.
func (p *parser) checkOrder(s slot, ref expression.Ref) {
	if p.graph == nil || len(ref.Path) < 3 {
		return
	}
	of, ok := p.graph.at[ref.Path[1]]
	if !ok {
		return
	}
	if kind := p.graph.states[of].Kind; kind != StepState && kind != AwaitState {
		return
	}
	if p.flow == nil {
		p.flow = newFlow(p.graph)
	}
	at := s.value.expr.place(ref.At[0])
	switch surely, ever := p.flow.known(of, p.graph.at[s.state], s.want.place); {
	case !ever:
		p.errorf(at, "state-order", "states.%s has no output here, it never runs before %s; use another state",
			ref.Path[1], s.state)
	case !surely && !guarded(ref):
		p.errorf(at, "state-order",
			"states.%s may have no output here, it runs on only some paths to %s; write %s ?? default",
			ref.Path[1], s.state, optionalPath(ref))
	}
}

// known reports whether the output of a state is surely known, and whether it
// ever is, in a place of the state here.
func (f *flow) known(of, here int, where availability) (surely, ever bool) {
	switch where {
	case afterSuccess, afterSignal:
		return f.surely(done(of), done(here)), f.follows(done(of), done(here))
	case undoing: // any time after here, which is what gets undone
		return of == here || f.surely(done(of), in(here)),
			of == here || f.follows(done(of), in(here)) || f.follows(in(here), done(of))
	default:
		return f.surely(done(of), in(here)), f.follows(done(of), in(here))
	}
}

// guarded reports whether the expression gets along without the output.
func guarded(ref expression.Ref) bool {
	return ref.Default && ref.Safe[2] && (len(ref.Path) == 3 || ref.Safe[3])
}

// optionalPath writes a reference to an output so that each part may be
// absent, as far as "?." can be put before it.
func optionalPath(ref expression.Ref) string {
	names := ref.Path[1:]
	if odd := slices.IndexFunc(names, func(s string) bool { return !namePattern.MatchString(s) }); odd >= 0 {
		names = names[:odd]
	}
	return "states." + strings.Join(names, "?.")
}
