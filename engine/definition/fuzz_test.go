package definition_test

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/pawl-dev/pawl/engine/definition"
	"github.com/pawl-dev/pawl/internal/fuzztest"
)

// Whatever the text: no panic and no hang, every finding has a place in the
// file, and a definition can be stored and read again.
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
		var d *definition.Definition
		var list definition.Diagnostics
		fuzztest.Bounded(t, func() { d, list = definition.Parse("fuzz", src) })
		if (d == nil) != (list.Err() != nil) {
			t.Fatalf("definition %v with the errors %v", d != nil, list.Err())
		}
		checkFindings(t, src, list)
		sameWithOtherLineEnds(t, src, list)
		if d == nil {
			return
		}
		stored, found := definition.ParseStored("fuzz", src)
		if stored == nil || stored.Hash != d.Hash {
			t.Errorf("the stored text is another definition: %v, want the hash %s; %v", stored, d.Hash, found)
		}
	})
}

// checkFindings holds the findings in src against what editors rely on.
func checkFindings(t *testing.T, src []byte, list definition.Diagnostics) {
	t.Helper()
	rows := strings.Split(strings.TrimLeft(string(src), "\uFEFF"), "\n")
	for i, l := range list {
		if l.Line < 1 || l.Line > len(rows) {
			t.Errorf("a place outside of the %d lines: %v", len(rows), l)
			continue
		}
		if width := utf8.RuneCountInString(rows[l.Line-1]); l.Col < 1 || l.Col > width+1 {
			t.Errorf("a place outside of the %d columns of the line: %v", width, l)
		}
		if l.Message == "" || strings.ContainsAny(l.Message, "\n\r") {
			t.Errorf("the message must be one line: %v", l)
		}
		if !slices.ContainsFunc(definition.Rules(), func(r definition.Rule) bool { return r.ID == l.Rule }) {
			t.Errorf("the rule is unknown: %v", l)
		}
		if i > 0 && (list[i-1].Line > l.Line || list[i-1].Line == l.Line && list[i-1].Col > l.Col) {
			t.Errorf("%v stands before %v", list[i-1], l)
		}
	}
}

// sameWithOtherLineEnds reads src with carriage returns and a byte order mark,
// which must change nothing.
func sameWithOtherLineEnds(t *testing.T, src []byte, want definition.Diagnostics) {
	t.Helper()
	if bytes.ContainsRune(src, '\r') || len(src) > 100<<10 {
		return
	}
	other := append([]byte("\uFEFF"), bytes.ReplaceAll(src, []byte("\n"), []byte("\r\n"))...)
	_, got := definition.Parse("fuzz", other)
	if string(lines(got)) != string(lines(want)) {
		t.Errorf("with CRLF:\n%swithout:\n%s", lines(got), lines(want))
	}
}

// A workflow with two lines changed: far more of these are accepted, or have
// mistakes of the later phases, than of texts by chance.
func FuzzValidate(f *testing.F) {
	files, err := filepath.Glob("testdata/ok/*.yaml")
	if err != nil || len(files) == 0 {
		f.Fatalf("no workflows: %v", err)
	}
	var sources [][]string
	for i, file := range append(files, "testdata/all-features.yaml") {
		src, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		sources = append(sources, strings.Split(string(src), "\n"))
		f.Add(uint8(i), uint16(0), "# changed", uint16(0), "# changed")
		f.Add(uint8(i), uint16(20+i), "5", uint16(30+i), "${{ input.pr_id ?? 'x' }}")
		f.Add(uint8(i), uint16(40+i), "MERGED", uint16(45+i), "[{when: \"${{ output.x == 1 }}\", to: MERGED}, {to: MERGED}]")
	}
	known := manifest()
	f.Fuzz(func(t *testing.T, file uint8, line uint16, text string, line2 uint16, text2 string) {
		rows := slices.Clone(sources[int(file)%len(sources)])
		changeLine(rows, line, text)
		changeLine(rows, line2, text2)
		src := []byte(strings.Join(rows, "\n"))
		fuzztest.Bounded(t, func() {
			d, list := definition.Parse("fuzz", src)
			checkFindings(t, src, list)
			if d == nil {
				return
			}
			checkFindings(t, src, definition.Check(d, known))
			checkFindings(t, src, definition.Check(d, manifestFor(d)))
			checkFindings(t, src, definition.Unused(d))
			checkSettings(t, string(src), d.Explain())
			evaluateAll(t, d)
		})
	})
}

