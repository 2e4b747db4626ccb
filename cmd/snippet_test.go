package pawlcmd

import (
	"bytes"
	"strings"
	"testing"

	"github.com/pawl-dev/pawl/engine/definition"
)

// The brackets ‹ and › stand around what the finding is about; they are no
// part of the line. Every terminal has 40 columns, of which 32 are for the
// line.
func TestSnippet(t *testing.T) {
	t.Parallel()
	tests := []struct{ name, row, line, mark string }{
		{"Word", "  step: ‹git.merg›", "  step: git.merg", "        ^~~~~~~~"},
		{"OneRune", "a: ‹{›", "a: {", "   ^"},
		{"EndOfLine", "a:‹›", "a:", "  ^"},
		{"EmptyLine", "‹›", "", "^"},
		{"Tabs", "\ta:\t‹x›", "    a:    x", "          ^"},
		{"TabItself", "‹\t›a: x", "    a: x", "^~~~"},
		{"Wide", "a: '日本' ‹'語'›", "a: '日本' '語'", "          ^~~~"},
		{"Combining", "e\u0301: ‹e\u0301e›", "e\u0301: e\u0301e", "   ^~"},
		{"Control", "a: '\x1b[31m' ‹b\x07›", `a: '\x1b[31m' b\a`, `              ^~~`},
		{"Bidi", "a: \u202e‹b›", `a: \u202eb`, `         ^`},
		{"NotUTF8", "a: ‹\xff›b", "a: \uFFFDb", "   ^"},
		{
			"FitsWhole", "0123456789012345678901234567‹89›01",
			"01234567890123456789012345678901", "                            ^~",
		},
		{
			"CutOnTheRight", "abc: ‹" + strings.Repeat("x", 100) + "›",
			"abc: " + strings.Repeat("x", 26) + "…", "     ^" + strings.Repeat("~", 26),
		},
		{
			"CutOnBothSides", strings.Repeat("left ", 30) + "‹word›" + strings.Repeat(" right", 30),
			"…left left left word right righ…", "                ^~~~",
		},
		{
			"CutOnTheLeft", strings.Repeat("x", 100) + " ‹word›",
			"…xxxxxxxxxxxxxx word", "                ^~~~",
		},
		{
			"CutOfWideText", strings.Repeat("日", 50) + "‹語›",
			"…日日日日日日日語", "               ^~",
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			before, rest, _ := strings.Cut(tt.row, "‹")
			word, after, _ := strings.Cut(rest, "›")
			col := len([]rune(before)) + 1
			d := &definition.Diagnostic{Line: 7, Col: col, EndLine: 7, EndCol: col + len([]rune(word))}
			got := style{lines: true, width: 40}.snippet(d, []rune(before+word+after))
			want := strings.TrimRight("    7 | "+tt.line, " ") + "\n      | " + tt.mark + "\n"
			if got != want {
				t.Errorf("snippet gave\n%s, want\n%s", got, want)
			}
		})
	}
}

// A message may quote the file, and a name of a file may hold anything.
func TestFindingIsPrintable(t *testing.T) {
	t.Parallel()
	d := &definition.Diagnostic{File: "a\x1b.yaml", Line: 1, Col: 2, Rule: "r\x07", Message: "it is \x1b[2J", Warning: true}
	if got, want := (style{}).finding(d), `a\x1b.yaml:1:2: warning: it is \x1b[2J [r\a]`+"\n"; got != want {
		t.Errorf("finding = %q, want %q", got, want)
	}
	got := style{colour: true}.finding(d)
	for _, part := range []string{`a\x1b.yaml:1:2:`, `warning:`, ` it is \x1b[2J `, `[r\a]`} {
		if !strings.Contains(got, part) {
			t.Errorf("finding in colours = %q, want %q in it", got, part)
		}
	}
	if strings.Count(got, "\x1b") != 6 || strings.Contains(got, "\a") {
		t.Errorf("finding in colours = %q, want three colours and no other control characters", got)
	}
}

// The place of a finding may be wrong, but not a reason to crash.
func TestSnippetBesideTheLine(t *testing.T) {
	t.Parallel()
	for _, d := range []definition.Diagnostic{
		{}, {Line: 1, Col: 9, EndCol: 12}, {Line: 1, Col: 2, EndCol: 1}, {Line: 1 << 30, Col: 1 << 30, EndCol: 1<<30 + 1},
	} {
		got := style{lines: true}.snippet(&d, []rune("abc"))
		if strings.Count(got, "\n") != 2 || strings.Count(got, "^") != 1 {
			t.Errorf("snippet of %+v = %q, want two lines and a mark", d, got)
		}
	}
}

func TestColoursAreLeftOut(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, color   string
		env           map[string]string
		want, snippet bool
	}{
		{"Auto", "auto", nil, false, false}, // this is no terminal
		{"Always", "always", map[string]string{"NO_COLOR": "1", "TERM": "dumb"}, true, true},
		{"Never", "never", nil, false, false},
	}
	for _, tt := range tests {
		e := &env{err: &bytes.Buffer{}, color: tt.color, opts: Options{Getenv: func(n string) string { return tt.env[n] }}}
		if s := e.style(); s.colour != tt.want || s.lines != tt.snippet || s.width != 80 {
			t.Errorf("%s: style = %+v, want colours: %v, lines of the file: %v", tt.name, s, tt.want, tt.snippet)
		}
	}
	for _, tt := range []struct {
		name string
		env  map[string]string
		want bool
	}{
		{"Terminal", map[string]string{"TERM": "xterm"}, true},
		{"Dumb", map[string]string{"TERM": "dumb"}, false},
		{"NoColour", map[string]string{"TERM": "xterm", "NO_COLOR": "1"}, false},
		{"NoColourEmpty", map[string]string{"TERM": "xterm", "NO_COLOR": ""}, true},
	} {
		e := &env{opts: Options{Getenv: func(n string) string { return tt.env[n] }}}
		if got := e.takesColours(); got != tt.want {
			t.Errorf("%s: takesColours = %v, want %v", tt.name, got, tt.want)
		}
	}
}
