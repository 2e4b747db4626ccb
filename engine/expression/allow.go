package expression

import (
	"cmp"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/expr-lang/expr/ast"
	"github.com/expr-lang/expr/checker/nature"
	"github.com/expr-lang/expr/types"
)

// Functions returns the names of the functions that an expression may call,
// sorted. What is missing is missing because its cost or its result cannot be
// bounded: see the language reference.
func Functions() []string {
	return []string{
		"abs", "all", "any", "ceil", "count", "duration", "filter", "find", "first", "float", "floor",
		"hasPrefix", "hasSuffix", "int", "last", "len", "lower", "max", "min", "none", "one", "round",
		"string", "sum", "trim", "trimPrefix", "trimSuffix", "upper",
	}
}

// allowList refuses what is outside the language, collects the names that are
// used and puts checked functions in the place of unchecked arithmetic. Nodes
// are visited after their children.
type allowList struct {
	env  types.Map
	errs []*Error
	refs map[ast.Node]*Ref
	// done are the nodes that were visited, and what stands in their place:
	// a node can be in the tree twice, see mayShare.
	done map[ast.Node]ast.Node
}

// Visit implements ast.Visitor.
func (a *allowList) Visit(node *ast.Node) {
	before := *node
	if made, ok := a.done[before]; ok {
		*node = made
		return
	}
	a.visit(node)
	a.done[before], a.done[*node] = *node, *node
	for _, c := range children(*node) {
		a.settle(c)
	}
}

// settle marks what a visit has put into the tree.
func (a *allowList) settle(n ast.Node) {
	if _, ok := a.done[n]; ok || n == nil {
		return
	}
	a.done[n] = n
	for _, c := range children(n) {
		a.settle(c)
	}
}

func (a *allowList) visit(node *ast.Node) {
	switch n := (*node).(type) {
	case *ast.IdentifierNode:
		a.identifier(n)
	case *ast.MemberNode:
		a.member(n)
	case *ast.CallNode:
		a.call(n)
	case *ast.BuiltinNode:
		a.builtin(node, n)
	case *ast.BinaryNode:
		a.binary(node, n)
	case *ast.UnaryNode:
		unary(node, n)
	case *ast.SliceNode:
		slice(node, n)
	case *ast.PointerNode:
		if n.Name != "" {
			a.refuse(n, RuleExpr, "unknown pointer #%s; write # for the item", n.Name)
		}
	case *ast.PredicateNode:
		if nested(n.Node) {
			a.refuse(n, RuleNested, "a predicate inside a predicate is not allowed; do it in a step")
		}
	case *ast.VariableDeclaratorNode:
		a.refuse(n, RuleForbidden, "let is not allowed; write the value where it is used")
	case *ast.SequenceNode:
		a.refuse(n, RuleForbidden, "several expressions (;) are not allowed; write one")
	case *ast.BytesNode:
		a.refuse(n, RuleForbidden, "byte strings (b'…') are not allowed; write '…'")
	case *ast.NilNode, *ast.IntegerNode, *ast.FloatNode, *ast.BoolNode, *ast.StringNode,
		*ast.ChainNode, *ast.ConditionalNode, *ast.ArrayNode, *ast.MapNode, *ast.PairNode:
	default:
		a.refuse(n, RuleForbidden, "this is not allowed here")
	}
}

func (a *allowList) refuse(n ast.Node, rule Rule, format string, args ...any) {
	a.errs = append(a.errs, &Error{Rule: rule, Offset: n.Location().From, Message: oneLine(fmt.Sprintf(format, args...))})
}

// unknown refuses a name that is not one of known.
func (a *allowList) unknown(n ast.Node, e Error) {
	e.Offset = n.Location().From
	a.errs = append(a.errs, &e)
}

func (a *allowList) identifier(n *ast.IdentifierNode) {
	if n.Value == "$env" {
		a.refuse(n, RuleForbidden, "$env is not allowed; name the variable itself")
		return
	}
	if _, ok := a.env[n.Value]; !ok {
		a.unknown(n, Error{
			Rule: RuleExpr, Message: "unknown name " + shown(n.Value), Name: n.Value, Known: slices.Sorted(maps.Keys(a.env)),
		})
		return
	}
	at := n.Location().From
	a.refs[n] = &Ref{Path: []string{n.Value}, At: []int{at}, Safe: []bool{false}}
}

