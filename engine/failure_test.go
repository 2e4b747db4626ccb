package engine_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-dev/pawl/engine"
)

// A panic, a wild error and a definition that no longer loads concern their
// instance alone. C17.
func TestPoisonHarmsNobodyElse(t *testing.T) {
	w := newWorld(t)
	w.handle("h.a", func(_ context.Context, c engine.Call[json.RawMessage]) error {
		switch c.Instance {
		case "demo/3":
			var p *engine.Instance
			return errors.New(p.ID)
		case "demo/5":
			panic(errBoom)
		}
		return nil
	})
	w.handle("h.b", ok)
	w.open(demo)
	for i := range 9 {
		w.start("demo", fmt.Sprint(i))
	}
	// An instance whose definition is stored, but not readable here.
	ctx := context.Background()
	bad := engine.StoredDefinition{Workflow: "demo", Version: 9, Hash: "bad", Source: []byte("pawl: 99\n")}
	if err := w.store.PutDefinition(ctx, w.clock.Now(), bad); err != nil {
		t.Fatal(err)
	}
	for name, hash := range map[string]string{"unreadable": "bad", "missing": "gone"} {
		n, err := w.eng.NewInstance(engine.StartRequest{Workflow: "demo", Input: json.RawMessage(`{"id":"` + name + `"}`)})
		if err != nil {
			t.Fatal(err)
		}
		n.Instance.DefHash, n.Instance.DefVersion = hash, 9
		if _, err := w.store.Insert(ctx, w.clock.Now(), []engine.New{n}); err != nil {
			t.Fatal(err)
		}
	}
	w.tick()
	for i := range 9 {
		in := w.load(fmt.Sprintf("demo/%d", i))
		if i == 3 || i == 5 {
			if in.Code != "panic" || in.State != "A" || !strings.Contains(in.Message, "goroutine") || len(in.Message) > engine.MaxMessage {
				t.Errorf("%s: %s, %s, %.60q", in.ID, in.State, in.Code, in.Message)
			}
			continue
		}
		if in.State != "DONE" {
			t.Errorf("%s is in %s after the tick, want DONE", in.ID, in.State)
		}
	}
	for name, text := range map[string]string{"unreadable": "language version 99", "missing": "neither in this program nor in the store"} {
		in := w.load("demo/" + name)
		if in.Status != engine.Parked || !strings.Contains(in.Note, text) || in.Attempt != 0 {
			t.Errorf("%s: %s, attempt %d, note %q; want parked with %q", in.ID, in.Status, in.Attempt, in.Note, text)
		}
		_, err := w.eng.Retry(ctx, in.ID, engine.Operator{Actor: "alice"})
		if !errors.Is(err, engine.ErrConflict) || !strings.Contains(err.Error(), text) {
			t.Errorf("retry of %s: %v, want a conflict with %q", in.ID, err, text)
		}
	}
	page, err := w.eng.List(ctx, engine.Filter{Status: engine.Parked})
	if err != nil || len(page.Instances) != 2 {
		t.Errorf("%d parked instances are listed, want 2; %v", len(page.Instances), err)
	}
	for _, id := range []string{"demo/3", "demo/5"} {
		if in := w.settle(id); in.Failures != 3 || in.State != "FAILED" {
			t.Errorf("%s: %s after %d failures, want FAILED after 3", id, in.State, in.Failures)
		}
	}
}

