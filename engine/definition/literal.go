package definition

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"gopkg.in/yaml.v3"

	"github.com/pawl-dev/pawl/engine/expression"
)

// want is what a place of the file asks of its value.
type want struct {
	name    string
	place   availability
	text    bool            // a string
	guard   bool            // a boolean
	kind    expression.Kind // timestamp or duration; empty: any
	example string          // of an expression
}

// looksLikeExpr matches a text that was probably meant as an expression.
var looksLikeExpr = regexp.MustCompile(`^(input|states|output|error|instance)(\.[A-Za-z_][A-Za-z0-9_]*)+$`)

// expr reads a value that must be an expression.
func (p *parser) expr(n *yaml.Node, w want) *Value {
	if isExpr(n) {
		return p.value(n, w)
	}
	if p.mixed(n) {
		return nil
	}
	example := w.example
	if n.Kind == yaml.ScalarNode && n.Tag == "!!str" && strings.ContainsAny(n.Value, ".=<>") {
		example = shorten(strings.TrimSpace(n.Value))
	}
	p.errorf(place(n), "expr-expected", "%s must be an expression; write ${{ %s }}", w.name, example)
	return nil
}

// mapValue reads a value that must be a map.
func (p *parser) mapValue(n *yaml.Node, w want) *Value {
	if n.Kind != yaml.MappingNode {
		p.errorf(place(n), "type", "%s must be a map, not %s", w.name, describe(n))
		return nil
	}
	return p.value(n, w)
}

// value reads a literal, an expression, or a map or list of values. It
// returns nil after an error.
func (p *parser) value(n *yaml.Node, w want) *Value {
	if w.text && (n.Kind != yaml.ScalarNode || n.Tag != "!!str") {
		hint := ""
		if n.Kind == yaml.ScalarNode {
			hint = fmt.Sprintf("; quote it: '%s'", n.Value)
		}
		p.errorf(place(n), "type-mismatch", "%s must be string, not %s%s", w.name, describe(n), hint)
		return nil
	}
	if n.Kind == yaml.MappingNode {
		return p.mapLiteral(n, w)
	}
	if n.Kind == yaml.ScalarNode {
		return p.scalarValue(n, w)
	}
	v := &Value{at: place(n)}
	for i, item := range n.Content {
		w.name = fmt.Sprintf("item %d", i+1)
		if part := p.value(item, w); part != nil {
			v.items = append(v.items, part)
		}
	}
	v.constant()
	return v
}

func (p *parser) mapLiteral(n *yaml.Node, w want) *Value {
	v := &Value{at: place(n), isMap: true}
	type pair struct {
		key   mapKey
		value *Value
	}
	pairs := make([]pair, 0, len(n.Content)/2)
	for i := 0; i+1 < len(n.Content); i += 2 {
		key := n.Content[i]
		w.name = key.Value
		if part := p.value(n.Content[i+1], w); part != nil {
			encoded := append(appendText(nil, key.Value), ':')
			pairs = append(pairs, pair{mapKey{key.Value, encoded, place(key)}, part})
		}
	}
	slices.SortFunc(pairs, func(a, b pair) int { return strings.Compare(a.key.name, b.key.name) })
	for _, part := range pairs {
		v.keys, v.items = append(v.keys, part.key), append(v.items, part.value)
	}
	v.constant()
	return v
}

// constant encodes a map or list without expressions once and for all.
func (v *Value) constant() {
	for _, item := range v.items {
		if item.raw == nil {
			return
		}
	}
	raw, err := v.append(nil, nil)
	if err == nil {
		v.raw = raw
	}
}

func (p *parser) scalarValue(n *yaml.Node, w want) *Value {
	v := &Value{at: place(n)}
	switch n.Tag {
	case "!!bool":
		if n.Value != "true" && n.Value != "false" {
			p.errorf(place(n), "literal", "%s: write %s, or quote it", w.name, strings.ToLower(n.Value))
			return nil
		}
		v.lit, v.raw = n.Value == "true", json.RawMessage(n.Value)
	case "!!int", "!!float":
		if !numberPattern.MatchString(n.Value) {
			p.errorf(place(n), "literal", "%s is %s to YAML, but no number to JSON; quote it, or write it in plain decimal",
				w.name, describe(n))
			return nil
		}
		v.lit, v.raw = json.Number(n.Value), json.RawMessage(n.Value)
	case "!!str":
		return p.textValue(n, w)
	case "!!timestamp":
		p.errorf(place(n), "literal", "%s is a date to YAML; quote it", w.name)
		return nil
	default:
		p.errorf(place(n), "literal", "%s is no data (%s); quote it", w.name, n.Tag)
		return nil
	}
	return v
}

func (p *parser) textValue(n *yaml.Node, w want) *Value {
	if p.mixed(n) {
		return nil
	}
	v := &Value{at: place(n)}
	if !isExpr(n) {
		if s := strings.TrimSpace(n.Value); looksLikeExpr.MatchString(s) {
			p.warnf(place(n), "literal-looks-like-expr", "%s is the text %q; for an expression write ${{ %s }}",
				w.name, shorten(s), shorten(s))
		}
		v.lit, v.raw = n.Value, appendText(nil, n.Value)
		return v
	}
	start := strings.Index(n.Value, openExpr) + len(openExpr)
	end := strings.LastIndex(n.Value, closeExpr)
	inner := n.Value[start:end]
	start += len(inner) - len(strings.TrimLeft(inner, " \t\r\n"))
	v.expr = &exprValue{
		file:   p.file,
		text:   n.Value,
		src:    strings.TrimSpace(inner),
		offset: utf8.RuneCountInString(n.Value[:start]),
		scalar: scalar{src: p.src, at: place(n), style: n.Style},
	}
	p.exprs = append(p.exprs, slot{v, w, p.current})
	return v
}

// mixed reports a text that has an expression as a part.
func (p *parser) mixed(n *yaml.Node) bool {
	if n.Kind != yaml.ScalarNode || n.Tag != "!!str" {
		return false
	}
	s := strings.TrimSpace(n.Value)
	if isExpr(n) {
		if !twoExprs(s) {
			return false
		}
	} else if !strings.Contains(s, openExpr) {
		return false
	}
	p.errorf(place(n), "expr-mixed", "text and ${{ }} cannot be mixed; write one expression: ${{ 'text' + … }}")
	return true
}

// twoExprs reports whether an expression ends within s, outside of quotes, and
// another one begins.
func twoExprs(s string) bool {
	s = s[len(openExpr) : len(s)-len(closeExpr)]
	var quote byte
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case quote != 0 && c == '\\' && quote != '`':
			i++
		case quote != 0:
			if c == quote {
				quote = 0
			}
		case c == '\'' || c == '"' || c == '`':
			quote = c
		case strings.HasPrefix(s[i:], closeExpr):
			return strings.Contains(s[i:], openExpr)
		}
	}
	return false
}
