package expression

import (
	"slices"
	"strings"

	"github.com/expr-lang/expr/ast"
)

// path looks at a variable, or the item of a predicate, and the fields and
// items that are taken of it.
func (a *analyst) path(n ast.Node, handled bool) Type {
	root, steps := unwind(n)
	var t Type
	var name strings.Builder
	switch r := root.(type) {
	case *ast.IdentifierNode:
		t = a.env[r.Value].named()
		name.WriteString(r.Value)
	case *ast.PointerNode:
		t = a.item.named()
		name.WriteString("#")
	default:
		t = a.look(root, len(steps) > 0 && steps[0].Optional)
		name.WriteString(text(root))
	}
	reported := false
	absent := func(at int) { // the value that steps[:at] lead to
		last := at == len(steps)
		if t.Optional && !reported && (!handled || !last && !steps[at].Optional) {
			a.absent(root, name.String(), steps[at:])
			reported = true
		}
	}
	if len(steps) == 0 {
		absent(0)
	}
	short := false // a ?. may end the path early
	for i, s := range steps {
		declared := t.Optional
		t = a.step(t, s, name.String())
		short = short || s.Optional && (declared || t.Kind == Any)
		name.WriteString(label(s))
		if _, isName := s.Property.(*ast.StringNode); isName {
			absent(i + 1)
		}
	}
	t.Optional = t.Optional || short
	return t
}

// unwind splits a.b[0]?.c into a and the accesses, the innermost first.
func unwind(n ast.Node) (root ast.Node, steps []*ast.MemberNode) {
	for {
		switch node := n.(type) {
		case *ast.ChainNode:
			n = node.Node
		case *ast.MemberNode:
			steps = append(steps, node)
			n = node.Node
		default:
			slices.Reverse(steps)
			return n, steps
		}
	}
}

func (a *analyst) absent(root ast.Node, name string, rest []*ast.MemberNode) {
	var b strings.Builder
	for _, s := range rest {
		b.WriteString("?." + strings.TrimPrefix(label(s), "."))
	}
	a.out.Absent = append(a.out.Absent, Absence{Offset: root.Location().From, Name: name, Rest: b.String()})
}

// label returns an access as it is written.
func label(m *ast.MemberNode) string {
	if s, ok := m.Property.(*ast.StringNode); ok {
		return "." + s.Value
	}
	return "[" + text(m.Property) + "]"
}

// step returns the type of what an access takes of a value of type t.
func (a *analyst) step(t Type, m *ast.MemberNode, name string) Type {
	if t.Optional && !m.Optional {
		a.fault(m, "%s may be absent", name)
	}
	prop, ok := m.Property.(*ast.StringNode)
	if !ok {
		return a.itemOf(t, m, name)
	}
	switch {
	case t.Kind == Object && t.Fields != nil:
		return t.Fields[prop.Value].named()
	case t.Kind == Object, t.Record, m.Optional:
	default:
		a.fault(m, "%s may not be an object", name)
	}
	return unknown()
}

// itemOf returns the type of x[i].
func (a *analyst) itemOf(t Type, m *ast.MemberNode, name string) Type {
	key := a.look(m.Property, false)
	if t.Kind == Object && key.Kind == String && !key.Optional {
		return unknown()
	}
	a.fault(m, "%s may not have this item", name)
	if t.Kind == List && t.Elem != nil {
		return t.Elem.named()
	}
	return unknown()
}

func (a *analyst) slice(n *ast.SliceNode) Type {
	t := a.look(n.Node, false)
	a.need(n.Node, t, List, String)
	for _, bound := range []ast.Node{n.From, n.To} {
		if bound != nil {
			a.need(bound, a.look(bound, false), Integer)
		}
	}
	t.Optional, t.Enum = false, nil
	return t
}

func (a *analyst) unary(n *ast.UnaryNode) Type {
	t := a.look(n.Node, false)
	if n.Operator == "not" || n.Operator == "!" {
		a.need(n.Node, t, Boolean)
		return Type{Kind: Boolean}
	}
	switch n.Node.(type) {
	case *ast.IntegerNode, *ast.FloatNode:
	default:
		if n.Operator == "-" && (t.Kind == Integer || t.Kind == Number) {
			a.fault(n, "%s may be out of range", text(n))
		}
	}
	a.need(n.Node, t, Integer, Number)
	return Type{Kind: t.Kind, Optional: t.Optional && n.Operator == "+"}
}

