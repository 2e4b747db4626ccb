package expression

import (
	"reflect"
	"time"

	"github.com/expr-lang/expr/checker/nature"
	"github.com/expr-lang/expr/types"
)

// Kind names the type of a value.
type Kind string

// The kinds of values. Any is what is known only at run time.
const (
	Any       Kind = "any"
	Nil       Kind = "nil"
	String    Kind = "string"
	Integer   Kind = "integer"
	Number    Kind = "number"
	Boolean   Kind = "boolean"
	Timestamp Kind = "timestamp"
	Duration  Kind = "duration"
	List      Kind = "list"
	Object    Kind = "object"
)

// Type is the static type of a variable. The zero value is any.
type Type struct {
	Kind   Kind
	Elem   *Type           // of a list; nil: any
	Fields map[string]Type // of an object; nil: any fields
}

// Env names the variables that an expression may use. Build it once by
// [NewEnv] for all expressions of one place: that is the costly part. It is
// safe for concurrent use.
type Env struct{ vars types.Map }

// NewEnv returns the environment of the given variables.
func NewEnv(vars map[string]Type) *Env {
	m := make(types.Map, len(vars))
	for name, t := range vars {
		m[name] = known{t.expr().Nature()}
	}
	return &Env{vars: m}
}

func (t Type) expr() types.Type {
	switch t.Kind {
	case String:
		return types.String
	case Integer:
		return types.Int
	case Number:
		return types.Float64
	case Boolean:
		return types.Bool
	case Timestamp:
		return types.TypeOf(time.Time{})
	case Duration:
		return types.TypeOf(time.Duration(0))
	case Nil:
		return types.Nil
	case List:
		if t.Elem == nil {
			return types.Array(types.Any)
		}
		return types.Array(t.Elem.expr())
	case Object:
		return t.object()
	case Any:
		return types.Any
	}
	return types.Any
}

func (t Type) object() types.Map {
	if t.Fields == nil {
		return types.Map{types.Extra: types.Any}
	}
	m := make(types.Map, len(t.Fields))
	for name, f := range t.Fields {
		m[name] = f.expr()
	}
	return m
}

// known is a type whose nature is made already.
type known struct{ n nature.Nature }

func (k known) Nature() nature.Nature   { return k.n }
func (k known) Equal(t types.Type) bool { return t == types.Any || t.Nature().Type == k.n.Type }
func (k known) String() string          { return k.n.String() }

func kindOf(n *nature.Nature) Kind {
	switch {
	case n.Nil:
		return Nil
	case n.Type == nil, n.Kind == reflect.Interface:
		return Any
	case n.IsDuration():
		return Duration
	case n.IsTime():
		return Timestamp
	case n.IsInteger:
		return Integer
	case n.IsFloat:
		return Number
	case n.Kind == reflect.Bool:
		return Boolean
	case n.Kind == reflect.String:
		return String
	case n.IsArray():
		return List
	case n.IsMap():
		return Object
	}
	return Any
}
