package definition_test

import (
	"maps"
	"os"
	"path"
	"strings"
	"sync"
	"testing"

	"github.com/pawl-dev/pawl/engine/definition"
)

// manifest describes the handlers of the shipped workflows, and some bad ones.
func manifest() definition.Manifest { return maps.Clone(readManifest()) }

var readManifest = sync.OnceValue(func() definition.Manifest {
	const file = "testdata/manifest.json"
	src, err := os.ReadFile(file)
	if err != nil {
		panic(err)
	}
	m, err := definition.ReadManifest(file, src)
	if err != nil {
		panic(err)
	}
	return m
})

func TestShippedWorkflowsFitTheirHandlers(t *testing.T) {
	for _, file := range []string{
		"ok/pr-merge.yaml", "ok/outbox-delivery.yaml", "ok/payment.yaml", "ok/message-delivery.yaml", "all-features.yaml",
	} {
		d, list := definition.Parse(path.Base(file), mustRead(t, "testdata/"+file))
		if d == nil || len(list) > 0 {
			t.Fatalf("Parse: %v", list)
		}
		if found := definition.Check(d, manifest()); len(found) > 0 {
			t.Errorf("Check(%s) found %v, want nothing", file, found)
		}
		if found := definition.Check(d, definition.Manifest{}); found.Err() == nil {
			t.Errorf("Check(%s) without handlers found nothing", file)
		}
		if found := definition.Check(d, nil); found != nil {
			t.Errorf("Check(%s, nil) = %v, want nil", file, found)
		}
	}
}

// Which values fit a Go field of which kind.
func TestCheckTypes(t *testing.T) {
	elem := &definition.Type{Kind: definition.Integer}
	kinds := map[string]definition.Type{
		"string": {Kind: definition.String}, "integer": {Kind: definition.Integer}, "number": {Kind: definition.Number},
		"boolean": {Kind: definition.Boolean}, "timestamp": {Kind: definition.Timestamp},
		"object": {Kind: definition.Object}, "list": {Kind: definition.List, Elem: elem}, "any": {Kind: definition.Any},
	}
	tests := []struct{ value, fits string }{
		{"x", "string any"},
		{"'2026-03-01T10:00:00Z'", "string timestamp any"},
		{"12", "integer number any"},
		{"1.5", "number any"},
		{"true", "boolean any"},
		{"{a: 1}", "object any"},
		{"[1, 2]", "list any"},
		{"[1, a]", "any"},
		{"[]", "list any"},
		{"{}", "object any"},
		{"${{ input.name }}", "string timestamp any"},
		{"${{ input.id }}", "integer number any"},
		{"${{ input.ratio }}", "number any"},
		{"${{ input.id / 2 }}", "number any"},
		{"${{ input.express }}", "boolean any"},
		{"${{ input.ship_at }}", "string timestamp any"},
		{"${{ input.tags }}", "any"}, // of strings, not integers
		{"${{ [input.id, 2] }}", "list any"},
		{"${{ [] }}", "list any"},
		{"${{ [1, nil] }}", "any"},
		{"${{ [input.name] }}", "any"},
		{"${{ input.extra ?? {} }}", "object any"},
		{"${{ input.any }}", "string integer number boolean timestamp object list any"},
	}
	for _, tt := range tests {
		value := tt.value
		if strings.Contains(value, "{}") && strings.HasPrefix(value, "$") {
			value = `"` + value + `"`
		}
		d := mustParse(t, framed(value, "${{ output.ok }}"))
		for name, typ := range kinds {
			m := definition.Manifest{
				"a.do": {Input: []definition.Field{{Name: "v", Type: typ}}},
				"b.do": {},
			}
			got := definition.Check(d, m).Err() == nil
			if want := strings.Contains(" "+tt.fits+" ", " "+name+" "); got != want {
				t.Errorf("%s fits %s: %t, want %t", tt.value, name, got, want)
			}
		}
	}
}