func (a *analyst) binary(n *ast.BinaryNode, handled bool) Type {
	switch n.Operator {
	case "??":
		l, r := a.look(n.Left, true), a.look(n.Right, handled)
		l.Optional = false
		if l.Kind == Nil {
			return r
		}
		return join(l, r)
	case "==", "!=":
		a.equal(n)
		return Type{Kind: Boolean}
	case "in":
		a.in(n)
		return Type{Kind: Boolean}
	}
	l, r := a.look(n.Left, false), a.look(n.Right, false)
	switch n.Operator {
	case "and", "&&", "or", "||":
		a.need(n.Left, l, Boolean)
		a.need(n.Right, r, Boolean)
	case "<", "<=", ">", ">=":
		a.ordered(n, l, r)
	case "contains", "startsWith", "endsWith", "matches":
		l.Optional, r.Optional = false, false // nil contains nothing
		a.need(n.Left, l, String)
		a.need(n.Right, r, String)
	default:
		return a.arithmetic(n, l, r)
	}
	return Type{Kind: Boolean}
}

// equal looks for comparisons with a text that can never be there. expr
// compares two integers, or two strings, in a way that fails on nil.
func (a *analyst) equal(n *ast.BinaryNode) {
	_, leftNil := n.Left.(*ast.NilNode)
	_, rightNil := n.Right.(*ast.NilNode)
	l, r := a.look(n.Left, rightNil), a.look(n.Right, leftNil)
	if l.Kind == r.Kind && (l.Kind == Integer || l.Kind == String) {
		a.need(n.Left, l, l.Kind)
		a.need(n.Right, r, r.Kind)
	}
	a.never(n.Left, l, n.Right)
	a.never(n.Right, r, n.Left)
}

// never notes that a value of type t is never the given text.
func (a *analyst) never(n ast.Node, t Type, literal ast.Node) {
	s, ok := literal.(*ast.StringNode)
	if _, both := n.(*ast.StringNode); !ok || both || t.Enum == nil || slices.Contains(t.Enum, s.Value) {
		return
	}
	a.out.Never = append(a.out.Never, Never{Offset: s.Location().From, Name: text(n), Value: s.Value, Enum: t.Enum})
}

func (a *analyst) in(n *ast.BinaryNode) {
	l, r := a.look(n.Left, false), a.look(n.Right, false)
	switch r.Kind {
	case List:
		if list, ok := n.Right.(*ast.ArrayNode); ok {
			for _, item := range list.Nodes {
				a.never(n.Left, l, item)
			}
		} else if r.Elem != nil {
			a.never(n.Right, r.Elem.named(), n.Left)
		}
	case Object:
		a.need(n.Left, l, String)
	case Timestamp:
		a.refuse(n, "a timestamp has nothing in it; compare it by < or >")
	default:
		a.fault(n, "%s may not be a list or object", text(n.Right))
	}
}

// ordered looks at a comparison by <, <=, > or >=.
func (a *analyst) ordered(n *ast.BinaryNode, l, r Type) {
	a.need(n.Left, l, String, Integer, Number, Timestamp, Duration)
	kinds := []Kind{l.Kind}
	if l.Kind == Integer || l.Kind == Number {
		kinds = []Kind{Integer, Number}
	}
	a.need(n.Right, r, kinds...)
}

func (a *analyst) arithmetic(n *ast.BinaryNode, l, r Type) Type {
	suffix, timed := timed(l.Kind, n.Operator, r.Kind)
	switch {
	case n.Operator == "/" || n.Operator == "%":
		return a.division(n, l, r)
	case n.Operator == "+" && (l.Kind == String || r.Kind == String):
		a.need(n.Left, l, String)
		a.need(n.Right, r, String)
		return Type{Kind: String}
	case l.Kind == Duration && r.Kind == Duration && n.Operator == "*":
		a.refuse(n, "%s", errTimes)
	case l.Kind == Any || r.Kind == Any:
		a.fault(n, "%s may compute with what are no numbers", text(n))
		return unknown()
	}
	a.fault(n, "%s may be out of range", text(n))
	switch {
	case timed && suffix == timeSuffix:
		return Type{Kind: Timestamp}
	case timed && suffix == durationSuffix:
		return Type{Kind: Duration}
	case l.Kind == Integer && r.Kind == Integer && n.Operator != "^" && n.Operator != "**":
		return Type{Kind: Integer}
	}
	return Type{Kind: Number}
}

func (a *analyst) division(n *ast.BinaryNode, l, r Type) Type {
	by, literal := n.Right.(*ast.IntegerNode)
	switch {
	case l.Kind == Any || r.Kind == Any:
		a.fault(n, "%s may compute with what are no numbers", text(n))
	case !literal || by.Value == 0:
		a.fault(n, "%s may be zero", text(n.Right))
	case l.Kind != Integer || l.Optional:
		a.fault(n, "%s may be out of range", text(n))
	}
	if n.Operator == "%" {
		return Type{Kind: Integer}
	}
	return Type{Kind: Number}
}
