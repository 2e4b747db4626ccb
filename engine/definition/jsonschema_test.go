package definition_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"gopkg.in/yaml.v3"

	"github.com/pawl-dev/pawl/engine/definition"
	"github.com/pawl-dev/pawl/internal/golden"
)

// TestJSONSchemaIsInTheDocs keeps the file that the shipped workflows name equal
// to what the program prints.
func TestJSONSchemaIsInTheDocs(t *testing.T) {
	golden.Check(t, "../../docs/pawl.schema.json", definition.JSONSchema())
}

func TestJSONSchemaIsASchema(t *testing.T) {
	const draft = "https://json-schema.org/draft/2020-12/schema"
	meta, err := jsonschema.NewCompiler().Compile(draft)
	if err != nil {
		t.Fatal(err)
	}
	doc := schemaDoc(t)
	if err := meta.Validate(doc); err != nil {
		t.Errorf("the schema is against its meta-schema: %v", err)
	}
	if got := doc.(map[string]any)["$schema"]; got != draft {
		t.Errorf("$schema = %v, want %s", got, draft)
	}
}

// Each field has a text for people and a shape.
func TestEveryFieldIsExplained(t *testing.T) {
	sentences := regexp.MustCompile(`^[A-Za-z].*\.$`)
	count := 0
	var walk func(at string, v any)
	walk = func(at string, v any) {
		m, _ := v.(map[string]any)
		fields, _ := m["properties"].(map[string]any)
		for name, part := range m {
			walk(at+"/"+name, part)
		}
		if m["additionalProperties"] != false {
			return
		}
		for name, field := range fields {
			count++
			f := field.(map[string]any)
			if doc, _ := f["description"].(string); !sentences.MatchString(doc) || len(doc) > 200 {
				t.Errorf("%s: the doc of the field %s is %q, want one or two sentences", at, name, doc)
			}
			if f["$ref"] == nil && f["type"] == "" {
				t.Errorf("%s: the field %s has no shape", at, name)
			}
		}
	}
	walk("", schemaDoc(t))
	if count < 60 {
		t.Errorf("the schema has only %d fields", count)
	}
}

// A table that the parser reads by, but the schema does not know, would let
// through anything.
func TestEveryTableIsInTheSchema(t *testing.T) {
	table := regexp.MustCompile(`(?m)^func (\w+)\([^)]*\) \[\]field\[`)
	sources, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	used := string(mustRead(t, "jsonschema.go"))
	for _, file := range sources {
		text := string(mustRead(t, file))
		for _, m := range table.FindAllStringSubmatch(text, -1) {
			names = append(names, m[1])
		}
		for line := range strings.Lines(text) { // tables that are put together
			if strings.Contains(line, "slices.Concat(") {
				used += line
			}
		}
	}
	if len(names) < 10 {
		t.Errorf("found only the tables %v", names)
	}
	for _, name := range names {
		if !strings.Contains(used, name+"(") {
			t.Errorf("the table %s is not in the schema; add it to jsonschema.go", name)
		}
	}
}

func schemaDoc(tb testing.TB) any {
	tb.Helper()
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(definition.JSONSchema()))
	if err != nil {
		tb.Fatal(err)
	}
	return doc
}

func compileSchema(tb testing.TB) *jsonschema.Schema {
	tb.Helper()
	const url = "urn:test"
	c := jsonschema.NewCompiler()
	if err := c.AddResource(url, schemaDoc(tb)); err != nil {
		tb.Fatal(err)
	}
	s, err := c.Compile(url)
	if err != nil {
		tb.Fatal(err)
	}
	return s
}

// check does what an editor does that knows nothing of pawl: it reads the YAML,
// and holds every document against the schema.
func check(s *jsonschema.Schema, src []byte) error {
	dec := yaml.NewDecoder(bytes.NewReader(src))
	for n := 0; ; n++ {
		var v any
		switch err := dec.Decode(&v); {
		case errors.Is(err, io.EOF) && n > 0:
			return nil
		case err != nil:
			return err
		}
		if err := s.Validate(asJSON(v)); err != nil {
			return err
		}
	}
}

