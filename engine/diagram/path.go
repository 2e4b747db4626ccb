package diagram

import (
	"fmt"
	"slices"

	"github.com/pawl-dev/pawl/engine/definition"
)

// follow marks the way of an instance.
func (d *Diagram) follow(o Options) {
	if o.Instance != "" {
		d.about = append(d.about, oneLine(instanceText(o), aboutWidth))
	}
	if n := d.index[o.State]; n != nil {
		n.current = true
	}
	if n := d.index[o.Failed]; n != nil {
		n.fault = o.Code
		if n.fault == "" {
			n.fault = definition.CodeFailed
		}
	}
	if o.State == "" && len(o.Path) == 0 {
		return
	}
	for _, n := range d.nodes {
		if n.start {
			n.visits++
		}
	}
	for i, v := range o.Path {
		d.visit(i+1, v, o)
	}
}

func instanceText(o Options) string {
	text := o.Instance + " is in " + o.State
	if o.Failed != "" {
		text += ", failed in " + o.Failed
		if o.Code != "" && o.Code != definition.CodeFailed {
			text += ": " + o.Code
		}
	}
	return text
}

// visit marks the place-th move.
func (d *Diagram) visit(place int, v Visit, o Options) {
	from, to := d.index[v.From], d.index[v.To]
	if from == nil || to == nil {
		return
	}
	if v.Undone {
		from.undone = place
		if to.kind != definition.EndState {
			return // nothing is entered: to is undone next
		}
		if origin := d.index[o.Failed]; origin != nil {
			from, v.Code = origin, o.Code // the failure leads to the end, not what was undone last
		}
	}
	to.visits++
	if v.Operator {
		d.about = append(d.about, oneLine(fmt.Sprintf("#%d an operator moved it from %s to %s", place, v.From, v.To), aboutWidth))
		return
	}
	e := d.way(from, to, v)
	e.times = append(e.times, place)
}

// way returns the edge that a move took. Some have none in the definition: the
// deadline leads to the end from everywhere.
func (d *Diagram) way(from, to *node, v Visit) *edge {
	var found *edge
	for _, e := range d.edges {
		if e.from == from && e.to == to && (found == nil || e.fits(v) > found.fits(v)) {
			found = e
		}
	}
	if found != nil && found.fits(v) > 0 {
		return found
	}
	e := d.edge(from.name, to.name, byHand)
	if v.Code != "" && !slices.Contains(e.guards, v.Code) {
		e.guards = append(e.guards, v.Code)
	}
	return e
}

// fits says how well a move fits the edge, from 0: not at all.
func (e *edge) fits(v Visit) int {
	plain := v.Code == "" && !v.Undone
	switch e.kind {
	case onSuccess:
		// A guard that leads to a failed end has an error code, too.
		if plain || v.Code == definition.CodeDeclined {
			return 4
		}
	case onError:
		if !plain && slices.Contains(e.codes, v.Code) {
			return 3
		}
		if !plain && slices.Contains(e.codes, definition.CodeAny) {
			return 2
		}
	case onFailure:
		if !plain && v.Code != definition.CodeDeadline && v.Code != definition.CodeCancelled {
			return 1
		}
	case byHand:
	}
	return 0
}
