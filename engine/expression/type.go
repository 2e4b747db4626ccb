package expression

import (
	"maps"
	"reflect"
	"time"

	"github.com/expr-lang/expr/checker/nature"
	"github.com/expr-lang/expr/conf"
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

	// Optional says that the value may be absent, so an expression needs ??.
	Optional bool
	// Enum are all values of a string; nil: any.
	Enum []string
	// Record says of any that it is taken for an object: [Program.Analyze]
	// does not count naming a field of it as a thing that can fail.
	Record bool

	made *known // see Prepare
}

// Prepare returns t with the costly part of an environment done, for a type
// that goes into several. It is not safe to compile expressions of such
// environments at once.
func (t Type) Prepare() Type {
	t.made = &known{t.expr().Nature()}
	return t
}

// Env names the variables that an expression may use. Build it once by
// [NewEnv] for all expressions of one place: that is the costly part. It is
// safe for concurrent use.
type Env struct {
	vars      types.Map
	types     map[string]Type
	functions conf.FunctionsTable
}

// NewEnv returns the environment of the given variables.
func NewEnv(vars map[string]Type) *Env { return new(Env).With(vars) }

// With returns e with variables added to it or replaced. It costs no more than
// these variables do.
func (e *Env) With(vars map[string]Type) *Env {
	next := &Env{vars: maps.Clone(e.vars), types: maps.Clone(e.types), functions: e.functions}
	if next.vars == nil {
		next.vars, next.types, next.functions = types.Map{}, map[string]Type{}, checkedFunctions()
	}
	for name, t := range vars {
		next.vars[name], next.types[name] = known{t.expr().Nature()}, t
	}
	return next
}

func (t Type) expr() types.Type {
	if t.made != nil {
		return *t.made
	}
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
