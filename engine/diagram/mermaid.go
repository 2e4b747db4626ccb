package diagram

import (
	"fmt"
	"strings"

	"github.com/pawl-dev/pawl/engine/definition"
)

// Mermaid returns the picture as a Mermaid flowchart.
func (d *Diagram) Mermaid() []byte {
	var b strings.Builder
	b.WriteString("---\ntitle: " + mermaidTitle(d.title) + "\n---\nflowchart TB\n")
	for _, line := range d.about {
		fmt.Fprintf(&b, "  %%%% %s\n", strings.NewReplacer("{", "(", "}", ")").Replace(line))
	}
	for _, n := range d.nodes {
		if n.start {
			fmt.Fprintf(&b, "  start((\" \")):::start --> %s\n", mermaidID(n))
		}
	}
	links := 1 // the one of the start
	for _, n := range d.nodes {
		open, end := n.mermaidShape()
		fmt.Fprintf(&b, "  %s%s\"%s\"%s:::%s\n", mermaidID(n), open, n.mermaidText(), end, n.mermaidClass())
	}
	var styles []string
	for _, failure := range []bool{false, true} { // the happy path first, so that it is straight
		for _, e := range d.edges {
			if e.failure() != failure {
				continue
			}
			fmt.Fprintf(&b, "  %s %s%s %s\n", mermaidID(e.from), e.mermaidArrow(), e.mermaidLabel(), mermaidID(e.to))
			if style := e.mermaidStyle(); style != "" {
				styles = append(styles, fmt.Sprintf("  linkStyle %d %s\n", links, style))
			}
			links++
		}
	}
	b.WriteString(strings.Join(styles, ""))
	b.WriteString(mermaidClasses())
	return []byte(b.String())
}

// mermaidTitle quotes a title for the YAML at the head.
func mermaidTitle(text string) string { return "'" + strings.ReplaceAll(text, "'", "''") + "'" }

// mermaidID keeps the names of states apart from the words of Mermaid, such as
// end.
func mermaidID(n *node) string { return "s_" + n.name }

// mermaidEscape writes what could be taken for markup as numbers.
func mermaidEscape(text string) string {
	var b strings.Builder
	text = strings.ReplaceAll(text, "$$", "$\u2060$") // it would begin a formula
	for _, r := range text {
		if strings.ContainsRune("\"#&<>`\\|*{}$%;~", r) {
			fmt.Fprintf(&b, "#%d;", r)
			continue
		}
		b.WriteRune(r)
	}
	return b.String()
}

func (n *node) mermaidShape() (open, end string) {
	switch {
	case n.kind == definition.EndState:
		return "[[", "]]"
	case n.kind != definition.StepState:
		return "([", "])"
	default:
		return "[", "]"
	}
}

func (n *node) mermaidText() string {
	var text strings.Builder
	text.WriteString("<b>" + mermaidEscape(n.name) + "</b>")
	for _, line := range n.smallPrint() {
		line = strings.TrimSpace(line)
		if line == pivotText {
			text.WriteString("<br/><b>⚠ " + pivotText + "</b>")
			continue
		}
		text.WriteString("<br/><small>" + mermaidEscape(line) + "</small>")
	}
	if n.undo != "" {
		text.WriteString("<br/><small>↩ " + mermaidEscape(undoText(n)) + "</small>")
	}
	return text.String()
}

// mermaidClass is the look of a state. Only one class can be given where a node
// is declared.
func (n *node) mermaidClass() string {
	switch {
	case n.fault != "":
		return "fault"
	case n.current:
		return "current"
	case n.visits > 0 && n.pivot:
		return "visitedPivot"
	case n.visits > 0:
		return "visited"
	case n.bad:
		return "failed"
	case n.kind == definition.EndState:
		return "succeeded"
	case n.pivot:
		return "irreversible"
	case n.undo != "":
		return "undoable"
	case n.kind == definition.StepState:
		return "step"
	default:
		return "waiting"
	}
}

func mermaidClasses() string {
	return `  classDef start fill:#1f2328,stroke:#1f2328
  classDef step fill:#ffffff,stroke:#3d444d,color:#1f2328
  classDef waiting fill:#f6f8fa,stroke:#3d444d,color:#1f2328
  classDef undoable fill:#ffffff,stroke:#8250df,color:#1f2328,stroke-dasharray:2 2
  classDef irreversible fill:#ffffff,stroke:#7d4e00,color:#1f2328,stroke-width:4px
  classDef succeeded fill:#f0fff4,stroke:#1a7f37,color:#1f2328
  classDef failed fill:#fff5f5,stroke:#cf222e,color:#1f2328
  classDef visited fill:#ddf4ff,stroke:#3d444d,color:#1f2328
  classDef visitedPivot fill:#ddf4ff,stroke:#7d4e00,color:#1f2328,stroke-width:4px
  classDef current fill:#fae17d,stroke:#3d444d,color:#1f2328,stroke-width:3px
  classDef fault fill:#ffd7d5,stroke:#cf222e,color:#1f2328,stroke-width:3px
`
}

func (e *edge) mermaidArrow() string {
	switch {
	case e.failure() || e.kind == byHand:
		return "-.->"
	case e.taken():
		return "==>"
	default:
		return "-->"
	}
}

func (e *edge) mermaidLabel() string {
	lines := e.label()
	if len(lines) == 0 {
		return ""
	}
	escaped := make([]string, len(lines))
	for i, line := range lines {
		escaped[i] = mermaidEscape(line)
	}
	return `|"` + strings.Join(escaped, "<br/>") + `"|`
}

func (e *edge) mermaidStyle() string {
	color, width := "", ""
	if e.failure() || e.to.bad {
		color = failColor
	}
	if e.taken() {
		width = "3px"
		if color == "" {
			color = takenColor
		}
	}
	var parts []string
	if color != "" {
		parts = append(parts, "stroke:"+color, "color:"+color)
	}
	if e.kind == onFailure {
		parts = append(parts, "stroke-dasharray:2 4")
	}
	if width != "" {
		parts = append(parts, "stroke-width:"+width)
	}
	return strings.Join(parts, ",")
}
