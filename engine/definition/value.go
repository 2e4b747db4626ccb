package definition

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/pawl-dev/pawl/engine/expression"
)

// Value is a value of the file: a literal, an expression, or a map or list of
// values. Its expressions are compiled. It is safe for concurrent use.
type Value struct {
	at position

	// Exactly one of these is set: raw for a value without expressions,
	// already encoded; expr; keys with items for a map; items alone for a
	// list.
	raw  json.RawMessage
	expr *exprValue

	// A constant map or list keeps its parts, for the checks.
	isMap bool
	keys  []mapKey // sorted, so the encoded form does not depend on the file
	items []*Value // of a map in the order of keys

	lit any // of a scalar literal: string, bool or json.Number
}

type mapKey struct {
	name    string
	encoded []byte // with the colon
	at      position
}

// exprValue is an expression of the file.
type exprValue struct {
	file   string
	text   string // of the scalar, with marker
	src    string // of the expression alone
	offset int    // of src in text, in runes
	scalar scalar
	want   want // set by phase 6, like prog
	prog   *expression.Program
	envs   sync.Pool // maps for the variables of one evaluation
}

// Vars are the values that the expressions of a definition may name; see
// LANGUAGE.md section 2.2 for which of them is known where. A nil map or value
// is known as nil.
type Vars struct {
	Input    map[string]any // as [Definition.ReadInput] returns it
	Instance InstanceVars
	Now      time.Time
	States   map[string]any // state name -> output as [ReadJSON] returns it
	Output   any            // as [ReadJSON] returns it
	Error    *ErrorVars
}

// InstanceVars are the fields of the variable instance.
type InstanceVars struct {
	ID, Workflow string
	Version      int
	StartedAt    time.Time
}

// ErrorVars are the fields of the variable error.
type ErrorVars struct {
	Code, Message, State string
}

// usualSize is room for the encoded input of most steps.
const usualSize = 256

// JSON evaluates v and encodes the result: the keys of objects sorted, numbers
// with all their digits. It must not be modified. An error names the place in
// the file; it is a fault of the data, so another evaluation gives it again.
func (v *Value) JSON(vars *Vars) (json.RawMessage, error) {
	if v.raw != nil {
		return slices.Clip(v.raw), nil
	}
	return v.append(make([]byte, 0, usualSize), vars)
}

func (v *Value) append(b []byte, vars *Vars) ([]byte, error) {
	if v.raw != nil {
		return append(b, v.raw...), nil
	}
	if v.expr != nil {
		result, err := v.expr.eval(vars)
		if err != nil {
			return nil, err
		}
		if b, err = appendJSON(b, result); err != nil {
			return nil, v.expr.fault(0, err.Error())
		}
		return b, nil
	}
	open, end := byte('['), byte(']')
	if v.isMap {
		open, end = '{', '}'
	}
	b = append(b, open)
	for i, item := range v.items {
		if i > 0 {
			b = append(b, ',')
		}
		if v.isMap {
			b = append(b, v.keys[i].encoded...)
		}
		var err error
		if b, err = item.append(b, vars); err != nil {
			return nil, err
		}
	}
	return append(b, end), nil
}

// Text evaluates v, which the checks made sure is a string. It is an error if
// v is an expression whose type only the data tells, and that is no string.
func (v *Value) Text(vars *Vars) (string, error) {
	result, err := v.scalar(vars)
	if err != nil {
		return "", err
	}
	s, ok := result.(string)
	if !ok {
		return "", v.wrongType("a string", result)
	}
	return s, nil
}

// Bool evaluates v, which the checks made sure is a boolean. It is an error if
// v is an expression whose type only the data tells, and that is no boolean.
func (v *Value) Bool(vars *Vars) (bool, error) {
	result, err := v.scalar(vars)
	if err != nil {
		return false, err
	}
	b, ok := result.(bool)
	if !ok {
		return false, v.wrongType("true or false", result)
	}
	return b, nil
}

// Duration evaluates v, which the checks made sure is a duration. A duration
// below zero is an error, as is an expression that gives something else.
func (v *Value) Duration(vars *Vars) (time.Duration, error) {
	result, err := v.scalar(vars)
	if err != nil {
		return 0, err
	}
	if text, ok := result.(string); ok && v.expr == nil {
		return expression.ParseDuration(text)
	}
	d, ok := result.(time.Duration)
	switch {
	case !ok:
		return 0, v.wrongType("a duration", result)
	case d < 0:
		return 0, v.wrongType("a duration from now on", result)
	}
	return d, nil
}

// Time evaluates v, which the checks made sure is a timestamp. It is an error
// if v is an expression that gives something else.
func (v *Value) Time(vars *Vars) (time.Time, error) {
	result, err := v.scalar(vars)
	if err != nil {
		return time.Time{}, err
	}
	t, ok := result.(time.Time)
	if !ok {
		return time.Time{}, v.wrongType("a timestamp", result)
	}
	return t, nil
}

func (v *Value) scalar(vars *Vars) (any, error) {
	if v.expr == nil {
		return v.lit, nil
	}
	return v.expr.eval(vars)
}

func (v *Value) wrongType(want string, got any) error {
	message := fmt.Sprintf("this must be %s, but is %s", want, goType(got))
	if v.expr == nil {
		return errors.New(message)
	}
	return v.expr.fault(0, message)
}

func (e *exprValue) eval(vars *Vars) (any, error) {
	if vars == nil {
		vars = &Vars{}
	}
	env, ok := e.envs.Get().(map[string]any)
	if !ok {
		env = make(map[string]any, len(e.prog.Names()))
	}
	for _, name := range e.prog.Names() {
		env[name] = vars.lookup(name, e.prog)
	}
	result, err := e.prog.Eval(env)
	clear(env)
	e.envs.Put(env)
	if err == nil {
		return result, nil
	}
	if fault, ok := errors.AsType[*expression.Error](err); ok {
		return nil, e.fault(fault.Offset, explain(fault.Message))
	}
	return nil, e.fault(0, err.Error())
}

// fault is an error of the data at an offset of the expression.
func (e *exprValue) fault(offset int, message string) error {
	at := e.place(offset)
	return &Diagnostic{File: e.file, Line: at.line, Col: at.col, Rule: "expr-fault", Message: message}
}

// place returns the place in the file of an offset of the expression.
func (e *exprValue) place(offset int) position { return e.scalar.find(e.text, e.offset+offset) }

// lookup returns the variable of that name, as far as prog needs it.
func (v *Vars) lookup(name string, prog *expression.Program) any {
	switch name {
	case "input":
		return v.Input
	case "now":
		return v.Now
	case "output":
		return v.Output
	case "instance":
		return map[string]any{
			"id":         v.Instance.ID,
			"workflow":   v.Instance.Workflow,
			"version":    v.Instance.Version,
			"started_at": v.Instance.StartedAt,
		}
	case "states":
		return v.named(prog)
	case "error":
		if v.Error == nil {
			return nil
		}
		return map[string]any{"code": v.Error.Code, "message": v.Error.Message, "state": v.Error.State}
	}
	return nil
}

// named returns the states that prog names; a state that has no output yet is
// absent.
func (v *Vars) named(prog *expression.Program) map[string]any {
	states := make(map[string]any, 1)
	for _, ref := range prog.Refs() {
		if ref.Path[0] != "states" || len(ref.Path) < 2 {
			continue
		}
		if out, ok := v.States[ref.Path[1]]; ok {
			states[ref.Path[1]] = map[string]any{"output": out}
		}
	}
	return states
}
