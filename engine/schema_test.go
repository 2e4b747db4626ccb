package engine

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-dev/pawl/engine/definition"
)

type tree struct {
	Name     string  `json:"name"`
	Children []*tree `json:"children"`
}

// ident has a text form of its own.
type ident struct{ a, b byte }

func (i *ident) UnmarshalText(text []byte) error {
	_, err := fmt.Sscanf(string(text), "%c-%c", &i.a, &i.b)
	return err
}

type common struct {
	Region string `json:"region"`
}

type wide struct {
	common
	Named   common          `json:"named"`
	ID      ident           `json:"id"`
	Blob    []byte          `json:"blob"`
	At      time.Time       `json:"at"`
	Raw     json.RawMessage `json:"raw,omitempty"`
	Counts  map[string]int  `json:"counts"`
	Maybe   *int            `json:"maybe"`
	Skipped string          `json:"-"`
	Plain   bool
	hidden  int
}

// The schema follows encoding/json, for every type that a handler may have,
// also one that holds itself.
func TestFieldsFollowEncodingJSON(t *testing.T) {
	var reg Registry
	Register(&reg, "wide", func(context.Context, Call[wide]) (tree, error) { return tree{}, nil }, Handler{})
	info := reg.Manifest()["wide"]
	var got []string
	for _, f := range info.Input {
		kind := string(f.Type.Kind)
		if f.Type.Optional {
			kind = "optional " + kind
		}
		got = append(got, f.Name+": "+kind)
	}
	want := []string{
		"region: string", "named: object", "id: any", "blob: string", "at: timestamp", "raw: optional any",
		"counts: object", "maybe: optional integer", "Plain: boolean",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("fields (-want +got):\n%s", diff)
	}
	out := info.Output
	if len(out) != 2 || out[1].Type.Kind != definition.List || out[1].Type.Elem.Kind != definition.Object || out[1].Type.Elem.Fields != nil {
		t.Errorf("a type that holds itself: %+v, want a list of objects with any fields", out)
	}
	_ = wide{}.hidden
}

type light struct {
	Status string    `json:"status" pawl:"enum=green|red|in progress"`
	Maybe  *string   `json:"maybe,omitempty" pawl:"enum=a"`
	Many   []*string `json:"many" pawl:"enum=x|y"`
	Plain  string    `json:"plain"`
}

func TestFieldsKnowEnums(t *testing.T) {
	var reg Registry
	Register(&reg, "light", func(context.Context, Call[light]) (light, error) { return light{}, nil }, Handler{})
	info := reg.Manifest()["light"]
	text := definition.Type{Kind: definition.String, Enum: []string{"x", "y"}}
	want := []definition.Field{
		{Name: "status", Type: definition.Type{Kind: definition.String, Enum: []string{"green", "red", "in progress"}}},
		{Name: "maybe", Type: definition.Type{Kind: definition.String, Optional: true, Enum: []string{"a"}}},
		{Name: "many", Type: definition.Type{Kind: definition.List, Elem: &text}},
		{Name: "plain", Type: definition.Type{Kind: definition.String}},
	}
	for what, got := range map[string][]definition.Field{"input": info.Input, "output": info.Output} {
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", what, diff)
		}
	}
	if err := reg.check(); err != nil {
		t.Errorf("check: %v", err)
	}
}

type badTags struct {
	A     string `pawl:"enum="`
	B     string `pawl:"enum=a||b"`
	C     string `pawl:"enun=a"`
	D     int    `pawl:"enum=1|2"`
	E     []byte `pawl:"enum=x"`
	Again *badTags
	Deep  []struct {
		F bool `pawl:"enum=true"`
	}
}

// A tag that means nothing is a mistake of the set-up.
func TestBadTagsAreReported(t *testing.T) {
	var reg Registry
	Register(&reg, "bad", func(context.Context, Call[badTags]) (tree, error) { return tree{}, nil }, Handler{})
	Register(&reg, "good", func(context.Context, Call[wide]) (tree, error) { return tree{}, nil }, Handler{})
	err := reg.check()
	for _, want := range []string{"field A ", "field B ", `field C has the tag pawl:"enun=a", want pawl:"enum=a|b"`, "field D ", "field E ", "field F "} {
		if err == nil || strings.Count(err.Error(), want) != 1 {
			t.Errorf("check: %v, want it to name %q once", err, want)
		}
	}
	if err != nil && strings.Contains(err.Error(), `"good"`) {
		t.Errorf("check: %v, want nothing about good", err)
	}
	reg.Manifest() // does not panic
}

// A handler that is nil is a mistake of the set-up, reported with the others.
func TestNilHandlersAreReported(t *testing.T) {
	var reg Registry
	Register[tree, tree](&reg, "one", nil, Handler{})
	RegisterBatch[tree, tree](&reg, "many", nil, Handler{})
	Register(&reg, "", func(context.Context, Call[tree]) (tree, error) { return tree{}, nil }, Handler{})
	err := Config{Handlers: &reg, Lease: time.Second, Concurrency: 1}.validate()
	for _, want := range []string{`"one"`, `"many"`, "needs a name", "Store is nil"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("validate: %v, want it to name %s", err, want)
		}
	}
}
