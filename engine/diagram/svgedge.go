package diagram

import (
	"fmt"
	"strings"
)

// line is how an edge is drawn.
type line struct{ color, width, dash string }

func (e *edge) line() line {
	ln := line{color: edgeColor, width: "1.5"}
	if e.to.bad {
		ln.color = failColor
	}
	switch e.kind {
	case onSuccess:
	case onError:
		ln = line{color: failColor, width: "1.5", dash: "6 4"}
	case onFailure:
		ln = line{color: failColor, width: "1", dash: "3 4"}
	case byHand:
		ln.dash = "6 4"
	}
	if e.taken() {
		ln.width = "3"
		if ln.color == edgeColor {
			ln.color = takenColor
		}
	}
	return ln
}

func (p *pen) path(d string, ln line) {
	dash := ""
	if ln.dash != "" {
		dash = fmt.Sprintf(` stroke-dasharray="%s"`, ln.dash)
	}
	p.printf(`<path d="%s" fill="none" stroke="%s" stroke-width="%s"%s/>`+"\n", d, ln.color, ln.width, dash)
}

// arrow draws the head of an arrow that points down to a place.
func (p *pen) arrow(x, y int, color string) { p.head(x, y, -9, color) }

// head draws the head of an arrow, whose back is that far below.
func (p *pen) head(x, y, back int, color string) {
	p.printf(`<path d="M%d %dL%d %dL%d %dZ" fill="%s"/>`+"\n", x, y, x-4, y+back, x+4, y+back, color)
}

// class names the edge for style sheets and tests.
func (e *edge) class() string {
	name := map[edgeKind]string{onSuccess: "next", onError: "catch", onFailure: "on-failure", byHand: "by-hand"}[e.kind]
	if e.taken() {
		name += " taken"
	}
	return "edge " + name
}

// tip is the tooltip of an edge.
func (e *edge) tip() []string {
	return append([]string{e.from.name + " → " + e.to.name}, e.tips...)
}

// link draws an edge between states. It is straight where it passes a rank, and
// bends between ranks only.
func (p *pen) link(k *link, at ports) {
	from, to := at.out[k], at.in[k]
	top, bottom := k.upper.y+k.upper.h, k.lower.y
	ln := k.edge.line()
	var d strings.Builder
	start, end := top, bottom-7
	if k.back {
		start, end = top+7, bottom
	}
	fmt.Fprintf(&d, "M%d %d", from, start)
	x, y := from, start
	for _, b := range k.chain {
		if b.x != x {
			bend(&d, x, y, b.x, b.from)
		}
		x, y = b.x, b.to
	}
	if to != x {
		bend(&d, x, y, to, end)
	}
	fmt.Fprintf(&d, "V%d", end)
	p.group(k.edge.class(), k.edge.tip(), func() {
		p.path(d.String(), ln)
		if k.back {
			p.head(from, top+1, 9, ln.color)
		} else {
			p.arrow(to, bottom-1, ln.color)
		}
	})
}

// bend draws a line straight down to x, y and on to another place, where it
// arrives straight down, too.
func bend(d *strings.Builder, x, y, toX, toY int) {
	middle := (y + toY) / 2
	fmt.Fprintf(d, "V%dC%d %d %d %d %d %d", y, x, middle, toX, middle, toX, toY)
}

// loop draws an edge from a state to itself, on its left.
func (p *pen) loop(b *box, e *edge) {
	w, h := labelSize(e)
	ln := e.line()
	x, y := b.x-b.w/2, b.y+b.h/2
	p.group(e.class(), e.tip(), func() {
		p.path(fmt.Sprintf("M%d %dh-14a8 8 0 0 0 -8 8v0a8 8 0 0 0 8 8h8", x, y-8), ln)
		p.printf(`<path d="M%d %dl-8 -4v8z" fill="%s"/>`+"\n", x-1, y+8, ln.color)
	})
	p.label(e, x-26-w/2, y-h/2)
}

// trunks draws the lines that the stubs join.
func (p *pen) trunks(l *layout, taken bool) {
	for _, t := range l.trunks {
		ln := line{color: failColor, width: "1.5"}
		if t.failure {
			ln.dash = "6 4"
		}
		y := t.to.y
		hit := false
		for _, s := range l.stubs {
			if s.trunk == t && s.edge.taken() {
				hit = true
				y = min(y, s.y)
			}
		}
		switch {
		case !taken:
			y = t.y
		case hit:
			ln.width = "3"
			p.path(fmt.Sprintf("M%d %dV%d", t.x, y+8, t.to.y-7), line{color: "#ffffff", width: "5"})
		default:
			continue
		}
		p.path(fmt.Sprintf("M%d %dV%d", t.x, y+8, t.to.y-7), ln)
		p.arrow(t.x, t.to.y-1, ln.color)
	}
}

// stub draws an edge to a failed end as far as the trunk.
func (p *pen) stub(s *stub) {
	p.group(s.edge.class(), s.edge.tip(), func() {
		start := fmt.Sprintf("M%d %d", s.from.x+s.from.w/2, s.y)
		if s.dip > 0 {
			start = fmt.Sprintf("M%d %dV%dq0 8 8 8", s.port, s.from.y+s.from.h, s.y-8)
		}
		p.path(fmt.Sprintf("%sH%dq8 0 8 8", start, s.trunk.x-8), s.edge.line())
	})
}

// label writes the text of an edge onto it: x is its middle, y its top.
func (p *pen) label(e *edge, x, y int) {
	lines := e.label()
	if len(lines) == 0 {
		return
	}
	w, h := labelSize(e)
	color := inkColor
	if e.failure() || e.to.bad {
		color = failColor
	}
	p.group("label", e.tip(), func() {
		p.printf(`<rect x="%d" y="%d" width="%d" height="%d" fill="#ffffff"/>`+"\n", x-w/2, y, w, h)
		for i, text := range lines {
			line := words{text, x, y + (i+1)*lineHeight - 4, smallSize, color, "middle", i == 0 && e.taken()}
			if line.bold {
				line.color = takenColor
			}
			p.text(line)
		}
	})
}
