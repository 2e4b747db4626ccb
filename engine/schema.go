package engine

import (
	"encoding"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/pawl-dev/pawl/engine/definition"
)

// enumTag is the struct tag that lists what a string can be, such as
// `pawl:"enum=green|red"`. Workflows are checked against it; at run time it
// means nothing.
const enumTag = "pawl"

// fields derives the schema of a handler's input or output from its Go struct,
// by the names and rules of encoding/json, and the values of an enum from the
// tag pawl. It returns nil for other types.
func fields(t reflect.Type) []definition.Field {
	if t = structOf(t); t == nil {
		return nil
	}
	return schema{}.fields(t)
}

// structOf returns t, or what it points to, if that is a struct; else nil.
func structOf(t reflect.Type) reflect.Type {
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if t.Kind() != reflect.Struct {
		return nil
	}
	return t
}

// schema are the structs that are being looked into: one that holds itself is
// an object with any fields the second time.
type schema []reflect.Type

func (s schema) fields(t reflect.Type) []definition.Field {
	if slices.Contains(s, t) {
		return nil
	}
	s = append(slices.Clip(s), t)
	list := []definition.Field{}
	for f := range t.Fields() {
		name, opts, _ := strings.Cut(f.Tag.Get("json"), ",")
		switch {
		case f.Anonymous && name == "" && structOf(f.Type) != nil:
			list = append(list, s.fields(structOf(f.Type))...)
			continue
		case !f.IsExported() || f.Tag.Get("json") == "-":
			continue
		case name == "":
			name = f.Name
		}
		typ := s.typeOf(f.Type)
		omit := strings.Split(opts, ",")
		if enum, err := enumOf(f); err == nil {
			setEnum(&typ, enum)
		}
		typ.Optional = f.Type.Kind() == reflect.Pointer || slices.Contains(omit, "omitempty") || slices.Contains(omit, "omitzero")
		list = append(list, definition.Field{Name: name, Type: typ})
	}
	return list
}

func (s schema) typeOf(t reflect.Type) definition.Type {
	if t.Kind() == reflect.Pointer {
		return s.typeOf(t.Elem())
	}
	switch own := reflect.PointerTo(t); {
	case t == reflect.TypeFor[time.Time]():
		return definition.Type{Kind: definition.Timestamp}
	case own.Implements(reflect.TypeFor[json.Unmarshaler]()), own.Implements(reflect.TypeFor[encoding.TextUnmarshaler]()),
		t == reflect.TypeFor[json.Number]():
		return definition.Type{Kind: definition.Any} // the type knows what it takes
	}
	switch t.Kind() {
	case reflect.String:
		return definition.Type{Kind: definition.String}
	case reflect.Bool:
		return definition.Type{Kind: definition.Boolean}
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64,
		reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		return definition.Type{Kind: definition.Integer}
	case reflect.Float32, reflect.Float64:
		return definition.Type{Kind: definition.Number}
	case reflect.Slice, reflect.Array:
		if t.Kind() == reflect.Slice && t.Elem().Kind() == reflect.Uint8 {
			return definition.Type{Kind: definition.String} // base64
		}
		elem := s.typeOf(t.Elem())
		return definition.Type{Kind: definition.List, Elem: &elem}
	case reflect.Struct:
		return definition.Type{Kind: definition.Object, Fields: s.fields(t)}
	case reflect.Map:
		return definition.Type{Kind: definition.Object}
	default:
		return definition.Type{Kind: definition.Any}
	}
}

// enumOf returns the values that the tag of a field lists, nil if it has none.
func enumOf(f reflect.StructField) ([]string, error) {
	tag, ok := f.Tag.Lookup(enumTag)
	if !ok {
		return nil, nil
	}
	list, ok := strings.CutPrefix(tag, "enum=")
	values := strings.Split(list, "|")
	if !ok || slices.Contains(values, "") {
		return nil, fmt.Errorf("field %s has the tag pawl:%q, want pawl:\"enum=a|b\"", f.Name, tag)
	}
	if k := elem(f.Type).Kind(); k != reflect.String {
		return nil, fmt.Errorf("field %s has the tag pawl:%q, but only strings have an enum, not %v", f.Name, tag, f.Type)
	}
	return values, nil
}

// elem returns t without pointers and lists around it.
func elem(t reflect.Type) reflect.Type {
	for t.Kind() == reflect.Pointer || t.Kind() == reflect.Slice || t.Kind() == reflect.Array {
		t = t.Elem()
	}
	return t
}

func setEnum(t *definition.Type, enum []string) {
	for t.Elem != nil {
		t = t.Elem
	}
	if t.Kind == definition.String {
		t.Enum = enum
	}
}

// checkTags returns what is wrong with the tags of a struct, and of the
// structs in it.
func (s schema) checkTags(t reflect.Type) []error {
	if t = elem(t); t.Kind() != reflect.Struct || slices.Contains(s, t) {
		return nil
	}
	s = append(slices.Clip(s), t)
	var errs []error
	for f := range t.Fields() {
		if _, err := enumOf(f); err != nil {
			errs = append(errs, fmt.Errorf("%v: %w", t, err))
		}
		errs = append(errs, s.checkTags(f.Type)...)
	}
	return errs
}
