package diagram

import (
	"fmt"
	"strings"

	"github.com/pawl-dev/pawl/engine/definition"
)

// DOT returns the picture as text for Graphviz. Each statement is a line.
func (d *Diagram) DOT() []byte {
	var b strings.Builder
	heading := append([]string{d.title}, d.about...)
	fmt.Fprintf(&b, "digraph %s {\n", quoteDOT(d.title))
	writeDOT(&b, "graph", attributes{
		{"label", strings.Join(heading, "\n")},
		{"labelloc", "t"},
		{"bgcolor", "white"},
		{"fontname", dotFont},
		{"ranksep", "0.35"},
		{"nodesep", "0.5"},
		{"newrank", "true"},
	})
	writeDOT(&b, "node", attributes{{"fontname", dotFont}, {"fontsize", "12"}, {"shape", "box"}, {"style", "rounded,filled"}, {"fillcolor", stepFill}, {"color", edgeColor}})
	writeDOT(&b, "edge", attributes{{"fontname", dotFont}, {"fontsize", "10"}, {"color", edgeColor}, {"arrowsize", "0.7"}})
	for _, n := range d.nodes {
		if n.start {
			writeDOT(&b, quoteDOT(" start"), attributes{{"shape", "circle"}, {"label", ""}, {"width", "0.15"}, {"fillcolor", inkColor}})
			writeDOT(&b, quoteDOT(" start")+" -> "+quoteDOT(n.name), attributes{{"weight", "20"}})
		}
	}
	l := newLayout(d)
	for _, n := range d.nodes {
		list := n.dot()
		if !n.bad && l.states[n].side == middle {
			list = append(list, [2]string{"group", "way"}) // Graphviz draws it straight
		}
		writeDOT(&b, quoteDOT(n.name), list)
	}
	for _, failure := range []bool{false, true} {
		for _, e := range d.edges {
			if e.failure() == failure {
				writeDOT(&b, quoteDOT(e.from.name)+" -> "+quoteDOT(e.to.name), e.dot())
			}
		}
	}
	b.WriteString("}\n")
	return []byte(b.String())
}

const dotFont = "monospace"

// attributes are names and values, in order.
type attributes [][2]string

func writeDOT(b *strings.Builder, what string, list attributes) {
	parts := make([]string, len(list))
	for i, a := range list {
		value := quoteDOT(a[1])
		if a[0] == "label" && strings.HasPrefix(a[1], "<") {
			value = a[1] // markup, see node.dot
		}
		parts[i] = a[0] + "=" + value
	}
	fmt.Fprintf(b, "  %s [%s];\n", what, strings.Join(parts, ", "))
}

// quoteDOT writes a string of DOT. A backslash would begin an escape of its
// own, such as \N for the name of the node.
func quoteDOT(text string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\r", "", "\n", `\n`).Replace(visible(text)) + `"`
}

// dot returns the look of a state. Its label is markup, for small letters.
func (n *node) dot() attributes {
	var label strings.Builder
	label.WriteString("<<b>" + escape(n.name) + "</b>")
	for _, line := range n.smallPrint() {
		line = strings.TrimSpace(line)
		if line == pivotText {
			fmt.Fprintf(&label, `<br/><font point-size="10" color="%s"><b>%s</b></font>`, pivotColor, pivotText)
			continue
		}
		fmt.Fprintf(&label, `<br/><font point-size="10">%s</font>`, escape(line))
	}
	if n.undo != "" {
		fmt.Fprintf(&label, `<br/><font point-size="10" color="%s">%s</font>`, undoColor, escape(undoText(n)))
	}
	list := attributes{{"label", label.String() + ">"}, {"tooltip", strings.Join(n.tip, "\n")}}
	fill, stroke, width := n.style()
	if n.current {
		fill = currentColor
	}
	if fill != stepFill {
		list = append(list, [2]string{"fillcolor", fill})
	}
	if stroke != edgeColor {
		list = append(list, [2]string{"color", stroke})
	}
	if n.pivot {
		list = append(list, [2]string{"penwidth", width})
	}
	if n.kind == definition.EndState {
		list = append(list, [2]string{"peripheries", "2"})
	}
	return list
}

func (e *edge) dot() attributes {
	ln := e.line()
	list := attributes{{"tooltip", strings.Join(e.tip(), "\n")}}
	if lines := e.label(); len(lines) > 0 {
		list = append(list, [2]string{"label", " " + strings.Join(lines, " \n ") + " "})
	}
	if ln.color != edgeColor {
		list = append(list, [2]string{"color", ln.color}, [2]string{"fontcolor", ln.color})
	}
	switch e.kind {
	case onSuccess:
		if !e.to.bad {
			list = append(list, [2]string{"weight", "10"})
		}
	case onFailure:
		list = append(list, [2]string{"style", "dotted"}, [2]string{"weight", "0"})
	case onError, byHand:
		list = append(list, [2]string{"style", "dashed"}, [2]string{"weight", "1"})
	}
	if e.taken() {
		list = append(list, [2]string{"penwidth", ln.width})
	}
	return list
}