// asJSON turns what the YAML library gives into what JSON can hold. Dates are
// texts to YAML 1.2, which editors read, and keys are always texts.
func asJSON(v any) any {
	switch v := v.(type) {
	case time.Time:
		return v.Format(time.RFC3339)
	case float64:
		if math.IsInf(v, 0) || math.IsNaN(v) {
			return math.MaxFloat64
		}
	case []any:
		for i := range v {
			v[i] = asJSON(v[i])
		}
	case map[string]any:
		for k := range v {
			v[k] = asJSON(v[k])
		}
	case map[any]any:
		m := make(map[string]any, len(v))
		for k, item := range v {
			m[fmt.Sprint(k)] = asJSON(item)
		}
		return m
	}
	return v
}

// unseen says why no schema can see the mistake of a file; empty if one must.
func unseen(name string, found definition.Diagnostics) string {
	if len(found) > 0 && !slices.ContainsFunc(found, notSums) {
		return "a schema does not calculate with durations"
	}
	return map[string]string{
		"depth":              "a schema does not count levels",
		"duration-large":     "a schema does not calculate with durations",
		"key-type-bool":      "JSON has no such keys",
		"key-type-null":      "JSON has no such keys",
		"key-type-number":    "JSON has no such keys",
		"literal-date":       "JSON has no dates, to YAML 1.2 it is a text",
		"literal-infinity":   "JSON has no such numbers",
		"literal-octal":      "JSON has only one way to write a number",
		"literal-true":       "JSON has only one way to write true",
		"type-boolean-case":  "JSON has only one way to write true",
		"type-octal":         "JSON has only one way to write a number",
		"yaml-1.1-boolean":   "to YAML 1.2 it is a text",
		"yaml-alias-defined": "JSON has no anchors",
		"yaml-anchor":        "JSON has no anchors",
		"yaml-merge":         "JSON has no anchors",
		"yaml-tag-core":      "JSON has no tags",
	}[name]
}

// notSums reports whether a finding is any but the one that compares delays.
func notSums(d *definition.Diagnostic) bool {
	return d.Warning || d.Rule != "retry" || !strings.Contains(d.Message, "is longer than max_delay")
}

// The schema takes the files that the first two phases of Parse take, and no
// others, be they right or not in the later phases.
func TestJSONSchemaAgreesAboutFiles(t *testing.T) {
	t.Parallel()
	s := compileSchema(t)
	files, err := filepath.Glob("testdata/*/*.yaml")
	if err != nil || len(files) < 150 {
		t.Fatalf("found the files %v, %v", files, err)
	}
	for _, file := range append(files, "testdata/all-features.yaml") {
		src := mustRead(t, file)
		list, err := definition.ParseForm(src), check(s, src)
		found := list.Err()
		why := unseen(strings.TrimSuffix(filepath.Base(file), ".yaml"), list)
		switch {
		case why != "" && found != nil && err == nil:
		case why != "":
			t.Errorf("%s: the schema says %v, and the parser %v; so it is wrong that %s", file, err, found, why)
		case (found == nil) != (err == nil):
			t.Errorf("%s: the schema says %v, but the parser %v", file, err, found)
		}
	}
}

