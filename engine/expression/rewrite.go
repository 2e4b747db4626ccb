package expression

import (
	"slices"

	"github.com/expr-lang/expr/ast"
	"github.com/expr-lang/expr/checker/nature"
)

// The functions in this file put checked functions in the place of what expr
// computes without a check. They leave alone what the checker of expr refuses,
// so that its message stays.

// Names of the checked functions end in the kind of their result. They have a
// space, so no expression can call them.
const (
	intSuffix      = " int"
	floatSuffix    = " float"
	durationSuffix = " duration"
	timeSuffix     = " time"
	stringSuffix   = " string"
	anySuffix      = " any" // only the data tells
)

// suffixOf returns the suffix for results of a kind.
func suffixOf(k Kind) string {
	switch k {
	case Integer:
		return intSuffix
	case Number:
		return floatSuffix
	case Duration:
		return durationSuffix
	case Timestamp:
		return timeSuffix
	case String:
		return stringSuffix
	case Any, Nil, Boolean, List, Object:
	}
	return anySuffix
}

// replace puts a call of a checked function in the place of node.
func replace(node *ast.Node, function string, args ...ast.Node) {
	ast.Patch(node, call(*node, function, args...))
}

// call returns a call that stands where at stands and has its nature.
func call(at ast.Node, function string, args ...ast.Node) *ast.CallNode {
	callee := &ast.IdentifierNode{Value: function}
	callee.SetLocation(at.Location())
	c := &ast.CallNode{Callee: callee, Arguments: args}
	c.SetLocation(at.Location())
	// What stands around is visited next, and asks for the nature.
	c.SetNature(*at.Nature())
	return c
}

// wrapAny demands a value of a kind where only the data tells.
func wrapAny(node *ast.Node, what string) {
	if n := (*node).Nature(); kindOf(n) == Any && !n.Nil {
		*node = call(*node, what+anySuffix, *node)
	}
}

func kindAt(n ast.Node) Kind { return kindOf(n.Nature()) }

// isNumber tells whether a value of kind k is a number or may be one.
func isNumber(k Kind) bool { return k == Integer || k == Number || k == Any }

func unary(node *ast.Node, n *ast.UnaryNode) {
	k := kindAt(n.Node)
	_, literal := n.Node.(*ast.IntegerNode)
	switch {
	case n.Operator == "-" && !literal && (k == Integer || k == Any):
		replace(node, "-"+suffixOf(k), n.Node)
	case n.Operator == "+" && k == Any:
		replace(node, "number"+anySuffix, n.Node)
	}
}

func arithmetic(node *ast.Node, n *ast.BinaryNode) {
	l, r := kindAt(n.Left), kindAt(n.Right)
	name := "binary " + n.Operator
	switch {
	case !isNumber(l) || !isNumber(r):
		if suffix, ok := timed(l, n.Operator, r); ok {
			replace(node, name+suffix, n.Left, n.Right)
		}
	case n.Operator == "/":
		replace(node, "/"+floatSuffix, n.Left, n.Right)
	case n.Operator == "^" || n.Operator == "**":
		replace(node, "^"+floatSuffix, n.Left, n.Right)
	case l == Integer && r == Integer:
		replace(node, name+intSuffix, n.Left, n.Right)
	case l != Any && r != Any:
		replace(node, name+floatSuffix, n.Left, n.Right)
	default:
		replace(node, name+anySuffix, n.Left, n.Right)
	}
}

// timed returns the suffix for arithmetic with timestamps and durations.
func timed(l Kind, op string, r Kind) (suffix string, ok bool) {
	other := r // than the timestamp or duration
	if l == Any || l == Integer || l == Number {
		other = l
		l, r = r, other
	}
	switch {
	case l != Timestamp && l != Duration:
		return "", false
	case other == Any:
		return anySuffix, op != "/" && op != "**" && op != "^" && (op != "*" || l == Duration)
	case op == "*":
		return durationSuffix, l == Duration && (isNumber(r) || r == Duration)
	case op == "+" && l == Duration && r == Duration, op == "-" && l == r:
		return durationSuffix, true
	case op == "+" && l != r && (r == Timestamp || r == Duration), op == "-" && l == Timestamp && r == Duration:
		return timeSuffix, true
	}
	return "", false
}

// numbers makes numbers with more digits than a float has comparable.
func numbers(n *ast.BinaryNode) {
	for _, side := range []*ast.Node{&n.Left, &n.Right} {
		if _, literal := (*side).(*ast.FloatNode); !literal && kindAt(*side) == Number {
			*side = call(*side, "order"+floatSuffix, *side)
		}
	}
}

