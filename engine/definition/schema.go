package definition

import (
	"fmt"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"
)

// maxFields bounds the fields of an object and the texts of an enum.
const maxFields = 500

// typeNames are the types that a file may name; a list is written "list of".
func typeNames() []string {
	return []string{
		string(String), string(Integer), string(Number), string(Boolean),
		string(Timestamp), string(Duration), string(Object), string(Any),
	}
}

// otherTypes are what other languages call our types.
func otherTypes() map[string]TypeKind {
	return map[string]TypeKind{
		"str": String, "text": String, "varchar": String, "uuid": String,
		"int": Integer, "int32": Integer, "int64": Integer, "long": Integer, "uint": Integer,
		"float": Number, "float64": Number, "double": Number, "decimal": Number,
		"bool": Boolean, "date": Timestamp, "datetime": Timestamp, "time": Timestamp,
		"map": Object, "dict": Object, "json": Any, "interval": Duration,
	}
}

// schema reads a map of names to types.
func (p *parser) schema(name string, n *yaml.Node) []Field {
	if n.Kind != yaml.MappingNode {
		p.errorf(place(n), "type", "%s must be a map of names to types, not %s", name, describe(n))
		return nil
	}
	if count := len(n.Content) / 2; count > maxFields && !p.stored {
		p.errorf(place(n), "range", "%s has %d fields, the limit is %d; put some of them into an object", name, count, maxFields)
		return nil
	}
	fields := make([]Field, 0, len(n.Content)/2)
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, value := n.Content[i], n.Content[i+1]
		if p.name(key) {
			fields = append(fields, Field{Name: key.Value, Type: p.readType(key.Value, value)})
		}
	}
	return fields
}

// draftType is the long form of a type.
type draftType struct {
	Type
	fields *yaml.Node
	enum   []string
	at     map[string]position
}

func typeFields() []field[draftType] {
	return []field[draftType]{
		{
			name: "type", required: anyKind, shape: like("short_type"),
			doc:  "The type, such as string, list of integer or optional timestamp.",
			read: func(p *parser, t *draftType, n *yaml.Node) { t.Type = p.shortType(n) },
		},
		{
			name: "fields", shape: like("fields"),
			doc:  "Fields of an object and their types. If absent, it may have any.",
			read: func(_ *parser, t *draftType, n *yaml.Node) { t.fields = n },
		},
		{
			name: "enum", shape: like("enum"),
			doc:  "The only texts that are allowed.",
			read: (*parser).enum,
		},
		{
			name: "description", shape: ofType("string"),
			doc:  "What the value is for.",
			read: func(p *parser, _ *draftType, n *yaml.Node) { p.text("description", n) },
		},
	}
}

func (p *parser) readType(name string, n *yaml.Node) Type {
	if n.Kind != yaml.MappingNode {
		return p.shortType(n)
	}
	t := draftType{at: map[string]position{}}
	for i := 0; i+1 < len(n.Content); i += 2 {
		t.at[n.Content[i].Value] = place(n.Content[i])
	}
	readFields(p, block{node: n, name: "the type of " + name, at: place(n)}, typeFields(), &t)
	inner := &t.Type
	if inner.Kind == List {
		inner = inner.Elem
	}
	if at, ok := t.at["fields"]; ok {
		if inner.Kind != Object {
			p.errorf(at, "schema", "only an object has fields; write type: object")
		}
		inner.Fields = p.schema("fields", t.fields)
	}
	if at, ok := t.at["enum"]; ok {
		if inner.Kind != String {
			p.errorf(at, "schema", "only a string has an enum; write type: string")
		}
		inner.Enum = t.enum
	}
	return t.Type
}

// shortType reads "[optional ][list of ]NAME".
func (p *parser) shortType(n *yaml.Node) Type {
	unknown := Type{Kind: Any}
	if n.Kind == yaml.SequenceNode {
		p.errorf(place(n), "schema", "write a list type as: list of string")
		return unknown
	}
	s, ok := p.word("a type", n)
	if !ok {
		return unknown
	}
	name, optional := strings.CutPrefix(s, "optional ")
	name, list := strings.CutPrefix(name, "list of ")
	if !slices.Contains(typeNames(), name) {
		p.errorf(place(n), "schema", "unknown type %q; %s", shorten(s), mendType(name))
		return unknown
	}
	t := Type{Kind: TypeKind(name), Optional: optional}
	if list {
		t = Type{Kind: List, Optional: optional, Elem: &Type{Kind: TypeKind(name)}}
	}
	return t
}

// mendType says how to write a type that another language would have.
func mendType(name string) string {
	name = strings.TrimSpace(name)
	if base, ok := strings.CutSuffix(name, "?"); ok {
		return "write optional " + base
	}
	if base, ok := strings.CutSuffix(name, "[]"); ok {
		return "write a list type as: list of " + base
	}
	if t, ok := otherTypes()[strings.ToLower(name)]; ok {
		return "write " + string(t)
	}
	if name == string(List) || name == "array" {
		return "write a list type as: list of string"
	}
	return mend(name, typeNames())
}

func (p *parser) enum(t *draftType, n *yaml.Node) {
	if n.Kind != yaml.SequenceNode || len(n.Content) == 0 {
		p.errorf(place(n), "schema", "enum must be a list of texts, not %s", describe(n))
		return
	}
	if count := len(n.Content); count > maxFields && !p.stored {
		p.errorf(place(n), "range", "enum has %d texts, the limit is %d; check the text in a step", count, maxFields)
		return
	}
	seen := make(map[string]bool, len(n.Content))
	for i, item := range n.Content {
		s, ok := p.text(fmt.Sprintf("item %d of enum", i+1), item)
		if ok && seen[s] {
			p.errorf(place(item), "schema", "%q is in the enum twice; remove one", shorten(s))
		}
		seen[s] = true
		t.enum = append(t.enum, s)
	}
}
