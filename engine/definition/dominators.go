package definition

import "slices"

// flow is the graph with every state split in two nodes: in, where it is
// entered and from where its failures lead, and done, from where its success
// leads. So what a state gives is known wherever done surely lies behind.
type flow struct {
	next  [][]int
	doms  []bits         // by node, see dominators
	after map[int][]bool // see follows
}

// in returns the node where state i is entered.
func in(i int) int { return 2 * i }

// done returns the node where state i has succeeded.
func done(i int) int { return 2*i + 1 }

func newFlow(g *graph) *flow {
	f := &flow{next: make([][]int, 2*len(g.states)), after: map[int][]bool{}}
	double := func(list []int, states []int) []int {
		for _, i := range states {
			list = append(list, in(i))
		}
		return list
	}
	for i, s := range g.states {
		if s.Kind == EndState {
			continue
		}
		f.next[in(i)] = double([]int{done(i)}, g.failure[i])
		// A guard, or the with: of the next state, can be at fault.
		f.next[done(i)] = double(double(nil, g.success[i]), g.fallback)
	}
	f.doms = dominators(f.next, in(g.start))
	return f
}

// surely reports whether every path to node leads over by.
func (f *flow) surely(by, node int) bool { return f.doms[node].has(by) }

// follows reports whether a path leads from a node to another one.
func (f *flow) follows(from, to int) bool {
	if f.after[from] == nil {
		f.after[from] = reach(f.next, from)
	}
	return f.after[from][to]
}

// dominators returns for each node that can be reached from start those nodes
// that every path to it leads over, the node itself among them.
func dominators(next [][]int, start int) []bits {
	order := reversePostorder(next, start)
	from := reversed(next)
	doms := make([]bits, len(next))
	doms[start] = newBits(len(next))
	doms[start].add(start)
	for changed := true; changed; {
		changed = false
		for _, node := range order[1:] {
			meet := newBits(len(next))
			first := true
			for _, before := range from[node] {
				switch {
				case doms[before] == nil: // not known yet, or never reached
				case first:
					copy(meet, doms[before])
					first = false
				default:
					meet.keep(doms[before])
				}
			}
			meet.add(node)
			if !slices.Equal(meet, doms[node]) {
				doms[node], changed = meet, true
			}
		}
	}
	return doms
}

// reversePostorder returns the nodes that can be reached from start, each
// before those that it leads to as far as there are no cycles.
func reversePostorder(next [][]int, start int) []int {
	var order []int
	seen := make([]bool, len(next))
	var visit func(node int)
	visit = func(node int) {
		seen[node] = true
		for _, to := range next[node] {
			if !seen[to] {
				visit(to)
			}
		}
		order = append(order, node)
	}
	visit(start)
	slices.Reverse(order)
	return order
}

// bits is a set of small numbers; a nil one is empty.
type bits []uint64

func newBits(size int) bits { return make(bits, (size+63)/64) }

func (b bits) add(i int) { b[i/64] |= 1 << (i % 64) }

func (b bits) has(i int) bool { return i/64 < len(b) && b[i/64]&(1<<(i%64)) != 0 }

// keep removes what is not in other.
func (b bits) keep(other bits) {
	for i := range b {
		b[i] &= other[i]
	}
}
