package engine_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-dev/pawl/engine"
)

var errBoom = errors.New("boom")

// max_attempts counts the first try. C08, S4: not one run more.
func TestMaxAttemptsCountsTheFirstTry(t *testing.T) {
	tests := []struct {
		name, rule string
		want       int
	}{
		{"One", "max_attempts: 1, ", 1},
		{"Two", "max_attempts: 2, ", 2},
		{"Three", "max_attempts: 3, ", 3},
		{"AbsentIsFive", "", 5},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			w := newWorld(t)
			a := scripted(errBoom)
			w.handle("h.a", a.run)
			w.handle("h.b", ok)
			w.open(strings.Replace(demo, "max_attempts: 3, ", tt.rule, 1))
			in := w.settle(w.start("demo", "1"))
			if a.count() != tt.want {
				t.Errorf("%d runs, want %d", a.count(), tt.want)
			}
			if in.State != "FAILED" || in.FailedState != "A" || in.Code != "unknown" || in.Message != "boom" {
				t.Errorf("ended in %s, failed state %s, %s: %s", in.State, in.FailedState, in.Code, in.Message)
			}
			for i, c := range a.calls {
				if c.Attempt != i+1 {
					t.Errorf("call %d says attempt %d", i+1, c.Attempt)
				}
			}
		})
	}
}

// What an error means decides whether it is retried. C10: nothing retries for
// ever, and what is permanent is not retried at all.
func TestErrorsAreRetriedByWhatTheyMean(t *testing.T) {
	catching := strings.Replace(demo, "A: {step: h.a, next: B}", "A: {step: h.a, next: B, catch: {busy: FAILED}}", 1)
	except := strings.Replace(demo, "A: {step: h.a, next: B}", "A: {step: h.a, next: B, retry: {except: [busy]}}", 1)
	tests := []struct {
		name, source string
		handler      func(context.Context, engine.Call[json.RawMessage]) error
		runs         int
		code         string
	}{
		{"Permanent", demo, always(engine.Permanent(errBoom)), 1, "failed"},
		{"WrappedPermanent", demo, always(fmt.Errorf("x: %w", engine.Permanent(errBoom))), 1, "failed"},
		{"Plain", demo, always(errBoom), 3, "unknown"},
		{"Definite", demo, always(engine.Definite(errBoom)), 3, "failed"},
		{"CodeNobodyCatches", demo, always(engine.Fail("busy", errBoom)), 3, "busy"},
		{"CodeThatIsCaught", catching, always(engine.Fail("busy", errBoom)), 1, "busy"},
		{"CodeThatIsExcepted", except, always(engine.Fail("busy", errBoom)), 1, "busy"},
		{"ReservedCode", demo, always(engine.Fail("deadline", errBoom)), 3, "failed"},
		{"DeadlineExceeded", demo, always(context.DeadlineExceeded), 3, "unknown"},
		{"Panic", demo, func(context.Context, engine.Call[json.RawMessage]) error { panic("oops") }, 3, "panic"},
		{"Goexit", demo, func(context.Context, engine.Call[json.RawMessage]) error { runtime.Goexit(); return nil }, 3, "panic"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			w := newWorld(t)
			runs := 0
			w.handle("h.a", func(ctx context.Context, c engine.Call[json.RawMessage]) error {
				runs++
				return tt.handler(ctx, c)
			}, "busy")
			w.handle("h.b", ok)
			w.open(tt.source)
			in := w.settle(w.start("demo", "1"))
			if runs != tt.runs || in.Code != tt.code || in.State != "FAILED" {
				t.Errorf("%d runs, ended in %s with code %q; want %d runs, FAILED, %q", runs, in.State, in.Code, tt.runs, tt.code)
			}
		})
	}
}

func always(err error) func(context.Context, engine.Call[json.RawMessage]) error {
	return func(context.Context, engine.Call[json.RawMessage]) error { return err }
}

