package expression

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/expr-lang/expr/ast"
	"github.com/expr-lang/expr/parser"
)

// Analysis is what can be said of an expression beyond that it compiles.
type Analysis struct {
	// Type is that of the result.
	Type Type
	// Errors are what the language refuses although it can be computed.
	Errors []*Error
	// Absent are the optional values for whose absence there is no answer.
	Absent []Absence
	// Never are the comparisons that are always false.
	Never []Never
	// Faults are the places where the evaluation can fail although all that
	// is named is there, in the order of the text.
	Faults []Fault
}

// Absence is the use of an optional value as if it were always there.
type Absence struct {
	Offset int
	Name   string // of the value, such as input.note
	Rest   string // what is taken of it, such as ?.a?.b
}

// Never is a comparison of a value with a text that it never has.
type Never struct {
	Offset int // of the text
	Name   string
	Value  string
	Enum   []string // what the value can be
}

// Fault is a place where an evaluation can fail.
type Fault struct {
	Offset int
	Why    string
}

// Analyze looks at the expression once more, by the types that [Env] gives.
func (p *Program) Analyze() Analysis {
	a := &analyst{env: p.env.types}
	if tree := parse(p.src); tree != nil {
		a.out.Type = settle(a.look(tree.Node, false))
	}
	slices.SortStableFunc(a.out.Faults, func(x, y Fault) int { return cmp.Compare(x.Offset, y.Offset) })
	return a.out
}

// Partial reports whether the evaluation can fail although everything that is
// named is there: why, and at which offset. It is cautious: arithmetic that
// could overflow counts, and so does every use of a value of unknown type
// where the type matters.
func (p *Program) Partial() (why string, offset int, ok bool) {
	if len(p.names) == 0 {
		_, err := p.Eval(nil)
		if err != nil {
			why = err.Error()
		}
		return why, 0, err != nil
	}
	faults := p.Analyze().Faults
	if len(faults) == 0 {
		return "", 0, false
	}
	return faults[0].Why, faults[0].Offset, true
}

// Fields returns the names of the fields of a variable that src names, sorted:
// of x.a.b and x['c'] a and c. The text need not be an expression that
// compiles.
func Fields(src, variable string) []string {
	if utf8.RuneCountInString(src) > MaxLength {
		return nil
	}
	tree := parse(src)
	if tree == nil || size(tree.Node, map[ast.Node]int{}) > MaxNodes {
		return nil
	}
	var names []string
	ast.Walk(&tree.Node, visit(func(n ast.Node) {
		m, ok := n.(*ast.MemberNode)
		if !ok {
			return
		}
		name, isName := m.Property.(*ast.StringNode)
		of, isVariable := m.Node.(*ast.IdentifierNode)
		if isName && isVariable && of.Value == variable && !slices.Contains(names, name.Value) {
			names = append(names, name.Value)
		}
	}))
	slices.Sort(names)
	return names
}

// parse returns nil if src cannot be parsed.
func parse(src string) (tree *parser.Tree) {
	defer func() {
		if recover() != nil {
			tree = nil
		}
	}()
	tree, err := parser.Parse(src)
	if err != nil {
		return nil
	}
	return tree
}

// analyst infers the types of the nodes of an expression that has been
// compiled. A type that may be absent is optional.
type analyst struct {
	env  map[string]Type
	item Type // of the predicate that is looked at
	out  Analysis
}

func (a *analyst) fault(n ast.Node, format string, args ...any) {
	a.out.Faults = append(a.out.Faults, Fault{n.Location().From, fmt.Sprintf(format, args...)})
}

func (a *analyst) refuse(n ast.Node, format string, args ...any) {
	a.out.Errors = append(a.out.Errors, &Error{
		Rule: RuleExpr, Offset: n.Location().From, Message: oneLine(fmt.Sprintf(format, args...)),
	})
}

// look returns the type of a node. handled says that what stands around has an
// answer to its absence.
func (a *analyst) look(n ast.Node, handled bool) Type {
	switch n := n.(type) {
	case *ast.NilNode:
		return Type{Kind: Nil, Optional: true}
	case *ast.IntegerNode:
		return Type{Kind: Integer}
	case *ast.FloatNode:
		return Type{Kind: Number}
	case *ast.BoolNode:
		return Type{Kind: Boolean}
	case *ast.StringNode:
		return Type{Kind: String, Enum: []string{n.Value}}
	case *ast.IdentifierNode, *ast.PointerNode, *ast.MemberNode, *ast.ChainNode:
		return a.path(n, handled)
	case *ast.UnaryNode:
		return a.unary(n)
	case *ast.BinaryNode:
		return a.binary(n, handled)
	case *ast.ConditionalNode:
		a.need(n.Cond, a.look(n.Cond, false), Boolean)
		return join(a.look(n.Exp1, handled), a.look(n.Exp2, handled))
	case *ast.SliceNode:
		return a.slice(n)
	case *ast.ArrayNode:
		return a.list(n)
	case *ast.MapNode:
		return a.object(n)
	case *ast.PredicateNode:
		return a.look(n.Node, false)
	case *ast.BuiltinNode:
		return a.function(n, handled)
	}
	return unknown()
}

