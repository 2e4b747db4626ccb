package definition

import (
	"fmt"
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

// scopes makes the environments of expressions, each of them once. An
// environment has only the states that an expression names: with all of them
// it would cost more than the rest of the checks.
type scopes struct {
	def *Definition
	// output is the type of the output of a state; nil if only the data tells.
	output func(*State) *expression.Type

	places map[availability]*expression.Env
	envs   map[string]*expression.Env
}

func newScopes(d *Definition, output func(*State) *expression.Type) *scopes {
	return &scopes{
		def: d, output: output,
		places: map[availability]*expression.Env{}, envs: map[string]*expression.Env{},
	}
}

// of returns the environment of an expression.
func (c *scopes) of(s slot) *expression.Env {
	place := s.want.place
	if c.places[place] == nil {
		c.places[place] = expression.NewEnv(variables(c.def, place))
	}
	vars := map[string]expression.Type{}
	key := fmt.Sprint(place)
	if place == afterSuccess || place == afterSignal {
		vars["output"] = c.outputOf(s.state)
		key += "/" + s.state
	}
	if names := c.def.namedStates(s); len(names) > 0 {
		states := make(map[string]expression.Type, len(names))
		for _, name := range names {
			state := c.def.State(name)
			if state == nil || state.Kind == EndState || state.Kind == WaitState {
				states[name] = expression.Type{} // see stateReference
				continue
			}
			states[name] = expression.Type{
				Kind: expression.Object, Fields: map[string]expression.Type{"output": c.outputOf(name)},
			}
		}
		vars["states"] = expression.Type{Kind: expression.Object, Fields: states}
		key += "." + strings.Join(names, ".")
	}
	if len(vars) == 0 {
		return c.places[place]
	}
	if c.envs[key] == nil {
		c.envs[key] = c.places[place].With(vars)
	}
	return c.envs[key]
}

// namedStates returns the states that an expression names, sorted.
func (d *Definition) namedStates(s slot) []string {
	if s.want.place == atStart || !strings.Contains(s.value.expr.src, "states") {
		return nil
	}
	return expression.Fields(s.value.expr.src, "states")
}

func (c *scopes) outputOf(state string) expression.Type {
	if s := c.def.State(state); s != nil {
		if out := c.output(s); out != nil {
			return *out
		}
	}
	return expression.Type{Record: true}
}

// variables returns what is known in a place of the file, but for outputs.
func variables(d *Definition, where availability) map[string]expression.Type {
	str := expression.Type{Kind: expression.String}
	vars := map[string]expression.Type{
		"input": {Kind: expression.Object, Fields: fieldTypes(d.Input)},
		"now":   {Kind: expression.Timestamp},
		"instance": {Kind: expression.Object, Fields: map[string]expression.Type{
			"id": str, "workflow": str,
			"version":    {Kind: expression.Integer},
			"started_at": {Kind: expression.Timestamp},
		}},
	}
	if where != atStart {
		vars["states"] = expression.Type{}
	}
	switch where {
	case afterError, intoFailure, undoing:
		vars["error"] = expression.Type{Kind: expression.Object, Fields: map[string]expression.Type{
			"code": str, "message": str, "state": str,
		}}
	case atStart, onEntry, afterSuccess, afterSignal:
	}
	return vars
}

// signalType is the output of an await, nil of other states.
func signalType(s *State) *expression.Type {
	if s.Kind != AwaitState {
		return nil
	}
	names := make([]string, len(s.Signals))
	for i, sig := range s.Signals {
		names[i] = sig.Name
	}
	return &expression.Type{Kind: expression.Object, Fields: map[string]expression.Type{
		"signal":  {Kind: expression.String, Enum: names},
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
	e := expression.Type{Kind: expression.Kind(t.Kind), Optional: t.Optional, Enum: t.Enum}
	if t.Elem != nil {
		e.Elem = new(exprType(t.Elem))
	}
	if t.Fields != nil {
		e.Fields = fieldTypes(t.Fields)
	}
	return e
}
