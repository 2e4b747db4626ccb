package engine_test

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/pawl-dev/pawl/engine"
	"github.com/pawl-dev/pawl/engine/definition"
	"github.com/pawl-dev/pawl/internal/golden"
	"github.com/pawl-dev/pawl/workflows"
)

// The model check finds what the other checks cannot see. Each file has one
// planted fault and passes those.
func TestExploreFindsPlantedFaults(t *testing.T) {
	files, err := filepath.Glob("testdata/model/*.yaml")
	if err != nil || len(files) < 12 {
		t.Fatalf("%d files, %v", len(files), err)
	}
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".yaml")
		t.Run(name, func(t *testing.T) {
			src, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			def, diags := definition.Parse("planted.yaml", src)
			if len(diags) > 0 {
				t.Fatalf("the other checks found it: %v", diags)
			}
			got := engine.Explore(def)
			if len(got.Findings) == 0 || !got.Complete {
				t.Fatalf("nothing found in %d situations, complete %t", got.Situations, got.Complete)
			}
			var b strings.Builder
			for _, f := range got.Findings {
				fmt.Fprintln(&b, f)
			}
			golden.Check(t, "testdata/model/"+name+".out", []byte(b.String()))
		})
	}
}

// The shipped workflows are sound.
func TestExploreShipped(t *testing.T) {
	files := []string{"definition/testdata/all-features.yaml"}
	sources := map[string][]byte{}
	for _, file := range files {
		src, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		sources[filepath.Base(file)] = src
	}
	shipped, err := fs.Glob(workflows.FS, "*.yaml")
	if err != nil || len(shipped) < 4 {
		t.Fatalf("%d workflows are shipped, %v", len(shipped), err)
	}
	for _, file := range shipped {
		src, err := workflows.FS.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		sources[file] = src
	}
	for file, src := range sources {
		def, diags := definition.Parse(file, src)
		if len(diags) > 0 {
			t.Fatal(diags)
		}
		got := engine.Explore(def)
		if len(got.Findings) > 0 || !got.Complete || got.Situations < len(def.States) {
			t.Errorf("%s: %v in %d situations, complete %t", file, got.Findings, got.Situations, got.Complete)
		}
	}
}
