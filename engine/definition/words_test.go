package definition_test

import (
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/pawl-dev/pawl/engine/definition"
)

// The brackets ‹ and › stand around the word that a finding at its begin is
// to cover; they are no part of the file.
func TestFindingsCoverAWord(t *testing.T) {
	tests := []struct{ name, text string }{
		{"Key", "  ‹max_attempts›: 3"},
		{"KeyWithDash", "‹on-failure›: x"},
		{"KeyInOtherLetters", "‹имя›: x"},
		{"DottedName", "step: ‹git.merge› # it merges"},
		{"Number", "version: ‹1.10›"},
		{"NegativeNumber", "version: ‹-3›"},
		{"Single", "a: ‹'it''s # text'›, b"},
		{"SingleEmpty", "a: ‹''›"},
		{"Double", `a: ‹"say \"x\" \\"› # c`},
		{"QuoteThatIsOpen", "a: ‹'over lines›  "},
		{"WideText", "a: ‹'日本'›"},
		{"Bracket", "a: ‹{›b: c}"},
		{"Merge", "‹<<›: *x"},
		{"Anchor", "a: ‹&slow› {}"},
		{"Alias", "a: ‹*slow›"},
		{"Tag", "a: ‹!!int› 3"},
		{"Folded", "a: ‹>-›"},
		{"Document", "‹---›"},
		{"EndOfLine", "a:‹›"},
		{"EmptyLine", "‹›"},
		{"BehindAComment", "# ${{\nstep: ‹git.merge›"},
		{"BehindACommentOfALine", "a: b # write ${{ here\nstep: ‹git.merge›"},
		{"BehindACommentInAList", "- b # ${{\n- ‹git.merge›"},
		{"BehindAnExpressionOfTheLine", `{a: "${{ x }}", b: ‹git.merge›}`},
		{"BehindAnOpenExpression", "a: ${{ x\n  - step: ‹git.merge›"},
		{"BehindAnExpression", "a: ${{ x }}\nstep: ‹git.merge›"},

		{"WholeExpression", "a: ‹${{ x ? '{{}}' : y }}› # }}"},
		{"WholeExpressionOverLines", "a: ‹${{ x +›\n   y }}"},
		{"WholeExpressionInQuotes", `a: "‹${{ x }}›"`},
		{"Name", "a: ${{ ‹input›.pr_id }}"},
		{"NameOfField", "a: ${{ input.‹head›-sha }}"},
		{"NameOverLines", "a: ${{ input.x +\n  ‹input›.y }}"},
		{"Fraction", "a: ${{ ‹1.5› + x }}"},
		{"Range", "a: ${{ ‹1›..5 }}"},
		{"Operator", "a: ${{ x ‹==› y }}"},
		{"OperatorOfOneRune", "a: ${{ x ‹<› y }}"},
		{"EndMarker", "a: ${{ x + ‹}›} }}"},
		{"TextInPlain", "a: ${{ x == ‹'it\\'s'› }}"},
		{"TextInDouble", `a: "${{ x == ‹'y'› }}"`},
		{"TextInSingle", "a: '${{ x == ‹''y''› }}'"},
		{"EmptyTextInSingle", "a: '${{ ‹''''› + x }}'"},
		{"EscapedTextInDouble", `a: "${{ x == ‹\"y\"› }}"`},
		{"EndOfQuotes", `{a: "${{ x +‹"›, b: "c"}`},
	}
	for _, tt := range tests {
		for _, end := range []string{"\n", "\r\n"} {
			t.Run(tt.name+map[string]string{"\n": "LF", "\r\n": "CRLF"}[end], func(t *testing.T) {
				before, rest, _ := strings.Cut(tt.text, "‹")
				word, after, _ := strings.Cut(rest, "›")
				line, col := strings.Count(before, "\n")+1, len([]rune(before[strings.LastIndex(before, "\n")+1:]))+1
				d := &definition.Diagnostic{Line: line, Col: col}
				text := "\uFEFF" + strings.ReplaceAll(before+word+after+"\nb: c\n", "\n", end)
				definition.Diagnostics{d}.Locate([]byte(text))
				if want := col + len([]rune(word)); d.EndLine != line || d.EndCol != want {
					t.Errorf("Locate: the word ends at %d:%d, want %d:%d, behind %q", d.EndLine, d.EndCol, line, want, word)
				}
			})
		}
	}
}

// Every finding of the test files covers something of its own line.
func TestFindingsEndInTheirLine(t *testing.T) {
	for _, folder := range []string{"err", "warn", "check"} {
		goldens(t, folder, func(t *testing.T, out string, src []byte) {
			d, list := definition.Parse(filepath.Base(out), src)
			if d != nil {
				list = append(list, definition.Check(d, manifest())...)
			}
			rows := strings.Split(strings.TrimPrefix(string(src), "\uFEFF"), "\n")
			for _, f := range list {
				row := []rune(strings.TrimRight(rows[f.Line-1], "\r"))
				if f.EndLine != f.Line || f.EndCol < f.Col || f.EndCol > max(len(row)+1, f.Col) ||
					f.EndCol == f.Col && f.Col <= len(row) {
					t.Errorf("%v ends at %d:%d, want a word of the line %q", f, f.EndLine, f.EndCol, string(row))
				}
			}
		})
	}
}

func TestLocateSorts(t *testing.T) {
	list := definition.Diagnostics{{Line: 2, Col: 4, Rule: "c"}, {Line: 9, Col: 7, Rule: "d"}, {Line: 1, Col: 1, Rule: "a"}, {Line: 2, Col: 1, Rule: "b"}}
	list.Locate([]byte("abc: d\nef gh\n"))
	got := ""
	for _, f := range list {
		got += f.Rule
	}
	if got != "abcd" || list[0].EndCol != 4 || list[2].EndCol != 6 || list[3].EndLine != 9 || list[3].EndCol != 7 {
		t.Errorf("Locate gave the order %s and %+v", got, list)
	}
}

// A line with very many findings costs no more than reading it.
func TestLocateIsQuick(t *testing.T) {
	text := strings.Repeat("${{ 'a' }}", 1<<15)
	var list definition.Diagnostics
	for col := 5; col < len(text); col += 10 {
		list = append(list, &definition.Diagnostic{Line: 1, Col: col})
	}
	begin := time.Now()
	list.Locate([]byte(text))
	if took := time.Since(begin); took > 10*time.Second {
		t.Errorf("Locate took %v for %d findings", took, len(list))
	}
	if last := list[len(list)-1]; last.EndCol != last.Col+3 {
		t.Errorf("the last word has %d runes, want 3", last.EndCol-last.Col)
	}
}
