package sqlitestore

import (
	"encoding/json"
	"fmt"
	"math"
	"time"

	"github.com/pawl-dev/pawl/engine"
)

// never is the due_at of a row that no tick has to look at.
const never = math.MaxInt64

// headColumns are what a page of a list has of a row; rowColumns are all.
const (
	headColumns = `n, id, workflow, def_version, def_hash, ikey, run, state, status, step, version,
	attempt, failures, doubt, due_at, was_due, lease_owner, lease_until, code, message, failed_state, note,
	started_at, entered_at, updated_at, ended_at, deadline_at, expire_at, labels`
	rowColumns = headColumns + `, with_input, data, output, input`
)

// row receives the columns of an instance. Integers are 64 bits wide, which
// database/sql copies without a detour by text.
type row struct {
	in engine.Instance

	n, defVersion, run, attempt, failures, doubt, due, wasDue, lease int64

	started, entered, updated, ended, deadline, expire int64

	status, labels            string
	with, data, output, input []byte
}

// head and all are the targets for headColumns and rowColumns.
func (r *row) head() []any {
	in := &r.in
	return []any{
		&r.n, &in.ID, &in.Workflow, &r.defVersion, &in.DefHash, &in.Key, &r.run, &in.State, &r.status, &in.Step,
		&in.Version, &r.attempt, &r.failures, &r.doubt, &r.due, &r.wasDue, &in.LeaseOwner, &r.lease, &in.Code,
		&in.Message, &in.FailedState, &in.Note, &r.started, &r.entered, &r.updated, &r.ended, &r.deadline, &r.expire,
		&r.labels,
	}
}

func (r *row) all() []any {
	return append(r.head(), &r.with, &r.data, &r.output, &r.input)
}

// instance returns what was scanned.
func (r *row) instance() (engine.Instance, error) {
	in := r.in
	in.DefVersion, in.Run = int(r.defVersion), int(r.run)
	in.Status = engine.Status(r.status)
	in.Attempt, in.Failures, in.Doubt = int(r.attempt), int(r.failures), r.doubt != 0
	in.DueAt, in.LeaseUntil = fromDue(r.due), fromMicro(r.lease)
	in.StartedAt, in.EnteredAt, in.UpdatedAt = fromMicro(r.started), fromMicro(r.entered), fromMicro(r.updated)
	in.EndedAt, in.DeadlineAt, in.ExpireAt = fromMicro(r.ended), fromMicro(r.deadline), fromMicro(r.expire)
	in.With, in.Data, in.Output, in.Input = fromBlob(r.with), fromBlob(r.data), fromBlob(r.output), fromBlob(r.input)
	if r.labels != noLabels {
		if err := json.Unmarshal([]byte(r.labels), &in.Labels); err != nil {
			return in, fmt.Errorf("read labels of %q: %v", in.ID, err)
		}
	}
	return in, nil
}

// noLabels is what the column labels has for none.
const noLabels = "{}"

func toLabels(m map[string]string) (string, error) {
	if len(m) == 0 {
		return noLabels, nil
	}
	text, err := json.Marshal(m)
	return string(text), err
}

// toMicro and fromMicro turn a time into the integer that is stored, and back.
func toMicro(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixMicro()
}

func fromMicro(us int64) time.Time {
	if us == 0 {
		return time.Time{}
	}
	return time.UnixMicro(us).UTC()
}

// toDue and fromDue do so for due_at, where no time is after all others.
func toDue(t time.Time) int64 {
	if t.IsZero() {
		return never
	}
	return t.UnixMicro()
}

func fromDue(us int64) time.Time {
	if us == never {
		return time.Time{}
	}
	return time.UnixMicro(us).UTC()
}

// whole returns t as it would come back from the store.
func whole(t time.Time) time.Time { return fromMicro(toMicro(t)) }

// toBlob and fromBlob keep nil and empty apart from NULL, which no column has.
func toBlob(b json.RawMessage) []byte {
	if b == nil {
		return []byte{}
	}
	return b
}

func fromBlob(b []byte) json.RawMessage {
	if len(b) == 0 {
		return nil
	}
	return b
}

func toInt(b bool) int64 {
	if b {
		return 1
	}
	return 0
}

// settle gives in the form that it has after a write: a free lease has no
// owner, and while leased the row is due at the end of the lease.
func settle(in *engine.Instance) {
	if in.LeaseUntil.IsZero() {
		in.LeaseOwner = ""
	} else {
		in.DueAt = in.LeaseUntil
	}
}

// queue gives in the form of an instance in line for a concurrency key.
func queue(in *engine.Instance) {
	in.Status = engine.Queued
	in.Attempt, in.Failures = 0, 0
	in.LeaseOwner, in.LeaseUntil = "", time.Time{}
	in.DueAt = in.DeadlineAt
}

// stored returns in as a later read will give it.
func stored(in engine.Instance) engine.Instance {
	for _, t := range []*time.Time{
		&in.DueAt, &in.LeaseUntil, &in.StartedAt, &in.EnteredAt, &in.UpdatedAt, &in.EndedAt, &in.DeadlineAt, &in.ExpireAt,
	} {
		*t = whole(*t)
	}
	for _, b := range []*json.RawMessage{&in.Input, &in.With, &in.Data, &in.Output} {
		*b = fromBlob(*b)
	}
	if len(in.Labels) == 0 {
		in.Labels = nil
	}
	return in
}
