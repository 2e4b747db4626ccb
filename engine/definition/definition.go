package definition

import "time"

// Definition is a checked workflow. It is immutable and safe for concurrent
// use.
type Definition struct {
	File        string // as given to Parse, for messages
	Source      []byte
	Hash        string // of the canonical form: comments and layout do not matter
	Workflow    string
	Version     int
	Description string
	Meta        map[string]string

	Input       []Field // in the order of the file; nil if it takes no input
	InstanceKey *Value  // nil if there is none
	Labels      []Label
	Concurrency *Concurrency
	Deadline    time.Duration // zero if there is none
	Retention   Retention
	OnFailure   OnFailure

	Start  string
	States []*State // in the order of the file

	index map[string]*State
	exprs []slot // for [Check]
}

// State returns the state of that name, or nil.
func (d *Definition) State(name string) *State { return d.index[name] }

// Label is a search key of an instance.
type Label struct {
	Name  string
	Value *Value
}

// Concurrency says that one instance at a time may hold a key.
type Concurrency struct {
	Key    *Value
	Reject bool // on_conflict: reject; otherwise queue
}

// Retention says how long ended instances are kept; zero means for ever.
type Retention struct {
	Succeeded, Failed time.Duration
}

// Policy says what a failure leads to.
type Policy string

// The failure policies of the language.
const (
	MarkFailed Policy = "mark_failed"
	Compensate Policy = "compensate"
	Forward    Policy = "forward"
)

// OnFailure is the answer to an error that no catch: takes.
type OnFailure struct {
	Policy Policy
	To     string // a state with end: failed
}

// Kind tells the states apart.
type Kind string

// The kinds of states.
const (
	StepState  Kind = "step"
	WaitState  Kind = "wait"
	AwaitState Kind = "await"
	EndState   Kind = "end"
)

// State is a named place of an instance.
type State struct {
	Name        string
	Kind        Kind
	Title       string
	Description string
	Meta        map[string]string
	Emit        []Emit

	// Of all but ends:
	Next      []Branch            // after success; of an await see Signals
	Catch     map[string][]Branch // of a step and, for timeout alone, of an await
	OnFailure OnFailure           // the state's own or the workflow's

	// Of a step:
	Step         string
	With         *Value // nil: the workflow's input
	Retry        Retry
	Timeout      time.Duration // of one attempt; of an await: of the wait, zero for none
	Irreversible bool
	AtMostOnce   bool // one attempt ever; Retry.MaxAttempts is 1 then
	Batch        int  // 0: one at a time
	Concurrency  *Concurrency
	Compensate   *Compensation // nil if the file has none

	// Of a wait:
	Wait *Wait

	// Of an await:
	Signals []Signal // in the order of the file
	Payload []Field  // what a signal carries; nil: nothing

	// Of an end:
	Failed bool   // end: failed; otherwise succeeded
	Output *Value // nil if there is none

	at    position            // of the name
	parts map[string]position // of the fields, of "catch.CODE" and "except.INDEX"
}

// Branch is one way out of a state. The last of a list has no When.
type Branch struct {
	When *Value // nil: always
	To   string
}

// Emit is an event that is written in the transaction which enters the state.
type Emit struct {
	Event   string
	Key     *Value // nil if there is none
	Payload *Value // nil if there is none
}

// Retry is the effective retry rule of a step.
type Retry struct {
	MaxAttempts  int // counts the first try
	InitialDelay time.Duration
	Backoff      float64
	MaxDelay     time.Duration
	Jitter       float64 // 0 to 1: the share of the delay that is random
	Except       []string
	CountOutage  bool // outage: count; otherwise wait
}

// Compensation is how the effect of a state is undone.
type Compensation struct {
	None    bool   // compensate: none, there is nothing to undo; the rest is not set then
	Step    string // handler
	With    *Value // nil: the handler gets the recorded input and output
	Retry   Retry
	Timeout time.Duration
}

// Wait says until when a state waits. Exactly one of its fields is set.
type Wait struct {
	For   *Value // a duration, from the entry on; see [Value.Duration]
	Until *Value // a timestamp; see [Value.Time]
}

// Signal is what an await waits for, and where it leads.
type Signal struct {
	Name string
	Next []Branch
}

// Undoes reports whether entering the state and failing later may call a
// compensation.
func (s *State) Undoes() bool { return s.Compensate != nil && !s.Compensate.None }

// TypeKind is the name of a type of the language.
type TypeKind string

// The types of the language.
const (
	String    TypeKind = "string"
	Integer   TypeKind = "integer"
	Number    TypeKind = "number"
	Boolean   TypeKind = "boolean"
	Timestamp TypeKind = "timestamp"
	Duration  TypeKind = "duration"
	Object    TypeKind = "object"
	Any       TypeKind = "any"
	List      TypeKind = "list"
)

// Type is the type of a value.
type Type struct {
	Kind     TypeKind `json:"kind"`
	Optional bool     `json:"optional,omitempty"`
	Elem     *Type    `json:"elem,omitempty"`  // of a list
	Fields   []Field  `json:"fields,omitzero"` // of an object; nil: any fields
	Enum     []string `json:"enum,omitempty"`
}