// The next attempt is due after the back-off, not before, and RetryAfter
// stretches it.
func TestBackoffIsKept(t *testing.T) {
	w := newWorld(t)
	a := scripted(errBoom, engine.RetryAfter(errBoom, 30*time.Second), nil)
	w.handle("h.a", a.run)
	w.handle("h.b", ok)
	w.open(demo)
	id := w.start("demo", "1")
	w.tick()
	for _, step := range []struct {
		advance time.Duration
		calls   int
	}{{999 * time.Millisecond, 1}, {time.Millisecond, 2}, {29 * time.Second, 2}, {time.Second, 3}} {
		w.clock.Advance(step.advance)
		w.tick()
		if a.count() != step.calls {
			t.Fatalf("%d calls after another %s, want %d", a.count(), step.advance, step.calls)
		}
	}
	if in := w.load(id); in.State != "DONE" {
		t.Errorf("state %s, want DONE", in.State)
	}
	want := []string{"A>A retry 1 unknown", "A>A retry 2 unknown", "A>B done 3", "B>DONE done 1"}
	if diff := cmp.Diff(want, w.story(id)); diff != "" {
		t.Errorf("story (-want +got):\n%s", diff)
	}
}

// One instance that always fails stops nobody. C03.
func TestOneBadInstanceDelaysNoOther(t *testing.T) {
	w := newWorld(t)
	calls := make(map[string]int)
	w.cfg.Concurrency = 1 // so that the calls need no lock and come in order
	w.handle("h.a", func(_ context.Context, c engine.Call[json.RawMessage]) error {
		calls[c.Instance]++
		if c.Instance == "demo/0" {
			return errBoom
		}
		return nil
	})
	w.handle("h.b", ok)
	w.open(strings.Replace(demo, "max_attempts: 3", "max_attempts: 1000", 1))
	for i := range 20 {
		w.start("demo", fmt.Sprint(i))
		w.clock.Advance(time.Millisecond)
	}
	w.tick()
	w.tick()
	for i := 1; i < 20; i++ {
		if in := w.load(fmt.Sprintf("demo/%d", i)); in.State != "DONE" {
			t.Errorf("%s is in %s after two ticks, want DONE", in.ID, in.State)
		}
	}
	if n := calls["demo/0"]; n != 1 {
		t.Errorf("the bad one was called %d times without a pause, want 1", n)
	}
	for range 10 {
		w.clock.Advance(time.Second)
		w.tick()
	}
	// 1 s, 2 s and 4 s have gone by: attempts 2, 3 and 4.
	if n := calls["demo/0"]; n != 4 {
		t.Errorf("the bad one was called %d times in 10 s, want 4 by its back-off", n)
	}
}

// A target that is down stops its step for the tick and burns no attempts; the
// first tick after the outage delivers. C02, S5.
func TestOutageBurnsNoAttempts(t *testing.T) {
	w := newWorld(t)
	down := true
	calls := 0
	w.cfg.Concurrency = 1
	w.handle("h.a", func(context.Context, engine.Call[json.RawMessage]) error {
		calls++
		if down {
			return engine.TargetDown(errors.New("connection refused"))
		}
		return nil
	})
	w.handle("h.b", ok)
	w.open(demo)
	for i := range 30 {
		w.start("demo", fmt.Sprint(i))
	}
	for tick := 1; tick <= 13; tick++ {
		r := w.tick()
		if calls != tick {
			t.Fatalf("%d calls in %d ticks of an outage, want one each", calls, tick)
		}
		if !strings.Contains(r.Down["h.a"], "refused") {
			t.Errorf("tick %d reports %v as down, want h.a", tick, r.Down)
		}
		w.clock.Advance(2 * time.Minute)
	}
	down = false
	w.tick()
	attempts := 0
	for i := range 30 {
		in := w.load(fmt.Sprintf("demo/%d", i))
		if in.State != "DONE" {
			t.Errorf("%s is in %s after the outage, want DONE", in.ID, in.State)
		}
		attempts += len(w.story(in.ID))
	}
	if want := 30*2 + 13; attempts != want {
		t.Errorf("%d lines of history, want %d: two per instance and one per try", attempts, want)
	}
}

