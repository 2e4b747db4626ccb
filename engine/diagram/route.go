package diagram

import "slices"

// stub is an edge to a failed end: it leaves a state to the right, stands with
// its label in a column of labels, and joins the trunk that leads to the end.
type stub struct {
	edge     *edge
	from, to *box
	trunk    *trunk
	y        int // of the line
	dip      int // how far below the state the line runs, 0 for beside it
	port     int // x at which it leaves the bottom of the state, if it dips
}

// trunk is the line to a failed end that stubs join: one for guards, one for
// errors.
type trunk struct {
	to      *box
	failure bool
	x       int
	y       int // of the first stub
}

const (
	margin     = 24
	titleLine  = 24
	aboutLine  = 17
	stubStep   = 17 // between stubs
	trunkStep  = 22 // between trunks of one end
	portMargin = 14
	portStep   = 16
	startRoom  = 34 // for the start marker
)

// finish decides the rest of the places: y, the stubs, the failed ends and the
// size of all.
func (l *layout) finish(d *Diagram) {
	l.top = margin + titleLine + aboutLine*len(d.about) + startRoom
	l.joinTrunks()
	l.sides()
	l.heights()
	l.shift()
	l.placeEnds()
	l.frame(d)
}

// joinTrunks gives each failed end its trunks.
func (l *layout) joinTrunks() {
	for _, end := range l.ends {
		for _, failure := range []bool{false, true} {
			t := &trunk{to: end, failure: failure}
			for _, s := range l.stubs {
				if s.to == end && (s.edge.kind != onSuccess) == failure {
					s.trunk = t
				}
			}
			if slices.ContainsFunc(l.stubs, func(s *stub) bool { return s.trunk == t }) {
				l.trunks = append(l.trunks, t)
			}
		}
	}
}

// slot is the height that a stub takes, with its label.
func (s *stub) slot() int {
	_, h := labelSize(s.edge)
	return max(stubStep, h+2)
}

func slots(list []*stub) (h int) {
	for _, s := range list {
		h += s.slot()
	}
	return h
}

// sides decides which stubs run beside their state, and which below it since
// another state stands right of it.
func (l *layout) sides() {
	for _, rank := range l.ranks {
		dip := 0
		for _, b := range slices.Backward(rank) {
			mine := l.stubsOf(b)
			if len(mine) == 0 {
				continue
			}
			if !l.blocked(b) {
				b.h = max(b.h, slots(mine)+8)
				continue
			}
			for _, s := range mine {
				dip += s.slot()
				s.dip = dip - s.slot()/2
			}
		}
	}
}

func (l *layout) stubsOf(b *box) []*stub {
	var list []*stub
	if b.node == nil {
		return nil
	}
	for _, s := range l.stubs {
		if s.from == b {
			list = append(list, s)
		}
	}
	return list
}

// blocked reports whether a state stands right of b.
func (l *layout) blocked(b *box) bool {
	return slices.ContainsFunc(l.ranks[b.rank][b.seat+1:], func(o *box) bool { return o.node != nil })
}

// heights gives the ranks their y.
func (l *layout) heights() {
	y := l.top
	for r, rank := range l.ranks {
		h, dips := 0, 0
		for _, b := range rank {
			h = max(h, b.h)
			for _, s := range l.stubsOf(b) {
				if s.dip > 0 {
					dips = max(dips, s.dip+(s.slot()+1)/2)
				}
			}
		}
		for _, b := range rank {
			b.y, b.from, b.to = y+(h-b.h)/2, y, y+h
			l.levels(b, y+h)
		}
		y += h + dips + l.gapBelow(r)
	}
	l.height = y
}

// levels gives the stubs of b their y.
func (l *layout) levels(b *box, bottom int) {
	mine := l.stubsOf(b)
	y := b.y + (b.h-slots(mine))/2
	for i, s := range mine {
		if s.dip > 0 {
			s.y = bottom + s.dip
			s.port = b.x + b.w/2 - portMargin - (len(mine)-1-i)*8
			continue
		}
		s.y = y + s.slot()/2
		y += s.slot()
	}
}

// gapBelow is the room for edges below a rank: the farther they go to the side,
// the more they need.
func (l *layout) gapBelow(r int) int {
	far := 0
	for _, b := range l.ranks[r] {
		for _, o := range b.down {
			from, to := b.x, o.x
			if b.node != nil {
				from = within(to, b)
			}
			if o.node != nil {
				to = within(from, o)
			}
			far = max(far, from-to, to-from)
		}
	}
	return rankGap + min(far/8, 40)
}

