package engine

import (
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/pawl-dev/pawl/engine/definition"
)

// fields derives the schema of a handler's input or output from its Go struct,
// by the names and rules of encoding/json. It returns nil for other types.
func fields(t reflect.Type) []definition.Field {
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if t.Kind() != reflect.Struct {
		return nil
	}
	list := []definition.Field{}
	for _, f := range reflect.VisibleFields(t) {
		name, opts, _ := strings.Cut(f.Tag.Get("json"), ",")
		if !f.IsExported() || name == "-" || f.Anonymous && name == "" {
			continue
		}
		if name == "" {
			name = f.Name
		}
		typ := typeOf(f.Type)
		omit := strings.Split(opts, ",")
		typ.Optional = f.Type.Kind() == reflect.Pointer || slices.Contains(omit, "omitempty") || slices.Contains(omit, "omitzero")
		list = append(list, definition.Field{Name: name, Type: typ})
	}
	return list
}

func typeOf(t reflect.Type) definition.Type {
	switch t {
	case reflect.TypeFor[json.RawMessage](), reflect.TypeFor[json.Number]():
		return definition.Type{Kind: definition.Any}
	case reflect.TypeFor[time.Time]():
		return definition.Type{Kind: definition.Timestamp}
	}
	switch t.Kind() {
	case reflect.Pointer:
		return typeOf(t.Elem())
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
		elem := typeOf(t.Elem())
		return definition.Type{Kind: definition.List, Elem: &elem}
	case reflect.Struct:
		return definition.Type{Kind: definition.Object, Fields: fields(t)}
	case reflect.Map:
		return definition.Type{Kind: definition.Object}
	default:
		return definition.Type{Kind: definition.Any}
	}
}
