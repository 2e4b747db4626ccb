package expression

import (
	"errors"
	"math"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/expr-lang/expr"
	"github.com/expr-lang/expr/ast"
	"github.com/expr-lang/expr/file"
	"github.com/expr-lang/expr/vm"
)

// Program is a compiled expression. It is safe for concurrent use.
type Program struct {
	src   string
	code  *vm.Program
	kind  Kind
	refs  []Ref
	names []string
	env   *Env

	machines sync.Pool // idle virtual machines; a used one keeps its stack
}

// Ref is a place where an expression names a variable or a field of it, for
// example states.A.output.
type Ref struct {
	Path []string // names, from the variable on
	At   []int    // offset of each name, in runes
	// Safe tells for each name whether it is reached by "?.".
	Safe []bool
	// Default says that the value stands left of "??", or is compared with
	// nil, so that it may be absent.
	Default bool
}

func newProgram(src string, code *vm.Program, kind Kind, refs []Ref, env *Env) *Program {
	p := &Program{src: src, code: code, kind: kind, refs: refs, env: env}
	for _, r := range refs {
		if !slices.Contains(p.names, r.Path[0]) {
			p.names = append(p.names, r.Path[0])
		}
	}
	slices.Sort(p.names)
	return p
}

// Source returns the text that was compiled.
func (p *Program) Source() string { return p.src }

// Kind returns the kind of the result, which is [Any] if only the data tells.
func (p *Program) Kind() Kind { return p.kind }

// Names returns the variables that p uses, sorted. Without any, p is a
// constant.
func (p *Program) Names() []string { return p.names }

// Refs returns the places where p names a variable, in the order of the text.
func (p *Program) Refs() []Ref { return p.refs }

// Constant returns the value of a boolean that does not depend on data.
func (p *Program) Constant() (value, ok bool) {
	if b, is := p.code.Node().(*ast.BoolNode); is {
		return b.Value, true
	}
	if len(p.names) > 0 {
		return false, false
	}
	v, err := p.Eval(nil)
	value, ok = v.(bool)
	return value, ok && err == nil
}

// Eval computes the value for vars, which must hold what [Program.Names]
// lists. What cannot be computed (a field of nil, a division by zero, an
// overflow, an index out of range) is an [*Error] of [RuleFault], never a
// value.
func (p *Program) Eval(vars map[string]any) (any, error) {
	m, ok := p.machines.Get().(*vm.VM)
	if !ok {
		m = new(vm.VM)
	}
	v, err := m.Run(p.code, vars)
	p.machines.Put(m)
	if err != nil {
		e := &Error{Rule: RuleFault, Message: firstLine(err.Error())}
		if fe, ok := errors.AsType[*file.Error](err); ok {
			e.Offset, e.Message = fe.From, faultText(firstLine(fe.Message))
		}
		return nil, e
	}
	if f, ok := v.(float64); ok && (math.IsNaN(f) || math.IsInf(f, 0)) {
		return nil, &Error{Rule: RuleFault, Message: errNotFinite.Error()}
	}
	return v, nil
}

var fieldOfItem = regexp.MustCompile(`^invalid operation: int\((\S+)\)$`)

// faultText puts what expr, or Go itself, says of a fault in plain words.
func faultText(message string) string {
	switch {
	case strings.HasPrefix(message, "reflect"):
		return "a value has another type than the expression needs"
	case fieldOfItem.MatchString(message):
		return "a field of a list or text does not exist"
	case message == "runtime error: integer divide by zero":
		return errDivide.Error()
	}
	return ourWords(message)
}

// compile contains a panic of expr: source text is not to be trusted to find
// none.
func compile(src string, opts []expr.Option) (p *vm.Program, err error) {
	defer func() {
		if v := recover(); v != nil {
			err = &file.Error{Message: "the expression cannot be compiled"}
		}
	}()
	return expr.Compile(src, opts...)
}
