package definition

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Check holds d against the handlers of a program: steps that exist, codes
// they declare, batch steps, inputs by name and type, outputs by name. A nil
// manifest means that the handlers are not known, so there is nothing to check.
func Check(d *Definition, m Manifest) Diagnostics {
	if m == nil {
		return nil
	}
	c := &checker{findings: findings{file: d.File}, def: d, manifest: m}
	for _, s := range d.States {
		if s.Kind == StepState {
			c.step(s)
		}
	}
	for _, ref := range d.outputs {
		c.output(ref)
	}
	return c.sorted()
}

type checker struct {
	findings
	def      *Definition
	manifest Manifest
}

func (c *checker) step(s *State) {
	h, ok := c.manifest[s.Step]
	if !ok {
		c.errorf(s.parts["step"], "unknown-step", "no step %q is registered; %s",
			s.Step, mend(s.Step, slices.Sorted(maps.Keys(c.manifest))))
		return
	}
	if h.NotIdempotent {
		c.errorf(s.parts["step"], "not-idempotent",
			"%s is registered as not idempotent, so a retry could repeat its effect; add at_most_once: true", s.Step)
	}
	if s.Batch > 0 && !h.Batch {
		c.errorf(s.parts["batch"], "batch",
			"%s is not registered as a batch step; register it with engine.RegisterBatch or remove batch:", s.Step)
	}
	c.codes(s, h)
	switch {
	case h.Input == nil:
	case s.With == nil:
		c.wholeInput(s, h)
	default:
		c.object(s.With, h.Input, s.Step, "with")
	}
}

// output refuses fields that the output of a step does not have: at run time
// they would be absent, and a guard would be false for ever.
func (c *checker) output(ref outputRef) {
	fields := c.manifest[c.def.State(ref.state).Step].Output
	for i, name := range ref.path {
		if fields == nil {
			return
		}
		names := make([]string, len(fields))
		for j, f := range fields {
			names[j] = f.Name
		}
		at := slices.Index(names, name)
		if at < 0 {
			c.errorf(ref.at[i], "expr", "unknown field %s; %s", name, mend(name, names))
			return
		}
		fields = fields[at].Type.Fields
	}
}

// codes checks what catch: and retry.except of the state name.
func (c *checker) codes(s *State, h HandlerInfo) {
	for _, declared := range h.Codes {
		if ReservedCode(declared) {
			c.errorf(s.parts["step"], "name-clash",
				"%s is registered with the code %q, which is the engine's own; rename it", s.Step, declared)
		}
	}
	known := slices.Concat(h.Codes, catchable())
	for _, name := range slices.Sorted(maps.Keys(s.Catch)) {
		c.code(s, s.parts["catch."+name], name, known)
	}
	for i, name := range s.Retry.Except {
		if at, ok := s.parts[fmt.Sprintf("except.%d", i)]; ok {
			c.code(s, at, name, known)
		}
	}
}

func (c *checker) code(s *State, at position, name string, known []string) {
	if !slices.Contains(known, name) {
		c.errorf(at, "catch-code", "%s never fails with code %q; %s", s.Step, shorten(name), mend(name, known))
	}
}

// wholeInput checks a state without with:, whose step gets the input of the
// workflow.
func (c *checker) wholeInput(s *State, h HandlerInfo) {
	for _, f := range h.Input {
		i := slices.IndexFunc(c.def.Input, func(in Field) bool { return in.Name == f.Name })
		switch {
		case i < 0 && f.Type.Optional:
		case i < 0:
			c.errorf(s.parts["step"], "with-missing",
				"%s needs the input %q, which the workflow has not; give with:", s.Step, f.Name)
		default:
			if got := c.def.Input[i].Type.Kind; !fitsKind(got, f.Type.Kind) {
				c.errorf(s.parts["step"], "type-mismatch", "%s of %s must be %s, but the workflow's input is %s; give with:",
					f.Name, s.Step, f.Type.Kind, got)
			}
		}
	}
}