// unknown is the type of what only the data tells.
func unknown() Type { return Type{Kind: Any} }

// nothing is the kind of the items of an empty list.
const nothing = "nothing"

// named returns t with the name of its kind.
func (t Type) named() Type {
	if t.Kind == "" || t.Kind == nothing {
		t.Kind = Any
	}
	return t
}

// settle returns t for the items of empty lists being of any type.
func settle(t Type) Type {
	t = t.named()
	if t.Elem != nil {
		t.Elem = new(settle(*t.Elem))
	}
	if t.Fields != nil {
		fields := make(map[string]Type, len(t.Fields))
		for name, f := range t.Fields {
			fields[name] = settle(f)
		}
		t.Fields = fields
	}
	return t
}

// need notes a fault unless a value of type t is surely of one of the kinds.
func (a *analyst) need(n ast.Node, t Type, kinds ...Kind) {
	if slices.Contains(kinds, t.Kind) {
		if t.Optional {
			a.fault(n, "%s may be absent", text(n))
		}
		return
	}
	a.fault(n, "%s may not be %s", text(n), oneOf(kinds))
}

func oneOf(kinds []Kind) string {
	names := make([]string, len(kinds))
	for i, k := range kinds {
		names[i] = string(k)
	}
	return strings.Join(names, " or ")
}

// text returns a node as a short text, for messages.
func text(n ast.Node) string {
	s := []rune(n.String())
	if len(s) > 60 {
		return string(s[:59]) + "…"
	}
	return string(s)
}

func (a *analyst) list(n *ast.ArrayNode) Type {
	t := Type{Kind: List, Elem: &Type{Kind: nothing}}
	for i, item := range n.Nodes {
		elem := a.look(item, false)
		if i > 0 {
			elem = join(*t.Elem, elem)
		}
		t.Elem = &elem
	}
	return t
}

func (a *analyst) object(n *ast.MapNode) Type {
	t := Type{Kind: Object, Fields: map[string]Type{}}
	for _, node := range n.Pairs {
		pair, ok := node.(*ast.PairNode)
		if !ok {
			continue
		}
		value := a.look(pair.Value, false)
		key, ok := pair.Key.(*ast.StringNode)
		if !ok {
			a.need(pair.Key, a.look(pair.Key, false), String)
			t.Fields = nil
			continue
		}
		if t.Fields == nil {
			continue
		}
		if _, twice := t.Fields[key.Value]; twice {
			a.refuse(key, "%s is given twice in this object; remove one", key.Value)
		}
		t.Fields[key.Value] = value
	}
	return t
}

// join returns the type of what is either of two values.
func join(x, y Type) Type {
	optional := x.Optional || y.Optional
	switch {
	case x.Kind == nothing:
		return y
	case y.Kind == nothing:
		return x
	case x.Kind == Nil:
		y.Optional = true
		return y
	case y.Kind == Nil:
		x.Optional = true
		return x
	case x.Kind != y.Kind:
		return Type{Kind: Any, Optional: optional}
	}
	t := Type{Kind: x.Kind, Optional: optional, Record: x.Record && y.Record}
	if x.Enum != nil && y.Enum != nil {
		t.Enum = append(slices.Clone(x.Enum), slices.DeleteFunc(slices.Clone(y.Enum), func(s string) bool {
			return slices.Contains(x.Enum, s)
		})...)
	}
	if x.Elem != nil && y.Elem != nil {
		t.Elem = new(join(*x.Elem, *y.Elem))
	}
	if x.Fields != nil && y.Fields != nil {
		t.Fields = joinFields(x.Fields, y.Fields)
	}
	return t
}

// joinFields returns the fields of what is either of two objects; a field that
// only one has is optional.
func joinFields(x, y map[string]Type) map[string]Type {
	fields := make(map[string]Type, len(x))
	for name, t := range x {
		other, ok := y[name]
		if !ok {
			other = Type{Kind: Nil}
		}
		fields[name] = join(t, other)
	}
	for name, t := range y {
		if _, ok := x[name]; !ok {
			t.Optional = true
			fields[name] = t
		}
	}
	return fields
}
