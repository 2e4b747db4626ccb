package definition_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/pawl-dev/pawl/engine/definition"
	"github.com/pawl-dev/pawl/internal/fuzztest"
)

func TestLimits(t *testing.T) {
	src := framed("x", "${{ output.ok }}")
	comment := func(size int) string { return src + "#" + strings.Repeat("x", size-len(src)-2) + "\n" }
	mustParse(t, comment(256<<10))
	_, list := definition.Parse("test", []byte(comment(256<<10+1)))
	want := "test:1:1: the file has 257 KiB, the limit is 256 KiB; split the workflow [file-size]"
	if got := fmt.Sprint(list.Err()); got != want {
		t.Errorf("Parse of a large file: %s, want %s", got, want)
	}

	nested := func(levels int) string {
		return framed(strings.Repeat("[", levels)+strings.Repeat("]", levels), "${{ output.ok }}")
	}
	const above = 4 // states, A, with, v
	mustParse(t, nested(20-above+1))
	if _, list := definition.Parse("test", []byte(nested(20-above+2))); !hasRule(list, "depth") {
		t.Errorf("Parse of 21 levels found %v, want depth", list)
	}

	states := func(n int) string {
		var b strings.Builder
		for i := range n - 4 {
			next := fmt.Sprintf("S%d", i+1)
			if i == n-5 {
				next = "DONE"
			}
			fmt.Fprintf(&b, "  S%d: {step: s.do, next: %s}\n", i, next)
		}
		s := strings.Replace(src, "step: b.do\n    next: DONE", "step: b.do\n    next: S0", 1)
		return s + b.String()
	}
	if got := len(mustParse(t, states(200)).States); got != 200 {
		t.Errorf("%d states, want 200", got)
	}
	if _, list := definition.Parse("test", []byte(states(201))); !hasRule(list, "states-limit") {
		t.Errorf("Parse of 201 states found %v, want states-limit", list)
	}
}

// These limits bound the time and the memory that a file takes. They do not
// hold for what an earlier release has accepted.
func TestLimitsOfWhatAFileHolds(t *testing.T) {
	ok := "${{ output.ok }}"
	list := func(item string, n int) string { return strings.Repeat(item+", ", n-1) + item }
	numbers := func(n int) string {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, "\n  f%d: string", i)
		}
		return b.String()
	}
	tests := []struct {
		name, want string
		src        func(n int) string
		most       int
	}{
		{
			"Expressions", "23:15: the file has 2001 expressions, the limit is 2000; split the workflow [expr-size]",
			func(n int) string { return framed("["+list("'${{ input.id }}'", n-1)+"]", ok) }, 2000,
		},
		{
			"Nodes", "1:1: the file has more than 40000 keys and values; split the workflow [file-size]",
			func(n int) string { return framed("["+list("a", n-nodesOfFrame)+"]", ok) }, 40000,
		},
		{
			"InputFields", "5:3: input has 501 fields, the limit is 500; put some of them into an object [range]",
			func(n int) string { return strings.Replace(framed("x", ok), "input:", "input:"+numbers(n-10), 1) }, 500,
		},
		{
			"Enum", "11:38: enum has 501 texts, the limit is 500; check the text in a step [range]",
			func(n int) string {
				texts := strings.ReplaceAll(strings.ReplaceAll(numbers(n), "\n  ", ""), ": string", ",")
				return strings.Replace(framed("x", ok), "tags: list of string", "tags: {type: list of string, enum: ["+texts+"]}", 1)
			}, 500,
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			mustParse(t, tt.src(tt.most))
			src := tt.src(tt.most + 1)
			if got := reading(src); got != tt.want {
				t.Errorf("one more: %.200s\nwant %s", got, tt.want)
			}
			if d, list := definition.ParseStored("test", []byte(src)); d == nil {
				t.Errorf("ParseStored: %.200v, want a definition", list)
			}
		})
	}
}

// nodesOfFrame are the keys and values of frame without the items of v.
const nodesOfFrame = 71

// Nobody reads more than a thousand findings, but an error is never left out
// for warnings.
func TestLimitOfFindings(t *testing.T) {
	fields := func(name string) string {
		var b strings.Builder
		for i := range 1500 {
			fmt.Fprintf(&b, "        %s%d: 1\n", name, i)
		}
		return b.String()
	}
	_, list := definition.Parse("test", []byte(framed("x", "${{ output.ok }}")+strings.ReplaceAll(fields("f"), "        ", "")))
	if len(list) != 1000 || list.Err() == nil {
		t.Errorf("%d findings in a file with 1500 mistakes, want 1000", len(list))
	}
	words := strings.ReplaceAll(fields("k"), ": 1", ": input.id")
	_, list = definition.Parse("test", []byte(framed("\n"+words, "${{ output.nothing + }}")))
	if len(list) != 1001 || list.Err() == nil {
		t.Errorf("%d findings in a file with 1500 warnings and an error, want 1001 with the error", len(list))
	}
}

