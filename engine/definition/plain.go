package definition

import (
	"fmt"
	"strings"

	"gopkg.in/yaml.v3"
)

const (
	openExpr  = "${{"
	closeExpr = "}}"
)

// yaml11 are the words that are texts here but booleans to YAML 1.1 tools.
const yaml11 = " yes no on off y n "

// plainYAML is phase 1: it refuses the parts of YAML that this language does
// without. what names n for messages.
func (p *parser) plainYAML(n *yaml.Node, what string, depth int) {
	if depth > maxDepth {
		p.errorf(place(n), "depth", "%s is nested more than %d levels deep; make it flatter", what, maxDepth)
		return
	}
	if n.Kind == yaml.AliasNode {
		p.errorf(place(n), "yaml-alias", "aliases (*%s) are not allowed; write the value out", n.Value)
		return
	}
	if n.Anchor != "" {
		p.errorf(place(n), "yaml-anchor",
			"anchors (&%s) are not allowed; write the value out where it is used, or use defaults:", n.Anchor)
	}
	if p.tagged(n) {
		return
	}
	if n.Kind == yaml.MappingNode {
		p.plainMap(n, depth)
		return
	}
	if n.Kind == yaml.ScalarNode {
		p.plainScalar(n, what)
		return
	}
	for i, item := range n.Content {
		p.plainYAML(item, fmt.Sprintf("item %d", i+1), depth+1)
	}
}

// tagged reports a tag. YAML drops the tag "!" alone without a trace, which
// turns "! done" into done, so the source is asked, too.
func (p *parser) tagged(n *yaml.Node) bool {
	tag := n.Tag
	if n.Style&yaml.TaggedStyle == 0 {
		row := p.src.row(n.Line).runes
		if n.Column > len(row) || n.Column < 1 || row[n.Column-1] != '!' {
			return false
		}
		tag = "!"
	}
	if strings.HasPrefix(tag, "!!") || strings.HasPrefix(tag, "!<") || n.Kind != yaml.ScalarNode || !plain(n) {
		p.errorf(place(n), "yaml-tag", "YAML tag %s is not allowed; remove it", tag)
		return true
	}
	word := strings.TrimPrefix(tag, "!")
	if word == "" {
		word = shorten(n.Value)
	}
	p.errorf(place(n), "yaml-tag",
		`YAML tag %s is not allowed; YAML takes a leading "!" as a tag; for "not" write ${{ not %s }}`, tag, word)
	return true
}

func (p *parser) plainMap(m *yaml.Node, depth int) {
	first := make(map[string]int, len(m.Content)/2)
	for i := 0; i+1 < len(m.Content); i += 2 {
		key, value := m.Content[i], m.Content[i+1]
		if !p.plainKey(key) {
			continue
		}
		if line, twice := first[key.Value]; twice {
			p.errorf(place(key), "duplicate-key", "%q is written twice (first at line %d); remove one", key.Value, line)
		} else {
			first[key.Value] = key.Line
		}
		p.plainYAML(value, key.Value, depth+1)
	}
}

// plainKey reports whether key is a plain name.
func (p *parser) plainKey(key *yaml.Node) bool {
	switch {
	case key.Kind == yaml.MappingNode:
		p.errorf(place(key), "key-type", "a key must be a plain name; {{ }} is not an expression: write ${{ … }}")
	case key.Kind == yaml.AliasNode:
		p.errorf(place(key), "yaml-alias", "aliases (*%s) are not allowed; write the value out", key.Value)
	case key.Kind != yaml.ScalarNode:
		p.errorf(place(key), "key-type", "a key must be a plain name, not %s", describe(key))
	case key.Tag == "!!merge":
		p.errorf(place(key), "yaml-merge", "merge keys (<<) are not allowed; write the fields out, or use defaults:")
	case key.Anchor != "":
		p.errorf(place(key), "yaml-anchor", "anchors (&%s) are not allowed; remove it", key.Anchor)
	case p.tagged(key):
	case key.Tag != "!!str":
		hint := ""
		if key.Value != "" {
			hint = fmt.Sprintf("; quote it: '%s'", key.Value)
		}
		p.errorf(place(key), "key-type", "a key must be a plain name, not %s%s", describe(key), hint)
	case key.Value == "":
		p.errorf(place(key), "key-type", "a key must not be empty; write a name")
	default:
		if plain(key) && isYAML11(key.Value) {
			p.warnf(place(key), "yaml-1.1-boolean",
				"unquoted %s is a name here but a boolean to YAML 1.1 tools; write '%s'", key.Value, key.Value)
		}
		return true
	}
	return false
}

func (p *parser) plainScalar(n *yaml.Node, what string) {
	switch {
	case n.Tag == "!!null":
		p.errorf(place(n), "empty", "%s has no value; give one or remove it", what)
	case !plain(n):
	case strings.HasPrefix(n.Value, openExpr) && !strings.HasSuffix(n.Value, closeExpr) && p.commentAfter(n):
		p.errorf(place(n), "expr-cut", `YAML cuts this expression at " #" (a comment); put the value in quotes`)
	case isYAML11(n.Value):
		p.errorf(place(n), "yaml-1.1-boolean",
			"%s: unquoted %s is text here but a boolean to YAML 1.1 tools; write '%s', or true or false", what, n.Value, n.Value)
	}
}

// commentAfter reports whether a comment ends the line of n.
func (p *parser) commentAfter(n *yaml.Node) bool {
	row := p.src.row(n.Line).runes
	return n.LineComment != "" || n.Column <= len(row) && strings.Contains(string(row[n.Column-1:]), " #")
}

func plain(n *yaml.Node) bool {
	return n.Style&(yaml.DoubleQuotedStyle|yaml.SingleQuotedStyle|yaml.LiteralStyle|yaml.FoldedStyle) == 0
}

func isYAML11(word string) bool {
	return word != "" && !strings.Contains(word, " ") && strings.Contains(yaml11, " "+strings.ToLower(word)+" ")
}

// describe says what a node is, for "must be a text, not …".
func describe(n *yaml.Node) string {
	if n.Kind == yaml.MappingNode {
		return "a map"
	}
	if n.Kind == yaml.SequenceNode {
		return "a list"
	}
	switch n.Tag {
	case "!!int":
		return "int " + n.Value
	case "!!float":
		return "float " + n.Value
	case "!!bool":
		return "boolean " + n.Value
	case "!!timestamp":
		return "a date"
	case "!!null":
		return "null"
	}
	if isExpr(n) {
		return "an expression"
	}
	return fmt.Sprintf("the text %q", shorten(n.Value))
}

// shorten keeps a text short enough for a message.
func shorten(s string) string {
	const limit = 60
	if r := []rune(s); len(r) > limit {
		return string(r[:limit]) + "…"
	}
	return s
}

// isExpr reports whether n is written as an expression.
func isExpr(n *yaml.Node) bool {
	if n.Kind != yaml.ScalarNode || n.Tag != "!!str" {
		return false
	}
	s := strings.TrimSpace(n.Value)
	return len(s) >= len(openExpr)+len(closeExpr) && strings.HasPrefix(s, openExpr) && strings.HasSuffix(s, closeExpr)
}
