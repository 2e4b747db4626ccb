package definition

import (
	"errors"
	"slices"

	"github.com/pawl-dev/pawl/engine/expression"
)

// slot is an expression and what its place asks of it.
type slot struct {
	value *Value
	want  want
	state string // in which it stands, if any
}

// compileAll is phase 6. Of outputs only those of an await have a type here:
// the others are known when the handlers are, see [Check]. The programs that
// are made here are those that run. They do not trust in what a handler
// declares, so a handler whose output is another, or an old version of it,
// makes a guard false and not a fault.
func (p *parser) compileAll() {
	if n := len(p.exprs); n > maxExprs && !p.stored {
		p.errorf(p.exprs[maxExprs].value.at, "expr-size",
			"the file has %d expressions, the limit is %d; split the workflow", n, maxExprs)
		return
	}
	p.def.exprs = p.exprs
	scopes := newScopes(p.def, signalType)
	for _, s := range p.exprs {
		p.compile(s, scopes.of(s))
	}
}

func (p *parser) compile(s slot, env *expression.Env) {
	e := s.value.expr
	e.want = s.want
	e.prog = p.program(s, env)
	if e.prog == nil || p.stored {
		return
	}
	for _, ref := range e.prog.Refs() {
		if ref.Path[0] == "states" {
			p.stateReference(e, ref)
			p.checkOrder(s, ref)
		}
	}
	p.judge(s, e.prog)
}

// program compiles an expression, or reports why it cannot.
func (f *findings) program(s slot, env *expression.Env) *expression.Program {
	e := s.value.expr
	prog, err := expression.Compile(e.src, env)
	if err == nil {
		return prog
	}
	if ee, ok := errors.AsType[*expression.Error](err); ok {
		f.errorf(e.place(ee.Offset), string(ee.Rule), "%s", exprMessage(e.src, ee, s.want.place))
		return nil
	}
	f.errorf(s.value.at, "expr", "%s", err)
	return nil
}

// judge holds an expression against what its place asks for, and looks for
// what it surely does not mean. It returns the type of the result.
func (f *findings) judge(s slot, prog *expression.Program) expression.Type {
	e := s.value.expr
	f.result(s, prog)
	look := prog.Analyze()
	for _, err := range look.Errors {
		f.errorf(e.place(err.Offset), string(err.Rule), "%s", err.Message)
	}
	for _, a := range look.Absent {
		f.errorf(e.place(a.Offset), "optional", "%s may be absent; write %s%s ?? default", a.Name, a.Name, a.Rest)
	}
	for _, n := range look.Never {
		f.errorf(e.place(n.Offset), "enum", "%s is never %q; %s", shorten(n.Name), shorten(n.Value), mend(n.Value, n.Enum))
	}
	return look.Type
}

// result holds the type of the expression against what the place asks for.
func (f *findings) result(s slot, prog *expression.Program) {
	at, kind := s.value.expr.place(0), prog.Kind()
	switch {
	case s.want.guard && kind != expression.Boolean && kind != expression.Any:
		f.errorf(at, "guard-type", "%s must be boolean, but the expression is %s; compare it with something",
			s.want.name, kind)
	case s.want.kind != "" && kind != s.want.kind && kind != expression.Any:
		f.errorf(at, "type-mismatch", "%s must be %s, but the expression is %s", s.want.name, s.want.kind, kind)
	case s.want.text && kind != expression.String && kind != expression.Any:
		f.errorf(at, "type-mismatch", "%s must be string, but the expression is %s; write string(…)", s.want.name, kind)
	case s.want.guard:
		if value, ok := prog.Constant(); ok {
			f.errorf(at, "guard-constant", "this guard is always %t; remove it or the branch", value)
		}
	}
	if len(prog.Names()) == 0 {
		if _, err := prog.Eval(nil); err != nil {
			f.errorf(at, "expr", "this can never be computed: %s", explain(err.Error()))
		}
	}
}

// stateReference checks a reference to a state and its output.
func (p *parser) stateReference(e *exprValue, ref expression.Ref) {
	if len(ref.Path) < 2 {
		p.errorf(e.place(ref.At[0]), "expr", "states must be followed by the name of a state: states.NAME.output")
		return
	}
	name := ref.Path[1]
	switch s := p.def.State(name); {
	case s == nil:
		p.errorf(e.place(ref.At[1]), "unknown-state",
			"there is no state %q; %s", name, mend(name, p.def.stateNames(StepState, AwaitState)))
	case s.Kind == EndState || s.Kind == WaitState:
		p.errorf(e.place(ref.At[1]), "expr", "state %s is %s, so it has no output here; name a step", name, aKind(s.Kind))
	case len(ref.Path) < 3:
		p.errorf(e.place(ref.At[1]), "expr", "write states.%s.output", name)
	}
}

func aKind(k Kind) string {
	if k == EndState || k == AwaitState {
		return "an " + string(k)
	}
	return "a " + string(k)
}

// stateNames returns the names of the states of these kinds, of all if none is
// given.
func (d *Definition) stateNames(of ...Kind) []string {
	var names []string
	for _, s := range d.States {
		if len(of) == 0 || slices.Contains(of, s.Kind) {
			names = append(names, s.Name)
		}
	}
	return names
}
