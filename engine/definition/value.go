package definition

import (
	"encoding/json"
	"time"
)

// Value is a value of the file: a literal, an expression, or a map or list of
// values. Its expressions are compiled. It is safe for concurrent use.
type Value struct{}

// Vars are the values that the expressions of a definition may name; see
// LANGUAGE.md section 2.2 for which of them is known where. A nil map or value
// is known as nil.
type Vars struct {
	Input    map[string]any // as [Definition.ReadInput] returns it
	Instance InstanceVars
	Now      time.Time
	States   map[string]any // state name -> output as [ReadJSON] returns it
	Output   any            // as [ReadJSON] returns it
	Error    *ErrorVars
}

// InstanceVars are the fields of the variable instance.
type InstanceVars struct {
	ID, Workflow string
	Version      int
	StartedAt    time.Time
}

// ErrorVars are the fields of the variable error.
type ErrorVars struct {
	Code, Message, State string
}

// JSON evaluates v and encodes the result. An error names the place in the
// file; it is a fault of the data, so another evaluation gives it again.
func (v *Value) JSON(vars *Vars) (json.RawMessage, error) { panic("not yet") }

// Text evaluates v, which the checks made sure is a string.
func (v *Value) Text(vars *Vars) (string, error) { panic("not yet") }

// Bool evaluates v, which the checks made sure is a boolean.
func (v *Value) Bool(vars *Vars) (bool, error) { panic("not yet") }

// ReadInput decodes and checks the start data of an instance against the
// input schema: unknown and missing fields and wrong types are errors, all of
// them reported at once. Absent optional fields are set to nil.
func (d *Definition) ReadInput(raw json.RawMessage) (map[string]any, error) { panic("not yet") }

// ReadJSON decodes data for use in expressions. Whole numbers become int,
// other numbers float64 where that keeps every digit, else json.Number, so
// that encoding the value again changes nothing.
func ReadJSON(raw json.RawMessage) (any, error) { panic("not yet") }

// Parse reads one workflow file. The definition is nil if the diagnostics
// hold an error, see [Diagnostics.Err]; they may hold warnings only.
func Parse(file string, src []byte) (*Definition, Diagnostics) { panic("not yet") }

// Check holds d against the handlers of a program: steps that exist, codes
// they declare, batch steps, inputs by name and type.
func Check(d *Definition, m Manifest) Diagnostics { panic("not yet") }

// Diagnostic is one finding in a file.
type Diagnostic struct {
	File      string
	Line, Col int    // from 1; Col counts runes
	Rule      string // stable name of the check, for example "unknown-state"
	Message   string // what is wrong; how to mend it
	Warning   bool
}

// Diagnostics are findings in the order of the file.
type Diagnostics []*Diagnostic

// Err returns the errors among the findings, joined, or nil.
func (d Diagnostics) Err() error { panic("not yet") }
