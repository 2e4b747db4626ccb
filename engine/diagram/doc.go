// Package diagram draws a workflow: as an SVG picture, as Mermaid text for
// pages that render it, and as DOT for Graphviz. It needs no other program and
// no other module, and does no I/O.
//
// The states are read from the top down. The longest way to a success is a
// straight line; where success leads elsewhere is drawn left of it, where errors
// lead is drawn right of it, dashed and red. What undoes a state stands in the
// state, below a dotted line. Nothing but the definition decides the picture:
// the same definition gives the same bytes.
//
// [Options] add the way of one instance: what it passed is filled, the ways that
// it took are thick and numbered.
package diagram
