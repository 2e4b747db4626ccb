package definition

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/pawl-dev/pawl/engine/expression"
)

// Noop is a step that every program has: it takes any input, does nothing and
// gives nothing, so that a state can do no more than decide by its guards.
// Names that begin with "pawl." are the engine's own.
const Noop = "pawl.noop"

// Check holds d against the handlers of a program: steps and compensations
// that exist and are used as what they are, codes they declare, batch steps,
// inputs and outputs by name and type. A nil manifest means that the handlers
// are not known, so there is nothing to check. What Parse has reported is not
// reported again.
func Check(d *Definition, m Manifest) Diagnostics {
	if m == nil {
		return nil
	}
	c := &checker{
		findings: findings{file: d.File, src: d.lines()}, def: d, manifest: maps.Clone(m),
		types: map[*exprValue]*expression.Type{}, outputs: map[string]*expression.Type{},
	}
	c.manifest[Noop] = HandlerInfo{Output: []Field{}}
	c.expressions()
	for _, s := range d.States {
		if s.Kind == StepState {
			c.step(s)
		}
	}
	return c.sorted()
}

type checker struct {
	findings
	def      *Definition
	manifest Manifest
	types    map[*exprValue]*expression.Type // of what was compiled anew; nil if that failed
	outputs  map[string]*expression.Type     // by steps; nil if it can be anything
}

// expressions compiles anew what names the output of a step, now that its type
// is known. At run time these programs are not used: see compileAll.
func (c *checker) expressions() {
	scopes := newScopes(c.def, c.outputType)
	for _, s := range c.def.exprs {
		if !c.knowsMore(s) {
			continue
		}
		c.types[s.value.expr] = nil
		if prog := c.program(s, scopes.of(s)); prog != nil {
			c.types[s.value.expr] = new(c.judge(s, prog))
		}
	}
}

// typeOf returns the type of what an expression gives, and whether it can be
// computed at all.
func (c *checker) typeOf(e *exprValue) (expression.Type, bool) {
	t, anew := c.types[e]
	switch {
	case !anew:
		return e.prog.Analyze().Type, true
	case t == nil:
		return expression.Type{}, false
	}
	return *t, true
}

// knowsMore reports whether an expression names the output of a step whose
// type is known.
func (c *checker) knowsMore(s slot) bool {
	names := c.def.namedStates(s)
	if s.want.place == afterSuccess {
		names = append(names, s.state)
	}
	return slices.ContainsFunc(names, func(name string) bool {
		state := c.def.State(name)
		return state != nil && state.Kind == StepState && c.outputType(state) != nil
	})
}

// outputType is the type of what a state gives, nil if it can be anything.
func (c *checker) outputType(s *State) *expression.Type {
	if s.Kind != StepState {
		return signalType(s)
	}
	t, ok := c.outputs[s.Step]
	if h := c.manifest[s.Step]; !ok && h.Output != nil && h.Compensates == "" {
		t = new(inJSON(expression.Type{Kind: expression.Object, Fields: fieldTypes(h.Output)}).Prepare())
	}
	c.outputs[s.Step] = t
	return t
}

// inJSON returns the type that a value has which was decoded from JSON. A
// timestamp is a text there.
func inJSON(t expression.Type) expression.Type {
	if t.Kind == expression.Timestamp || t.Kind == expression.Duration {
		t.Kind = expression.String
	}
	if t.Elem != nil {
		t.Elem = new(inJSON(*t.Elem))
	}
	if t.Fields != nil {
		fields := make(map[string]expression.Type, len(t.Fields))
		for name, f := range t.Fields {
			fields[name] = inJSON(f)
		}
		t.Fields = fields
	}
	return t
}

func (c *checker) step(s *State) {
	at := s.parts["step"]
	h, ok := c.handler(at, s.Step)
	if ok && h.Compensates != "" {
		c.errorf(at, "step-kind", "%s undoes %s, so it cannot be a step itself; name a step", s.Step, h.Compensates)
		ok = false
	}
	if ok {
		c.promises(s, h)
		c.codes(s.Step, h, at)
		c.caught(s, h)
		c.input(s, h)
	}
	if s.Undoes() {
		c.compensation(s, ok)
	}
}

// handler looks a handler up and reports if it is not there.
func (c *checker) handler(at position, name string) (HandlerInfo, bool) {
	h, ok := c.manifest[name]
	if !ok {
		c.errorf(at, "unknown-step", "no step %q is registered; %s",
			name, mend(name, slices.Sorted(maps.Keys(c.manifest))))
	}
	return h, ok
}

