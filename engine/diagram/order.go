package diagram

import (
	"cmp"
	"slices"
)

// order seats the boxes of each rank so that edges cross as little as possible.
// Sides stay apart.
func (l *layout) order() {
	for _, rank := range l.ranks {
		sortRank(rank, func(*box) float64 { return 0 })
	}
	rounds := l.rounds()
	if rounds == 0 {
		return
	}
	best, least := l.seats(), l.crossings()
	for round := range rounds {
		if round%2 == 0 {
			for _, rank := range l.ranks {
				sortRank(rank, func(b *box) float64 { return mean(b.up, b) })
			}
		} else {
			for _, rank := range slices.Backward(l.ranks) {
				sortRank(rank, func(b *box) float64 { return mean(b.down, b) })
			}
		}
		l.swap()
		if n := l.crossings(); n < least {
			best, least = l.seats(), n
		}
	}
	for r, rank := range l.ranks {
		copy(rank, best[r])
		seat(rank)
	}
}

// rounds is how often the order may be improved. A picture that is too large
// for any is not readable in any order.
func (l *layout) rounds() int {
	const most, effort = 8, 20_000_000
	cost := 1
	for _, rank := range l.ranks {
		cost += len(rank) * len(rank)
	}
	return min(most, effort/cost)
}

// sortRank sorts a rank by side, then by key.
func sortRank(rank []*box, key func(b *box) float64) {
	keys := make(map[*box]float64, len(rank))
	for _, b := range rank {
		keys[b] = key(b)
	}
	slices.SortStableFunc(rank, func(a, b *box) int {
		return cmp.Or(cmp.Compare(a.side, b.side), cmp.Compare(keys[a], keys[b]))
	})
	seat(rank)
}

func seat(rank []*box) {
	for i, b := range rank {
		b.seat = i
	}
}

func mean(list []*box, b *box) float64 {
	if len(list) == 0 {
		return float64(b.seat)
	}
	sum := 0
	for _, n := range list {
		sum += n.seat
	}
	return float64(sum) / float64(len(list))
}

func (l *layout) seats() [][]*box {
	list := make([][]*box, len(l.ranks))
	for r, rank := range l.ranks {
		list[r] = slices.Clone(rank)
	}
	return list
}

// swap changes the places of neighbours where that takes crossings away.
func (l *layout) swap() {
	for _, rank := range l.ranks {
		for i := 1; i < len(rank); i++ {
			a, b := rank[i-1], rank[i]
			if a.side != b.side {
				continue
			}
			now := inversions(a.up, b.up) + inversions(a.down, b.down)
			then := inversions(b.up, a.up) + inversions(b.down, a.down)
			if then < now {
				rank[i-1], rank[i] = b, a
				seat(rank)
			}
		}
	}
}

// inversions counts how often an edge to the list of a left box crosses one to
// the list of the box right of it.
func inversions(ofLeft, ofRight []*box) int {
	n := 0
	for _, a := range ofLeft {
		for _, b := range ofRight {
			if a.seat > b.seat {
				n++
			}
		}
	}
	return n
}

func (l *layout) crossings() int {
	n := 0
	for _, rank := range l.ranks {
		for i, b := range rank {
			for _, a := range rank[:i] {
				n += inversions(a.down, b.down)
			}
		}
	}
	return n
}
