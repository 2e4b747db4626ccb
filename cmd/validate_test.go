package pawlcmd_test

import (
	"strings"
	"testing"
)

// findings is a part of what validate prints.
type findings struct {
	Files []struct {
		File string
		OK   bool
	}
	Findings []struct {
		File, Rule, Severity, Message string
		Line, Column                  int
		EndLine                       int `json:"end_line"`
		EndColumn                     int `json:"end_column"`
	}
	Steps   struct{ From, File string }
	Summary struct{ Files, Errors, Warnings int }
}

func TestValidateReadsStandardInput(t *testing.T) {
	t.Parallel()
	c := newTiny(t, new(bool))
	c.in = tiny
	if a := c.run(t, "validate", "-"); a != (answer{out: "1 workflow, no errors, no warnings, 5 situations\n"}) {
		t.Errorf("validate - = %+v, want no findings, also none of the file's name", a)
	}
	c.in = strings.Replace(tiny, "next: GOOD", "next: GOD", 1)
	a := c.run(t, "validate", "-")
	if a.code != 1 || !strings.HasPrefix(a.err, `stdin:13:11: there is no state "GOD"`) {
		t.Errorf("validate - of a wrong target = %+v, want exit code 1 and the place", a)
	}
	c.in = strings.Repeat("x", 2<<20)
	if a := c.run(t, "validate", "-"); a.code != 1 || !strings.Contains(a.err, "the file has 1024 KiB") {
		t.Errorf("validate - of 2 MiB = %+v, want exit code 1, and no more read than 1 MiB", a)
	}
	c.in = strings.ReplaceAll(strings.Replace(tiny, "next: GOOD", "next: GOD", 1), "\n", "\r\n")
	a = c.run(t, "validate", "-", "--color", "always")
	if !strings.Contains(a.err, " next: GOD\n") {
		t.Errorf("validate - of a file with CRLF prints %q, want the line without its end", a.err)
	}
}

func TestValidateStrictFailsOnWarnings(t *testing.T) {
	t.Parallel()
	c := newTiny(t, new(bool))
	c.write(t, "other.yaml", tiny) // of the name is a warning
	if a := c.run(t, "validate", "DIR/other.yaml"); a.code != 0 || a.out != "1 workflow, no errors, 1 warning, 5 situations\n" {
		t.Errorf("validate of a file with a warning = %+v, want exit code 0 and the warning", a)
	}
	for _, form := range []string{"table", "json", "sarif"} {
		if a := c.run(t, "validate", "DIR/other.yaml", "--strict", "-o", form); a.code != 1 {
			t.Errorf("validate --strict -o %s = %+v, want exit code 1", form, a)
		}
	}
	got := decode[findings](t, c.run(t, "validate", "DIR/other.yaml", "--strict", "-o", "json").out)
	if len(got.Files) != 1 || got.Files[0].OK {
		t.Errorf("files = %+v, want one that is not ok", got.Files)
	}
}

func TestValidateReadsEveryFileOnce(t *testing.T) {
	t.Parallel()
	c := newTiny(t, new(bool))
	c.write(t, "a/tiny.yaml", tiny)
	a := c.run(t, "validate", "DIR/a", "DIR/a/tiny.yaml", "DIR/a/../a/tiny.yaml", "DIR/a", "-", "-")
	if a.code != 1 || a.out != "2 workflows, 1 error in 1 file, no warnings, 5 situations\n" || strings.Count(a.err, "stdin") != 1 {
		t.Errorf("validate = %+v, want tiny.yaml and the empty standard input once each", a)
	}
}

// Nothing of a file may reach the terminal as a command to it.
func TestValidateEscapesTheFile(t *testing.T) {
	t.Parallel()
	c := newTiny(t, new(bool))
	const evil = "\x1b]0;title\x07"
	c.in = strings.Replace(tiny, "step: test.work", "st\u009bep: \"test.work\" # \u202e", 1) + "  \"" + evil + "\": {end: failed}\n"
	for _, args := range [][]string{{"--color", "never"}, {"--color", "always"}, {"-o", "json"}, {"-o", "sarif"}} {
		a := c.run(t, append([]string{"validate", "-"}, args...)...)
		for _, bad := range []string{"\x1b]", "\x07", "\u009b", "\u202e"} {
			if strings.Contains(a.err, bad) || args[0] == "--color" && strings.Contains(a.out, bad) {
				t.Errorf("validate %v prints %q: %q", args, bad, a.err+a.out)
			}
		}
		if a.code != 1 {
			t.Errorf("validate %v = %+v, want exit code 1", args, a)
		}
	}
}

