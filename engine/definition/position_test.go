package definition_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/pawl-dev/pawl/engine/definition"
)

// The mistake is the name zzz, which no text has but the expression: however
// the expression is quoted, the message must point at it.
func TestPositionInQuotedExpression(t *testing.T) {
	tests := []struct{ name, value string }{
		{"Plain", "${{ input.name + zzz }}"},
		{"PlainAtOnce", "${{zzz}}"},
		{"PlainAfterUnicode", "${{ 'ключ → ' + zzz }}"},
		{"PlainOverLines", "${{ input.name +\n        'x' +\n\n        zzz }}"},
		{"Single", "'${{ input.name + zzz }}'"},
		{"SingleWithQuotes", "'${{ ''it'' + ''s'' + zzz }}'"},
		{"SingleOverLines", "'${{ ''it'' +\n\n        zzz }}'"},
		{"SingleWithSpace", "'  ${{ zzz }}'"},
		{"Double", `"${{ input.name + zzz }}"`},
		{"DoubleWithQuotes", `"${{ \"it\" + zzz }}"`},
		{"DoubleWithEscapes", `"${{ '\x41\u00e9\U0001F600\t\\n' + zzz }}"`},
		{"DoubleOverLines", "\"${{ 'it' +\n        zzz }}\""},
		{"DoubleJoinedLines", "\"${{ 'it' + \\\n        zzz }}\""},
		{"Folded", ">-\n        ${{ input.name +\n        zzz }}"},
		{"FoldedWithBlankLine", ">\n        ${{ input.name +\n\n        zzz }}"},
		{"Literal", "|\n        ${{ input.name +\n        'x' +\n        zzz }}"},
		{"LiteralWithIndent", "|-\n        ${{ input.name +\n            zzz }}"},
		{"Flow", `{a: "${{ zzz }}"}`},
		{"FlowList", `['x', "${{ zzz }}"]`},
	}
	for _, tt := range tests {
		for _, end := range []string{"\n", "\r\n"} {
			t.Run(tt.name+map[string]string{"\n": "LF", "\r\n": "CRLF"}[end], func(t *testing.T) {
				src := framed(tt.value, "${{ output.ok }}")
				before, _, _ := strings.Cut(src, "zzz")
				line := strings.Count(before, "\n") + 1
				col := utf8.RuneCountInString(before[strings.LastIndex(before, "\n")+1:]) + 1

				_, list := definition.Parse("test", []byte(strings.ReplaceAll(src, "\n", end)))
				if len(list) != 1 || !strings.HasPrefix(list[0].Message, "unknown name zzz") {
					t.Fatalf("Parse found %v, want one unknown name", list)
				}
				if got := list[0]; got.Line != line || got.Col != col {
					t.Errorf("unknown name at %d:%d, want %d:%d", got.Line, got.Col, line, col)
				}
			})
		}
	}
}

func TestDiagnosticText(t *testing.T) {
	d := &definition.Diagnostic{File: "a.yaml", Line: 3, Col: 7, Rule: "empty", Message: "x has no value"}
	if got, want := d.Error(), "a.yaml:3:7: x has no value [empty]"; got != want {
		t.Errorf("Error() = %q, want %q", got, want)
	}
	d.Warning = true
	if got, want := d.Error(), "a.yaml:3:7: warning: x has no value [empty]"; got != want {
		t.Errorf("Error() = %q, want %q", got, want)
	}
}

func TestErrJoinsErrorsAndLeavesOutWarnings(t *testing.T) {
	list := definition.Diagnostics{
		{File: "a", Line: 1, Col: 1, Rule: "r1", Message: "one"},
		{File: "a", Line: 2, Col: 1, Rule: "r2", Message: "two", Warning: true},
		{File: "a", Line: 3, Col: 1, Rule: "r3", Message: "three"},
	}
	if got, want := list.Err().Error(), "a:1:1: one [r1]\na:3:1: three [r3]"; got != want {
		t.Errorf("Err() = %q, want %q", got, want)
	}
	if err := list[1:2].Err(); err != nil {
		t.Errorf("Err() of a warning = %v, want nil", err)
	}
}