// changeLine puts a text in the place of the value of a line, or of the line if it
// has no key.
func changeLine(rows []string, line uint16, text string) {
	at := int(line) % len(rows)
	row := rows[at]
	indent := row[:len(row)-len(strings.TrimLeft(row, " -"))]
	if key, _, ok := strings.Cut(row, ": "); ok {
		indent = key + ": "
	}
	rows[at] = indent + text
}

// manifestFor has a handler for all that d names.
func manifestFor(d *definition.Definition) definition.Manifest {
	m := definition.Manifest{}
	for _, s := range d.States {
		if s.Kind != definition.StepState {
			continue
		}
		info := definition.HandlerInfo{Batch: s.Batch > 0}
		for code := range s.Catch {
			if !definition.ReservedCode(code) {
				info.Codes = append(info.Codes, code)
			}
		}
		info.Codes = append(info.Codes, s.Retry.Except...)
		m[s.Step] = info
	}
	for _, s := range d.States {
		if s.Undoes() && s.Compensate.With == nil {
			m[s.Compensate.Step] = definition.HandlerInfo{Compensates: s.Step}
		}
	}
	return m
}

// evaluateAll computes all expressions of d with some data that fits.
func evaluateAll(t *testing.T, d *definition.Definition) {
	t.Helper()
	vars := &definition.Vars{
		Input:    fieldsOf(d.Input),
		Instance: definition.InstanceVars{ID: "x", Workflow: d.Workflow, Version: d.Version, StartedAt: time.Unix(0, 0).UTC()},
		Now:      time.Unix(1, 0).UTC(),
		States:   map[string]any{},
		Output:   map[string]any{"status": "green", "signal": "x", "payload": map[string]any{}},
		Error:    &definition.ErrorVars{Code: "unknown", Message: "no", State: "A"},
	}
	for i, s := range d.States {
		if i%2 == 0 {
			vars.States[s.Name] = vars.Output
		}
	}
	use := func(list ...*definition.Value) {
		for _, v := range list {
			if v == nil {
				continue
			}
			if raw, err := v.JSON(vars); err == nil && !json.Valid(raw) {
				t.Errorf("a value is no JSON: %s", raw)
			}
			_, _ = v.Bool(vars)
			_, _ = v.Text(vars)
		}
	}
	use(d.InstanceKey)
	for _, l := range d.Labels {
		use(l.Value)
	}
	for _, s := range d.States {
		use(s.With, s.Output)
		for _, b := range s.Next {
			use(b.When)
		}
		for _, e := range s.Emit {
			use(e.Key, e.Payload)
		}
		if s.Compensate != nil {
			use(s.Compensate.With)
		}
		if s.Wait != nil {
			use(s.Wait.For, s.Wait.Until)
		}
	}
}

// fieldsOf returns data of that schema.
func fieldsOf(fields []definition.Field) map[string]any {
	data := make(map[string]any, len(fields))
	for _, f := range fields {
		data[f.Name] = sampleOf(f.Type)
	}
	return data
}

func sampleOf(t definition.Type) any {
	switch t.Kind {
	case definition.String:
		return "text"
	case definition.Integer:
		return 7
	case definition.Number:
		return 0.5
	case definition.Boolean:
		return true
	case definition.Timestamp:
		return time.Unix(2, 0).UTC()
	case definition.Duration:
		return time.Minute
	case definition.List:
		return []any{sampleOf(*t.Elem)}
	case definition.Object:
		return fieldsOf(t.Fields)
	case definition.Any:
	}
	return map[string]any{"n": 1}
}

// Data that was read must come out with the same meaning.
func FuzzReadJSON(f *testing.F) {
	for _, s := range []string{`{"a": [1, 2.50, 1e400]}`, `634866135153775564`, `"\u2028<"`, `-0.0`, `[[[]]]`} {
		f.Add([]byte(s))
	}
	v := withValue(f, "${{ input.any }}")
	f.Fuzz(func(t *testing.T, raw []byte) {
		var data any
		var err error
		fuzztest.Bounded(t, func() { data, err = definition.ReadJSON(raw) })
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
