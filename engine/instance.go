package engine

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Status is the engine's view of an instance; its State is the workflow's.
type Status string

// The statuses of an instance.
const (
	// Running instances are claimed by ticks when they are due.
	Running Status = "running"
	// Queued instances wait in line for a concurrency key.
	Queued Status = "queued"
	// Waiting instances are in a state with wait: or await:.
	Waiting Status = "waiting"
	// Stuck instances have used up the attempts of a step whose policy is
	// forward: they are tried on at max_delay until it works.
	Stuck Status = "stuck"
	// Compensating instances have failed, and undo what they did. State is the
	// state that is being undone; the end comes after the last one.
	Compensating Status = "compensating"
	// CompensationFailed instances could not undo State; Code and Message say
	// why. What was done before it is not undone either. An operator's retry
	// goes on there.
	CompensationFailed Status = "compensation_failed"
	// Succeeded instances are in a state with end: succeeded.
	Succeeded Status = "succeeded"
	// Failed instances are in a state with end: failed. They keep the failed
	// state and its input, so that an operator can retry that step alone.
	Failed Status = "failed"
	// Parked instances cannot go on here, for example because their definition
	// cannot be read. Note says why; an operator retries them.
	Parked Status = "parked"
)

// Ended reports whether no tick will move the instance any more.
func (s Status) Ended() bool { return s == Succeeded || s == Failed }

// Unfinished returns the statuses of instances that have not ended.
func Unfinished() []Status {
	return []Status{Running, Queued, Waiting, Stuck, Compensating, CompensationFailed, Parked}
}

// Instance is one run of a workflow: one row of a store, and the only truth
// about it.
type Instance struct {
	ID         string
	Workflow   string
	DefVersion int    // version: of its definition
	DefHash    string // hash of its definition; the instance stays on it
	Key        string // instance key, empty if it has none
	Run        int    // counts the instances of one key from 1

	State   string
	Status  Status
	Step    string // handler that is to run next; empty if no tick has to look
	Version int64  // counts the writes of this row; every write is fenced by it

	Attempt    int       // attempts made in this visit of State
	Failures   int       // of them, those that count against max_attempts
	Doubt      bool      // an attempt of this visit ended unknown
	DueAt      time.Time // when a tick must look; zero means never
	LeaseOwner string    // worker that holds the lease, empty if free
	LeaseUntil time.Time // zero if free

	Code        string // code of the last error, empty if none
	Message     string // text of the last error
	FailedState string // state of the error that led to the failed end
	Note        string // why the instance waits, for people

	StartedAt  time.Time
	EnteredAt  time.Time // when State was entered
	UpdatedAt  time.Time
	EndedAt    time.Time // zero until it ends
	DeadlineAt time.Time // zero if it has none
	ExpireAt   time.Time // when it may be deleted; zero means never

	Labels map[string]string
	Input  json.RawMessage // what it was started with
	With   json.RawMessage // input of the step of State, fixed on entry
	Data   json.RawMessage // progress, opaque to stores
	Output json.RawMessage // result of its end state
}

// Outputs returns what the steps of the completed states answered, by state.
func (in Instance) Outputs() (map[string]json.RawMessage, error) {
	var p progress
	if len(in.Data) == 0 {
		return nil, nil
	}
	if err := json.Unmarshal(in.Data, &p); err != nil {
		return nil, fmt.Errorf("decode the data of %s: %w", in.ID, err)
	}
	return p.Outputs, nil
}

// Cause returns the error that an instance with the status [Compensating] or
// [CompensationFailed] failed with at first: Code and Message are those of the
// undo then. For others it returns Code, Message and FailedState.
func (in Instance) Cause() (code, message, state string) {
	if in.Status == Compensating || in.Status == CompensationFailed {
		var p progress
		if err := json.Unmarshal(in.Data, &p); err == nil && p.Error != nil {
			return p.Error.Code, p.Error.Message, p.Error.State
		}
	}
	return in.Code, in.Message, in.FailedState
}

// Reasons of a [History] row.
const (
	ReasonDone     = "done"        // the step succeeded
	ReasonCaught   = "caught"      // the step failed and catch: took the error
	ReasonRetry    = "retry"       // the attempt failed, another one follows
	ReasonFailed   = "failed"      // on_failure: took the error
	ReasonElapsed  = "elapsed"     // the time of a wait is over
	ReasonSignal   = "signal"      // a signal came
	ReasonStuck    = "stuck"       // out of attempts, but policy forward goes on
	ReasonUndo     = "undo"        // a failure; what was done is undone now
	ReasonUndone   = "undone"      // the compensation of the state succeeded
	ReasonUndoLost = "undo_failed" // the compensation of the state is out of attempts
	ReasonWait     = "wait"        // the handler asks to be called again later
	ReasonDown     = "down"        // the whole target is down, attempts are kept
	ReasonReturned = "returned"    // shutdown: the attempt was given back
	ReasonParked   = "parked"      // it cannot go on here
	ReasonOperator = "operator"    // an operator's word
	ReasonLate     = "late result ignored"
)

// History is one line of an instance's story. Its number is Seq, from 1
// without gaps.
type History struct {
	Seq         int64
	At          time.Time
	From, To    string // equal if the state was not left
	Reason      string
	Attempt     int
	Code        string
	Message     string // the error, or without a Code what people should know
	FailedState string
	Duration    time.Duration // of the attempt
	Actor       string        // worker or operator
}

// Limits that hold for every workflow and store.
const (
	MaxPayload     = 64 << 10 // bytes of an input, with, output or event payload as JSON
	MaxMessage     = 4 << 10  // bytes of a kept error text
	MaxKey         = 512      // bytes of an instance key or concurrency key
	MaxID          = 1 << 10  // bytes of an instance id
	MaxTransitions = 1000     // states entered by one instance
)

// InstanceID returns the id of the run-th instance of a key:
// "workflow/key", then "workflow/key~2" and so on. A "~" of the key is doubled,
// so different keys never share an id.
func InstanceID(workflow, key string, run int) string {
	id := workflow + "/" + strings.ReplaceAll(key, "~", "~~")
	if run > 1 {
		id += "~" + strconv.Itoa(run)
	}
	return id
}
