package engine_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-dev/pawl/engine"
)

const waits = `pawl: 1
workflow: waits
version: 1
input: {id: string, at: optional timestamp}
instance_key: ${{ input.id }}
deadline: 10d
on_failure: {policy: mark_failed, to: FAILED}
start: PAUSE
states:
  PAUSE:
    wait: {for: 1h}
    next: UNTIL
  UNTIL:
    wait: {until: "${{ input.at ?? now }}"}
    next:
      - when: ${{ input.id == 'await' }}
        to: ANSWER
      - to: CHOICE
  ANSWER:
    await: {yes_please: CHOICE}
    timeout: 3d
    catch: {timeout: LATE}
  CHOICE:
    step: pawl.noop
    next:
      - when: ${{ input.id == 'bad' }}
        to: FAILED
      - to: DONE
  LATE:
    await: {ever: DONE}
    timeout: 1d
  DONE: {end: succeeded}
  FAILED: {end: failed}
`

func (w *world) startAt(t *testing.T, id, at string) string {
	t.Helper()
	in, err := json.Marshal(map[string]string{"id": id, "at": at})
	if err != nil {
		t.Fatal(err)
	}
	got, err := w.eng.Start(context.Background(), engine.StartRequest{Workflow: "waits", Input: in})
	if err != nil {
		t.Fatal(err)
	}
	return got.Instance.ID
}

// A wait sleeps until its time, is over at once if that is past, and pawl.noop
// decides without a handler. C24: durations are elapsed time.
func TestWait(t *testing.T) {
	w := newWorld(t)
	w.open(waits)
	begun := w.clock.Now()
	id := w.startAt(t, "1", begun.Add(5*time.Hour).Format(time.RFC3339))
	past := w.startAt(t, "past", begun.Add(-time.Hour).Format(time.RFC3339))
	w.tick()
	in := w.load(id)
	if in.Status != engine.Waiting || in.State != "PAUSE" || !in.DueAt.Equal(begun.Add(time.Hour)) || in.Attempt != 0 {
		t.Fatalf("after the start: %s in %s, due %s, attempt %d", in.Status, in.State, in.DueAt, in.Attempt)
	}
	w.clock.Advance(time.Hour)
	w.tick()
	if in = w.load(id); in.State != "UNTIL" || in.Status != engine.Waiting || !in.DueAt.Equal(begun.Add(5*time.Hour)) {
		t.Errorf("after an hour: %s in %s, due %s", in.Status, in.State, in.DueAt)
	}
	if in := w.load(past); in.Status != engine.Succeeded {
		t.Errorf("a wait until yesterday is %s in %s", in.Status, in.State)
	}
	if in = w.settle(id); in.Status != engine.Succeeded || in.EndedAt.Sub(begun) != 5*time.Hour {
		t.Errorf("it ended %s after %s", in.Status, in.EndedAt.Sub(begun))
	}
	want := []string{"PAUSE>UNTIL elapsed 0", "UNTIL>CHOICE elapsed 0", "CHOICE>DONE done 1"}
	if diff := cmp.Diff(want, w.story(id)); diff != "" {
		t.Errorf("history (-want +got):\n%s", diff)
	}
}

// An await that gets no signal goes the way of catch: timeout, or fails; an
// operator's retry waits anew.
func TestAwaitTimesOut(t *testing.T) {
	w := newWorld(t)
	w.open(waits)
	begun := w.clock.Now()
	id := w.startAt(t, "await", begun.Format(time.RFC3339))
	in := w.settle(id)
	if in.Status != engine.Failed || in.FailedState != "LATE" || in.Code != "timeout" || in.Message != "no signal came within 1d" {
		t.Errorf("it ended %s, failed in %s with %s: %s", in.Status, in.FailedState, in.Code, in.Message)
	}
	if got, want := in.EndedAt.Sub(begun), time.Hour+4*24*time.Hour; got != want {
		t.Errorf("it took %s, want %s", got, want)
	}
	want := []string{
		"PAUSE>UNTIL elapsed 0", "UNTIL>ANSWER elapsed 0", "ANSWER>LATE caught 0 timeout", "LATE>FAILED failed 0 timeout",
	}
	if diff := cmp.Diff(want, w.story(id)); diff != "" {
		t.Errorf("history (-want +got):\n%s", diff)
	}
	if _, err := w.eng.Retry(context.Background(), id, engine.Operator{Actor: "ann"}); err != nil {
		t.Fatal(err)
	}
	if in = w.load(id); in.Status != engine.Waiting || in.State != "LATE" || !in.DueAt.Equal(w.clock.Now().Add(24*time.Hour)) {
		t.Errorf("after the retry: %s in %s, due %s", in.Status, in.State, in.DueAt)
	}
}

// The deadline ends a wait.
func TestDeadlineEndsWait(t *testing.T) {
	w := newWorld(t)
	w.open(waits)
	id := w.startAt(t, "1", w.clock.Now().Add(100*24*time.Hour).Format(time.RFC3339))
	if in := w.settle(id); in.Code != "deadline" || in.FailedState != "UNTIL" {
		t.Errorf("it ended with %s in %s", in.Code, in.FailedState)
	}
}

