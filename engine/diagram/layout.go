package diagram

import (
	"slices"

	"github.com/pawl-dev/pawl/engine/definition"
)

// The picture is laid out in layers, after Sugiyama: states stand in even
// ranks, what is written at the edges in the odd ranks between them. An edge
// over several ranks has a box in each, so nothing else is put in its way.
// Failed ends stand apart on the right: every state can lead there.

// side is where a box stands: left of the straight way, on it, or right of it.
type side int

const (
	left   side = -1
	middle side = 0
	right  side = 1
)

// box is what takes room in a rank: a state, a label, or a passing edge.
type box struct {
	node *node // nil for what belongs to an edge
	link *link // nil for a state
	side side
	rank int
	w, h int
	room int // beside it, for edges to itself
	x    int // of its middle
	y    int // of its top

	from, to int // y of the rank

	up, down []*box // neighbours in the ranks above and below
	seat     int    // place in its rank
}

// link is an edge between states that do not fail.
type link struct {
	edge         *edge
	upper, lower *box
	back         bool // it leads upwards
	side         side
	chain        []*box // from upper to lower, without both
	label        *box   // of the chain
}

// layout is where everything stands.
type layout struct {
	states map[*node]*box
	list   []*box // of the states, in the order of the file
	links  []*link
	loops  []*edge // from a state to itself
	stubs  []*stub
	trunks []*trunk
	ends   []*box // failed ends
	ranks  [][]*box

	top           int // of the first rank
	width, height int
}

func newLayout(d *Diagram) *layout {
	l := &layout{states: make(map[*node]*box)}
	for _, n := range d.nodes {
		b := &box{node: n}
		b.w, b.h = nodeSize(n)
		if n.bad {
			l.ends = append(l.ends, b)
		} else {
			l.list = append(l.list, b)
		}
		l.states[n] = b
	}
	l.addEdges(d)
	l.rank()
	l.chooseSides()
	l.fillRanks()
	l.order()
	l.place()
	l.finish(d)
	return l
}

// all returns the boxes of all states.
func (l *layout) all() []*box { return slices.Concat(l.list, l.ends) }

// addEdges sorts the edges by how they are drawn. Ways of success come first:
// they decide what is above what.
func (l *layout) addEdges(d *Diagram) {
	for _, failure := range []bool{false, true} {
		for _, e := range d.edges {
			if e.failure() != failure || e.from.bad {
				continue
			}
			from, to := l.states[e.from], l.states[e.to]
			switch {
			case e.to.bad:
				l.stubs = append(l.stubs, &stub{edge: e, from: from, to: to})
			case from == to:
				l.loops = append(l.loops, e)
				from.room = max(from.room, loopWidth(e))
			default:
				l.links = append(l.links, &link{edge: e, upper: from, lower: to})
			}
		}
	}
}

// rank turns links that close a cycle upside down, and puts each state below
// all that lead to it.
func (l *layout) rank() {
	out := make(map[*box][]*link)
	for _, k := range l.links {
		out[k.upper] = append(out[k.upper], k)
	}
	const open, done = 1, 2
	mark := make(map[*box]int)
	var sorted []*box // each after all that it leads to
	var walk func(b *box)
	walk = func(b *box) {
		mark[b] = open
		for _, k := range out[b] {
			switch mark[k.lower] {
			case open:
				k.back = true
			case done:
			default:
				walk(k.lower)
			}
		}
		mark[b] = done
		sorted = append(sorted, b)
	}
	for _, start := range []bool{true, false} {
		for _, b := range l.list {
			if mark[b] == 0 && b.node.start == start {
				walk(b)
			}
		}
	}
	for _, k := range l.links {
		if k.back {
			k.upper, k.lower = k.lower, k.upper
		}
	}
	out = make(map[*box][]*link)
	for _, k := range l.links {
		out[k.upper] = append(out[k.upper], k)
	}
	for _, b := range slices.Backward(sorted) {
		for _, k := range out[b] {
			k.lower.rank = max(k.lower.rank, b.rank+2)
		}
	}
}

// chooseSides puts the straight way in the middle, states that only an error
// leads to on the right, and other states on the left.
func (l *layout) chooseSides() {
	for _, b := range l.list {
		b.side = right
	}
	byRank := slices.Clone(l.links)
	slices.SortStableFunc(byRank, func(a, b *link) int { return a.upper.rank - b.upper.rank })
	spine := l.spine(byRank)
	for b := range spine {
		b.side = middle
	}
	for _, k := range byRank {
		if !k.edge.failure() && k.upper.side != right && k.lower.side == right {
			k.lower.side = left
		}
	}
	for _, k := range l.links {
		switch {
		case spine[k.upper] == k.lower && spine[k.upper] != nil && !k.edge.failure() && !k.back:
			k.side = middle
		case k.upper.side == right || k.lower.side == right,
			k.edge.failure() && k.lower.side != left && k.upper.side != left:
			k.side = right
		default:
			k.side = left
		}
	}
}

// spine is the longest way from the start to a success: for each state on it
// the next one, nil for the last.
func (l *layout) spine(byRank []*link) map[*box]*box {
	length := make(map[*box]int)
	next := make(map[*box]*box)
	for _, b := range l.list {
		if b.node.kind == definition.EndState {
			length[b] = 1
		}
	}
	for _, k := range slices.Backward(byRank) {
		n := length[k.lower]
		if k.back || k.edge.failure() || n == 0 || n+1 < length[k.upper] {
			continue
		}
		length[k.upper], next[k.upper] = n+1, k.lower
	}
	way := make(map[*box]*box)
	for _, b := range l.list {
		if !b.node.start {
			continue
		}
		for ; b != nil; b = next[b] {
			way[b] = next[b]
		}
		break
	}
	return way
}

// fillRanks makes the boxes of the edges, and puts all boxes into their ranks.
func (l *layout) fillRanks() {
	last := 0
	for _, b := range l.list {
		last = max(last, b.rank)
	}
	l.ranks = make([][]*box, last+1)
	for _, b := range l.list {
		l.ranks[b.rank] = append(l.ranks[b.rank], b)
	}
	for _, k := range l.links {
		at := k.upper.rank + 1
		if k.back {
			at = k.lower.rank - 1
		}
		above := k.upper
		for r := k.upper.rank + 1; r < k.lower.rank; r++ {
			b := &box{link: k, side: k.side, rank: r}
			if r == at {
				b.w, b.h = labelSize(k.edge)
				k.label = b
			}
			connect(above, b)
			k.chain = append(k.chain, b)
			l.ranks[r] = append(l.ranks[r], b)
			above = b
		}
		connect(above, k.lower)
	}
}

func connect(upper, lower *box) {
	upper.down = append(upper.down, lower)
	lower.up = append(lower.up, upper)
}
