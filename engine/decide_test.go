package engine

import (
	"encoding/json"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-dev/pawl/engine/definition"
)

const decideSource = `pawl: 1
workflow: w
version: 1
input: {id: string}
deadline: 1h
retention: {succeeded: 1d, failed: 2d}
on_failure: {policy: mark_failed, to: FAILED}
defaults:
  retry: {max_attempts: 3, initial_delay: 10s, backoff: 2, max_delay: 1m, jitter: 0}
start: A
states:
  A:
    step: h.a
    catch: {busy: B, any: OTHER}
    next:
      - when: ${{ output.ok == true }}
        to: B
      - to: FAILED
  B:
    step: h.b
    irreversible: true
    concurrency: {key: "${{ input.id }}", on_conflict: queue}
    next: DONE
  DONE: {end: succeeded}
  FAILED: {end: failed}
  OTHER: {end: failed}
`

// verdictOf is what a test looks at of a transition.
type decision struct {
	State, Step string
	Status      Status
	Attempt     int
	Failures    int
	Doubt       bool
	Due         string // after now, "lease" or "never"
	Code        string
	FailedState string
	Reason      string
	Pivot       bool
	Acquire     []Hold
	Release     []string
	Free        bool
}

func TestDecide(t *testing.T) {
	def, diags := definition.Parse("w.yaml", []byte(decideSource))
	if err := diags.Err(); err != nil {
		t.Fatal(err)
	}
	boom := outcome{kind: outcomeFailed, code: definition.CodeUnknown, message: "boom", began: true}
	definite := outcome{kind: outcomeFailed, code: definition.CodeFailed, message: "no", began: true, verdict: Verdict{Definite: true}}
	inB := func(in *Instance) {
		in.State, in.Step = "B", "h.b"
		in.Data = json.RawMessage(`{"moves":2,"visits":{"A":1,"B":1},"with_of":"B","holds":[{"state":"B","name":"w/B/1"}],"outputs":{"A":{"ok":true}}}`)
	}
	held := []string{"w/B/1"}
	tests := []struct {
		name string
		edit func(*Instance)
		o    outcome
		want decision
	}{
		{
			"SuccessGoesOnUnderTheLease", nil,
			outcome{kind: outcomeDone, out: json.RawMessage(`{"ok":true}`)},
			decision{State: "B", Step: "h.b", Status: Running, Attempt: 1, Due: "lease", Reason: ReasonDone, Acquire: []Hold{{Name: "w/B/1"}}},
		},
		{
			"GuardLeadsToAFailedEnd", nil,
			outcome{kind: outcomeDone, out: json.RawMessage(`{"ok":false}`)},
			decision{State: "FAILED", Status: Failed, Attempt: 1, Due: "never", Code: definition.CodeDeclined, FailedState: "A", Reason: ReasonDone, Free: true},
		},
		{
			"PlainErrorIsRetriedInDoubt", nil, boom,
			decision{State: "A", Step: "h.a", Status: Running, Attempt: 1, Failures: 1, Doubt: true, Due: "10s", Code: definition.CodeUnknown, Reason: ReasonRetry},
		},
		{
			"DefiniteErrorLeavesNoDoubt", nil, definite,
			decision{State: "A", Step: "h.a", Status: Running, Attempt: 1, Failures: 1, Due: "10s", Code: definition.CodeFailed, Reason: ReasonRetry},
		},
		{
			"DoubtStaysUntilItIsSettled", func(in *Instance) { in.Attempt, in.Failures, in.Doubt = 2, 1, true }, definite,
			decision{State: "A", Step: "h.a", Status: Running, Attempt: 2, Failures: 2, Doubt: true, Due: "20s", Code: definition.CodeFailed, Reason: ReasonRetry},
		},
		{
			"VerifySettlesTheDoubt", func(in *Instance) { in.Attempt, in.Failures, in.Doubt = 2, 1, true },
			outcome{kind: outcomeFailed, code: definition.CodeFailed, began: true, settled: true, verdict: Verdict{Definite: true}},
			decision{State: "A", Step: "h.a", Status: Running, Attempt: 2, Failures: 2, Due: "20s", Code: definition.CodeFailed, Reason: ReasonRetry},
		},
		{
			"RetriesUsedUpGoToCatchAny", func(in *Instance) { in.Attempt, in.Failures = 3, 2 }, boom,
			decision{State: "OTHER", Status: Failed, Attempt: 3, Failures: 3, Doubt: true, Due: "never", Code: definition.CodeUnknown, FailedState: "A", Reason: ReasonCaught, Free: true},
		},
		{
			"CaughtCodeIsNotRetried", nil,
			outcome{kind: outcomeFailed, code: "busy", message: "b", began: true, verdict: Verdict{Code: "busy", Definite: true}},
			decision{State: "B", Step: "h.b", Status: Running, Attempt: 1, Due: "lease", Code: "busy", Reason: ReasonCaught, Acquire: []Hold{{Name: "w/B/1"}}},
		},
		{
			"IrreversibleSuccessPassesThePivot", inB,
			outcome{kind: outcomeDone, out: json.RawMessage(`{}`)},
			decision{State: "DONE", Status: Succeeded, Attempt: 1, Due: "never", Reason: ReasonDone, Pivot: true, Release: held},
		},
		{
			"IrreversibleUnknownPassesThePivot", func(in *Instance) { inB(in); in.Attempt, in.Failures = 3, 2 }, boom,
			decision{State: "FAILED", Status: Failed, Attempt: 3, Failures: 3, Doubt: true, Due: "never", Code: definition.CodeUnknown, FailedState: "B", Reason: ReasonFailed, Pivot: true, Release: held},
		},
		{
			"IrreversibleDefiniteFailureDoesNot", func(in *Instance) { inB(in); in.Attempt, in.Failures = 3, 2 }, definite,
			decision{State: "FAILED", Status: Failed, Attempt: 3, Failures: 3, Due: "never", Code: definition.CodeFailed, FailedState: "B", Reason: ReasonFailed, Release: held, Free: true},
		},
		{
			"OutageCountsNoFailure", func(in *Instance) { in.Attempt, in.Failures = 9, 2 },
			outcome{kind: outcomeFailed, code: definition.CodeFailed, began: true, verdict: Verdict{Definite: true, TargetDown: true}},
			decision{State: "A", Step: "h.a", Status: Running, Attempt: 9, Failures: 2, Due: "1m0s", Code: definition.CodeFailed, Reason: ReasonDown},
		},
		{
			"RetryAfterStretchesTheDelay", nil,
			outcome{kind: outcomeFailed, code: definition.CodeUnknown, began: true, verdict: Verdict{After: 25 * time.Second}},
			decision{State: "A", Step: "h.a", Status: Running, Attempt: 1, Failures: 1, Doubt: true, Due: "25s", Code: definition.CodeUnknown, Reason: ReasonRetry},
		},
		{
			"NoRetryIsDueAfterTheDeadline", nil,
			outcome{kind: outcomeFailed, code: definition.CodeUnknown, began: true, verdict: Verdict{After: 25 * time.Hour}},
			decision{State: "A", Step: "h.a", Status: Running, Attempt: 1, Failures: 1, Doubt: true, Due: "59m0s", Code: definition.CodeUnknown, Reason: ReasonRetry},
		},
		{
			"WaitCostsNoAttempt", nil,
			outcome{kind: outcomeWait, message: "CI", began: true, verdict: Verdict{Definite: true, Wait: true, After: time.Minute}},
			decision{State: "A", Step: "h.a", Status: Running, Due: "1m0s", Reason: ReasonWait},
		},
		{
			"ShutdownGivesTheAttemptBackInDoubt", func(in *Instance) { in.Attempt, in.Failures = 2, 1 },
			outcome{kind: outcomeReturned, began: true},
			decision{State: "A", Step: "h.a", Status: Running, Attempt: 1, Failures: 1, Doubt: true, Due: "0s", Reason: ReasonReturned},
		},
		{
			"WhatNeverBeganLeavesNoLine", nil,
			outcome{kind: outcomeReturned},
			decision{State: "A", Step: "h.a", Status: Running, Due: "0s"},
		},
		{
			"DeadlineGoesToTheTopLevel", inB,
			outcome{kind: outcomeDeadline},
			decision{State: "FAILED", Status: Failed, Attempt: 1, Due: "never", Code: definition.CodeDeadline, FailedState: "B", Reason: ReasonFailed, Release: held, Free: true},
		},
		{
			"TooLargeOutputIsNotRetried", nil,
			outcome{kind: outcomeDone, out: make(json.RawMessage, MaxPayload+1)},
			decision{State: "FAILED", Status: Failed, Attempt: 1, Failures: 1, Doubt: true, Due: "never", Code: definition.CodeTooLarge, FailedState: "A", Reason: ReasonFailed, Free: true},
		},
		{
			"FaultyGuardIsNotCaught", nil,
			outcome{kind: outcomeDone, out: json.RawMessage(`[]`)},
			decision{State: "FAILED", Status: Failed, Attempt: 1, Due: "never", Code: definition.CodeExpression, FailedState: "A", Reason: ReasonFailed, Free: true},
		},
		{
			"Parked", nil,
			outcome{kind: outcomeParked, message: "no definition"},
			decision{State: "A", Status: Parked, Due: "never", Reason: ReasonParked},
		},
	}
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			in := Instance{
				ID: "w/1", Workflow: "w", Key: "1", State: "A", Status: Running, Step: "h.a", Attempt: 1, Version: 7,
				LeaseOwner: "w1", LeaseUntil: now, StartedAt: now.Add(-time.Minute), DeadlineAt: now.Add(59 * time.Minute),
				Input: json.RawMessage(`{"id":"1"}`), Data: json.RawMessage(`{"moves":1,"visits":{"A":1},"with_of":"A"}`),
			}
			if tt.edit != nil {
				tt.edit(&in)
			}
			s, err := newSnapshot(in, def)
			if err != nil {
				t.Fatal(err)
			}
			m := moment{now: now, worker: "w1", lease: now.Add(20 * time.Second), runs: func(string) bool { return true }}
			tr, next := decide(s, tt.o, m)
			if diff := cmp.Diff(tt.want, decisionOf(t, tr, now)); diff != "" {
				t.Errorf("decide (-want +got):\n%s", diff)
			}
			// It is pure: the snapshot is as before, and a second call agrees.
			again, _ := decide(s, tt.o, m)
			if diff := cmp.Diff(tr, again, cmp.AllowUnexported(New{})); diff != "" {
				t.Errorf("the same decision again (-first +second):\n%s", diff)
			}
			if diff := cmp.Diff(in, s.Instance); diff != "" {
				t.Errorf("decide changed its input:\n%s", diff)
			}
			// What goes on in memory is what a reader of the row would find.
			reread, err := newSnapshot(tr.Instance, def)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(reread.progress, next.progress, cmp.Transformer("nil", emptyIsNil)); diff != "" {
				t.Errorf("progress (-row +memory):\n%s", diff)
			}
		})
	}
}

