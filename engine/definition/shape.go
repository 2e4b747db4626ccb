package definition

import (
	"encoding/json"
	"time"

	"github.com/pawl-dev/pawl/engine/expression"
)

// shape says what the value of a field may be, as a JSON Schema can say it. It
// is what a row of a table adds to its read; see [JSONSchema].
type shape struct {
	ref       string   // a schema of sharedSchemas; if empty:
	kind      string   // a type of JSON
	words     []string // the only texts
	low, high float64  // limits of a number; both zero: none
	standard  any      // what holds if the field is absent; nil: nothing to say
}

// like is the shape of a schema that several fields share.
func like(ref string) shape { return shape{ref: ref} }

func ofType(kind string) shape { return shape{kind: kind} }

// only is the shape of a text that is one of the words.
func only(words ...string) shape { return shape{kind: "string", words: words} }

func whole(low, high float64) shape { return shape{kind: "integer", low: low, high: high} }

func between(low, high float64) shape { return shape{kind: "number", low: low, high: high} }

// or says what holds if the field is absent.
func (s shape) or(standard any) shape {
	s.standard = standard
	return s
}

// schema returns s as the keywords of a JSON Schema, doc in front.
func (s shape) schema(doc string) keywords {
	k := keywords{{"description", doc}}
	if s.ref != "" {
		k = append(k, refTo(s.ref)...)
	} else {
		k = append(k, keyword{"type", s.kind})
	}
	switch {
	case len(s.words) > 0:
		k = append(k, keyword{"enum", s.words})
	case s.low != s.high:
		k = append(k, keyword{"minimum", s.low}, keyword{"maximum", s.high})
	case s.low != 0:
		k = append(k, keyword{"const", s.low})
	}
	switch v := s.standard.(type) {
	case nil:
	case time.Duration:
		k = append(k, keyword{"default", expression.FormatDuration(v)})
	default:
		k = append(k, keyword{"default", v})
	}
	return k
}

// keywords is a JSON object whose members stay in order, so that the schema
// lists the fields as the tables do.
type keywords []keyword

type keyword struct {
	name  string
	value any
}

// MarshalJSON implements [json.Marshaler].
func (k keywords) MarshalJSON() ([]byte, error) {
	b := []byte{'{'}
	for i, w := range k {
		if i > 0 {
			b = append(b, ',')
		}
		value, err := json.Marshal(w.value)
		if err != nil {
			return nil, err
		}
		b = append(append(appendText(b, w.name), ':'), value...)
	}
	return append(b, '}'), nil
}

func refTo(name string) keywords { return keywords{{"$ref", "#/$defs/" + name}} }

// objectOf is the schema of a block that the table describes, or of the states
// of one kind. More are the rules that hold between its fields.
func objectOf[T any](title string, table []field[T], kind kinds, more ...keyword) keywords {
	var properties keywords
	var required []string
	for _, f := range table {
		if f.kinds != 0 && f.kinds&kind == 0 {
			continue
		}
		properties = append(properties, keyword{f.name, f.shape.schema(f.doc)})
		if f.required&kind == kind {
			required = append(required, f.name)
		}
	}
	k := keywords{{"title", title}, {"type", "object"}, {"properties", properties}}
	if len(required) > 0 {
		k = append(k, keyword{"required", required})
	}
	k = append(k, keyword{"additionalProperties", false})
	return append(k, more...)
}

// mapOf is the schema of a map from names to what the file chooses.
func mapOf(key, value keywords, more ...keyword) keywords {
	k := keywords{{"type", "object"}, {"propertyNames", key}, {"additionalProperties", value}}
	return append(k, more...)
}