// A wait that stood in line for a key is not over when its turn comes.
func TestWaitInLine(t *testing.T) {
	const lined = `pawl: 1
workflow: lined
version: 1
input: {id: string}
concurrency: {key: "${{ 'one' }}"}
on_failure: {policy: mark_failed, to: FAILED}
start: PAUSE
states:
  PAUSE: {wait: {for: 1h}, next: DONE}
  DONE: {end: succeeded}
  FAILED: {end: failed}
`
	w := newWorld(t)
	w.open(lined)
	begun := w.clock.Now()
	first, second := w.start("lined", "1"), w.start("lined", "2")
	w.clock.Advance(30 * time.Minute)
	third := w.start("lined", "3")
	w.settle(first)
	w.settle(second)
	if got := w.load(second).EndedAt.Sub(begun); got != time.Hour {
		t.Errorf("the second ended after %s, want 1h: it waited while it stood in line", got)
	}
	w.tick()
	if in := w.load(third); in.Status != engine.Waiting || !in.DueAt.Equal(begun.Add(90*time.Minute)) {
		t.Errorf("the third is %s, due after %s", in.Status, in.DueAt.Sub(begun))
	}
	w.settle(third)
}

// forward never gives up: out of attempts it is stuck and tried on, and then
// goes on as if nothing had been.
func TestForward(t *testing.T) {
	const forward = `pawl: 1
workflow: forward
version: 1
input: {id: string}
on_failure: {policy: forward}
start: A
states:
  A:
    step: h.a
    retry: {max_attempts: 2, initial_delay: 1s, max_delay: 1m, jitter: 0}
    next: DONE
  DONE: {end: succeeded}
`
	w := newWorld(t)
	a := scripted(errBoom, errBoom, engine.Permanent(errBoom), errBoom, errBoom, nil)
	w.handle("h.a", a.run)
	w.open(forward)
	id := w.start("forward", "1")
	w.tick()
	w.clock.Advance(time.Second)
	w.tick()
	in := w.load(id)
	if in.Status != engine.Stuck || !in.DueAt.Equal(w.clock.Now().Add(time.Minute)) || in.Code != "unknown" {
		t.Fatalf("out of attempts: %s, due in %s, code %s", in.Status, in.DueAt.Sub(w.clock.Now()), in.Code)
	}
	if in = w.settle(id); in.Status != engine.Succeeded || a.count() != 6 {
		t.Errorf("it ended %s after %d calls", in.Status, a.count())
	}
	want := []string{
		"A>A retry 1 unknown", "A>A stuck 2 unknown", "A>A stuck 3 failed", "A>A stuck 4 unknown", "A>DONE done 6",
	}
	if diff := cmp.Diff(want, w.story(id)); diff != "" {
		t.Errorf("history (-want +got):\n%s", diff)
	}
}

// at_most_once is one attempt, whatever becomes of it.
func TestAtMostOnce(t *testing.T) {
	const once = `pawl: 1
workflow: once
version: 1
input: {id: string}
on_failure: {policy: mark_failed, to: FAILED}
defaults: {timeout: 30s, retry: {max_attempts: 5}}
start: A
states:
  A: {step: h.a, at_most_once: true, catch: {unknown: FAILED}, next: DONE}
  DONE: {end: succeeded}
  FAILED: {end: failed}
`
	t.Run("PlainError", func(t *testing.T) {
		w := newWorld(t)
		a := scripted(errBoom)
		w.handle("h.a", a.run)
		w.open(once)
		if in := w.settle(w.start("once", "1")); in.Code != "unknown" || a.count() != 1 {
			t.Errorf("it ended with %s after %d calls", in.Code, a.count())
		}
	})
	t.Run("LostWorker", func(t *testing.T) {
		w := newWorld(t)
		a := scripted(nil)
		w.handle("h.a", a.run)
		w.open(once)
		id := w.start("once", "1")
		claimed, err := w.store.Claim(context.Background(), engine.ClaimRequest{
			Owner: "dead", Now: w.clock.Now(), Until: w.clock.Now().Add(20 * time.Second),
			Steps: []engine.StepLimit{{Step: "h.a", Limit: 1}}, Limit: 1,
		})
		if err != nil || len(claimed.Instances) != 1 {
			t.Fatalf("Claim: %v, %v", claimed, err)
		}
		w.clock.Advance(time.Minute)
		if in := w.settle(id); in.Code != "unknown" || a.count() != 0 {
			t.Errorf("it ended with %s after %d more calls", in.Code, a.count())
		}
	})
	t.Run("Shutdown", func(t *testing.T) {
		w := newWorld(t)
		ctx, stop := context.WithCancel(context.Background())
		calls := 0
		w.handle("h.a", func(ctx context.Context, _ engine.Call[json.RawMessage]) error {
			calls++
			stop()
			<-ctx.Done()
			return context.Cause(ctx)
		})
		w.cfg.Grace = time.Millisecond
		w.open(once)
		id := w.start("once", "1")
		if _, err := w.eng.Tick(ctx, time.Minute); err != nil && !errors.Is(err, context.Canceled) {
			t.Fatal(err)
		}
		in := w.load(id)
		if in.Status != engine.Failed || in.Code != "unknown" || !strings.Contains(in.Message, "shutdown") || calls != 1 {
			t.Errorf("it is %s with %s: %s after %d calls", in.Status, in.Code, in.Message, calls)
		}
	})
}
