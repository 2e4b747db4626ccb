package definition

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"gopkg.in/yaml.v3"

	"github.com/pawl-dev/pawl/engine/expression"
)

const maxName = 64

var (
	namePattern     = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)
	workflowPattern = regexp.MustCompile(`^[a-z][a-z0-9]*(-[a-z0-9]+)*$`)
	wholePattern    = regexp.MustCompile(`^-?(0|[1-9][0-9]*)$`)
	numberPattern   = regexp.MustCompile(`^-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][-+]?[0-9]+)?$`)
	notNameChars    = regexp.MustCompile(`[^A-Za-z0-9_]+`)
)

// text reads a plain text; expressions are not evaluated there.
func (p *parser) text(name string, n *yaml.Node) (string, bool) {
	if n.Kind != yaml.ScalarNode || n.Tag != "!!str" {
		hint := ""
		if n.Kind == yaml.ScalarNode {
			hint = fmt.Sprintf("; quote it: '%s'", n.Value)
		}
		p.errorf(place(n), "type", "%s must be a text, not %s%s", name, describe(n), hint)
		return "", false
	}
	return n.Value, true
}

// word reads a text that names something, so an expression is no use.
func (p *parser) word(name string, n *yaml.Node) (string, bool) {
	if isExpr(n) {
		p.errorf(place(n), "type", "%s cannot be an expression; write the name itself", name)
		return "", false
	}
	s, ok := p.text(name, n)
	if ok && s == "" {
		p.errorf(place(n), "empty", "%s has no value; give one or remove it", name)
		return "", false
	}
	return s, ok
}

// whole reads a whole number, which YAML may only spell in the plain way: it
// would take 010 for eight.
func (p *parser) whole(name string, n *yaml.Node) (int, bool) {
	if n.Kind == yaml.ScalarNode && n.Tag == "!!int" && wholePattern.MatchString(n.Value) {
		if v, err := strconv.Atoi(n.Value); err == nil {
			return v, true
		}
	}
	hint := ""
	if n.Kind == yaml.ScalarNode && n.Tag == "!!str" && wholePattern.MatchString(n.Value) {
		hint = "; write " + n.Value
	}
	p.errorf(place(n), "type", "%s must be a whole number, not %s%s", name, describe(n), hint)
	return 0, false
}

func (p *parser) between(name string, n *yaml.Node, low, high int) int {
	v, ok := p.whole(name, n)
	if ok && (v < low || v > high) {
		p.errorf(place(n), "range", "%s must be from %d to %d, not %d", name, low, high, v)
	}
	return v
}

// decimal reads a number within limits.
func (p *parser) decimal(name string, n *yaml.Node, low, high float64) float64 {
	isNumber := n.Kind == yaml.ScalarNode && (n.Tag == "!!int" || n.Tag == "!!float") && numberPattern.MatchString(n.Value)
	v, err := strconv.ParseFloat(n.Value, 64)
	if !isNumber || err != nil {
		p.errorf(place(n), "type", "%s must be a number, not %s", name, describe(n))
		return 0
	}
	if v < low || v > high {
		p.errorf(place(n), "range", "%s must be from %g to %g, not %s", name, low, high, n.Value)
	}
	return v
}

func (p *parser) boolean(name string, n *yaml.Node) bool {
	if n.Kind != yaml.ScalarNode || n.Tag != "!!bool" || n.Value != "true" && n.Value != "false" {
		p.errorf(place(n), "type", "%s must be true or false, not %s; write true or false", name, describe(n))
		return false
	}
	return n.Value == "true"
}

// duration reads a duration above zero.
func (p *parser) duration(name string, n *yaml.Node) time.Duration {
	if n.Kind != yaml.ScalarNode || isExpr(n) {
		p.errorf(place(n), "duration",
			"%s must be a duration, not %s; write it as 30s, 5m, 1h30m, 7d or 250ms", name, describe(n))
		return 0
	}
	d, err := expression.ParseDuration(n.Value)
	bare := n.Tag == "!!int" || errors.Is(err, expression.ErrNoUnit)
	switch {
	case n.Value == "0", bare && strings.HasPrefix(n.Value, "-"):
		p.errorf(place(n), "duration", "%s must be longer than zero, not %s", name, n.Value)
	case bare:
		p.errorf(place(n), "duration",
			"%s has no unit: %s; write %ss, %sm or %sh", name, n.Value, n.Value, n.Value, n.Value)
	case err != nil || n.Tag != "!!str":
		p.errorf(place(n), "duration",
			"%s is not a duration: %s; write it as 30s, 5m, 1h30m, 7d or 250ms", name, describe(n))
	case d <= 0:
		p.errorf(place(n), "duration", "%s must be longer than zero, not %s", name, n.Value)
	default:
		return d
	}
	return 0
}

// oneOf reads one of the given words.
func (p *parser) oneOf(name string, n *yaml.Node, words ...string) (string, bool) {
	s, ok := p.word(name, n)
	if !ok || slices.Contains(words, s) {
		return s, ok
	}
	hint := "write " + strings.Join(words, " or ")
	plain := strings.ReplaceAll(strings.ToLower(s), "-", "_")
	if slices.Contains(words, plain) {
		hint = "write " + plain
	} else if best := nearest(s, words); best != "" {
		hint = fmt.Sprintf("did you mean %q?", best)
	}
	p.errorf(place(n), "enum", "unknown %s %q; %s", name, shorten(s), hint)
	return "", false
}

// name checks a name that expressions may use.
func (p *parser) name(n *yaml.Node) bool {
	switch s := n.Value; {
	case !namePattern.MatchString(s):
		mended := notNameChars.ReplaceAllString(s, "_")
		hint := ""
		if namePattern.MatchString(mended) {
			hint = " (" + shorten(mended) + ")"
		}
		p.errorf(place(n), "name", "%q cannot be used in an expression; use letters, digits and _%s", shorten(s), hint)
		return false
	case len(s) > maxName:
		p.errorf(place(n), "name", "%q has %d characters, the limit is %d; shorten it", shorten(s), len(s), maxName)
		return false
	}
	return true
}

// textMap reads a map of texts.
func (p *parser) textMap(name string, n *yaml.Node) map[string]string {
	if n.Kind != yaml.MappingNode {
		p.errorf(place(n), "type", "%s must be a map of texts, not %s", name, describe(n))
		return nil
	}
	m := make(map[string]string, len(n.Content)/2)
	for i := 0; i+1 < len(n.Content); i += 2 {
		m[n.Content[i].Value], _ = p.text(n.Content[i].Value, n.Content[i+1])
	}
	return m
}