// A missing definition that is stored later lets a parked instance go on.
func TestParkedInstanceGoesOnAfterRetry(t *testing.T) {
	w := newWorld(t)
	w.handle("h.a", ok)
	w.handle("h.b", ok)
	w.open(demo)
	ctx := context.Background()
	n, err := w.eng.NewInstance(engine.StartRequest{Workflow: "demo", Input: json.RawMessage(`{"id":"1"}`)})
	if err != nil {
		t.Fatal(err)
	}
	n.Instance.DefHash, n.Instance.DefVersion = "h2", 2
	if _, err := w.store.Insert(ctx, w.clock.Now(), []engine.New{n}); err != nil {
		t.Fatal(err)
	}
	if w.tick(); w.load("demo/1").Status != engine.Parked {
		t.Fatal("setup: not parked")
	}
	v2 := engine.StoredDefinition{Workflow: "demo", Version: 2, Hash: "h2", Source: []byte(strings.Replace(demo, "version: 1", "version: 2", 1))}
	if err := w.store.PutDefinition(ctx, w.clock.Now(), v2); err != nil {
		t.Fatal(err)
	}
	if _, err := w.eng.Retry(ctx, "demo/1", engine.Operator{Actor: "alice", Reason: "deployed"}); err != nil {
		t.Fatal(err)
	}
	if in := w.settle("demo/1"); in.State != "DONE" {
		t.Errorf("state %s, want DONE", in.State)
	}
}

// Running instances end on the version that they started with; the same
// version with another text is refused. C22.
func TestInstancesStayOnTheirVersion(t *testing.T) {
	w := newWorld(t)
	w.cfg.Concurrency = 1 // ran needs no lock
	var ran []string
	for _, name := range []string{"h.a", "h.b", "h.x"} {
		w.handle(name, func(context.Context, engine.Call[json.RawMessage]) error {
			ran = append(ran, name)
			return nil
		})
	}
	w.open(demo)
	old := w.start("demo", "old")
	v2 := strings.Replace(demo, "version: 1", "version: 2", 1)
	v2 = strings.Replace(v2, "next: B}", "next: X}\n  X: {step: h.x, next: B}", 1)
	if _, err := w.tryOpen(w.cfg, strings.Replace(v2, "version: 2", "version: 1", 1)); !errors.Is(err, engine.ErrConflict) || !strings.Contains(err.Error(), "version: 2") {
		t.Errorf("the same version with another text: %v, want a conflict that says to write version: 2", err)
	}
	w.open(v2)
	fresh := w.start("demo", "new")
	w.tick()
	for id, want := range map[string][]string{
		old:   {"A>B done 1", "B>DONE done 1"},
		fresh: {"A>X done 1", "X>B done 1", "B>DONE done 1"},
	} {
		if diff := cmp.Diff(want, w.story(id)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", id, diff)
		}
	}
	if len(ran) != 5 {
		t.Errorf("steps ran: %v", ran)
	}
}

// An output over the limit fails the attempt with a clear error and leaves an
// instance that can be read and retried. C18.
func TestTooLargeOutputFailsClearly(t *testing.T) {
	w := newWorld(t)
	size := 5 << 20
	engine.Register(&w.reg, "h.a", func(context.Context, engine.Call[struct{}]) (string, error) {
		return strings.Repeat("x", size), nil
	}, engine.Handler{})
	w.handle("h.b", ok)
	w.open(demo)
	in := w.settle(w.start("demo", "1"))
	if in.State != "FAILED" || in.Code != "too_large" || !strings.Contains(in.Message, "65536") || in.Failures != 1 {
		t.Fatalf("%s, %s: %s, %d failures; want FAILED, too_large, the limit, 1", in.State, in.Code, in.Message, in.Failures)
	}
	size = 10
	if _, err := w.eng.Retry(context.Background(), in.ID, engine.Operator{Actor: "alice"}); err != nil {
		t.Fatal(err)
	}
	if in := w.settle(in.ID); in.State != "DONE" {
		t.Errorf("after the retry: %s", in.State)
	}
}

