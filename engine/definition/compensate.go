package definition

import (
	"fmt"
	"time"

	"gopkg.in/yaml.v3"
)

// noCompensation is what a state says that has nothing to undo.
const noCompensation = "none"

// draftCompensation is compensate: as it is read.
type draftCompensation struct {
	step    string
	with    *Value
	retry   draftRetry
	timeout time.Duration
}

func compensationFields() []field[draftCompensation] {
	return []field[draftCompensation]{
		{
			name: "step", required: anyKind, shape: like("compensation_step"),
			doc: "The registered compensation that undoes the effect of the step.",
			read: func(p *parser, c *draftCompensation, n *yaml.Node) {
				s, ok := p.word("step", n)
				if ok && s == noCompensation {
					p.errorf(place(n), "type", "if there is nothing to undo, write compensate: none")
				}
				c.step = s
			},
		},
		{
			name: "with", shape: like("values"),
			doc: "Input of the compensation. If absent, it gets the recorded input and output of the step.",
			read: func(p *parser, c *draftCompensation, n *yaml.Node) {
				c.with = p.mapValue(n, want{name: "with", place: undoing})
			},
		},
		{
			name: "retry", shape: like("retry"),
			doc:  "When a failed attempt to undo is repeated, and how often.",
			read: func(p *parser, c *draftCompensation, n *yaml.Node) { c.retry = p.retry(n) },
		},
		{
			name: "timeout", shape: like("duration"),
			doc:  "Longest time of one attempt. If absent, that of defaults:.",
			read: func(p *parser, c *draftCompensation, n *yaml.Node) { c.timeout = p.duration("timeout", n) },
		},
	}
}

// compensate reads a handler, none, or the long form.
func (p *parser) compensate(s *draftState, n *yaml.Node) {
	c := &s.compensate
	if n.Kind == yaml.MappingNode {
		for name, at := range valuePlaces(n) {
			s.parts["compensate."+name] = at
		}
		readFields(p, block{node: n, name: "compensate", at: place(n)}, compensationFields(), c)
		s.Compensate = &Compensation{}
		return
	}
	if isExpr(n) || n.Kind != yaml.ScalarNode || n.Tag != "!!str" || n.Value == "" {
		p.errorf(place(n), "type", "compensate must be a step, none, or a map (step:, with:, retry:, timeout:), not %s", describe(n))
		return
	}
	s.parts["compensate.step"] = place(n)
	c.step = n.Value
	s.Compensate = &Compensation{None: n.Value == noCompensation}
}

// resolveCompensation fills in what compensate: does not say.
func (p *parser) resolveCompensation(s *draftState) {
	if !s.Undoes() {
		return
	}
	c := s.compensate
	s.Compensate.Step, s.Compensate.With = c.step, c.with
	s.Compensate.Timeout = firstOf(c.timeout, p.defaults.timeout, defaultTimeout)
	s.Compensate.Retry = p.effective(undoRetry(), c.retry)
	for i, at := range c.retry.except {
		s.parts[fmt.Sprintf("compensate.except.%d", i)] = at
	}
}
