package definition

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/pawl-dev/pawl/engine/expression"
)

// availability is a place of the file, by the variables that are known there.
type availability int

const (
	atStart      availability = iota // instance_key, labels, top concurrency.key
	onEntry                          // with, state concurrency.key, emit, output
	afterSuccess                     // guards of next
	afterSignal                      // guards of await
	afterError                       // guards of catch
	undoing                          // with of compensate
	intoFailure                      // emit and output of a failed end
)

// slot is an expression and what its place asks of it.
type slot struct {
	value *Value
	want  want
	state string // in which it stands, if any
}

// outputRef is a place that names a field of the output of a state. Whether
// there is such a field is known when the handlers are.
type outputRef struct {
	state string
	path  []string // below output
	at    []position
}

// environment returns the variables that are known in a place of the state.
func (p *parser) environment(where availability, state *State) *expression.Env {
	str := expression.Type{Kind: expression.String}
	vars := map[string]expression.Type{
		"input": {Kind: expression.Object, Fields: fieldTypes(p.def.Input)},
		"now":   {Kind: expression.Timestamp},
		"instance": {Kind: expression.Object, Fields: map[string]expression.Type{
			"id": str, "workflow": str,
			"version":    {Kind: expression.Integer},
			"started_at": {Kind: expression.Timestamp},
		}},
	}
	if where != atStart {
		// Which states there are is checked by name: outputs are not typed.
		vars["states"] = expression.Type{}
	}
	switch where {
	case afterSuccess:
		vars["output"] = expression.Type{}
	case afterSignal:
		vars["output"] = signalType(state)
	case afterError, intoFailure, undoing:
		vars["error"] = expression.Type{Kind: expression.Object, Fields: map[string]expression.Type{
			"code": str, "message": str, "state": str,
		}}
	case atStart, onEntry:
	}
	return expression.NewEnv(vars)
}

// signalType is the output of an await.
func signalType(s *State) expression.Type {
	return expression.Type{Kind: expression.Object, Fields: map[string]expression.Type{
		"signal":  {Kind: expression.String},
		"payload": {Kind: expression.Object, Fields: fieldTypes(s.Payload)},
	}}
}

func fieldTypes(fields []Field) map[string]expression.Type {
	m := make(map[string]expression.Type, len(fields))
	for _, f := range fields {
		m[f.Name] = exprType(&f.Type)
	}
	return m
}

func exprType(t *Type) expression.Type {
	e := expression.Type{Kind: expression.Kind(t.Kind)}
	if t.Elem != nil {
		e.Elem = new(exprType(t.Elem))
	}
	if t.Fields != nil {
		e.Fields = fieldTypes(t.Fields)
	}
	return e
}

// compileAll is phase 6.
func (p *parser) compileAll() {
	type scope struct {
		place availability
		state string
	}
	envs := map[scope]*expression.Env{}
	for _, s := range p.exprs {
		in := scope{place: s.want.place}
		if in.place == afterSignal {
			in.state = s.state // each has a payload of its own
		}
		if envs[in] == nil {
			envs[in] = p.environment(in.place, p.def.State(s.state))
		}
		p.compile(s, envs[in])
	}
}

func (p *parser) compile(s slot, env *expression.Env) {
	e := s.value.expr
	prog, err := expression.Compile(e.src, env)
	if err != nil {
		if ee, ok := errors.AsType[*expression.Error](err); ok {
			p.errorf(e.place(ee.Offset), string(ee.Rule), "%s", exprMessage(ee, s.want.place))
			return
		}
		p.errorf(s.value.at, "expr", "%s", err)
		return
	}
	e.prog = prog
	if p.stored {
		return
	}
	for _, ref := range prog.Refs() {
		p.reference(s, ref)
	}
	p.result(s, prog)
}

// result holds the type of the expression against what the place asks for.
func (p *parser) result(s slot, prog *expression.Program) {
	at, kind := s.value.expr.place(0), prog.Kind()
	switch {
	case s.want.guard && kind != expression.Boolean && kind != expression.Any:
		p.errorf(at, "guard-type", "%s must be boolean, but the expression is %s; compare it with something",
			s.want.name, kind)
	case s.want.kind != "" && kind != s.want.kind && kind != expression.Any:
		p.errorf(at, "type-mismatch", "%s must be %s, but the expression is %s", s.want.name, s.want.kind, kind)
	case s.want.text && kind != expression.String && kind != expression.Any:
		p.errorf(at, "type-mismatch", "%s must be string, but the expression is %s; write string(…)", s.want.name, kind)
	case s.want.guard:
		if value, ok := prog.Constant(); ok {
			p.errorf(at, "guard-constant", "this guard is always %t; remove it or the branch", value)
		}
	}
	if len(prog.Names()) == 0 {
		if _, err := prog.Eval(nil); err != nil {
			p.errorf(at, "expr", "this can never be computed: %s", explain(err.Error()))
		}
	}
}