// A cycle without a way out ends at the stated limit, and neither claims nor
// rows grow with it. C18.
func TestEndlessCycleIsBounded(t *testing.T) {
	w := newWorld(t)
	w.handle("h.a", ok)
	w.open(`pawl: 1
workflow: loop
version: 1
input: {id: string}
on_failure: {policy: mark_failed, to: FAILED}
start: A
states:
  A: {step: h.a, next: [{when: "${{ input.id == 'never' }}", to: DONE}, {to: B}]}
  B: {step: h.a, next: A}
  DONE: {end: succeeded}
  FAILED: {end: failed}
`)
	in := w.settle(w.start("loop", "1"))
	if in.State != "FAILED" || in.Code != "limit" {
		t.Fatalf("%s, %s: %s", in.State, in.Code, in.Message)
	}
	if n := len(w.story(in.ID)); n != engine.MaxTransitions {
		t.Errorf("%d lines of history, want %d", n, engine.MaxTransitions)
	}
	if len(in.Data) > 1024 {
		t.Errorf("the row carries %d bytes of progress after %d transitions", len(in.Data), engine.MaxTransitions)
	}
}

// An irreversible step that ended unknown is verified before it is run again.
// C11, at the level of the engine.
func TestDoubtIsVerifiedBeforeARerun(t *testing.T) {
	tests := []struct {
		name   string
		done   bool
		verify error
		runs   int
		state  string
		story  []string
	}{
		{"ItHadHappened", true, nil, 1, "DONE", []string{"A>B done 1", "B>B retry 1 unknown", "B>DONE done 2"}},
		{"ItHadNot", false, nil, 2, "DONE", []string{"A>B done 1", "B>B retry 1 unknown", "B>DONE done 2"}},
		{"NobodyKnows", false, errBoom, 1, "FAILED", []string{
			"A>B done 1", "B>B retry 1 unknown", "B>B retry 2 unknown", "B>FAILED failed 3 unknown",
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			w := newWorld(t)
			w.handle("h.a", ok)
			b := scripted(errBoom, nil)
			w.handle("h.b", b.run)
			engine.Verify(&w.reg, "h.b", func(_ context.Context, c engine.Call[json.RawMessage]) (struct{}, bool, error) {
				if c.Key != b.calls[0].Key {
					t.Errorf("verify has the key %q, the step had %q", c.Key, b.calls[0].Key)
				}
				return struct{}{}, tt.done, tt.verify
			})
			w.open(demo)
			in := w.settle(w.start("demo", "1"))
			if b.count() != tt.runs || in.State != tt.state {
				t.Errorf("%d runs, %s; want %d, %s", b.count(), in.State, tt.runs, tt.state)
			}
			if diff := cmp.Diff(tt.story, w.story(in.ID)); diff != "" {
				t.Errorf("story (-want +got):\n%s", diff)
			}
			// Ended unknown counts as passed: the key is not free for a
			// second run.
			if again := w.start("demo", "1"); again != in.ID {
				t.Errorf("a new start made %s", again)
			}
		})
	}
}

// A definite answer that a guard or catch: leads to a failed end keeps what
// people need to know.
func TestFailedEndsKeepStateAndError(t *testing.T) {
	src := `pawl: 1
workflow: ends
version: 1
input: {id: string}
on_failure: {policy: mark_failed, to: FAILED}
start: A
states:
  A:
    step: h.a
    next:
      - when: ${{ output.status == 'green' }}
        to: B
      - to: FAILED
  B: {step: h.b, catch: {conflict: FAILED, any: FAILED}, next: DONE}
  DONE: {end: succeeded}
  FAILED:
    end: failed
    output: {state: "${{ error.state }}", code: "${{ error.code }}", message: "${{ error.message }}"}
`
	type out struct {
		Status string `json:"status"`
	}
	tests := []struct {
		name, status       string
		b                  error
		state, code, story string
	}{
		{"Declined", "red", nil, "A", "declined", "A>FAILED done 1 declined"},
		{"Caught", "green", engine.Fail("conflict", errors.New("a.txt")), "B", "conflict", "B>FAILED caught 1 conflict"},
		{"CaughtByAny", "green", engine.Permanent(errBoom), "B", "failed", "B>FAILED caught 1 failed"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			w := newWorld(t)
			engine.Register(&w.reg, "h.a", func(context.Context, engine.Call[struct{}]) (out, error) { return out{tt.status}, nil }, engine.Handler{})
			w.handle("h.b", always(tt.b), "conflict")
			w.open(strings.Replace(src, "input: {id: string}", "input: {id: string}", 1))
			in := w.settle(w.start("ends", "1"))
			if in.State != "FAILED" || in.FailedState != tt.state || in.Code != tt.code {
				t.Errorf("%s, failed state %s, code %s; want FAILED, %s, %s", in.State, in.FailedState, in.Code, tt.state, tt.code)
			}
			var got struct{ State, Code, Message string }
			if err := json.Unmarshal(in.Output, &got); err != nil || got.State != tt.state || got.Code != tt.code || got.Message != in.Message {
				t.Errorf("output %s, %v", in.Output, err)
			}
			story := w.story(in.ID)
			if last := story[len(story)-1]; last != tt.story {
				t.Errorf("last line %q, want %q", last, tt.story)
			}
			r, err := w.eng.Retry(context.Background(), in.ID, engine.Operator{Actor: "alice", DryRun: true})
			if err != nil || r.State != tt.state {
				t.Errorf("retry would run %s, %v; want %s", r.State, err, tt.state)
			}
		})
	}
}

