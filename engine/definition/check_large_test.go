package definition

import (
	"fmt"
	"strings"
	"testing"
)

// typed are handlers for large whose outputs have types, so that Check
// compiles every expression that names one.
func typed(fields int) Manifest {
	text := Type{Kind: String}
	out := []Field{{Name: "x", Type: Type{Kind: String, Enum: []string{"a", "b"}}}}
	for i := range fields {
		out = append(out, Field{Name: fmt.Sprintf("f%d", i), Type: Type{Kind: Object, Fields: []Field{{Name: "y", Type: text}}}})
	}
	return Manifest{
		"s.do":   {Input: []Field{{"first", text}, {"middle", text}}, Output: out, Codes: []string{"busy"}},
		"s.undo": {Input: []Field{{"a", text}}},
	}
}

// An environment has only the states that an expression names, and there is
// one for all expressions that name the same.
func TestEnvironmentsAreSmallAndShared(t *testing.T) {
	p := newParser("w.yaml")
	d, list := p.run(large(200))
	if d == nil {
		t.Fatal(list)
	}
	c := newScopes(d, signalType)
	for _, s := range d.exprs {
		c.of(s)
	}
	if n := len(c.places); n > 4 {
		t.Errorf("the common variables were made %d times, want once for each place", n)
	}
	if n := len(c.envs); n > len(d.exprs)*3/4 {
		t.Errorf("%d environments for %d expressions, want shared ones", n, len(d.exprs))
	}
	for key := range c.envs {
		if strings.Count(key, ".") > 2 {
			t.Errorf("an environment has the states %s", key)
		}
	}
}

func BenchmarkCheckLarge(b *testing.B) {
	for _, states := range []int{200, 500} {
		for _, fields := range []int{0, 50} {
			b.Run(fmt.Sprintf("%d/%d", states, fields), func(b *testing.B) {
				p := newParser("w.yaml")
				p.limit = states
				d, list := p.run(large(states))
				if d == nil {
					b.Fatal(list[0])
				}
				m := typed(fields)
				for b.Loop() {
					if found := Check(d, m); len(found) > 0 {
						b.Fatal(found[0])
					}
				}
			})
		}
	}
}
