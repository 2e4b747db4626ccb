package engine

import (
	"os"
	"testing"

	"github.com/pawl-dev/pawl/engine/definition"
)

// A check that had to stop says so.
func TestExploreSaysWhenItStops(t *testing.T) {
	const file = "definition/testdata/all-features.yaml"
	src, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	def, diags := definition.Parse(file, src)
	if err := diags.Err(); err != nil {
		t.Fatal(err)
	}
	all := Explore(def)
	if !all.Complete || len(all.Findings) > 0 {
		t.Fatalf("Explore = %+v", all)
	}
	if got := explore(def, all.Situations); !got.Complete {
		t.Errorf("with room for all: %+v", got)
	}
	got := explore(def, all.Situations-1)
	if got.Complete || len(got.Findings) != 1 || got.Findings[0].Rule != ruleSize || !got.Findings[0].Warning {
		t.Errorf("with room for all but one: %+v", got)
	}
}
