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
	Line, Col int    // from 1; Col counts runes
	Rule      string // stable name of the check, for example "unknown-state"
	Message   string // what is wrong; how to mend it
	Warning   bool
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

// position is a place in the file, both parts from 1.
type position struct{ line, col int }

// findings collects diagnostics.
type findings struct {
	file string
	list Diagnostics
}

func (f *findings) errorf(at position, rule, format string, args ...any) {
	f.list = append(f.list, &Diagnostic{
		File: f.file, Line: at.line, Col: at.col, Rule: rule, Message: fmt.Sprintf(format, args...),
	})
}

func (f *findings) warnf(at position, rule, format string, args ...any) {
	f.errorf(at, rule, format, args...)
	f.list[len(f.list)-1].Warning = true
}

// failed reports whether an error was found.
func (f *findings) failed() bool {
	return slices.ContainsFunc(f.list, func(d *Diagnostic) bool { return !d.Warning })
}

func (f *findings) sorted() Diagnostics {
	slices.SortStableFunc(f.list, func(a, b *Diagnostic) int {
		return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Col, b.Col))
	})
	return f.list
}
