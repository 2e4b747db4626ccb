package expression

import (
	"slices"

	"github.com/expr-lang/expr/ast"
)

// function looks at the call of a function.
func (a *analyst) function(n *ast.BuiltinNode, handled bool) Type {
	if len(n.Arguments) == 0 {
		return unknown()
	}
	switch n.Name {
	case "any", "all", "none", "one", "count", "filter", "find", "sum":
		return a.predicate(n, handled)
	case "min", "max":
		return a.extreme(n, handled)
	}
	args := make([]Type, len(n.Arguments))
	for i, arg := range n.Arguments {
		args[i] = a.look(arg, false)
	}
	first := args[0]
	switch n.Name {
	case "len":
		a.need(n.Arguments[0], first, String, List, Object)
		return Type{Kind: Integer}
	case "first", "last":
		a.need(n.Arguments[0], first, List)
		return a.mayBeNone(n, elemOf(first), handled)
	case "int", "float", "string", "duration":
		return a.convert(n, first)
	case "abs":
		a.need(n.Arguments[0], first, Integer, Number, Duration)
		a.fault(n, "%s may be out of range", text(n))
		return Type{Kind: first.Kind}
	case "ceil", "floor", "round":
		a.need(n.Arguments[0], first, Integer, Number)
		if first.Kind == Number {
			a.fault(n, "%s may be out of range", text(n))
		}
		return Type{Kind: Number}
	}
	for i, t := range args { // of upper, trim, hasPrefix and so on
		a.need(n.Arguments[i], t, String)
	}
	if n.Name == "hasPrefix" || n.Name == "hasSuffix" {
		return Type{Kind: Boolean}
	}
	return Type{Kind: String}
}

func elemOf(list Type) Type {
	if list.Kind == List && list.Elem != nil {
		return list.Elem.named()
	}
	return unknown()
}

// mayBeNone says that the function gives nothing for an empty list.
func (a *analyst) mayBeNone(n *ast.BuiltinNode, t Type, handled bool) Type {
	if !handled {
		a.fault(n, "%s may find nothing", text(n))
	}
	t.Optional = true
	return t
}

func (a *analyst) convert(n *ast.BuiltinNode, t Type) Type {
	arg := n.Arguments[0]
	switch n.Name {
	case "string":
		a.need(arg, t, String, Integer, Number, Boolean, Timestamp, Duration)
		return Type{Kind: String, Enum: t.Enum}
	case "duration":
		if s, ok := arg.(*ast.StringNode); ok {
			if _, err := ParseDuration(s.Value); err != nil {
				a.refuse(arg, "duration %.40q: %s", s.Value, err)
			}
			return Type{Kind: Duration}
		}
		a.fault(n, "%s may be no duration", text(arg))
		return Type{Kind: Duration}
	}
	if t.Kind != Integer || t.Optional {
		a.fault(n, "%s may not fit, or be no number", text(arg))
	}
	if n.Name == "int" {
		return Type{Kind: Integer}
	}
	return Type{Kind: Number}
}

// predicate looks at a function that looks at each item of a list.
func (a *analyst) predicate(n *ast.BuiltinNode, handled bool) Type {
	list := a.look(n.Arguments[0], false)
	a.need(n.Arguments[0], list, List)
	item := elemOf(list)
	body := item
	if len(n.Arguments) > 1 {
		around := a.item
		a.item = item
		body = a.look(n.Arguments[1], false)
		a.item = around
	}
	if n.Name == "sum" {
		return a.sum(n, body)
	}
	known := body.Kind != Any && body.Kind != Boolean
	switch {
	case len(n.Arguments) > 1:
		a.need(n.Arguments[1], body, Boolean)
	case known: // count(list) counts what is true
		a.refuse(n, "count needs a condition: count(list, # > 1)")
	default:
		a.need(n.Arguments[0], body, Boolean)
	}
	switch n.Name {
	case "count":
		return Type{Kind: Integer}
	case "filter":
		return Type{Kind: List, Elem: &item}
	case "find":
		return a.mayBeNone(n, item, handled)
	}
	return Type{Kind: Boolean}
}

func (a *analyst) sum(n *ast.BuiltinNode, item Type) Type {
	if item.Kind != Any && item.Kind != Integer && item.Kind != Number {
		a.refuse(n, "sum adds up numbers, not values of type %s", item.Kind)
	}
	a.fault(n, "%s may be out of range", text(n))
	return Type{Kind: item.Kind}
}

func (a *analyst) extreme(n *ast.BuiltinNode, handled bool) Type {
	var kinds []Kind
	none := true
	for _, arg := range n.Arguments {
		t := a.look(arg, false)
		if t.Kind == List {
			a.need(arg, elemOf(t), Integer, Number, Duration)
			kinds = append(kinds, elemOf(t).Kind)
			continue
		}
		none = false
		a.need(arg, t, Integer, Number, Duration)
		kinds = append(kinds, t.Kind)
	}
	t := Type{Kind: kinds[0]}
	for _, k := range kinds[1:] {
		if k != t.Kind {
			t = Type{Kind: Number}
		}
	}
	switch {
	case slices.Contains(kinds, Any):
		t = unknown()
	case slices.Contains(kinds, Duration) && t.Kind != Duration:
		a.refuse(n, "%s compares durations with durations, and numbers with numbers", n.Name)
	}
	if none {
		return a.mayBeNone(n, t, handled)
	}
	return t
}
