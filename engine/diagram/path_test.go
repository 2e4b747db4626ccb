package diagram

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/pawl-dev/pawl/engine/definition"
)

const pathSource = `
pawl: 1
workflow: path
version: 1
input: {id: string, n: integer}
instance_key: ${{ input.id }}
deadline: 1h
on_failure: {policy: compensate, to: FAILED}
start: A
states:
  A:
    step: a.step
    compensate: a.undo
    catch: {late: FAILED, any: B}
    next:
      - {when: "${{ input.n > 1 }}", to: B}
      - to: FAILED
  B:
    await: {again: B, go: DONE}
    timeout: 1d
    catch: {timeout: FAILED}
  DONE: {end: succeeded}
  FAILED: {end: failed}
`

// TestWay tells which edge a move took.
func TestWay(t *testing.T) {
	tests := []struct {
		name   string
		visits []Visit
		want   []string // edges that were taken
	}{
		{"Success", []Visit{{From: "A", To: "B"}, {From: "B", To: "DONE"}}, []string{"next A → B [1]", "next B → DONE [2]"}},
		{"Guard", []Visit{{From: "A", To: "FAILED", Code: "declined"}}, []string{"next A → FAILED [1]"}},
		{"Code", []Visit{{From: "A", To: "FAILED", Code: "late"}}, []string{"catch A → FAILED [1]"}},
		{"AnyCode", []Visit{{From: "A", To: "B", Code: "panic"}}, []string{"catch A → B [1]"}},
		{"OnFailure", []Visit{{From: "A", To: "FAILED", Code: "too_large"}}, []string{"on-failure A → FAILED [1]"}},
		{"Deadline", []Visit{{From: "B", To: "FAILED", Code: "deadline"}}, []string{"by-hand B → FAILED [1]"}},
		{"Cancelled", []Visit{{From: "A", To: "FAILED", Code: "cancelled"}}, []string{"by-hand A → FAILED [1]"}},
		{"Loop", []Visit{{From: "B", To: "B"}, {From: "B", To: "B"}}, []string{"next B → B [1 2]"}},
		{"Undone", []Visit{{From: "A", To: "B"}, {From: "A", To: "FAILED", Undone: true}}, []string{"next A → B [1]", "catch B → FAILED [2]"}},
		{"Operator", []Visit{{From: "FAILED", To: "A", Operator: true}}, nil},
		{"NoSuchState", []Visit{{From: "A", To: "X"}, {From: "Y", To: "A"}, {}}, nil},
	}
	def, diags := definition.Parse("path.yaml", []byte(pathSource))
	if err := diags.Err(); err != nil {
		t.Fatal(err)
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			failed := ""
			code := ""
			if tt.name == "Undone" {
				failed, code = "B", "timeout"
			}
			d := New(def, Options{Instance: "i", State: "B", Failed: failed, Code: code, Path: tt.visits})
			var got []string
			for _, e := range d.edges {
				if e.taken() {
					name := strings.TrimSuffix(strings.TrimPrefix(e.class(), "edge "), " taken")
					got = append(got, fmt.Sprintf("%s %s → %s %v", name, e.from.name, e.to.name, e.times))
				}
			}
			if !slices.Equal(got, tt.want) {
				t.Errorf("taken: %q, want %q", got, tt.want)
			}
			d.SVG() // also of edges that the definition has not
		})
	}
}

func TestNumbers(t *testing.T) {
	for want, times := range map[string][]int{
		"":                   nil,
		"#4":                 {4},
		"#1 #2 #9":           {1, 2, 9},
		"#1 … #900, 5 times": {1, 2, 3, 4, 900},
	} {
		if got := (&edge{times: times}).numbers(); got != want {
			t.Errorf("numbers of %v = %q, want %q", times, got, want)
		}
	}
}

func TestMarksOfAnInstance(t *testing.T) {
	def, diags := definition.Parse("path.yaml", []byte(pathSource))
	if err := diags.Err(); err != nil {
		t.Fatal(err)
	}
	d := New(def, Options{Instance: "i", State: "FAILED", Failed: "B", Code: "timeout", Path: []Visit{
		{From: "A", To: "B"}, {From: "A", To: "FAILED", Undone: true},
	}})
	a, b, end := d.index["A"], d.index["B"], d.index["FAILED"]
	if a.undone != 2 || a.visits != 1 || b.fault != "timeout" || b.visits != 1 || !end.current || end.visits != 1 || d.index["DONE"].visits != 0 {
		t.Errorf("marks: A %+v\nB %+v\nFAILED %+v", a, b, end)
	}
	svg := string(d.SVG())
	for _, want := range []string{"undone #2: a.undo", "failed: timeout", `class="current"`, "i is in FAILED, failed in B: timeout"} {
		if !strings.Contains(svg, want) {
			t.Errorf("the picture has no %q", want)
		}
	}
	// A new instance has passed nothing, but is somewhere.
	d = New(def, Options{Instance: "i", State: "A"})
	if !d.index["A"].current || d.index["A"].visits != 1 {
		t.Errorf("a new instance: %+v", d.index["A"])
	}
}
