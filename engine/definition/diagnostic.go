package definition

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
)

// Diagnostic is one finding in a file. As an error it is made by [Value] too,
// for data that an expression does not fit.
type Diagnostic struct { //nolint:errname // a finding may be a warning
	File      string
	Line, Col int // from 1; Col counts runes

	// EndLine and EndCol are just behind the word that the finding stands at.
	// They are equal to Line and Col where the line ends, and zero if the text
	// of the file was not at hand; see [Diagnostics.Locate].
	EndLine, EndCol int

	Rule    string // stable name of the check, one of [Rules]
	Message string // what is wrong; how to mend it
	Warning bool
}

// Error gives the finding in the form that compilers use, so editors can jump
// to it: "file:line:col: message [rule]".
func (d *Diagnostic) Error() string {
	var warning string
	if d.Warning {
		warning = "warning: "
	}
	return fmt.Sprintf("%s:%d:%d: %s%s [%s]", d.File, d.Line, d.Col, warning, d.Message, d.Rule)
}

// Diagnostics are findings in the order of the file.
type Diagnostics []*Diagnostic

// Err returns the errors among the findings, joined, or nil. The text has one
// finding a line.
func (d Diagnostics) Err() error {
	var errs []error
	for _, f := range d {
		if !f.Warning {
			errs = append(errs, f)
		}
	}
	return errors.Join(errs...)
}

// Locate puts findings of one file, whose text is src, in order and sets where
// they end. [Parse] and [Check] return them so already: it is for findings of
// several checks in one list.
func (d Diagnostics) Locate(src []byte) {
	d.locate(newSource(withoutBOM(src)))
}

// lines returns the text of the file that d was read from.
func (d *Definition) lines() *source {
	return newSource(withoutBOM(d.Source))
}

func (d Diagnostics) locate(src *source) {
	slices.SortStableFunc(d, func(a, b *Diagnostic) int {
		return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Col, b.Col))
	})
	if src == nil {
		return
	}
	w := words{src: src}
	for _, f := range d {
		f.EndLine, f.EndCol = f.Line, w.end(position{f.Line, f.Col})
	}
}

// position is a place in the file, both parts from 1.
type position struct{ line, col int }

// findings collects diagnostics.
type findings struct {
	file string
	src  *source // nil until the file is read
	list Diagnostics
}

// maxFindings is more than anybody reads. It bounds what a file that is full
// of mistakes costs.
const maxFindings = 1000

func (f *findings) errorf(at position, rule, format string, args ...any) {
	f.add(at, rule, false, format, args...)
}

func (f *findings) warnf(at position, rule, format string, args ...any) {
	f.add(at, rule, true, format, args...)
}

// add keeps a finding unless there are too many; the first error is always kept.
func (f *findings) add(at position, rule string, warning bool, format string, args ...any) {
	if len(f.list) >= maxFindings && (warning || f.failed()) {
		return
	}
	f.list = append(f.list, &Diagnostic{
		File: f.file, Line: at.line, Col: at.col, Rule: rule, Warning: warning, Message: oneLine(fmt.Sprintf(format, args...)),
	})
}

// failed reports whether an error was found.
func (f *findings) failed() bool {
	return slices.ContainsFunc(f.list, func(d *Diagnostic) bool { return !d.Warning })
}

func (f *findings) sorted() Diagnostics {
	if f.src != nil {
		for _, d := range f.list {
			f.src.clamp(d)
		}
	}
	f.list.locate(f.src)
	return f.list
}
