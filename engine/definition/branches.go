package definition

import (
	"maps"
	"slices"

	"gopkg.in/yaml.v3"
)

// state reads the name of a state; that it exists is checked later.
func (p *parser) state(name string, n *yaml.Node) string {
	if isExpr(n) {
		p.errorf(place(n), "dynamic-target", "a target state cannot be an expression; list the targets with guards")
		return ""
	}
	if n.Kind != yaml.ScalarNode || n.Tag != "!!str" || n.Value == "" {
		p.errorf(place(n), "type", "%s must be the name of a state, not %s", name, describe(n))
		return ""
	}
	p.targets = append(p.targets, target{n.Value, place(n)})
	return n.Value
}

// draftBranch is an item of next: as it is read.
type draftBranch struct {
	Branch
	place availability
}

func branchFields() []field[draftBranch] {
	return []field[draftBranch]{
		{
			name: "when", shape: like("expression"),
			doc: "Guard of the branch: an expression that is true or false. Only the last branch has none.",
			read: func(p *parser, b *draftBranch, n *yaml.Node) {
				b.When = p.expr(n, want{name: "when", place: b.place, guard: true, example: "output.status == 'green'"})
			},
		},
		{
			name: "to", required: anyKind, shape: like("word"),
			doc:  "State that the branch leads to.",
			read: func(p *parser, b *draftBranch, n *yaml.Node) { b.To = p.state("to", n) },
		},
	}
}

// branches reads a target, or a list of branches of which exactly the last has
// no guard.
func (p *parser) branches(name string, n *yaml.Node, where availability) []Branch {
	switch {
	case n.Kind == yaml.ScalarNode:
		return []Branch{{To: p.state(name, n)}}
	case n.Kind != yaml.SequenceNode || len(n.Content) == 0:
		p.errorf(place(n), "type", "%s must be a state or a list of branches (when:, to:), not %s", name, describe(n))
		return nil
	}
	list := make([]Branch, 0, len(n.Content))
	for i, item := range n.Content {
		b := draftBranch{place: where}
		readFields(p, block{node: item, name: name, at: place(item)}, branchFields(), &b)
		guarded, last := item.Kind == yaml.MappingNode && child(item, "when") != nil, i == len(n.Content)-1
		switch {
		case item.Kind != yaml.MappingNode:
		case last && guarded:
			p.errorf(place(item), "guard-exhaustive",
				"the last branch has a guard, so an instance could be stuck here; add a last branch with only to:")
		case !last && !guarded:
			p.errorf(place(item), "guard-dead", "this branch has no guard, so the ones after it are never tried; move it last")
		}
		list = append(list, b.Branch)
	}
	return list
}

func (p *parser) catch(s *draftState, n *yaml.Node) {
	if n.Kind != yaml.MappingNode {
		p.errorf(place(n), "type", "catch must be a map from codes to states, not %s", describe(n))
		return
	}
	s.Catch = make(map[string][]Branch, len(n.Content)/2)
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, value := n.Content[i], n.Content[i+1]
		if s.Kind == StepState { // of an await see checkAwait
			p.codes = append(p.codes, code{key.Value, place(key)})
		}
		s.parts["catch."+key.Value] = place(key)
		s.Catch[key.Value] = p.branches(key.Value, value, afterError)
	}
}

// sortedCodes returns the codes of a catch: in order.
func sortedCodes(catch map[string][]Branch) []string { return slices.Sorted(maps.Keys(catch)) }

// checkCode refuses the codes of the engine that cannot be caught.
func (p *parser) checkCode(c code) {
	if why, ok := uncatchable()[c.name]; ok {
		p.errorf(c.at, "catch-code", "code %q cannot be named here; %s", c.name, why)
	}
}
