package definition

import (
	"slices"
	"strings"

	"gopkg.in/yaml.v3"
)

// kinds is a set of kinds of states.
type kinds uint8

const (
	stepKind kinds = 1 << iota
	waitKind
	awaitKind
	endKind

	anyKind = stepKind | waitKind | awaitKind | endKind
)

// kindNames are the fields that make the kind of a state.
func kindNames() []kindName {
	return []kindName{{"step", stepKind}, {"wait", waitKind}, {"await", awaitKind}, {"end", endKind}}
}

type kindName struct {
	name string
	kind kinds
}

func (k kinds) String() string {
	var names []string
	for _, n := range kindNames() {
		if k&n.kind != 0 {
			names = append(names, n.name)
		}
	}
	return strings.Join(names, ", ")
}

// field is a row of the table of a block: a field of the language and how it
// is read into T.
type field[T any] struct {
	name     string
	doc      string // one or two sentences, for editors and the reference
	kinds    kinds  // of states that have it; outside of states zero
	required kinds  // of states that need it; outside of states anyKind if needed
	shape    shape  // of the value, for the JSON Schema
	read     func(p *parser, t *T, n *yaml.Node)
}

// block is a map of the file that a table describes.
type block struct {
	node *yaml.Node
	name string   // for messages: "retry", "state MERGING"
	at   position // where a missing field is reported
	kind kinds    // of a state; zero for other blocks and if it is not known
}

// in says where a field stands; nothing for the top level.
func (b block) in() string {
	if b.name == "the workflow" {
		return ""
	}
	return " in " + b.title()
}

// title names the block together with the kind of the state.
func (b block) title() string {
	if b.kind == 0 {
		return b.name
	}
	return b.name + " (" + b.kind.String() + ")"
}

// reserved are fields that the language keeps for later versions of itself.
func reserved() map[string]string {
	return map[string]string{
		"parallel": "parallel branches are not in language version 1; put the steps one after another",
		"join":     "parallel branches are not in language version 1; put the steps one after another",
		"for_each": "for_each is not in language version 1; do the loop in a step",
		"workflow": "child workflows are not in language version 1; start one by emit:",
		"limit":    "a concurrency limit is not in language version 1; one instance at a time holds the key",
	}
}

// synonyms are what people write who know other workflow languages.
func synonyms() map[string]string {
	return map[string]string{
		"goto": "next", "transition": "next", "then": "next", "run": "step", "uses": "step", "action": "step",
		"task": "step", "inputs": "input", "on_error": "catch", "retries": "retry", "if": "when", "condition": "when",
		"args": "with", "params": "with", "rollback": "compensate", "target": "to", "attempts": "max_attempts",
		"name": "workflow", "initial": "start",
	}
}

// readFields reads the fields of a block by its table: unknown fields and missing
// ones are reported, the others are read.
func readFields[T any](p *parser, b block, table []field[T], t *T) {
	if b.node.Kind != yaml.MappingNode {
		p.errorf(place(b.node), "type", "%s must be a map, not %s", b.name, describe(b.node))
		return
	}
	seen := map[string]bool{}
	for i := 0; i+1 < len(b.node.Content); i += 2 {
		key, value := b.node.Content[i], b.node.Content[i+1]
		seen[key.Value] = true
		at := slices.IndexFunc(table, func(f field[T]) bool { return f.name == key.Value })
		switch {
		case at < 0:
			unknownField(p, b, table, key)
		case b.kind != 0 && table[at].kinds&b.kind == 0:
			p.errorf(place(key), "unknown-field", "unknown field %q%s; only these states have it: %s",
				key.Value, b.in(), table[at].kinds)
		default:
			table[at].read(p, t, value)
		}
	}
	for _, f := range table {
		kind := b.kind
		if kind == 0 {
			kind = anyKind
		}
		if f.required&kind == kind && !seen[f.name] {
			p.missing(b, f.name)
		}
	}
}

func (p *parser) missing(b block, name string) {
	p.errorf(b.at, "missing-field", "%s needs the field %q; add it", b.title(), name)
}

func unknownField[T any](p *parser, b block, table []field[T], key *yaml.Node) {
	var known []string
	for _, f := range table {
		if b.kind == 0 || f.kinds&b.kind != 0 {
			known = append(known, f.name)
		}
	}
	if text, ok := reserved()[key.Value]; ok {
		p.errorf(place(key), "unknown-field", "%s", text)
		return
	}
	hint := mend(key.Value, known)
	if s := synonyms()[strings.ToLower(key.Value)]; nearest(key.Value, known) == "" && slices.Contains(known, s) {
		hint = "write " + s + ":"
	}
	p.errorf(place(key), "unknown-field", "unknown field %q%s; %s", key.Value, b.in(), hint)
}
