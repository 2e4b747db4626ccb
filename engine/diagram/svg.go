package diagram

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"slices"
	"strings"

	"github.com/pawl-dev/pawl/engine/definition"
)

// The colours are those of a light page; the picture brings its background.
const (
	inkColor     = "#1f2328"
	quietColor   = "#57606a"
	edgeColor    = "#3d444d"
	failColor    = "#cf222e"
	doneColor    = "#1a7f37"
	undoColor    = "#8250df"
	pivotColor   = "#7d4e00"
	takenColor   = "#0969da"
	stepFill     = "#ffffff"
	waitFill     = "#f6f8fa"
	doneFill     = "#f0fff4"
	failFill     = "#fff5f5"
	visitedFill  = "#ddf4ff"
	faultFill    = "#ffd7d5"
	reachedFill  = "#aceebb"
	currentColor = "#fae17d"
)

// Text is set in a fixed-width font, whose width is known without the font.
const (
	fontFamily = "ui-monospace, 'DejaVu Sans Mono', Menlo, Consolas, monospace"
	titleSize  = 16
	nameSize   = 14
	smallSize  = 11
	lineHeight = 15
)

// textWidth is how wide a text is, with a little to spare.
func textWidth(text string, size int) int { return columns(text)*size*61/100 + 2 }

// nodeSize is the size of the box of a state.
func nodeSize(n *node) (w, h int) {
	w, h = textWidth(n.name, nameSize), nameSize+16
	for _, line := range n.smallPrint() {
		w = max(w, textWidth(line, smallSize))
		h += lineHeight
	}
	if n.undo != "" {
		w = max(w, textWidth(undoText(n), smallSize))
		h += lineHeight + 6
	}
	return w + 28, h
}

func undoText(n *node) string {
	if n.undone > 0 {
		return fmt.Sprintf("undone #%d: %s", n.undone, n.undo)
	}
	return "undo: " + n.undo
}

const pivotText = "irreversible"

// smallPrint is what stands below the name of a state.
func (n *node) smallPrint() []string {
	lines := slices.Clone(n.lines)
	if n.pivot {
		lines = append(lines, "   "+pivotText) // room for the lock
	}
	if n.fault != "" {
		lines = append(lines, n.faultText())
	}
	return lines
}

func (n *node) faultText() string {
	if n.fault == definition.CodeFailed {
		return n.fault
	}
	return "failed: " + oneLine(n.fault, nodeWidth)
}

func labelSize(e *edge) (w, h int) {
	for _, line := range e.label() {
		w = max(w, textWidth(line, smallSize)+8)
		h += lineHeight
	}
	return w, h
}

func loopWidth(e *edge) int {
	w, _ := labelSize(e)
	return w + 36
}

// SVG returns the picture as an SVG document, which brings all that it needs.
func (d *Diagram) SVG() []byte {
	l := newLayout(d)
	p := &pen{}
	p.open(l, d)
	p.heading(d)
	for _, b := range l.all() {
		p.halo(b)
	}
	at := l.ports()
	for _, taken := range []bool{false, true} { // taken ways lie on top
		for _, k := range l.links {
			if k.edge.taken() == taken {
				p.link(k, at)
			}
		}
		for _, e := range l.loops {
			if e.taken() == taken {
				p.loop(l.states[e.from], e)
			}
		}
		p.trunks(l, taken)
		for _, s := range l.stubs {
			if s.edge.taken() == taken {
				p.stub(s)
			}
		}
	}
	for _, b := range l.all() {
		p.state(b)
	}
	for _, k := range l.links {
		p.label(k.edge, k.label.x, k.label.y)
	}
	column := l.labelColumn()
	for _, s := range l.stubs {
		w, h := labelSize(s.edge)
		p.label(s.edge, column+w/2, s.y-h/2)
	}
	p.b.WriteString("</svg>\n")
	return p.b.Bytes()
}

// pen writes SVG.
type pen struct{ b bytes.Buffer }

func (p *pen) printf(format string, args ...any) { fmt.Fprintf(&p.b, format, args...) }

// escape makes text fit for an element or an attribute.
func escape(text string) string {
	var b strings.Builder
	_ = xml.EscapeText(&b, []byte(text)) // a Builder never fails
	return b.String()
}

func (p *pen) open(l *layout, d *Diagram) {
	p.printf(`<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" viewBox="0 0 %d %d" role="img" font-family="%s">`+"\n",
		l.width, l.height, l.width, l.height, fontFamily)
	p.printf("<title>%s</title>\n", escape(d.title))
	p.printf(`<rect width="%d" height="%d" fill="#ffffff"/>`+"\n", l.width, l.height)
}

func (p *pen) heading(d *Diagram) {
	y := margin + titleSize
	p.text(words{d.title, margin, y, titleSize, inkColor, "start", true})
	for _, line := range d.about {
		y += aboutLine
		p.text(words{line, margin, y, smallSize, quietColor, "start", false})
	}
}

// words are a line of text.
type words struct {
	text   string
	x, y   int // y is that of the base line
	size   int
	color  string
	anchor string
	bold   bool
}