// object holds a map of the file against the fields of a Go struct. owner and
// field name them for messages.
func (c *checker) object(v *Value, fields []Field, owner, field string) {
	names := make([]string, len(fields))
	for i, f := range fields {
		names[i] = f.Name
	}
	for i, key := range v.keys {
		at := slices.Index(names, key.name)
		if at < 0 {
			c.errorf(key.at, "with-unknown", "%s has no input %q; %s", owner, key.name, mend(key.name, names))
			continue
		}
		c.value(v.items[i], key.name, &fields[at].Type, owner)
	}
	for _, f := range fields {
		has := slices.ContainsFunc(v.keys, func(k mapKey) bool { return k.name == f.Name })
		if !has && !f.Type.Optional {
			c.errorf(v.at, "with-missing", "%s needs the input %q; add it to %s:", owner, f.Name, field)
		}
	}
}

// value holds a value of the file against the type of a Go field.
func (c *checker) value(v *Value, name string, t *Type, owner string) {
	if t.Kind == Any {
		return
	}
	if v.expr != nil {
		if got := TypeKind(v.expr.prog.Kind()); !fitsKind(got, t.Kind) {
			c.errorf(v.expr.place(0), "type-mismatch", "%s must be %s, but the expression is %s%s",
				name, t.Kind, got, convert(t.Kind))
		}
		return
	}
	switch {
	case t.Kind == Object && v.isMap:
		if t.Fields != nil {
			c.object(v, t.Fields, owner, name)
		}
		return
	case t.Kind == List && !v.isMap && v.lit == nil:
		for i, item := range v.items {
			if t.Elem != nil {
				c.value(item, fmt.Sprintf("item %d of %s", i+1, name), t.Elem, owner)
			}
		}
		return
	}
	if !fitsLiteral(v, t) {
		c.errorf(v.at, "type-mismatch", "%s must be %s, not %s%s", name, t.Kind, v.describe(), quoteHint(v, t))
	}
}

// fitsKind reports whether a value of kind got can be decoded into a Go field
// of kind want. What only the data tells fits.
func fitsKind(got, want TypeKind) bool {
	switch {
	case got == want, got == Any, want == Any, got == "nil":
		return true
	case want == Number:
		return got == Integer
	case want == String:
		return got == Timestamp || got == Duration // they are texts in JSON
	case want == Timestamp:
		return got == String
	}
	return false
}

func fitsLiteral(v *Value, t *Type) bool {
	switch lit := v.lit.(type) {
	case string:
		if t.Kind == Timestamp || t.Kind == Duration {
			_, ok := text(lit, t)
			return ok
		}
		return t.Kind == String
	case bool:
		return t.Kind == Boolean
	case json.Number:
		return t.Kind == Number || t.Kind == Integer && wholePattern.MatchString(lit.String())
	}
	return false
}

// describe says what a literal is, for messages.
func (v *Value) describe() string {
	switch lit := v.lit.(type) {
	case string:
		return fmt.Sprintf("the text %q", shorten(lit))
	case bool:
		return fmt.Sprintf("boolean %t", lit)
	case json.Number:
		if strings.ContainsAny(lit.String(), ".eE") {
			return "float " + shorten(lit.String())
		}
		return "int " + shorten(lit.String())
	}
	if v.isMap {
		return "a map"
	}
	return "a list"
}

func quoteHint(v *Value, t *Type) string {
	text, isText := v.lit.(string)
	switch {
	case v.lit == nil:
		return ""
	case t.Kind == String:
		return fmt.Sprintf("; quote it: '%s'", v.raw)
	case isText && t.Kind == Integer && wholePattern.MatchString(text),
		isText && t.Kind == Number && numberPattern.MatchString(text),
		isText && t.Kind == Boolean && (text == "true" || text == "false"):
		return "; write " + text
	}
	return ""
}

// convert says how to make an expression of another type fit.
func convert(kind TypeKind) string {
	switch kind {
	case String:
		return "; write string(…)"
	case Integer:
		return "; write int(…)"
	case Number:
		return "; write float(…)"
	case Boolean:
		return "; compare it with something"
	case Timestamp, Duration, Object, Any, List:
	}
	return ""
}