// reference checks the names of states and the use of optional fields.
func (p *parser) reference(s slot, ref expression.Ref) {
	e := s.value.expr
	switch ref.Path[0] {
	case "states":
		p.stateReference(e, ref)
		p.checkOrder(s, ref)
		if len(ref.Path) > 3 {
			p.outputReference(e, ref, ref.Path[1], 3)
		}
	case "output":
		p.outputReference(e, ref, s.state, 1)
	case "input":
		p.optional(e, ref)
	}
}

// outputReference remembers the fields of ref from the given index on.
func (p *parser) outputReference(e *exprValue, ref expression.Ref, state string, from int) {
	out := outputRef{state: state, path: ref.Path[from:]}
	for _, offset := range ref.At[from:] {
		out.at = append(out.at, e.place(offset))
	}
	p.def.outputs = append(p.def.outputs, out)
}

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
	case ref.Path[2] != "output":
		p.errorf(e.place(ref.At[2]), "expr",
			"unknown field %s; a state has only output: states.%s.output", ref.Path[2], name)
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

// optional demands an answer to the absence of an optional field.
func (p *parser) optional(e *exprValue, ref expression.Ref) {
	fields := p.def.Input
	for i := 1; i < len(ref.Path); i++ {
		at := slices.IndexFunc(fields, func(f Field) bool { return f.Name == ref.Path[i] })
		if at < 0 {
			return
		}
		t := fields[at].Type
		last := i == len(ref.Path)-1
		if t.Optional && (!ref.Default || !last && !ref.Safe[i+1]) {
			path := strings.Join(ref.Path[:i+1], ".")
			rest := ""
			if !last {
				rest = "?." + strings.Join(ref.Path[i+1:], "?.")
			}
			p.errorf(e.place(ref.At[0]), "optional", "%s may be absent; write %s%s ?? default", path, path, rest)
			return
		}
		fields = t.Fields
	}
}

var mismatch = regexp.MustCompile(`mismatched types (\S+) and (\S+)\)$`)

// exprMessage completes an error of an expression by how to mend it.
func exprMessage(e *expression.Error, where availability) string {
	if e.Rule == expression.RuleSize {
		return e.Message + "; move a part of it into a step"
	}
	if e.Rule == expression.RuleForbidden && e.Name != "" {
		if best := nearest(e.Name, e.Known); best != "" {
			return fmt.Sprintf("there is no function %s(); did you mean %q?", e.Name, best)
		}
		return e.Message
	}
	if e.Name == "" {
		message := e.Message
		if m := mismatch.FindStringSubmatch(message); m != nil && m[1] != "unknown" && m[2] != "unknown" {
			message += "; convert one side: string(…), int(…)"
		}
		return message
	}
	if !e.Field {
		return fmt.Sprintf("unknown name %s; %s", e.Name, mendVariable(e, where))
	}
	return fmt.Sprintf("unknown field %s; %s", e.Name, mendField(e))
}

func mendVariable(e *expression.Error, where availability) string {
	switch e.Name {
	case "output":
		return "output is known only in the next: and await: of its own state; write states.NAME.output"
	case "error":
		return "error is known only in the guards of catch: and in states with end: failed"
	case "states":
		if where == atStart {
			return "no state has run yet when this is computed; use input"
		}
	}
	return mend(e.Name, e.Known)
}

func mendField(e *expression.Error) string {
	if nearest(e.Name, e.Known) == "" {
		for _, k := range e.Known {
			if strings.HasPrefix(k, e.Name+"-") || strings.HasPrefix(k, e.Name+"_") {
				return fmt.Sprintf("a dash is subtraction here; did you mean %q?", k)
			}
		}
	}
	return mend(e.Name, e.Known)
}

var nilFetch = regexp.MustCompile(`^cannot fetch (\S+) from <nil>$`)

// explain puts a fault of expr in words of the language.
func explain(message string) string {
	if m := nilFetch.FindStringSubmatch(message); m != nil {
		return fmt.Sprintf("there is no %s, since what it is a field of is absent; write ?.%s ?? default", m[1], m[1])
	}
	if strings.HasPrefix(message, "interface conversion: ") {
		return "a value has another type than the expression needs (" +
			strings.TrimPrefix(message, "interface conversion: interface {} is ") + ")"
	}
	return message
}