// The limits of the language, both sides of each.
func TestJSONSchemaHasTheLimits(t *testing.T) {
	s := compileSchema(t)
	base := framed("x", "${{ output.ok }}")
	tests := []struct {
		at          string // what is replaced in the frame
		take, leave []string
	}{
		{"pawl: 1", []string{"pawl: 1"}, []string{"pawl: 0", "pawl: 2", "pawl: '1'"}},
		{
			"workflow: frame",
			[]string{"workflow: a1-b", "workflow: " + strings.Repeat("a", 63)},
			[]string{"workflow: " + strings.Repeat("a", 64), "workflow: a--b", "workflow: A", "workflow: 1a"},
		},
		{"version: 1", []string{"version: 1", "version: 2147483647"}, []string{"version: 0", "version: 2147483648"}},
		{
			"id: integer",
			[]string{strings.Repeat("x", 64) + ": integer", "_: {type: optional list of string, enum: [a]}"},
			[]string{
				strings.Repeat("x", 65) + ": integer", "1x: integer", "x: {type: integer, enum: [a]}",
				"x: {type: string, enum: []}", "x: {type: string, enum: [a, a]}", "x: {type: string, fields: {}}",
			},
		},
		{"start: A", []string{"start: A\nlabels:" + numbered("\n  l%d: x", 8)}, []string{"start: A\nlabels:" + numbered("\n  l%d: x", 9)}},
		{"start: A", []string{"start: A\ndeadline: 1d2h3m4s5ms"}, []string{"start: A\ndeadline: 1s1m", "start: A\ndeadline: 0d0s", "start: A\ndeadline: ''"}},
		{
			"states:",
			[]string{"states:" + numbered("\n  S%d: {end: failed}", 196)},
			[]string{"states:" + numbered("\n  S%d: {end: failed}", 197)},
		},
		{base[strings.Index(base, "states:"):], nil, []string{"states: {}\n"}},
		{
			"{policy: mark_failed, to: FAILED}",
			[]string{"{policy: forward}", "{policy: compensate, to: FAILED}"},
			[]string{"{policy: forward, to: FAILED}", "{policy: mark_failed}", "{to: FAILED}"},
		},
		{"step: b.do", retries("max_attempts: 1", "max_attempts: 1000"), retries("max_attempts: 0", "max_attempts: 1001")},
		{"step: b.do", retries("backoff: 1", "backoff: 10"), retries("backoff: 0.9", "backoff: 10.1")},
		{"step: b.do", retries("jitter: 0", "jitter: 1"), retries("jitter: -0.1", "jitter: 1.1")},
		{
			"step: b.do",
			[]string{"step: b.do\n    batch: 2", "step: b.do\n    batch: 100"},
			[]string{"step: b.do\n    batch: 1", "step: b.do\n    batch: 101"},
		},
		{"next: DONE", []string{"next: [{to: DONE}]"}, []string{"next: []", "next: [{to: DONE}, {to: DONE}]"}},
	}
	for _, tt := range tests {
		for i, part := range append(slices.Clone(tt.take), tt.leave...) {
			src := []byte(strings.Replace(base, tt.at, part, 1))
			found, err := definition.ParseForm(src).Err(), check(s, src)
			if want := i < len(tt.take); (found == nil) != want || (err == nil) != want {
				t.Errorf("%s: the parser says %v, and the schema %v, want them taken: %v", part, found, err, want)
			}
		}
	}
}

// The patterns of durations and expressions take what the parser takes.
func TestJSONSchemaAgreesAboutTexts(t *testing.T) {
	t.Parallel()
	s := compileSchema(t)
	const expr = "${{ }} ${{ }} ' \" ` \\ $ { } a \n"
	tests := []struct{ start, pieces string }{
		{"start: A\ndeadline: %s", "0 1 30 d h m s ms - + . 0s 00"},
		{"start: A\ninstance_key: %s", expr},
		{"start: A\nlabels: {l: %s}", expr},
		{"start: %s", expr},
	}
	base := framed("x", "${{ output.ok }}")
	rng := rand.New(rand.NewPCG(3, 4))
	for _, tt := range tests {
		pieces := append(strings.Split(tt.pieces, " "), " ")
		for range 150 {
			var b strings.Builder
			for range rng.IntN(7) {
				b.WriteString(pieces[rng.IntN(len(pieces))])
			}
			text := b.String()
			if tt.pieces == expr && rng.IntN(2) == 0 {
				text = "${{" + text + "}}"
			}
			start := fmt.Sprintf(tt.start, strconv.QuoteToASCII(text))
			src := []byte(strings.Replace(base, "start: A", start, 1))
			found, err := definition.ParseForm(src).Err(), check(s, src)
			if (found == nil) != (err == nil) {
				t.Errorf("%s: the parser says %v, but the schema %v", start, found, err)
			}
		}
	}
}

func numbered(format string, n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, format, i)
	}
	return b.String()
}

func retries(fields ...string) []string {
	for i, f := range fields {
		fields[i] = "step: b.do\n    retry: {" + f + "}"
	}
	return fields
}
