package definition_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/pawl-dev/pawl/engine/definition"
)

// Case C23: what YAML takes in silence must be loud here.
func TestGotchasAreErrors(t *testing.T) {
	ok := framed("x", "${{ output.ok }}")
	replace := func(from, to string) string {
		if !strings.Contains(ok, from) {
			t.Fatalf("%q is not in the frame", from)
		}
		return strings.Replace(ok, from, to, 1)
	}
	tests := []struct{ name, src, rule string }{
		{"DuplicateKey", replace("version: 1", "version: 1\nversion: 2"), "duplicate-key"},
		{"MistypedField", replace("    next: DONE", "    retyr: {max_attempts: 2}\n    next: DONE"), "unknown-field"},
		{"MistypedNestedField", replace("    next: DONE", "    retry: {max_attempt: 2}\n    next: DONE"), "unknown-field"},
		{"SecondDocument", ok + "---\nx: 1\n", "multi-document"},
		{"SecondDocumentEmpty", ok + "---\n", "multi-document"},
		{"GarbageAfterEnd", ok + "...\nx: 1\n", "multi-document"},
		{"BrokenGarbageAfterEnd", ok + "...\nx: [\n", "multi-document"},
		{"Tab", replace("    step: b.do", "\tstep: b.do"), "yaml-syntax"},
		{"BareNumber", replace("    next: DONE", "    retry: {initial_delay: 30}\n    next: DONE"), "duration"},
		{"Zero", replace("    next: DONE", "    timeout: 0\n    next: DONE"), "duration"},
		{"Negative", replace("    next: DONE", "    timeout: -5s\n    next: DONE"), "duration"},
		{"TwoMerges", replace("    step: b.do", "    <<: {step: b.do}\n    <<: {step: c.do}"), "yaml-merge"},
		{"Anchor", replace("version: 1", "version: &v 1"), "yaml-anchor"},
		{"Alias", replace("version: 1", "version: &v 1\nmeta: {a: *v}"), "yaml-alias"},
		{"AliasBeforeAnchor", replace("version: 1", "version: *v"), "yaml-alias"},
		{"Empty", "", "empty"},
		{"Blank", " \n\n", "empty"},
		{"CommentOnly", "# nothing\n", "empty"},
		{"OnlyBOM", "\uFEFF", "empty"},
		{"NotTag", replace("${{ output.ok }}", "!done"), "yaml-tag"},
		{"NotTagWithSpace", replace("${{ output.ok }}", "! done"), "yaml-tag"},
		{"NotTagAfterBOM", "\uFEFFpawl: ! 1\n", "yaml-tag"},
		{"NullKey", replace("      v: x", "      ~: x"), "key-type"},
		{"NullItem", replace("      v: x", "      v: [a, ~, b]"), "empty"},
		{"FloatForWhole", replace("    next: DONE", "    retry: {max_attempts: 3.5}\n    next: DONE"), "type"},
		{"NullAttempts", replace("    next: DONE", "    retry: {max_attempts: null}\n    next: DONE"), "empty"}, // C08
		{"Octal", replace("    next: DONE", "    retry: {max_attempts: 010}\n    next: DONE"), "type"},
		{"AliasBomb", bomb(), "yaml-alias"},
		{"Brackets", strings.Repeat("[", 12000), "depth"},
		{"BracketsInMap", "pawl: " + strings.Repeat("{a: ", 12000), "depth"},
		{"Dashes", strings.Repeat("- ", 12000) + "a", "depth"},
		{"Flow", replace("      v: x", "      v: "+strings.Repeat("[", 25)+strings.Repeat("]", 25)), "depth"},
		{"UTF16", "\xff\xfep\x00a\x00", "yaml-syntax"},
		{"NUL", replace("version: 1", "version: \x00"), "yaml-syntax"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			d, list := definition.Parse("test", []byte(tt.src))
			if d != nil {
				t.Fatalf("Parse gave a definition, want an error of %s", tt.rule)
			}
			for _, f := range list {
				if f.Line < 1 || f.Col < 1 {
					t.Errorf("no position: %v", f)
				}
			}
			if !hasRule(list, tt.rule) {
				t.Errorf("Parse found %v, want %s", list, tt.rule)
			}
		})
	}
}

func hasRule(list definition.Diagnostics, rule string) bool {
	for _, f := range list {
		if f.Rule == rule && !f.Warning {
			return true
		}
	}
	return false
}

// bomb doubles ten times over by aliases.
func bomb() string {
	var b strings.Builder
	b.WriteString("a0: &a0 [x, x]\n")
	for i := range 30 {
		fmt.Fprintf(&b, "a%d: &a%d [*a%d, *a%d]\n", i+1, i+1, i, i)
	}
	return b.String()
}

func TestDayIsADuration(t *testing.T) {
	src := strings.Replace(framed("x", "${{ output.ok }}"), "start: A", "deadline: 1d\nstart: A", 1)
	if got := mustParse(t, src).Deadline; got != 24*time.Hour {
		t.Errorf("deadline: 1d = %s, want 24h", got)
	}
}

func TestByteOrderMarkAndCRLFAreAccepted(t *testing.T) {
	src := mustRead(t, "testdata/ok/pr-merge.yaml")
	want, _ := definition.Parse("pr-merge.yaml", src)
	crlf := bytes.ReplaceAll(src, []byte("\n"), []byte("\r\n"))
	for name, variant := range map[string][]byte{
		"BOM":     append([]byte("\uFEFF"), src...),
		"CRLF":    crlf,
		"BOMCRLF": append([]byte("\uFEFF"), crlf...),
		"NoEnd":   bytes.TrimRight(src, "\n"),
		"Dashes":  append([]byte("---\n"), src...),
		"Dots":    append(bytes.Clone(src), "...\n"...),
	} {
		d, list := definition.Parse("pr-merge.yaml", variant)
		if d == nil || len(list) > 0 {
			t.Errorf("%s: %v", name, list)
		} else if d.Hash != want.Hash {
			t.Errorf("%s: hash %s, want %s", name, d.Hash, want.Hash)
		}
	}
}

// All mistakes of a phase are reported at once, in the order of the file.
func TestFindingsAreSorted(t *testing.T) {
	src := strings.NewReplacer("version: 1", "version: x", "step: b.do", "stp: b.do",
		"policy: mark_failed", "policy: none", "id: integer", "id: int").Replace(framed("x", "no expression"))
	_, list := definition.Parse("test", []byte(src))
	if len(list) != 5 {
		t.Errorf("Parse found %d mistakes, want 5: %v", len(list), list)
	}
	for i := 1; i < len(list); i++ {
		a, b := list[i-1], list[i]
		if a.Line > b.Line || a.Line == b.Line && a.Col > b.Col {
			t.Errorf("%v stands before %v", a, b)
		}
	}
}