// What only costs time and memory is refused before it does.
func TestHostileFilesAreRefused(t *testing.T) {
	var deep strings.Builder
	for i := range 400 {
		deep.WriteString(strings.Repeat(" ", i) + "a:\n")
	}
	const brackets = "1:501: more than 500 levels of brackets, the limit is 20; make it flatter [depth]"
	const nested = "1:1: this is nested far more than 20 levels deep; make it flatter [depth]"
	tests := []struct{ name, src, want string }{
		{"12,000 [", strings.Repeat("[", 12000), brackets},
		{"12,000 {", strings.Repeat("{", 12000), brackets},
		{"12,000 [ and ]", strings.Repeat("[", 12000) + strings.Repeat("]", 12000), brackets},
		{"12,000 dashes", strings.Repeat("- ", 12000) + "a", nested},
		{"12,000 question marks", strings.Repeat("? ", 12000), nested},
		{"400 maps", deep.String(), "22:22: a is nested more than 20 levels deep; make it flatter [depth]"},
		{"12,000 colons", strings.Repeat("a: ", 12000), "1:1: YAML cannot read this (mapping values are not allowed in this context); look at this line and its neighbours [yaml-syntax]"},
		{"10 MiB of comments", strings.Repeat("#23456789abcdef\n", 10<<16), "1:1: the file has 10240 KiB, the limit is 256 KiB; split the workflow [file-size]"},
		{"10 MiB in a line", strings.Repeat("x", 10<<20), "1:1: the file has 10240 KiB, the limit is 256 KiB; split the workflow [file-size]"},
		{"an alias bomb", bomb(), "1:5: anchors (&a0) are not allowed; write the value out where it is used, or use defaults: [yaml-anchor]"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var got string
			_, bytes := fuzztest.Measure(func() { got = reading(tt.src) })
			if first, _, _ := strings.Cut(got, "\n"); first != tt.want {
				t.Errorf("got %s\nwant %s", first, tt.want)
			}
			if bytes > 8<<20 {
				t.Errorf("%d MiB were allocated, want 8 at most", bytes>>20)
			}
		})
	}
}

// A file that is full of one thing must not cost by its square: four times as
// much may allocate ten times as much, not sixteen. The fuzz targets bound the
// time.
func TestParseIsLinear(t *testing.T) {
	ok := "${{ output.ok }}"
	const size = 100 << 10
	repeat := func(part string) func(size int) string {
		return func(size int) string { return strings.Repeat(part, size/len(part)) }
	}
	numbered := func(format string) func(size int) string {
		return func(size int) string {
			var b strings.Builder
			for i := 0; b.Len() < size; i++ {
				fmt.Fprintf(&b, format, i)
			}
			return b.String()
		}
	}
	fields := strings.Join(strings.SplitAfter(numbered("  f%d: string\n")(size), "\n")[:400], "")
	value := func(from, to string) func(fill string) string {
		return func(fill string) string { return framed(from+fill+to, ok) }
	}
	tests := []struct {
		name string
		fill func(size int) string
		src  func(fill string) string
	}{
		{"OneLine", repeat("a, "), value("[", "a]")},
		{"Nulls", repeat("~, "), value("[", "a]")},
		{"Tags", repeat("!a b, "), value("[", "a]")},
		{"Lists", repeat("[], "), value("[", "a]")},
		{"Spaces", repeat(" "), value(`"`, `${{ zzz }}"`)},
		{"Closings", repeat("}} "), value("'${{ ", "}}'")},
		{"Fields", numbered("f%d: 1\n"), func(fill string) string { return framed("x", ok) + fill }},
		{"Lines", repeat("        x\n"), value("|\n", "")},
		{"Quotes", repeat(": \"\n"), func(fill string) string { return fill + "@" }},
		{"Indents", repeat("        - x\n"), value("\n", "       - y\n")},
		{"Controls", repeat("x\x7f\n"), value("|\n", "")},
		{"Expressions", repeat("'${{ input.id" + strings.Repeat(" ", 100) + "}}', "), value("[", "a]")},
		{"ExpressionsWithErrors", repeat("'${{ zzz" + strings.Repeat(" ", 100) + "}}', "), value("[", "a]")},
		{"InputFields", repeat("'${{ input.id" + strings.Repeat(" ", 100) + "}}', "), func(fill string) string {
			return strings.Replace(framed("["+fill+"]", ok), "  id: integer\n", "  id: integer\n"+fields, 1)
		}},
		{"UnknownInputFields", repeat("'${{ input.f" + strings.Repeat(" ", 100) + "}}', "), func(fill string) string {
			return strings.Replace(framed("["+fill+"]", ok), "  id: integer\n", "  id: integer\n"+fields, 1)
		}},
	}
	measure := func(src string) uint64 {
		_, bytes := fuzztest.Measure(func() { definition.Parse("test", []byte(src)) })
		return bytes
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			small, large := measure(tt.src(tt.fill(size/4))), measure(tt.src(tt.fill(size)))
			if large > 10*small+1<<20 {
				t.Errorf("Parse allocated %d KiB, and %d KiB for a quarter", large>>10, small>>10)
			}
		})
	}
}