// promises checks that the state uses the handler as it can be used.
func (c *checker) promises(s *State, h HandlerInfo) {
	if h.NotIdempotent && !s.AtMostOnce {
		c.errorf(s.parts["step"], "not-idempotent",
			"%s is registered as not idempotent, so a retry could repeat its effect; add at_most_once: true", s.Step)
	}
	if s.Batch > 0 && !h.Batch {
		c.errorf(s.parts["batch"], "batch",
			"%s is not registered as a batch step; register it with engine.RegisterBatch or remove batch:", s.Step)
	}
}

// codes checks what the handler declares.
func (c *checker) codes(name string, h HandlerInfo, at position) {
	for _, declared := range h.Codes {
		if ReservedCode(declared) {
			c.errorf(at, "name-clash",
				"%s is registered with the code %q, which is the engine's own; rename it", name, declared)
		}
	}
}

// caught checks what catch: and retry.except of the state name.
func (c *checker) caught(s *State, h HandlerInfo) {
	for _, name := range sortedCodes(s.Catch) {
		c.code(s.parts["catch."+name], s.Step, name, h)
	}
	c.except(s, "except", s.Step, h, s.Retry)
}

// except checks the codes that a retry: of the state itself, not of defaults:,
// names.
func (c *checker) except(s *State, part, step string, h HandlerInfo, r Retry) {
	for i, name := range r.Except {
		if at, ok := s.parts[fmt.Sprintf("%s.%d", part, i)]; ok {
			c.code(at, step, name, h)
		}
	}
}

func (c *checker) code(at position, step, name string, h HandlerInfo) {
	if known := slices.Concat(h.Codes, catchable()); !slices.Contains(known, name) {
		c.errorf(at, "catch-code", "%s never fails with code %q; %s", step, shorten(name), mend(name, known))
	}
}

// compensation checks what undoes a state. What it undoes is not looked at if
// the step itself is not sound.
func (c *checker) compensation(s *State, sound bool) {
	u, at := s.Compensate, s.parts["compensate.step"]
	if u.Step == Noop {
		c.errorf(at, "compensation", "%s undoes nothing; if there is nothing to undo, write compensate: none", Noop)
		return
	}
	h, ok := c.handler(at, u.Step)
	if !ok {
		return
	}
	if h.NotIdempotent {
		c.errorf(at, "not-idempotent",
			"%s is registered as not idempotent, but an undo is retried until it works; name a step that can be repeated", u.Step)
	}
	c.codes(u.Step, h, at)
	c.except(s, "compensate.except", u.Step, h, u.Retry)
	switch {
	case u.With == nil && !sound:
	case h.Compensates != "" && h.Compensates != s.Step && sound:
		c.errorf(at, "compensation", "%s undoes %s, not %s; name what undoes %s", u.Step, h.Compensates, s.Step, s.Step)
	case h.Compensates != "" && u.With != nil:
		c.errorf(u.With.at, "compensation",
			"%s takes the recorded input and output of %s; remove with:, or register it as a step", u.Step, s.Step)
	case h.Compensates == "" && u.With == nil:
		c.errorf(at, "compensation",
			"%s does not take the input and output of %s; give it with:, or register it with engine.RegisterCompensation for %s",
			u.Step, s.Step, s.Step)
	case u.With != nil && h.Input != nil:
		c.object(u.With, h.Input, u.Step, "with")
	}
}

// CheckAll holds the files of one program against each other: a folder has one
// file for a workflow, and a version of it is the same in all of them.
func CheckAll(list []*Definition) Diagnostics {
	var all Diagnostics
	for i, d := range list {
		f := findings{file: d.File, src: d.lines()}
		for _, other := range list[:i] {
			if d.Workflow != other.Workflow {
				continue
			}
			at := d.topField("workflow")
			if folder(d.File) == folder(other.File) {
				f.errorf(at, "name-clash", "workflow %s is in the file %s already; rename one of them", d.Workflow, other.File)
				break
			}
			if d.Version == other.Version && d.Hash != other.Hash {
				f.errorf(at, "name-clash", "version %d of %s is in the file %s already, with other content; write version: %d",
					d.Version, d.Workflow, other.File, d.Version+1)
				break
			}
		}
		all = append(all, f.sorted()...)
	}
	return all
}

// folder returns the path of a file without its name.
func folder(file string) string {
	return file[:strings.LastIndexAny(file, `/\`)+1]
}