// shift moves all to the right until the leftmost box is in the picture.
func (l *layout) shift() {
	least := 0
	for _, rank := range l.ranks {
		for _, b := range rank {
			least = min(least, b.x-b.w/2-b.room)
		}
	}
	for _, rank := range l.ranks {
		for _, b := range rank {
			b.x += margin - least
			l.width = max(l.width, b.x+b.w/2)
		}
	}
	for _, s := range l.stubs {
		s.port += margin - least
	}
}

// placeEnds puts the failed ends right of all that stands in the ranks, below
// the last line that leads to one.
func (l *layout) placeEnds() {
	if len(l.ends) == 0 {
		return
	}
	labels, lowest := 0, 0
	for _, s := range l.stubs {
		w, h := labelSize(s.edge)
		labels = max(labels, w)
		lowest = max(lowest, s.y+h/2)
	}
	y := lowest + 44
	if n := len(l.ranks); n > 0 && len(l.ranks[n-1]) > 0 {
		y = max(y, l.ranks[n-1][0].y)
	}
	x := l.width + stateGap
	free := x + labels + 2*portMargin // where trunks can stand
	for _, b := range l.ends {
		mine := l.trunksOf(b)
		span := (len(mine) - 1) * trunkStep
		b.x = max(x+b.w/2, free+span/2)
		b.y = y
		for i, t := range mine {
			t.x = b.x - span/2 + i*trunkStep
			t.y = b.y
			for _, s := range l.stubs {
				if s.trunk == t {
					t.y = min(t.y, s.y)
				}
			}
		}
		x = b.x + b.w/2 + stateGap
		free = x
		l.width = max(l.width, b.x+b.w/2)
		l.height = max(l.height, b.y+b.h+rankGap)
	}
}

func (l *layout) trunksOf(b *box) []*trunk {
	var list []*trunk
	for _, t := range l.trunks {
		if t.to == b {
			list = append(list, t)
		}
	}
	return list
}

// labelColumn is the x at which the labels of stubs begin.
func (l *layout) labelColumn() int {
	x := 0
	for _, rank := range l.ranks {
		for _, b := range rank {
			x = max(x, b.x+b.w/2)
		}
	}
	return x + stateGap
}

// frame makes room for the heading.
func (l *layout) frame(d *Diagram) {
	l.width = max(l.width, textWidth(d.title, titleSize)+margin)
	for _, text := range d.about {
		l.width = max(l.width, textWidth(text, smallSize)+margin)
	}
	l.width += margin
	l.height += margin - rankGap
}

// ports are the x at which edges leave or reach the sides of states: as near as
// possible to where they come from.
type ports struct {
	out, in map[*link]int // at the upper and at the lower state
}

func (l *layout) ports() ports {
	p := ports{out: make(map[*link]int), in: make(map[*link]int)}
	for _, b := range l.list {
		var below, above []*link
		for _, k := range l.links {
			if k.upper == b {
				below = append(below, k)
			}
			if k.lower == b {
				above = append(above, k)
			}
		}
		spare := 0 // on the right, where stubs leave
		for _, s := range l.stubsOf(b) {
			if s.dip > 0 {
				spare = max(spare, b.x+b.w/2-s.port+4)
			}
		}
		assign(p.out, b, below, spare)
		assign(p.in, b, above, 0)
	}
	return p
}

// assign places the ends of the links on one side of b.
func assign(places map[*link]int, b *box, list []*link, spare int) {
	next := func(k *link) *box {
		if k.upper == b {
			return k.chain[0]
		}
		return k.chain[len(k.chain)-1]
	}
	slices.SortStableFunc(list, func(a, c *link) int { return next(a).x - next(c).x })
	step := portStep
	if n := len(list) - 1; n > 0 {
		step = min(step, max(b.w-2*portMargin, 0)/n)
	}
	at := spread(len(list), func(i int) (int, float64) {
		if list[i].side == middle {
			return b.x, 1e6
		}
		return within(next(list[i]).x, b), 1
	}, func(int) int { return step })
	for i, k := range list {
		places[k] = max(min(at[i], b.x+b.w/2-4-spare), b.x-b.w/2+4)
	}
}