// A handler that is not ready is asked again at no cost of attempts, and a
// thousand polls make one line of history.
func TestWaitCostsNoAttempt(t *testing.T) {
	w := newWorld(t)
	polls := 0
	w.handle("h.a", func(_ context.Context, c engine.Call[json.RawMessage]) error {
		if c.Attempt != 1 {
			t.Errorf("poll %d says attempt %d, want 1", polls, c.Attempt)
		}
		if polls++; polls < 100 {
			return engine.Wait(10*time.Second, "CI is pending")
		}
		return nil
	})
	w.handle("h.b", ok)
	w.open(demo)
	id := w.start("demo", "1")
	w.tick()
	if in := w.load(id); in.Note != "CI is pending" || in.Attempt != 0 || in.DueAt.Sub(w.clock.Now()) != 10*time.Second {
		t.Errorf("while it waits: note %q, attempt %d, due in %s", in.Note, in.Attempt, in.DueAt.Sub(w.clock.Now()))
	}
	if in := w.settle(id); in.State != "DONE" || polls != 100 {
		t.Errorf("ended in %s after %d polls", in.State, polls)
	}
	want := []string{"A>A wait 1", "A>B done 1", "B>DONE done 1"}
	if diff := cmp.Diff(want, w.story(id)); diff != "" {
		t.Errorf("story (-want +got):\n%s", diff)
	}
}

// A line about waiting says why it waits, not what went wrong before.
func TestWaitLineHasNoOldError(t *testing.T) {
	w := newWorld(t)
	a := scripted(errBoom, engine.Wait(time.Second, "CI is pending"), nil)
	w.handle("h.a", a.run)
	w.handle("h.b", ok)
	w.open(demo)
	id := w.start("demo", "1")
	w.settle(id)
	want := []string{"A>A retry 1 unknown", "A>A wait 2", "A>B done 2", "B>DONE done 1"}
	if diff := cmp.Diff(want, w.story(id)); diff != "" {
		t.Errorf("story (-want +got):\n%s", diff)
	}
}

// An operator's retry says which step will run, and changes nothing unless the
// instance has failed. C12.
func TestRetryOnlyOfWhatFailed(t *testing.T) {
	w := newWorld(t)
	b := scripted(engine.Permanent(errBoom), nil)
	w.handle("h.a", ok)
	w.handle("h.b", b.run)
	w.open(demo)
	op := engine.Operator{Actor: "alice", Reason: "fixed"}
	retry := func(id string, op engine.Operator) (engine.Retried, error) {
		return w.eng.Retry(context.Background(), id, op)
	}
	if _, err := retry("demo/none", op); !errors.Is(err, engine.ErrNotFound) {
		t.Errorf("retry of an unknown id: %v, want ErrNotFound", err)
	}
	id := w.start("demo", "1")
	refused := func(when, state string) {
		t.Helper()
		before := w.load(id)
		_, err := retry(id, op)
		if !errors.Is(err, engine.ErrConflict) || !strings.Contains(err.Error(), state) {
			t.Errorf("retry %s: %v, want a conflict that names %s", when, err, state)
		}
		if diff := cmp.Diff(before, w.load(id)); diff != "" {
			t.Errorf("a refused retry changed the instance (-before +after):\n%s", diff)
		}
	}
	refused("while running", "state A")
	w.tick()
	failed := w.load(id)
	if failed.State != "FAILED" || failed.FailedState != "B" {
		t.Fatalf("setup: %+v", failed)
	}
	if _, err := retry(id, engine.Operator{Actor: "alice", ExpectVersion: failed.Version - 1}); !errors.Is(err, engine.ErrConflict) {
		t.Errorf("retry with an old version: %v, want ErrConflict", err)
	}
	if _, err := retry(id, engine.Operator{}); !errors.Is(err, engine.ErrInvalid) {
		t.Errorf("retry without an actor: %v, want ErrInvalid", err)
	}
	plan, err := retry(id, engine.Operator{Actor: "alice", DryRun: true})
	if err != nil || plan.Step != "h.b" || plan.State != "B" {
		t.Errorf("dry run: %+v, %v; want h.b in B", plan, err)
	}
	if diff := cmp.Diff(failed, w.load(id)); diff != "" {
		t.Errorf("a dry run changed the instance:\n%s", diff)
	}
	plan, err = retry(id, op)
	if err != nil || plan.Step != "h.b" {
		t.Fatalf("retry: %+v, %v", plan, err)
	}
	refused("of what is retried already", "state B")
	if in := w.settle(id); in.State != "DONE" || in.Code != "" || in.FailedState != "" {
		t.Errorf("after the retry: %s, code %q, failed state %q", in.State, in.Code, in.FailedState)
	}
	refused("when done", "state DONE")
	want := []string{"A>B done 1", "B>FAILED failed 1 failed", "FAILED>B operator 1", "B>DONE done 1"}
	if diff := cmp.Diff(want, w.story(id)); diff != "" {
		t.Errorf("story (-want +got):\n%s", diff)
	}
	if b.calls[0].Key != b.calls[1].Key {
		t.Errorf("keys %q and %q; a retry must keep the idempotency key", b.calls[0].Key, b.calls[1].Key)
	}
}

