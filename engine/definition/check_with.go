package definition

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/pawl-dev/pawl/engine/expression"
)

// input holds what a state gives its step against what that takes.
func (c *checker) input(s *State, h HandlerInfo) {
	switch {
	case h.Input == nil:
	case s.With == nil:
		c.wholeInput(s, h)
	default:
		c.object(s.With, h.Input, s.Step, "with")
	}
}

// wholeInput checks a state without with:, whose step gets the input of the
// workflow.
func (c *checker) wholeInput(s *State, h HandlerInfo) {
	at := s.parts["step"]
	for _, f := range h.Input {
		i := slices.IndexFunc(c.def.Input, func(in Field) bool { return in.Name == f.Name })
		if i < 0 {
			if !f.Type.Optional {
				c.errorf(at, "with-missing", "%s needs the input %q, which the workflow has not; give with:", s.Step, f.Name)
			}
			continue
		}
		got := inJSON(exprType(&c.def.Input[i].Type))
		switch kind := TypeKind(got.Kind); {
		case !fitsKind(c.def.Input[i].Type.Kind, f.Type.Kind):
			c.errorf(at, "type-mismatch", "%s of %s must be %s, but the workflow's input is %s; give with:",
				f.Name, s.Step, f.Type.Kind, c.def.Input[i].Type.Kind)
		case got.Optional && !f.Type.Optional && kind != Any:
			c.errorf(at, "optional", "%s needs %s, but input.%s may be absent; give with: and write input.%s ?? default",
				s.Step, f.Name, f.Name, f.Name)
		default:
			c.fit(at, f.Name, got, &f.Type, s.Step)
		}
	}
}

// object holds a map of the file against the fields of a Go struct. owner and
// field name them for messages.
func (c *checker) object(v *Value, fields []Field, owner, field string) {
	names := fieldNames(fields)
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

func fieldNames(fields []Field) []string {
	names := make([]string, len(fields))
	for i, f := range fields {
		names[i] = f.Name
	}
	return names
}

// value holds a value of the file against the type of a Go field.
func (c *checker) value(v *Value, name string, t *Type, owner string) {
	if t.Kind == Any {
		return
	}
	if v.expr != nil {
		if got, ok := c.typeOf(v.expr); ok {
			c.fit(v.expr.place(0), name, got, t, owner)
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
		return
	}
	if text, ok := v.lit.(string); ok && t.Enum != nil && !slices.Contains(t.Enum, text) {
		hint := ""
		if best := nearest(text, t.Enum); best != "" {
			hint = fmt.Sprintf("; did you mean %q?", best)
		}
		c.errorf(v.at, "enum", "%s must be one of %s, not %q%s", name, strings.Join(t.Enum, ", "), shorten(text), hint)
	}
}

// fit holds the type of an expression against that of a Go field. What only
// the data tells fits.
func (c *checker) fit(at position, name string, got expression.Type, t *Type, owner string) {
	kind := TypeKind(got.Kind)
	switch {
	case !fitsKind(kind, t.Kind):
		c.errorf(at, "type-mismatch", "%s must be %s, but the expression is %s%s", name, t.Kind, kind, convert(t.Kind))
		return
	case got.Optional && !t.Optional && kind != Any && t.Kind != Any:
		c.errorf(at, "optional", "%s needs %s, but the expression may be nil; write … ?? default", owner, name)
		return
	}
	if t.Enum != nil {
		for _, value := range got.Enum {
			if !slices.Contains(t.Enum, value) {
				c.errorf(at, "enum", "%s may be %q here, but must be one of %s", name, shorten(value), strings.Join(t.Enum, ", "))
				return
			}
		}
	}
	if t.Elem != nil && got.Elem != nil {
		c.fit(at, "an item of "+name, *got.Elem, t.Elem, owner)
	}
	if t.Fields != nil && got.Fields != nil {
		c.fitFields(at, name, got, t, owner)
	}
}

// fitFields holds the fields of an object against those of a Go struct. Fields
// that the struct has not are no mistake: the object was made for others, too.
func (c *checker) fitFields(at position, name string, got expression.Type, t *Type, owner string) {
	for _, f := range t.Fields {
		field, ok := got.Fields[f.Name]
		switch {
		case ok:
			field.Optional = false
			c.fit(at, name+"."+f.Name, field, &f.Type, owner)
		case !f.Type.Optional && len(got.Fields) == 0:
			c.errorf(at, "with-missing", "%s needs %s.%s, but the expression has no fields", owner, name, f.Name)
		case !f.Type.Optional:
			c.errorf(at, "with-missing", "%s needs %s.%s, but the expression has only these fields: %s", owner, name, f.Name,
				strings.Join(slices.Sorted(maps.Keys(got.Fields)), ", "))
		}
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
