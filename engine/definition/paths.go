package definition

import (
	"cmp"
	"slices"
)

// Graphs of this package are lists: next[i] are the nodes that i leads to.

// reach returns which nodes can be entered from the given ones, which count as
// entered themselves.
func reach(next [][]int, from ...int) []bool {
	seen := make([]bool, len(next))
	todo := slices.Clone(from)
	for len(todo) > 0 {
		i := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		if !seen[i] {
			seen[i] = true
			todo = append(todo, next[i]...)
		}
	}
	return seen
}

// reversed returns for each node those that lead to it.
func reversed(next [][]int) [][]int {
	from := make([][]int, len(next))
	for i, list := range next {
		for _, j := range list {
			from[j] = append(from[j], i)
		}
	}
	return from
}

// part is the largest set of nodes that all lead to each other; a node that is
// on no cycle is a part of its own.
type part struct {
	nodes   []int // in order
	cycle   bool
	entered bool // an edge leads to it from another part
	left    bool // an edge leads from it to another part
}

// parts splits those nodes of a graph that keep marks, seeing only the edges
// between them. The parts are in the order of their first nodes.
func parts(next [][]int, keep []bool) []*part {
	t := &tarjan{
		next: next, keep: keep,
		order: make([]int, len(next)), low: make([]int, len(next)), home: make([]*part, len(next)),
	}
	for i := range next {
		if keep[i] && t.order[i] == 0 {
			t.visit(i)
		}
	}
	for i, list := range next {
		for _, j := range list {
			switch a, b := t.home[i], t.home[j]; {
			case a == nil || b == nil:
			case a == b:
				a.cycle = true
			default:
				a.left, b.entered = true, true
			}
		}
	}
	for _, part := range t.found {
		slices.Sort(part.nodes)
	}
	slices.SortFunc(t.found, func(a, b *part) int { return cmp.Compare(a.nodes[0], b.nodes[0]) })
	return t.found
}

// tarjan finds strongly connected parts by Tarjan's algorithm.
type tarjan struct {
	next  [][]int
	keep  []bool
	count int
	order []int // when a node was visited, from 1
	low   []int // the earliest node that it leads back to
	stack []int // nodes without a part yet
	home  []*part
	found []*part
}

func (t *tarjan) visit(i int) {
	t.count++
	t.order[i], t.low[i] = t.count, t.count
	t.stack = append(t.stack, i)
	for _, j := range t.next[i] {
		switch {
		case !t.keep[j] || t.home[j] != nil:
		case t.order[j] == 0:
			t.visit(j)
			t.low[i] = min(t.low[i], t.low[j])
		default:
			t.low[i] = min(t.low[i], t.order[j])
		}
	}
	if t.low[i] < t.order[i] {
		return
	}
	at := slices.Index(t.stack, i)
	whole := &part{nodes: slices.Clone(t.stack[at:])}
	t.stack = t.stack[:at]
	for _, j := range whole.nodes {
		t.home[j] = whole
	}
	t.found = append(t.found, whole)
}
