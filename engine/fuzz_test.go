package engine_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/pawl-dev/pawl/engine"
	"github.com/pawl-dev/pawl/engine/definition"
	"github.com/pawl-dev/pawl/internal/fuzztest"
)

// The model check ends, and finds something to say about a place in the file,
// for whatever definition the other checks let pass.
func FuzzExplore(f *testing.F) {
	for _, pattern := range []string{"testdata/model/*.yaml", "definition/testdata/ok/*.yaml", "definition/testdata/all-features.yaml"} {
		files, err := filepath.Glob(pattern)
		if err != nil || len(files) == 0 {
			f.Fatalf("no seeds in %s: %v", pattern, err)
		}
		for _, file := range files {
			src, err := os.ReadFile(file)
			if err != nil {
				f.Fatal(err)
			}
			f.Add(src)
		}
	}
	f.Fuzz(func(t *testing.T, src []byte) {
		def, _ := definition.Parse("fuzz", src)
		if def == nil {
			return
		}
		var got engine.Exploration
		fuzztest.Bounded(t, func() { got = engine.Explore(def) })
		for _, found := range got.Findings {
			if found.Line < 1 || found.Col < 1 || found.EndCol < found.Col || found.Message == "" {
				t.Errorf("a finding without a place: %+v", found)
			}
		}
		if got.Situations == 0 {
			t.Error("it went through no situation")
		}
	})
}
