package definition_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/pawl-dev/pawl/engine/definition"
)

// Whatever the text: no panic, an error has a place in the file, and a
// definition has the same hash when it is parsed again.
func FuzzParse(f *testing.F) {
	files, err := filepath.Glob("testdata/*/*.yaml")
	if err != nil || len(files) == 0 {
		f.Fatalf("no seeds: %v", err)
	}
	for _, file := range files {
		src, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		if len(src) < 8<<10 {
			f.Add(src)
		}
	}
	f.Fuzz(func(t *testing.T, src []byte) {
		d, list := definition.Parse("fuzz", src)
		if (d == nil) != (list.Err() != nil) {
			t.Fatalf("definition %v with the errors %v", d != nil, list.Err())
		}
		for _, l := range list {
			if l.Line < 1 || l.Col < 1 || l.Rule == "" || l.Message == "" {
				t.Errorf("incomplete finding: %#v", l)
			}
		}
		if d == nil {
			return
		}
		again, _ := definition.Parse("fuzz", src)
		if again == nil || again.Hash != d.Hash {
			t.Errorf("parsed again: %v, want the hash %s", again, d.Hash)
		}
		for _, s := range d.States {
			if s.With == nil {
				continue
			}
			if raw, err := s.With.JSON(&definition.Vars{}); err == nil && !json.Valid(raw) {
				t.Errorf("with of %s is not JSON: %s", s.Name, raw)
			}
		}
	})
}

// Data that was read must come out with the same meaning.
func FuzzReadJSON(f *testing.F) {
	for _, s := range []string{`{"a": [1, 2.50, 1e400]}`, `634866135153775564`, `"\u2028<"`, `-0.0`, `[[[]]]`} {
		f.Add([]byte(s))
	}
	v := withValue(f, "${{ input.any }}")
	f.Fuzz(func(t *testing.T, raw []byte) {
		data, err := definition.ReadJSON(raw)
		if err != nil || data == nil {
			return
		}
		out, err := v.JSON(&definition.Vars{Input: map[string]any{"any": data}})
		if err != nil || !json.Valid(out) {
			t.Fatalf("JSON of %s = %s, %v", raw, out, err)
		}
		back, err := definition.ReadJSON(out)
		if err != nil {
			t.Fatal(err)
		}
		again, err := v.JSON(&definition.Vars{Input: map[string]any{"any": back.(map[string]any)["v"]}})
		if err != nil || string(again) != string(out) {
			t.Errorf("%s became %s, then %s (%v)", raw, out, again, err)
		}
	})
}