func TestValidateJSONHasEnds(t *testing.T) {
	t.Parallel()
	c := newTiny(t, new(bool))
	c.in = strings.Replace(tiny, "test.work", "test.wrok", 1)
	got := decode[findings](t, c.run(t, "validate", "-", "-o", "json").out)
	if len(got.Findings) != 1 {
		t.Fatalf("findings = %+v, want one", got.Findings)
	}
	if f := got.Findings[0]; f.Line != 11 || f.Column != 11 || f.EndLine != 11 || f.EndColumn != 20 || f.Rule != "unknown-step" {
		t.Errorf("finding = %+v, want unknown-step at 11:11 to 11:20", f)
	}
	if got.Steps.From != "program" || got.Summary.Files != 1 || got.Summary.Errors != 1 || got.Summary.Warnings != 0 {
		t.Errorf("steps = %+v, summary = %+v, want those of the program and one error", got.Steps, got.Summary)
	}
}

// A program without steps cannot say whether those of a workflow exist.
func TestValidateWithoutSteps(t *testing.T) {
	t.Parallel()
	c := newTiny(t, new(bool))
	c.opts.Handlers = nil
	c.write(t, "tiny.yaml", strings.Replace(tiny, "test.work", "any.thing", 1))
	c.write(t, "tony.yaml", strings.Replace(tiny, "next: GOOD", "next: GOD", 1))
	a := c.run(t, "validate", "DIR/tiny.yaml")
	const note = "note: steps, inputs and codes are not checked: this program has no steps, and there is no pawl.manifest.json\n"
	if a.code != 0 || a.err != note || a.out != "1 workflow, no errors, no warnings, 5 situations\n" {
		t.Errorf("validate without steps = %+v, want only the note", a)
	}
	if a := c.run(t, "validate", "DIR"); a.code != 1 || strings.Count(a.err, "note:") != 1 || !strings.Contains(a.err, "[unknown-state]") {
		t.Errorf("validate of two files without steps = %+v, want one note, and the other findings", a)
	}
	got := decode[findings](t, c.run(t, "validate", "DIR/tiny.yaml", "-o", "json").out)
	if got.Steps.From != "nothing" {
		t.Errorf("steps = %+v, want nothing", got.Steps)
	}
}

func TestValidateFindsUnusedInputIfAsked(t *testing.T) {
	t.Parallel()
	c := newTiny(t, new(bool))
	c.in = strings.Replace(tiny, "    step: test.work\n", "    step: test.work\n    with: {id: 1}\n", 1)
	if a := c.run(t, "validate", "-"); a.code != 0 || a.err != "" {
		t.Errorf("validate = %+v, want no findings", a)
	}
	a := c.run(t, "validate", "-", "--unused-input")
	if a.code != 0 || !strings.Contains(a.err, "stdin:6:3: warning: ") || strings.Count(a.err, "[unused-input]") != 2 ||
		a.out != "1 workflow, no errors, 2 warnings, 5 situations\n" {
		t.Errorf("validate --unused-input = %+v, want two warnings", a)
	}
	got := decode[findings](t, c.must(t, "validate", "-", "--unused-input", "-o", "json"))
	if f := got.Findings[0]; f.EndLine != 5 || f.EndColumn != 5 {
		t.Errorf("finding = %+v, want it to end behind the name", f)
	}
}

// Two files of one workflow would be two truths about it.
func TestValidateHoldsFilesAgainstEachOther(t *testing.T) {
	t.Parallel()
	c := newTiny(t, new(bool))
	c.write(t, "tiny.yaml", tiny)
	c.write(t, "tiny.yml", tiny)
	c.in = tiny
	a := c.run(t, "validate", "-", "DIR")
	const want = "DIR/tiny.yml:2:1: workflow tiny is in the file DIR/tiny.yaml already; rename one of them [name-clash]\n"
	if a.code != 1 || !strings.HasPrefix(a.err, want) || strings.Count(a.err, "name-clash") != 1 {
		t.Errorf("validate of two files of one workflow = %+v, want\n%s", a, want)
	}
}
