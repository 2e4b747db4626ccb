package definition

import (
	"fmt"

	"github.com/pawl-dev/pawl/engine/expression"
)

// Partial reports whether evaluating v as its place needs it can fail although
// everything that it names is there, and why. It is cautious: arithmetic that
// could overflow counts, and so does a value of unknown type where a guard or a
// key needs a certain one. A nil value cannot fail.
func (v *Value) Partial() (why string, partial bool) {
	if v == nil || v.raw != nil {
		return "", false
	}
	if v.expr != nil {
		return v.expr.partial()
	}
	for _, item := range v.items {
		if why, partial := item.Partial(); partial {
			return why, true
		}
	}
	return "", false
}

func (e *exprValue) partial() (why string, partial bool) {
	if why, _, partial = e.prog.Partial(); partial {
		return explain(why), true
	}
	if len(e.prog.Names()) == 0 {
		return "", false // a constant, whose type was checked
	}
	t := e.prog.Analyze().Type
	want := e.want.kind
	switch {
	case e.want.guard:
		want = expression.Boolean
	case e.want.text:
		want = expression.String
	}
	switch {
	case want != "" && (t.Kind != want || t.Optional):
		return fmt.Sprintf("%s may be no %s", e.want.name, want), true
	case want == expression.Duration:
		return e.want.name + " may be a duration below zero", true
	}
	return "", false
}