// Of many operators one wins.
func TestParallelRetriesHaveOneWinner(t *testing.T) {
	w := newWorld(t)
	b := scripted(engine.Permanent(errBoom), nil)
	w.handle("h.a", ok)
	w.handle("h.b", b.run)
	w.open(demo)
	id := w.start("demo", "1")
	w.tick()
	errs := make(chan error)
	for range 50 {
		go func() {
			_, err := w.eng.Retry(context.Background(), id, engine.Operator{Actor: "alice"})
			errs <- err
		}()
	}
	wins := 0
	for range 50 {
		err := <-errs
		switch {
		case err == nil:
			wins++
		case !errors.Is(err, engine.ErrConflict):
			t.Errorf("retry: %v, want ErrConflict", err)
		}
	}
	if w.tick(); wins != 1 || b.count() != 2 {
		t.Errorf("%d retries won and the step ran %d times, want 1 and 2", wins, b.count())
	}
}

// The deadline ends an instance wherever it is, and a retry sets a new one.
func TestDeadlineEndsAndRetryRebasesIt(t *testing.T) {
	w := newWorld(t)
	a := scripted(errBoom, errBoom, nil)
	w.handle("h.a", a.run)
	w.handle("h.b", ok)
	src := strings.Replace(demo, "on_failure:", "deadline: 1h\non_failure:", 1)
	src = strings.Replace(src, "initial_delay: 1s", "initial_delay: 50m", 1)
	src = strings.Replace(src, "max_delay: 1m", "max_delay: 50m", 1)
	w.open(src)
	in := w.settle(w.start("demo", "1"))
	if in.Code != "deadline" || in.State != "FAILED" || in.FailedState != "A" || a.count() != 2 {
		t.Fatalf("ended in %s with %s after %d calls, want FAILED with deadline after 2", in.State, in.Code, a.count())
	}
	if got := in.EndedAt.Sub(in.StartedAt); got != time.Hour {
		t.Errorf("it ended after %s, want exactly at its deadline of 1h", got)
	}
	if _, err := w.eng.Retry(context.Background(), in.ID, engine.Operator{Actor: "alice"}); err != nil {
		t.Fatal(err)
	}
	if in := w.settle(in.ID); in.State != "DONE" {
		t.Errorf("after the retry: %s with %s, want DONE", in.State, in.Code)
	}
}