func (a *allowList) member(n *ast.MemberNode) {
	base := n.Node.Nature()
	fixed := base.TypeData != nil && base.Strict && base.Kind == reflect.Map
	name, ok := n.Property.(*ast.StringNode)
	if !ok {
		if fixed {
			a.refuse(n.Property, RuleForbidden, "a computed field name cannot be checked; write the name itself")
		}
		index(n)
		return
	}
	if fixed {
		if _, ok := base.Fields[name.Value]; !ok {
			a.unknown(name, Error{
				Rule: RuleExpr, Message: "unknown field " + shown(name.Value), Field: true,
				Name: name.Value, Known: slices.Sorted(maps.Keys(base.Fields)),
			})
		}
	}
	if n.Nature().Kind == reflect.Func {
		a.refuse(name, RuleForbidden, "methods are not allowed: %s", name.Value)
	}
	ref := a.refs[n.Node]
	if ref == nil {
		return
	}
	delete(a.refs, n.Node)
	ref.Path = append(ref.Path, name.Value)
	ref.At = append(ref.At, name.Location().From)
	ref.Safe = append(ref.Safe, n.Optional)
	a.refs[n] = ref
}

func (a *allowList) call(n *ast.CallNode) {
	at := n.Callee.Location().From
	a.errs = slices.DeleteFunc(a.errs, func(e *Error) bool { return e.Offset == at && e.Name != "" })
	id, ok := n.Callee.(*ast.IdentifierNode)
	if !ok {
		a.refuse(n.Callee, RuleForbidden, "methods are not allowed; the functions are: %s", strings.Join(Functions(), ", "))
		return
	}
	delete(a.refs, id)
	a.unknown(n, Error{
		Rule: RuleForbidden, Name: id.Value, Known: Functions(),
		Message: fmt.Sprintf("there is no function %s(); the functions are: %s", shown(id.Value), strings.Join(Functions(), ", ")),
	})
}

func (a *allowList) forbidden(n ast.Node, name string) {
	if name == "now" {
		a.refuse(n, RuleForbidden, "now() is not allowed, a retry would see another time; use the variable now")
		return
	}
	a.refuse(n, RuleForbidden, "%s() is not allowed; the functions are: %s", name, strings.Join(Functions(), ", "))
}

func (a *allowList) builtin(node *ast.Node, n *ast.BuiltinNode) {
	if !slices.Contains(Functions(), n.Name) {
		a.forbidden(n, n.Name)
		return
	}
	function(node, n)
}

func (a *allowList) binary(node *ast.Node, n *ast.BinaryNode) {
	switch n.Operator {
	case "..":
		a.refuse(n, RuleForbidden, "ranges (..) are not allowed")
	case "matches":
		if _, ok := n.Right.(*ast.StringNode); !ok {
			a.refuse(n.Right, RuleRegex, "the pattern of matches must be a text in quotes")
		}
	case "??":
		a.mayBeAbsent(n.Left)
	case "==", "!=":
		if _, ok := n.Right.(*ast.NilNode); ok {
			a.mayBeAbsent(n.Left)
		}
		if _, ok := n.Left.(*ast.NilNode); ok {
			a.mayBeAbsent(n.Right)
		}
	case "and", "&&", "or", "||":
		wrapAny(&n.Right, "boolean")
	case "<", "<=", ">", ">=":
		numbers(n)
	case "+", "-", "*", "/", "^", "**":
		arithmetic(node, n)
	}
}

func (a *allowList) mayBeAbsent(n ast.Node) {
	if c, ok := n.(*ast.ChainNode); ok {
		n = c.Node
	}
	if ref := a.refs[n]; ref != nil {
		ref.Default = true
	}
}

// nested tells whether a predicate stands in n.
func nested(n ast.Node) bool {
	found := false
	ast.Walk(&n, visit(func(n ast.Node) {
		_, is := n.(*ast.PredicateNode)
		found = found || is
	}))
	return found
}

type visit func(ast.Node)

func (v visit) Visit(node *ast.Node) { v(*node) }

// rootNature remembers the nature of the node that is visited last, the root.
// It must run just before the last check, and takes away the natures of calls:
// the checker of expr takes these for granted and then does not look at the
// arguments.
type rootNature struct{ nature nature.Nature }

// Reset and ShouldRepeat make it the last of the visitors.
func (r *rootNature) Reset() {}

// ShouldRepeat implements the interface that expr has for repeated visits.
func (r *rootNature) ShouldRepeat() bool { return false }

// Visit implements ast.Visitor.
func (r *rootNature) Visit(node *ast.Node) {
	r.nature = *(*node).Nature()
	if call, ok := (*node).(*ast.CallNode); ok {
		call.SetNature(nature.Nature{})
	}
}

// first returns the first refusal in the text, or nil.
func (a *allowList) first() *Error {
	if len(a.errs) == 0 {
		return nil
	}
	return slices.MinFunc(a.errs, func(x, y *Error) int { return cmp.Compare(x.Offset, y.Offset) })
}

func (a *allowList) references() []Ref {
	refs := make([]Ref, 0, len(a.refs))
	for _, r := range a.refs {
		refs = append(refs, *r)
	}
	slices.SortFunc(refs, func(x, y Ref) int { return cmp.Compare(x.At[0], y.At[0]) })
	return refs
}
