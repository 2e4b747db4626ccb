package definition

import (
	"bytes"
	"encoding/json"
	"strings"
)

// Finding makes a diagnostic about a field of a state, for checks that stand
// outside of this package. An empty field means the state itself, an empty
// state the top level of the file. A field that the file does not have gives
// the place of what it would stand in.
func (d *Definition) Finding(state, field, rule, message string) *Diagnostic {
	at := position{1, 1}
	if s := d.State(state); s != nil {
		at = s.at
		if part, ok := s.parts[field]; ok {
			at = part
		}
	} else if field != "" {
		at = d.topField(field)
	}
	f := findings{file: d.File}
	f.errorf(at, rule, "%s", message)
	return f.list[0]
}

// FindingAt makes a diagnostic about a value of the file.
func (d *Definition) FindingAt(v *Value, rule, message string) *Diagnostic {
	f := findings{file: d.File}
	f.errorf(v.at, rule, "%s", message)
	return f.list[0]
}

// topField returns where a field of the top level stands.
func (d *Definition) topField(name string) position {
	for i, line := range bytes.Split(d.Source, []byte("\n")) {
		if strings.HasPrefix(strings.TrimPrefix(string(line), bom), name+":") {
			return position{i + 1, 1}
		}
	}
	return position{1, 1}
}

// SameWork reports whether two steps would do the same: they have the same
// handler and the same input.
func SameWork(a, b *State) bool {
	if a.Step != b.Step {
		return false
	}
	x, errX := json.Marshal(a.With.canonical())
	y, errY := json.Marshal(b.With.canonical())
	return errX == nil && errY == nil && bytes.Equal(x, y)
}

// Missing returns the first state whose output an expression of v needs
// although it is not among the outputs; "" if there is none. An expression that
// allows for the absence (?. and ??) does not need it.
func (v *Value) Missing(outputs map[string]any) string {
	if v == nil {
		return ""
	}
	for _, item := range v.items {
		if name := item.Missing(outputs); name != "" {
			return name
		}
	}
	if v.expr == nil || v.expr.prog == nil {
		return ""
	}
	for _, ref := range v.expr.prog.Refs() {
		if ref.Path[0] != "states" || len(ref.Path) < 3 {
			continue
		}
		if _, ok := outputs[ref.Path[1]]; !ok && !guarded(ref) {
			return ref.Path[1]
		}
	}
	return ""
}
