package definition

import (
	"fmt"
	"strings"
	"testing"
)

// large is a workflow of that many states: a long chain with short cuts,
// errors that are caught, awaits that lead back, and outputs of the first
// state, of one in the middle and, for compensations, of the next one.
func large(states int) []byte {
	const step = `
  S%d:
    step: s.do
    with:
      first: ${{ %s }}
      middle: ${{ %s ?? 'none' }}
    compensate: {step: s.undo, with: {a: "${{ states.%s?.output?.x ?? input.a }}"}}
    catch: {busy: %s, any: F}
    next:
      - {when: "${{ output.x == 'a' }}", to: %s}
      - to: %s
`
	steps := states - 2
	to := func(i int) string {
		if i < steps {
			return fmt.Sprintf("S%d", i)
		}
		return "D"
	}
	output := func(i int) string { // that of an await has no x
		if i%10 == 9 {
			i--
		}
		return fmt.Sprintf("S%d", i)
	}
	var b strings.Builder
	b.WriteString("pawl: 1\nworkflow: w\nversion: 1\ninput: {a: string}\nstart: S0\n" +
		"on_failure: {policy: compensate, to: F}\nstates:\n  F: {end: failed}\n  D: {end: succeeded}\n")
	for i := range steps {
		if i%10 == 9 {
			fmt.Fprintf(&b, "  S%d: {await: {go: %s, back: S%d}}\n", i, to(i+1), i-7)
			continue
		}
		first, middle, busy := "states.S0.output.x", fmt.Sprintf("states.%s?.output?.x", output(i/2)), to(i+1)
		if i == 0 {
			first, middle, busy = "input.a", "input.a", "F"
		}
		fmt.Fprintf(&b, step, i, first, middle, output(min(i+1, steps-1)), busy, to(i+2), to(i+1))
	}
	return []byte(b.String())
}

// The limit of the language is 200 states, but the checks must not be what
// keeps it there.
func BenchmarkParseLarge(b *testing.B) {
	for _, states := range []int{200, 500} {
		b.Run(fmt.Sprint(states), func(b *testing.B) {
			src := large(states)
			for b.Loop() {
				p := newParser("w.yaml")
				p.limit = states
				if d, list := p.run(src); d == nil || len(list) > 0 {
					b.Fatal(list[0])
				}
			}
		})
	}
}

// The checks of the graph and of the order alone.
func BenchmarkGraphLarge(b *testing.B) {
	for _, states := range []int{200, 500} {
		b.Run(fmt.Sprint(states), func(b *testing.B) {
			p := newParser("w.yaml")
			p.limit = states
			if d, list := p.run(large(states)); d == nil {
				b.Fatal(list[0])
			}
			for b.Loop() {
				p.graph, p.flow = nil, nil
				p.checkGraph()
				p.checkPolicy()
				for _, s := range p.exprs {
					for _, ref := range s.value.expr.prog.Refs() {
						if ref.Path[0] == "states" {
							p.checkOrder(s, ref)
						}
					}
				}
				if len(p.list) > 0 {
					b.Fatal(p.list[0])
				}
			}
		})
	}
}
