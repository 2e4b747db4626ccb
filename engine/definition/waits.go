package definition

import (
	"gopkg.in/yaml.v3"

	"github.com/pawl-dev/pawl/engine/expression"
)

func waitFields() []field[Wait] {
	return []field[Wait]{
		{
			name: "for", shape: like("wait_time"),
			doc:  "How long to wait: a duration, or an expression that gives one.",
			read: func(p *parser, w *Wait, n *yaml.Node) { w.For = p.waitFor(n) },
		},
		{
			name: "until", shape: like("expression"),
			doc: "Expression for the time to wait for.",
			read: func(p *parser, w *Wait, n *yaml.Node) {
				w.Until = p.expr(n, want{name: "until", place: onEntry, kind: expression.Timestamp, example: "input.due_at"})
			},
		},
	}
}

func (p *parser) wait(s *draftState, n *yaml.Node) {
	s.Wait = &Wait{}
	readFields(p, block{node: n, name: "wait", at: place(n)}, waitFields(), s.Wait)
	if n.Kind != yaml.MappingNode {
		return
	}
	if given := valuePlaces(n); has(given, "for") == has(given, "until") {
		p.errorf(place(n), "wait", "wait takes exactly one of for and until")
	}
}

func has(places map[string]position, name string) bool {
	_, ok := places[name]
	return ok
}

// waitFor reads a duration or an expression that gives one.
func (p *parser) waitFor(n *yaml.Node) *Value {
	if isExpr(n) {
		return p.value(n, want{name: "for", place: onEntry, kind: expression.Duration})
	}
	if p.mixed(n) {
		return nil
	}
	d := p.duration("for", n)
	text := expression.FormatDuration(d)
	return &Value{at: place(n), lit: text, raw: appendText(nil, text)}
}

func (p *parser) await(s *draftState, n *yaml.Node) {
	if n.Kind != yaml.MappingNode {
		p.errorf(place(n), "type", "await must be a map from signals to states, not %s", describe(n))
		return
	}
	if len(n.Content) == 0 {
		p.errorf(place(n), "await", "await names no signal, so nothing can end it; add one, or use wait:")
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, value := n.Content[i], n.Content[i+1]
		if !p.name(key) {
			continue
		}
		s.parts["await."+key.Value] = place(key)
		s.Signals = append(s.Signals, Signal{Name: key.Value, Next: p.branches(key.Value, value, afterSignal)})
	}
}

// checkAwait holds the catch: of an await against what can happen to it.
func (p *parser) checkAwait(s *State) {
	for _, code := range sortedCodes(s.Catch) {
		at := s.parts["catch."+code]
		switch {
		case code != CodeTimeout:
			p.errorf(at, "catch-code", "an await can only end by a signal or the code timeout, never by %q; name timeout", shorten(code))
		case s.Timeout == 0:
			p.errorf(at, "await", "this await has no timeout:, so it never fails with timeout; add timeout:, or remove it")
		}
	}
}
