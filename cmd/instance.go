package pawlcmd

import (
	"encoding/json"
	"time"

	"github.com/pawl-dev/pawl/engine"
)

// instanceJSON is an instance as list, show and start print it. list leaves
// out input, with and output.
type instanceJSON struct {
	ID                string `json:"id"`
	Workflow          string `json:"workflow"`
	DefinitionVersion int    `json:"definition_version"`
	DefinitionHash    string `json:"definition_hash"`
	Key               string `json:"key,omitempty"`
	Run               int    `json:"run"`

	State   string `json:"state"`
	Status  string `json:"status"`
	Step    string `json:"step,omitempty"` // that a tick will run next
	Version int64  `json:"version"`

	Attempts    int    `json:"attempts"`               // made in this visit of the state
	Failures    int    `json:"failures"`               // of them, those that count against max_attempts
	MaxAttempts int    `json:"max_attempts,omitempty"` // of the state, or of the one that failed
	InDoubt     bool   `json:"in_doubt,omitempty"`     // an attempt ended unknown
	LeaseOwner  string `json:"lease_owner,omitempty"`

	Error *errorJSON `json:"error,omitempty"`
	// UndoError is the last error of the compensation that runs, or that
	// failed; Error is what is compensated then.
	UndoError *errorJSON `json:"undo_error,omitempty"`
	Note      string     `json:"note,omitempty"` // why it waits

	StartedAt  time.Time `json:"started_at"`
	EnteredAt  time.Time `json:"entered_at"` // the state
	UpdatedAt  time.Time `json:"updated_at"`
	DueAt      time.Time `json:"due_at,omitzero"`
	LeaseUntil time.Time `json:"lease_until,omitzero"`
	DeadlineAt time.Time `json:"deadline_at,omitzero"`
	EndedAt    time.Time `json:"ended_at,omitzero"`
	ExpireAt   time.Time `json:"expire_at,omitzero"`

	Labels map[string]string `json:"labels,omitempty"`
	Input  json.RawMessage   `json:"input,omitempty"`
	With   json.RawMessage   `json:"with,omitempty"`
	Output json.RawMessage   `json:"output,omitempty"`
	// Outputs are what the completed states answered, by state. list leaves
	// them out too.
	Outputs map[string]json.RawMessage `json:"outputs,omitempty"`
}

// errorJSON is the last error of an instance.
type errorJSON struct {
	Code    string `json:"code"`
	Message string `json:"message"`
	State   string `json:"state"`
}

// instanceShape gives in the form that is printed. most is the number of
// attempts that its state allows, 0 if that is not known.
func instanceShape(in engine.Instance, most int) instanceJSON {
	out := instanceJSON{
		ID: in.ID, Workflow: in.Workflow, DefinitionVersion: in.DefVersion, DefinitionHash: in.DefHash,
		Key: in.Key, Run: in.Run,
		State: in.State, Status: string(in.Status), Step: in.Step, Version: in.Version,
		Attempts: in.Attempt, Failures: in.Failures, MaxAttempts: most, InDoubt: in.Doubt, LeaseOwner: in.LeaseOwner,
		Note:      in.Note,
		StartedAt: in.StartedAt.UTC(), EnteredAt: in.EnteredAt.UTC(), UpdatedAt: in.UpdatedAt.UTC(),
		DueAt: in.DueAt.UTC(), LeaseUntil: in.LeaseUntil.UTC(), DeadlineAt: in.DeadlineAt.UTC(),
		EndedAt: in.EndedAt.UTC(), ExpireAt: in.ExpireAt.UTC(),
		Labels: in.Labels, Input: in.Input, With: in.With, Output: in.Output,
	}
	if outputs, err := in.Outputs(); err == nil {
		out.Outputs = outputs
	}
	out.Error, out.UndoError = errorsOf(in)
	return out
}

// errorsOf returns the error of an instance and that of its undo.
func errorsOf(in engine.Instance) (own, undo *errorJSON) {
	code, message, state := in.Cause()
	if state == "" {
		state = in.State
	}
	if code != "" {
		own = &errorJSON{Code: code, Message: message, State: state}
	}
	if code != in.Code || message != in.Message {
		undo = &errorJSON{Code: in.Code, Message: in.Message, State: in.State}
	}
	return own, undo
}

// attemptText says which attempt an instance is at, by what counts against
// max_attempts. It is empty where no attempt is of interest.
func attemptText(in engine.Instance, most int) string {
	n := in.Failures
	if !in.LeaseUntil.IsZero() {
		n++ // the one that runs
	}
	if n == 0 || most == 0 || in.Status == engine.Succeeded {
		return ""
	}
	if n > most { // policy forward
		most = 0
	}
	return countText(n, most)
}
