package engine_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/pawl-dev/pawl/engine"
)

// longSaga has n reversible steps with a guard and a caught code each, then a
// pivot.
func longSaga(n int) string {
	var b strings.Builder
	b.WriteString(`pawl: 1
workflow: long
version: 1
input: {id: string}
instance_key: ${{ input.id }}
deadline: 1d
on_failure: {policy: compensate, to: FAILED}
start: S0
states:
`)
	for i := range n {
		fmt.Fprintf(&b, `  S%d:
    step: do.it
    with: {n: %d}
    compensate: do.undo
    catch: {refused: FAILED}
    next:
      - when: ${{ output.more == true }}
        to: S%d
      - to: FAILED
`, i, i, i+1)
	}
	fmt.Fprintf(&b, "  S%d: {step: do.last, irreversible: true, next: DONE}\n  DONE: {end: succeeded}\n  FAILED: {end: failed}\n", n)
	return b.String()
}

func BenchmarkExplore(b *testing.B) {
	for _, n := range []int{10, 50, 197} {
		def := mustParse(b, longSaga(n))
		b.Run(fmt.Sprintf("states=%d", n+3), func(b *testing.B) {
			for b.Loop() {
				if got := engine.Explore(def); len(got.Findings) > 0 || !got.Complete {
					b.Fatal(got.Findings, got.Situations)
				}
			}
			b.ReportMetric(float64(engine.Explore(def).Situations), "situations")
		})
	}
}
