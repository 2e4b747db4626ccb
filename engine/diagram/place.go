package diagram

import "math"

const (
	stateGap = 36 // between boxes of a rank
	lineGap  = 16 // if one of them is a passing edge
	rankGap  = 16 // between ranks
)

// place gives the boxes their x: each rank in turn moves as near as it can to
// the middle of its neighbours, the straight way stays where it is.
func (l *layout) place() {
	for _, rank := range l.ranks {
		settle(rank, func(b *box) (int, float64) { return 0, weight(b) })
	}
	const most, effort = 24, 3_000_000
	boxes := 1
	for _, rank := range l.ranks {
		boxes += len(rank)
	}
	for round := range max(min(most, effort/boxes), 2) {
		for i := range l.ranks {
			if round%2 == 1 {
				i = len(l.ranks) - 1 - i
			}
			settle(l.ranks[i], func(b *box) (int, float64) { return wish(b), weight(b) })
		}
	}
	l.straighten()
}

// straighten draws edges that pass several ranks outwards to where they can be
// straight.
func (l *layout) straighten() {
	const rounds = 8
	for range rounds {
		outmost := make(map[*link]int)
		for _, k := range l.links {
			at := k.chain[0].x
			for _, b := range k.chain {
				if k.side == right && b.x > at || k.side == left && b.x < at {
					at = b.x
				}
			}
			outmost[k] = at
		}
		for _, rank := range l.ranks {
			settle(rank, func(b *box) (int, float64) {
				if b.node == nil && b.side != middle && len(b.link.chain) > 1 {
					const firm = 1000
					return outmost[b.link], firm
				}
				return b.x, weight(b)
			})
		}
	}
}

// weight is how hard a box insists: the straight way does most, then edges that
// pass, so that they are straight, too.
func weight(b *box) float64 {
	switch {
	case b.side == middle:
		return 1e6
	case b.node == nil && b.w == 0:
		return 8
	case b.node == nil:
		return 4
	default:
		return 1
	}
}

// wish is where a box would stand best.
func wish(b *box) int {
	if b.side == middle {
		return 0
	}
	sum, n := 0, 0
	for _, list := range [][]*box{b.up, b.down} {
		for _, o := range list {
			if b.node == nil && o.node != nil {
				// An edge need not end in the middle of a state.
				sum, n = sum+within(b.x, o), n+1
				continue
			}
			sum, n = sum+2*o.x, n+2
		}
	}
	if n == 0 {
		return b.x
	}
	return sum / n
}

// within is the x nearest to x at which an edge can reach o.
func within(x int, o *box) int {
	half := max(o.w/2-portMargin, 0)
	return min(max(x, o.x-half), o.x+half)
}

// settle gives the boxes of a rank, which keep their order and distance, the
// places that are nearest to their wishes: the sum of the squares, each with
// its weight, is least.
func settle(rank []*box, wish func(b *box) (at int, weight float64)) {
	gaps := make([]int, len(rank))
	for i := 1; i < len(rank); i++ {
		gaps[i] = gap(rank[i-1], rank[i])
	}
	places := spread(len(rank), func(i int) (int, float64) { return wish(rank[i]) }, func(i int) int { return gaps[i] })
	for i, b := range rank {
		b.x = places[i]
	}
}

func gap(a, b *box) int {
	space := stateGap
	if a.node == nil || b.node == nil {
		space = lineGap
	}
	return (a.w+1)/2 + (b.w+1)/2 + b.room + space
}

// spread places n points that wish to be somewhere, each at least gap behind
// the one before. Points that would be too near move as one, to the mean of
// their wishes.
func spread(n int, wish func(i int) (at int, weight float64), gap func(i int) int) []int {
	type group struct {
		from        int
		sum, weight float64
	}
	offsets := make([]int, n) // of a point, if all stood as close as they can
	var groups []group
	for i := range n {
		if i > 0 {
			offsets[i] = offsets[i-1] + gap(i)
		}
		at, w := wish(i)
		g := group{from: i, sum: float64(at-offsets[i]) * w, weight: w}
		for len(groups) > 0 {
			before := groups[len(groups)-1]
			if before.sum*g.weight <= g.sum*before.weight {
				break
			}
			g = group{from: before.from, sum: before.sum + g.sum, weight: before.weight + g.weight}
			groups = groups[:len(groups)-1]
		}
		groups = append(groups, g)
	}
	places := make([]int, n)
	for k, g := range groups {
		end := n
		if k+1 < len(groups) {
			end = groups[k+1].from
		}
		at := int(math.Round(g.sum / g.weight))
		for i := g.from; i < end; i++ {
			places[i] = at + offsets[i]
		}
	}
	return places
}