// index checks x[i] where only the data tells what x or i is: expr takes a
// byte of a text, and the integer part of a float.
func index(n *ast.MemberNode) {
	wrapAny(&n.Node, "indexed")
	wrapAny(&n.Property, "index")
}

// slice makes a slice of a text count in characters, as len() does.
func slice(node *ast.Node, n *ast.SliceNode) {
	for _, bound := range []*ast.Node{&n.From, &n.To} {
		if *bound == nil {
			continue
		}
		if k := kindAt(*bound); k != Integer && k != Any {
			return
		}
		wrapAny(bound, "bound")
	}
	k := kindAt(n.Node)
	if k != String && k != Any {
		return
	}
	args := []ast.Node{n.Node, n.From, n.To}
	for i, a := range args {
		if a == nil {
			args[i] = &ast.NilNode{}
			args[i].SetLocation(n.Location())
			args[i].SetNature(nature.NatureOf(nil))
		}
	}
	replace(node, "slice"+suffixOf(k), args...)
}

// function checks the call of a function of expr.
func function(node *ast.Node, n *ast.BuiltinNode) {
	if len(n.Arguments) == 0 {
		return
	}
	k := kindAt(n.Arguments[0])
	switch n.Name {
	case "all", "any", "none", "one", "count", "filter", "find":
		wrapAny(&n.Arguments[0], "list")
	case "sum":
		wrapAny(&n.Arguments[0], "list")
		sum(node, n)
	case "first", "last":
		if len(n.Arguments) == 1 && (k == List || k == Any) {
			replace(node, n.Name+anySuffix, n.Arguments...)
		}
	case "int", "float", "string", "duration":
		if len(n.Arguments) == 1 {
			replace(node, n.Name+anySuffix, n.Arguments...)
		}
	case "abs":
		if len(n.Arguments) == 1 && (isNumber(k) || k == Duration) {
			replace(node, n.Name+suffixOf(k), n.Arguments...)
		}
	case "ceil", "floor", "round":
		if len(n.Arguments) == 1 && isNumber(k) {
			replace(node, n.Name+floatSuffix, n.Arguments...)
		}
	case "min", "max":
		if kind, ok := commonKind(n.Arguments); ok {
			replace(node, n.Name+suffixOf(kind), n.Arguments...)
		}
	}
}

// commonKind returns the kind of the least or greatest of args, and whether
// they can be compared.
func commonKind(args []ast.Node) (kind Kind, ok bool) {
	var seen []Kind
	for _, a := range args {
		k := kindAt(a)
		if k == List {
			k = Any
		}
		seen = append(seen, k)
	}
	has := func(k Kind) bool { return slices.Contains(seen, k) }
	switch {
	case slices.ContainsFunc(seen, func(k Kind) bool { return !isNumber(k) && k != Duration }):
		return "", false
	case has(Any):
		return Any, true
	case has(Duration):
		return Duration, !has(Integer) && !has(Number)
	case has(Number):
		return Number, true
	}
	return Integer, true
}

// sum makes a loop of checked additions. It does not collect the items first:
// they may be large.
func sum(node *ast.Node, n *ast.BuiltinNode) {
	var item ast.Node = &ast.PointerNode{}
	item.SetLocation(n.Location())
	kind := elemKind(n.Arguments[0])
	if len(n.Arguments) == 2 {
		p, ok := n.Arguments[1].(*ast.PredicateNode)
		if !ok {
			return
		}
		item, kind = p.Node, kindAt(p.Node)
	}
	if !isNumber(kind) {
		return
	}
	var zero ast.Node = &ast.IntegerNode{}
	if kind == Number {
		zero = &ast.FloatNode{}
	}
	acc := &ast.PointerNode{Name: "acc"}
	body := &ast.PredicateNode{Node: call(n, "binary +"+suffixOf(kind), acc, item)}
	for _, part := range []ast.Node{zero, acc, body} {
		part.SetLocation(n.Location())
	}
	loop := &ast.BuiltinNode{Name: "reduce", Arguments: []ast.Node{n.Arguments[0], body, zero}}
	loop.SetNature(*n.Nature())
	ast.Patch(node, loop)
}

func elemKind(list ast.Node) Kind {
	n := list.Nature()
	if !n.IsArray() {
		return Any
	}
	elem := n.Elem(nil)
	return kindOf(&elem)
}