func emptyIsNil(p progress) string {
	b, err := json.Marshal(p)
	return fmt.Sprint(string(b), err)
}

func decisionOf(t *testing.T, tr Transition, now time.Time) decision {
	t.Helper()
	in := tr.Instance
	var p progress
	if err := json.Unmarshal(in.Data, &p); err != nil {
		t.Fatal(err)
	}
	d := decision{
		State: in.State, Step: in.Step, Status: in.Status, Attempt: in.Attempt, Failures: in.Failures, Doubt: in.Doubt,
		Code: in.Code, FailedState: in.FailedState, Pivot: p.Pivot, Acquire: tr.Acquire, Release: slices.Clone(tr.Release), Free: tr.Free,
	}
	switch {
	case in.DueAt.IsZero():
		d.Due = "never"
	case !in.LeaseUntil.IsZero() && in.DueAt.Equal(in.LeaseUntil):
		d.Due = "lease"
	default:
		d.Due = in.DueAt.Sub(now).String()
	}
	if tr.History != nil {
		d.Reason = tr.History.Reason
	}
	if in.Version != 7 {
		t.Errorf("the fence is version %d, want that of the instance, 7", in.Version)
	}
	if (in.LeaseOwner == "") != in.LeaseUntil.IsZero() {
		t.Errorf("lease of %q until %s", in.LeaseOwner, in.LeaseUntil)
	}
	return d
}