// An expression that fails at run time fails the instance, clearly, and a step
// that has succeeded is not offered for a second run.
func TestExpressionFaultFailsTheInstance(t *testing.T) {
	w := newWorld(t)
	engine.Register(&w.reg, "h.a", func(context.Context, engine.Call[struct{}]) (json.RawMessage, error) {
		return json.RawMessage(`{}`), nil
	}, engine.Handler{})
	w.open(`pawl: 1
workflow: faulty
version: 1
input: {id: string}
on_failure: {policy: mark_failed, to: FAILED}
start: A
states:
  A:
    step: h.a
    next:
      - when: ${{ output.list[3] == 1 }}
        to: DONE
      - to: FAILED
  DONE: {end: succeeded}
  FAILED: {end: failed}
`)
	in := w.settle(w.start("faulty", "1"))
	if in.Code != "expression" || in.FailedState != "A" || !strings.Contains(in.Message, "faulty.yaml:11") {
		t.Errorf("%s in %s: %s; want expression in A with the place in the file", in.Code, in.FailedState, in.Message)
	}
	_, err := w.eng.Retry(context.Background(), in.ID, engine.Operator{Actor: "alice"})
	if !errors.Is(err, engine.ErrConflict) || !strings.Contains(err.Error(), "has succeeded") {
		t.Errorf("retry: %v, want a conflict that says that the step has succeeded", err)
	}
}

// Ended instances are deleted when their retention is over, with all that
// belongs to them, and failed ones are kept.
func TestRetention(t *testing.T) {
	w := newWorld(t)
	w.handle("h.a", func(_ context.Context, c engine.Call[json.RawMessage]) error {
		if c.Instance == "demo/bad" {
			return engine.Permanent(errBoom)
		}
		return nil
	})
	w.handle("h.b", ok)
	w.open(strings.Replace(demo, "on_failure:", "retention: {succeeded: 1d}\non_failure:", 1))
	good, bad := w.start("demo", "good"), w.start("demo", "bad")
	w.tick()
	w.clock.Advance(24*time.Hour - time.Microsecond)
	if r := w.tick(); r.Purged != 0 {
		t.Errorf("%d purged before the time", r.Purged)
	}
	w.clock.Advance(time.Microsecond)
	if r := w.tick(); r.Purged != 1 {
		t.Errorf("%d purged, want 1", r.Purged)
	}
	if _, err := w.eng.Load(context.Background(), good); !errors.Is(err, engine.ErrNotFound) {
		t.Errorf("load of the purged: %v, want ErrNotFound", err)
	}
	if _, err := w.eng.History(context.Background(), good, 0, 0); !errors.Is(err, engine.ErrNotFound) {
		t.Errorf("history of the purged: %v, want ErrNotFound", err)
	}
	w.clock.Advance(10 * 365 * 24 * time.Hour)
	w.tick()
	if in := w.load(bad); in.State != "FAILED" {
		t.Errorf("the failed one is in %s", in.State)
	}
}
