package definition_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/pawl-dev/pawl/engine/definition"
)

func BenchmarkParse(b *testing.B) {
	src := mustRead(b, "testdata/ok/pr-merge.yaml")
	b.ReportAllocs()
	for b.Loop() {
		if d, list := definition.Parse("pr-merge.yaml", src); d == nil {
			b.Fatal(list)
		}
	}
}

func BenchmarkParse200States(b *testing.B) {
	const state = `
  S%d:
    step: s.do
    with: {a: "${{ input.a }}"}
    next:
      - {when: "${{ output.x == 'a' }}", to: F}
      - to: S%d
`
	var s strings.Builder
	s.WriteString("pawl: 1\nworkflow: w\nversion: 1\ninput: {a: string}\nstart: S0\n" +
		"on_failure: {policy: mark_failed, to: F}\nstates:\n")
	for i := range 198 {
		fmt.Fprintf(&s, state, i, i+1)
	}
	s.WriteString("  S198: {end: succeeded}\n  F: {end: failed}\n")
	src := []byte(s.String())
	for b.Loop() {
		if d, list := definition.Parse("w.yaml", src); d == nil {
			b.Fatal(list)
		}
	}
}

func BenchmarkGuard(b *testing.B) {
	guard := withGuard(b, "${{ output.status == 'green' }}")
	vars := &definition.Vars{Output: mustJSON(b, `{"status": "green"}`)}
	b.ReportAllocs()
	for b.Loop() {
		if ok, err := guard.Bool(vars); !ok || err != nil {
			b.Fatal(ok, err)
		}
	}
}

func BenchmarkWith(b *testing.B) {
	d, _ := definition.Parse("pr-merge.yaml", mustRead(b, "testdata/ok/pr-merge.yaml"))
	vars := &definition.Vars{
		Input:  map[string]any{"repo_id": "r1"},
		States: map[string]any{"MERGING": map[string]any{"merge_sha": "0123456789abcdef"}},
	}
	with := d.State("INDEXING").With
	b.ReportAllocs()
	for b.Loop() {
		if _, err := with.JSON(vars); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkConstant(b *testing.B) {
	with := withValue(b, "{a: [1, 2, 3], b: text}")
	b.ReportAllocs()
	for b.Loop() {
		if _, err := with.JSON(nil); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkReadInput(b *testing.B) {
	d := mustParse(b, framed("x", "${{ output.ok }}"))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := d.ReadInput([]byte(input)); err != nil {
			b.Fatal(err)
		}
	}
}
