package definition

import "strings"

// show writes a value as people would in the file, literals as JSON.
func show(v *Value) string {
	var b strings.Builder
	showTo(&b, v)
	return b.String()
}

func showTo(b *strings.Builder, v *Value) {
	switch {
	case v == nil:
		b.WriteString("none")
	case v.expr != nil:
		b.WriteString(openExpr + " " + oneLine(v.expr.src) + " " + closeExpr)
	case v.isMap:
		b.WriteByte('{')
		for i, item := range v.items {
			if i > 0 {
				b.WriteString(", ")
			}
			b.WriteString(v.keys[i].name + ": ")
			showTo(b, item)
		}
		b.WriteByte('}')
	case v.lit != nil:
		b.Write(v.raw)
	default:
		b.WriteByte('[')
		for i, item := range v.items {
			if i > 0 {
				b.WriteString(", ")
			}
			showTo(b, item)
		}
		b.WriteByte(']')
	}
}

// oneLine joins the lines of a text.
func oneLine(text string) string {
	return strings.NewReplacer("\r\n", " ", "\n", " ", "\r", " ").Replace(text)
}

// showBranches writes where something leads: "A when x; B when y; else C".
func showBranches(list []Branch) string {
	var b strings.Builder
	for i, branch := range list {
		switch {
		case i > 0 && branch.When == nil:
			b.WriteString("; else ")
		case i > 0:
			b.WriteString("; ")
		}
		b.WriteString(branch.To)
		if branch.When != nil && branch.When.expr != nil {
			b.WriteString(" when " + oneLine(branch.When.expr.src))
		}
	}
	return b.String()
}

// showType writes a type in the short form of the language; the fields of an
// object and an enum follow in brackets.
func showType(t Type) string {
	text := ""
	if t.Optional {
		text = "optional "
	}
	inner := t
	if t.Kind == List {
		text += "list of "
		inner = Type{Kind: Any}
		if t.Elem != nil {
			inner = *t.Elem
		}
	}
	text += string(inner.Kind)
	if len(inner.Enum) > 0 {
		text += ", one of " + strings.Join(inner.Enum, ", ")
	}
	if inner.Fields == nil {
		return text
	}
	parts := make([]string, 0, len(inner.Fields))
	for _, f := range inner.Fields {
		parts = append(parts, f.Name+": "+showType(f.Type))
	}
	return text + " {" + strings.Join(parts, ", ") + "}"
}
