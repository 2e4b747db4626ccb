package diagram

import (
	"fmt"
	"strings"

	"github.com/pawl-dev/pawl/engine/definition"
)

// Options say what to draw beside the definition. The zero value adds nothing.
type Options struct {
	Instance string // id of the instance, for the heading
	State    string // where the instance is: highlighted
	Failed   string // state whose error led to the failure, empty if there is none
	Code     string // of that error
	Path     []Visit
}

// Visit is a move of an instance from a state to another, the oldest first.
type Visit struct {
	From, To string
	Code     string // of the error that led on, empty after a success

	// Undone means that From was undone: To is undone next, or is the end.
	Undone bool
	// Operator means that an operator moved it.
	Operator bool
}

// Diagram is a picture of a workflow. Its methods may be called concurrently.
type Diagram struct {
	title string
	about []string // lines below the title
	nodes []*node
	edges []*edge
	index map[string]*node
}

// New returns the picture of def. Moves in o that name no state of def are left
// out.
func New(def *definition.Definition, o Options) *Diagram {
	d := &Diagram{
		title: fmt.Sprintf("%s version %d", def.Workflow, def.Version),
		index: make(map[string]*node, len(def.States)),
	}
	if text := oneLine(def.Description, aboutWidth); text != "" {
		d.about = append(d.about, text)
	}
	for _, s := range def.States {
		n := newNode(def, s)
		d.nodes = append(d.nodes, n)
		d.index[n.name] = n
	}
	for _, s := range def.States {
		d.addEdges(def, s)
	}
	d.follow(o)
	return d
}

// Widths in columns at which text is cut; tooltips have all of it.
const (
	aboutWidth = 90
	nodeWidth  = 34
	labelWidth = 36
)

// node is a state.
type node struct {
	name  string
	kind  definition.Kind
	start bool
	bad   bool     // end: failed
	lines []string // below the name
	pivot bool     // irreversible
	undo  string   // handler that undoes it
	tip   []string

	// Of an instance:
	visits  int
	current bool
	fault   string // error code, if the failure began here
	undone  int    // place in the path, 0 if it was not
}

// edgeKind tells the ways out of a state apart.
type edgeKind int

const (
	onSuccess edgeKind = iota // next: and the signals of an await
	onError                   // catch:
	onFailure                 // on_failure:
	byHand                    // of an instance alone: not in the definition
)

// edge is a way from a state to another. Ways of one kind between the same
// states are one edge.
type edge struct {
	from, to *node
	kind     edgeKind
	guards   []string // why it is taken: guards, signals, codes
	codes    []string // error codes that lead here
	tips     []string
	times    []int // place of each time that it was taken, from 1
}

// addEdges adds the ways out of s.
func (d *Diagram) addEdges(def *definition.Definition, s *definition.State) {
	d.branches(s, onSuccess, "", s.Next)
	for _, sig := range s.Signals {
		d.branches(s, onSuccess, sig.Name, sig.Next)
	}
	for _, code := range sortedCodes(s.Catch) {
		d.branches(s, onError, code, s.Catch[code])
	}
	_, timed := s.Catch[definition.CodeTimeout]
	fails := s.Kind == definition.StepState || s.Kind == definition.AwaitState && s.Timeout > 0 && !timed
	if !fails || s.OnFailure.To == "" {
		return
	}
	e := d.edge(s.Name, s.OnFailure.To, onFailure)
	if e == nil {
		return
	}
	if s.OnFailure != def.OnFailure {
		e.guards = append(e.guards, policyText(s.OnFailure.Policy))
	}
	e.tips = append(e.tips, "any other error, after the attempts; "+policyText(s.OnFailure.Policy))
}

func policyText(p definition.Policy) string { return "on_failure: " + string(p) }

// branches adds ways that are tried in order. cause is the signal or error code
// that opens them.
func (d *Diagram) branches(s *definition.State, kind edgeKind, cause string, list []definition.Branch) {
	for _, b := range list {
		e := d.edge(s.Name, b.To, kind)
		if e == nil {
			continue
		}
		guard := ""
		switch {
		case b.When != nil:
			guard = b.When.Source()
		case len(list) > 1:
			guard = "otherwise"
		}
		if kind == onError {
			e.codes = append(e.codes, cause)
		}
		if text := withCause(cause, guard); text != "" {
			e.guards = append(e.guards, oneLine(text, labelWidth))
			e.tips = append(e.tips, text)
		}
	}
}

func withCause(cause, guard string) string {
	switch {
	case cause == "":
		return guard
	case guard == "":
		return cause
	case guard == "otherwise":
		return cause + ", otherwise"
	default:
		return cause + " if " + guard
	}
}

// edge returns the edge of that kind, which it adds if there is none; nil if
// there is no such state.
func (d *Diagram) edge(from, to string, kind edgeKind) *edge {
	a, b := d.index[from], d.index[to]
	if a == nil || b == nil {
		return nil
	}
	for _, e := range d.edges {
		if e.from == a && e.to == b && e.kind == kind {
			return e
		}
	}
	e := &edge{from: a, to: b, kind: kind}
	d.edges = append(d.edges, e)
	return e
}

// failure reports whether an error leads this way.
func (e *edge) failure() bool { return e.kind == onError || e.kind == onFailure }

// taken reports whether the instance went this way.
func (e *edge) taken() bool { return len(e.times) > 0 }

// label is what stands at the edge, one string a line.
func (e *edge) label() []string {
	lines := e.guards
	if e.kind == onError {
		lines = joinLines(e.guards, labelWidth)
	}
	const most = 3
	if len(lines) > most {
		lines = append(lines[:most-1:most-1], fmt.Sprintf("… and %d more", len(lines)-most+1))
	}
	if text := e.numbers(); text != "" {
		lines = append([]string{text}, lines...)
	}
	return lines
}

// numbers says when the edge was taken: its places in the path.
func (e *edge) numbers() string {
	const most = 3
	if n := len(e.times); n > most {
		return fmt.Sprintf("#%d … #%d, %d times", e.times[0], e.times[n-1], n)
	}
	words := make([]string, len(e.times))
	for i, n := range e.times {
		words[i] = fmt.Sprintf("#%d", n)
	}
	return strings.Join(words, " ")
}
