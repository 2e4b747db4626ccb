package pawlcmd

import (
	"fmt"
	"strings"
)

// checked is a file with all that was found in it.
type checked struct {
	source
	situations int // that the model check has looked at
}

// report is what validate has found.
type report struct {
	files  []checked
	steps  knownSteps
	strict bool // a warning is a failure
}

// tally counts findings, and the files that have some.
type tally struct {
	Files             int `json:"files"`
	Errors            int `json:"errors"`
	Warnings          int `json:"warnings"`
	FilesWithErrors   int `json:"files_with_errors"`
	FilesWithWarnings int `json:"files_with_warnings"`
	Situations        int `json:"situations,omitempty"`
}

// findingJSON is a finding of validate.
type findingJSON struct {
	File      string `json:"file"`
	Line      int    `json:"line"`
	Column    int    `json:"column"`
	EndLine   int    `json:"end_line"`
	EndColumn int    `json:"end_column"` // just behind the finding
	Severity  string `json:"severity"`   // error or warning
	Rule      string `json:"rule"`
	Message   string `json:"message"`
}

// validatedJSON is the answer of validate.
type validatedJSON struct {
	Files    []validatedFileJSON `json:"files"`
	Findings []findingJSON       `json:"findings"`
	Steps    knownSteps          `json:"steps"`
	Summary  tally               `json:"summary"`
}

type validatedFileJSON struct {
	File     string `json:"file"`
	OK       bool   `json:"ok"`
	Workflow string `json:"workflow,omitempty"`
	Version  int    `json:"version,omitempty"`
	Hash     string `json:"hash,omitempty"`
}

func (r *report) tally() tally {
	t := tally{Files: len(r.files)}
	for _, f := range r.files {
		errs, warnings := f.count()
		t.Errors += errs
		t.Warnings += warnings
		t.FilesWithErrors += min(errs, 1)
		t.FilesWithWarnings += min(warnings, 1)
		t.Situations += f.situations
	}
	return t
}

func (c *checked) count() (errs, warnings int) {
	for _, d := range c.diags {
		if d.Warning {
			warnings++
		}
	}
	return len(c.diags) - warnings, warnings
}

// failed reports whether the findings are a failure of the command.
func (r *report) failed() bool {
	t := r.tally()
	return t.Errors > 0 || r.strict && t.Warnings > 0
}

func (r *report) json() validatedJSON {
	out := validatedJSON{Files: []validatedFileJSON{}, Findings: []findingJSON{}, Steps: r.steps, Summary: r.tally()}
	for _, f := range r.files {
		errs, warnings := f.count()
		file := validatedFileJSON{File: f.file, OK: errs == 0 && (!r.strict || warnings == 0)}
		if f.def != nil {
			file.Workflow, file.Version, file.Hash = f.def.Workflow, f.def.Version, f.def.Hash
		}
		out.Files = append(out.Files, file)
		for _, d := range f.diags {
			out.Findings = append(out.Findings, findingJSON{
				File: d.File, Line: d.Line, Column: d.Col, EndLine: d.EndLine, EndColumn: d.EndCol,
				Severity: level(d.Warning), Rule: d.Rule, Message: d.Message,
			})
		}
	}
	return out
}

// printFindings prints the findings for people, and how many there are.
func (e *env) printFindings(r *report) {
	s := e.style()
	for _, f := range r.files {
		rows := strings.Split(strings.TrimPrefix(string(f.text), "\uFEFF"), "\n")
		for _, d := range f.diags {
			fmt.Fprint(e.err, s.finding(d))
			if s.lines && d.Line <= len(rows) {
				fmt.Fprint(e.err, s.snippet(d, []rune(strings.TrimSuffix(rows[d.Line-1], "\r"))))
			}
		}
	}
	e.printf("%s\n", r.summary())
}

// summary is the tally as a sentence.
func (r *report) summary() string {
	t := r.tally()
	parts := []string{
		plural(t.Files, "workflow"),
		t.found(t.Errors, "error", t.FilesWithErrors),
		t.found(t.Warnings, "warning", t.FilesWithWarnings),
	}
	if t.Situations > 0 {
		parts = append(parts, plural(t.Situations, "situation"))
	}
	text := strings.Join(parts, ", ")
	if r.steps.File != "" {
		text += "; steps of " + printable(r.steps.File)
	}
	return text
}

// found says how many findings are in how many files.
func (t tally) found(n int, what string, files int) string {
	switch {
	case n == 0:
		return "no " + what + "s"
	case t.Files == 1:
		return plural(n, what)
	default:
		return plural(n, what) + " in " + plural(files, "file")
	}
}

func plural(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}