func (p *pen) text(w words) {
	weight := ""
	if w.bold {
		weight = ` font-weight="bold"`
	}
	p.printf(`<text x="%d" y="%d" font-size="%d" fill="%s" text-anchor="%s"%s xml:space="preserve">%s</text>`+"\n",
		w.x, w.y, w.size, w.color, w.anchor, weight, escape(w.text))
}

// group writes what draw writes, with a tooltip.
func (p *pen) group(class string, tips []string, draw func()) {
	p.printf(`<g class="%s">`+"\n", class)
	if len(tips) > 0 {
		p.printf("<title>%s</title>\n", escape(visible(strings.Join(tips, "\n"))))
	}
	draw()
	p.b.WriteString("</g>\n")
}

// state draws a box.
func (p *pen) state(b *box) {
	n := b.node
	p.group("state", n.tip, func() {
		x, y := b.x-b.w/2, b.y
		if n.start {
			p.start(b)
		}
		fill, stroke, width := n.style()
		radius := 6
		if n.kind == definition.WaitState || n.kind == definition.AwaitState {
			radius = 18
		}
		p.printf(`<rect x="%d" y="%d" width="%d" height="%d" rx="%d" fill="%s" stroke="%s" stroke-width="%s"/>`+"\n",
			x, y, b.w, b.h, radius, fill, stroke, width)
		if n.kind == definition.EndState {
			p.printf(`<rect x="%d" y="%d" width="%d" height="%d" rx="4" fill="none" stroke="%s"/>`+"\n",
				x+4, y+4, b.w-8, b.h-8, stroke)
		}
		p.inside(b)
	})
}

// halo marks where the instance is. It lies below the arrows that lead there.
func (p *pen) halo(b *box) {
	if b.node.current {
		p.printf(`<rect class="current" x="%d" y="%d" width="%d" height="%d" rx="12" fill="%s"/>`+"\n",
			b.x-b.w/2-9, b.y-9, b.w+18, b.h+18, currentColor)
	}
}

// style is the fill, the border and its width.
func (n *node) style() (fill, stroke, width string) {
	fill, stroke, width = stepFill, edgeColor, "1.5"
	switch {
	case n.kind == definition.EndState && n.bad:
		fill, stroke = failFill, failColor
	case n.kind == definition.EndState:
		fill, stroke = doneFill, doneColor
	case n.pivot:
		stroke, width = pivotColor, "4"
	case n.kind != definition.StepState:
		fill = waitFill
	}
	switch {
	case n.fault != "":
		fill, stroke = faultFill, failColor
	case n.visits > 0 && n.bad:
		fill = faultFill
	case n.visits > 0 && n.kind == definition.EndState:
		fill = reachedFill
	case n.visits > 0:
		fill = visitedFill
	}
	return fill, stroke, width
}

func (p *pen) start(b *box) {
	p.printf(`<circle cx="%d" cy="%d" r="6" fill="%s"/>`+"\n", b.x, b.y-startRoom+8, inkColor)
	p.printf(`<path d="M%d %dV%d" stroke="%s" stroke-width="1.5" fill="none"/>`+"\n", b.x, b.y-startRoom+14, b.y-8, inkColor)
	p.arrow(b.x, b.y-1, inkColor)
}

// inside writes the text of a state.
func (p *pen) inside(b *box) {
	n := b.node
	_, high := nodeSize(n)
	y := b.y + (b.h-high)/2 + nameSize + 5
	p.text(words{n.name, b.x, y, nameSize, inkColor, "middle", true})
	for _, line := range n.smallPrint() {
		y += lineHeight
		color := quietColor
		switch {
		case strings.TrimSpace(line) == pivotText:
			color = pivotColor
			p.lock(b.x-textWidth(line, smallSize)/2+2, y)
		case n.fault != "" && line == n.faultText():
			color = failColor
		}
		p.text(words{line, b.x, y, smallSize, color, "middle", color != quietColor})
	}
	if n.undo == "" {
		return
	}
	y += 9
	p.printf(`<path d="M%d %dH%d" stroke="%s" stroke-width="1.5" stroke-dasharray="1.5 3" fill="none"/>`+"\n",
		b.x-b.w/2+4, y, b.x+b.w/2-4, undoColor)
	text := undoText(n)
	if n.undone > 0 {
		w := textWidth(text, smallSize)/2 + 4
		p.printf(`<rect x="%d" y="%d" width="%d" height="%d" rx="3" fill="#fbefff" stroke="%s"/>`+"\n", b.x-w, y+3, 2*w, lineHeight, undoColor)
	}
	p.text(words{text, b.x, y + lineHeight - 1, smallSize, undoColor, "middle", n.undone > 0})
}

// lock draws a closed lock, which not every font has.
func (p *pen) lock(x, y int) {
	p.printf(`<path d="M%d %dv-2a3 3 0 0 1 6 0v2" stroke="%s" stroke-width="1.5" fill="none"/>`+"\n", x+2, y-5, pivotColor)
	p.printf(`<rect x="%d" y="%d" width="10" height="6" rx="1" fill="%s"/>`+"\n", x, y-5, pivotColor)
}
