package engine_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-dev/pawl/engine"
)

// saga undoes A by its recorded input and output, and B by a with: of its own.
const saga = `pawl: 1
workflow: saga
version: 1
input: {id: string}
instance_key: ${{ input.id }}
concurrency: {key: "${{ input.id }}"}
deadline: 1h
on_failure: {policy: compensate, to: FAILED}
defaults:
  timeout: 2s
  retry: {max_attempts: 2, initial_delay: 1s, jitter: 0}
start: A
states:
  A:
    step: h.a
    with: {n: 1}
    compensate: {step: u.a, retry: {max_attempts: 3, initial_delay: 1s, jitter: 0}}
    next: B
  B:
    step: h.b
    compensate:
      step: u.b
      with: {why: "${{ error.code }}", in: "${{ error.state }}", got: "${{ states.B?.output?.n ?? 'nothing' }}"}
      retry: {max_attempts: 3, initial_delay: 1s, jitter: 0}
    catch: {left: FAILED}
    next: C
  C:
    step: h.c
    compensate: none
    next: DONE
  DONE: {end: succeeded}
  FAILED: {end: failed, output: {code: "${{ error.code }}"}}
`

// effects is what the outside world saw, in order.
type effects struct {
	mu   sync.Mutex
	list []string
}

func (e *effects) add(format string, args ...any) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.list = append(e.list, fmt.Sprintf(format, args...))
}

func (e *effects) take() []string {
	e.mu.Lock()
	defer e.mu.Unlock()
	list := e.list
	e.list = nil
	return list
}

type number struct {
	N int `json:"n"`
}

// openSaga opens the saga. The scripts are by handler; what has none succeeds.
func openSaga(t *testing.T, e *effects, scripts map[string]*script, sources ...string) *world {
	w := newWorld(t)
	result := func(ctx context.Context, name string, call string) error {
		e.add("%s", call)
		if s := scripts[name]; s != nil {
			return s.run(ctx, engine.Call[json.RawMessage]{})
		}
		return nil
	}
	engine.Register(&w.reg, "h.a", func(ctx context.Context, c engine.Call[number]) (number, error) {
		return number{10 * c.In.N}, result(ctx, "h.a", "a "+c.Key)
	}, engine.Handler{})
	engine.RegisterCompensation(&w.reg, "u.a", "h.a", func(ctx context.Context, c engine.Call[engine.Undone[number, number]]) error {
		out := "nothing"
		if c.In.Out != nil {
			out = fmt.Sprint(c.In.Out.N)
		}
		return result(ctx, "u.a", fmt.Sprintf("undo a %s in=%d out=%s", c.Key, c.In.In.N, out))
	}, engine.Handler{})
	for _, name := range []string{"h.b", "u.b", "h.c"} {
		engine.Register(&w.reg, name, func(ctx context.Context, c engine.Call[json.RawMessage]) (number, error) {
			return number{20}, result(ctx, name, strings.TrimSpace(fmt.Sprintf("%s %s %s", name, c.Key, c.In)))
		}, engine.Handler{Codes: []string{"left", "gone"}})
	}
	w.open(append(sources, saga)...)
	return w
}

// Compensations run in the reverse order of completion, each with what its own
// visit took and gave, and with retries of their own. C09.
func TestCompensationInReverseOrder(t *testing.T) {
	var e effects
	w := openSaga(t, &e, map[string]*script{
		"h.c": scripted(engine.Permanent(errBoom)),
		"u.b": scripted(errBoom, errBoom, nil),
	})
	id := w.start("saga", "1")
	in := w.settle(id)
	if in.Status != engine.Failed || in.State != "FAILED" || in.FailedState != "C" || in.Code != "failed" || in.Message != "boom" {
		t.Errorf("it ended %s in %s, failed in %s with %s: %s; the error of C must not be lost", in.Status, in.State, in.FailedState, in.Code, in.Message)
	}
	undoB := `u.b saga/1/B/1/undo {"got":20,"in":"C","why":"failed"}`
	want := []string{
		`a saga/1/A/1`, `h.b saga/1/B/1 {"id": "1"}`, `h.c saga/1/C/1 {"id": "1"}`,
		undoB, undoB, undoB, `undo a saga/1/A/1/undo in=1 out=10`,
	}
	if diff := cmp.Diff(want, e.take()); diff != "" {
		t.Errorf("effects (-want +got):\n%s", diff)
	}
	story := []string{
		"A>B done 1", "B>C done 1", "C>B undo 1 failed", "B>B retry 1 unknown", "B>B retry 2 unknown",
		"B>A undone 3", "A>FAILED undone 1 failed",
	}
	if diff := cmp.Diff(story, w.story(id)); diff != "" {
		t.Errorf("history (-want +got):\n%s", diff)
	}
	_, err := w.eng.Retry(context.Background(), id, engine.Operator{Actor: "ann"})
	if !errors.Is(err, engine.ErrConflict) || !strings.Contains(err.Error(), "undone") {
		t.Errorf("retry of what was undone: %v, want a conflict that says so", err)
	}
	// Nothing of it is left, so its key is free.
	if again := w.start("saga", "1"); again != "saga/1~2" {
		t.Errorf("a new start gave %s, want a new run", again)
	}
}

// A compensation that is out of attempts stops the undoing, visibly; a retry
// goes on there.
func TestFailedCompensationIsResumed(t *testing.T) {
	var e effects
	undoB := scripted(errBoom, errBoom, errBoom, nil)
	w := openSaga(t, &e, map[string]*script{"h.c": scripted(engine.Permanent(errBoom)), "u.b": undoB})
	id := w.start("saga", "1")
	var in engine.Instance
	for range 10 {
		w.tick()
		w.clock.Advance(time.Minute)
	}
	in = w.load(id)
	if in.Status != engine.CompensationFailed || in.State != "B" || !in.DueAt.IsZero() || in.Code != "unknown" {
		t.Fatalf("after all attempts: %s in %s, due %s, code %s", in.Status, in.State, in.DueAt, in.Code)
	}
	if code, message, state := in.Cause(); code != "failed" || message != "boom" || state != "C" {
		t.Errorf("the cause is %s: %s in %s, want the error of C", code, message, state)
	}
	if n := undoB.count(); n != 3 {
		t.Errorf("u.b ran %d times, want 3", n)
	}
	if slices.ContainsFunc(e.take(), func(s string) bool { return strings.HasPrefix(s, "undo a") }) {
		t.Error("A was undone before B")
	}
	w.clock.Advance(2 * time.Hour) // the deadline does not cut off an undo
	if _, err := w.eng.Retry(context.Background(), id, engine.Operator{Actor: "ann", Reason: "mended"}); err != nil {
		t.Fatal(err)
	}
	if in = w.settle(id); in.Status != engine.Failed || in.Code != "failed" || in.FailedState != "C" {
		t.Errorf("after the retry: %s, failed in %s with %s", in.Status, in.FailedState, in.Code)
	}
	want := []string{`u.b saga/1/B/1/undo {"got":20,"in":"C","why":"failed"}`, `undo a saga/1/A/1/undo in=1 out=10`}
	if diff := cmp.Diff(want, e.take()); diff != "" {
		t.Errorf("effects after the retry (-want +got):\n%s", diff)
	}
}

// What ended unknown may have happened, so it is undone, without an output;
// what failed for sure is not.
func TestUnknownOutcomeIsUndone(t *testing.T) {
	tests := []struct {
		name   string
		errs   *script
		undone bool
	}{
		{"Unknown", scripted(errBoom), true},
		{"Definite", scripted(engine.Permanent(errBoom)), false},
		{"Caught", scripted(engine.Fail("left", errBoom)), false},
		{"UnknownThenCaught", scripted(errBoom, engine.Fail("left", errBoom)), true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var e effects
			w := openSaga(t, &e, map[string]*script{"h.b": tt.errs})
			in := w.settle(w.start("saga", "1"))
			if in.Status != engine.Failed || in.FailedState != "B" {
				t.Fatalf("it ended %s, failed in %s", in.Status, in.FailedState)
			}
			var undone []string
			for _, s := range e.take() {
				if strings.HasPrefix(s, "u") {
					undone = append(undone, s[:6])
				}
			}
			want := []string{"undo a"}
			if tt.undone {
				want = []string{"u.b sa", "undo a"}
			}
			if diff := cmp.Diff(want, undone); diff != "" {
				t.Errorf("undone (-want +got):\n%s", diff)
			}
		})
	}
}

// The deadline undoes, too.
func TestDeadlineIsCompensated(t *testing.T) {
	var e effects
	w := openSaga(t, &e, map[string]*script{"h.b": scripted(engine.Wait(50*time.Minute, "not ready"))})
	in := w.settle(w.start("saga", "1"))
	if in.Code != "deadline" || in.Status != engine.Failed {
		t.Errorf("it ended %s with %s", in.Status, in.Code)
	}
	if got := e.take(); got[len(got)-1] != "undo a saga/1/A/1/undo in=1 out=10" {
		t.Errorf("effects %q, want A undone at the end", got)
	}
}

// A state that was visited twice is undone twice, each with its own output.
func TestEachVisitIsUndone(t *testing.T) {
	const twice = `pawl: 1
workflow: twice
version: 1
input: {id: string}
on_failure: {policy: compensate, to: FAILED}
defaults: {retry: {max_attempts: 1}}
start: A
states:
  A:
    step: t.a
    with: {n: 0}
    compensate: UNDO
    next:
      - when: ${{ output.n < 2 }}
        to: PAUSE
      - to: B
  PAUSE: {wait: {for: 1m}, next: A}
  B: {step: h.b, compensate: none, next: DONE}
  DONE: {end: succeeded}
  FAILED: {end: failed}
`
	tests := []struct{ name, undo string }{
		{"RecordedOutput", "t.undo"},
		{"With", `{step: t.show, with: {n: "${{ states.A?.output?.n ?? 0 }}"}}`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var e effects
			w := newWorld(t)
			n := 0
			engine.Register(&w.reg, "t.a", func(context.Context, engine.Call[number]) (number, error) {
				n++
				return number{n}, nil
			}, engine.Handler{})
			engine.RegisterCompensation(&w.reg, "t.undo", "t.a", func(_ context.Context, c engine.Call[engine.Undone[number, number]]) error {
				e.add("undo %s %d", c.Key, c.In.Out.N)
				return nil
			}, engine.Handler{})
			engine.Register(&w.reg, "t.show", func(_ context.Context, c engine.Call[number]) (struct{}, error) {
				e.add("undo %s %d", c.Key, c.In.N)
				return struct{}{}, nil
			}, engine.Handler{})
			w.handle("h.b", scripted(errBoom).run)
			w.open(strings.Replace(twice, "UNDO", tt.undo, 1))
			id := w.start("twice", "1")
			w.settle(id)
			if diff := cmp.Diff([]string{"undo " + id + "/A/2/undo 2", "undo " + id + "/A/1/undo 1"}, e.take()); diff != "" {
				t.Errorf("effects (-want +got):\n%s", diff)
			}
		})
	}
}

// After the pivot nothing is undone, also if only the engine does not know
// whether it has happened.
func TestPivotEndsCompensation(t *testing.T) {
	const pivot = `pawl: 1
workflow: pivot
version: 1
input: {id: string}
on_failure: {policy: compensate, to: FAILED}
defaults: {retry: {max_attempts: 1}}
start: A
states:
  A: {step: h.a, with: {n: 1}, compensate: u.a, next: P}
  P: {step: h.b, irreversible: true, next: C}
  C: {step: h.c, next: DONE}
  DONE: {end: succeeded}
  FAILED: {end: failed}
`
	tests := []struct {
		name   string
		p, c   *script
		undone bool
	}{
		{"FailsForSure", scripted(engine.Permanent(errBoom)), scripted(nil), true},
		{"Unknown", scripted(errBoom), scripted(nil), false},
		{"FailsLater", scripted(nil), scripted(engine.Permanent(errBoom)), false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var e effects
			w := openSaga(t, &e, map[string]*script{"h.b": tt.p, "h.c": tt.c}, pivot)
			in := w.settle(w.start("pivot", "1"))
			if in.Status != engine.Failed {
				t.Fatalf("it ended %s", in.Status)
			}
			got := e.take()
			if undone := strings.HasPrefix(got[len(got)-1], "undo a"); undone != tt.undone {
				t.Errorf("effects %q, undone %t, want %t", got, undone, tt.undone)
			}
		})
	}
}

// Compensations that do not fit are found when the engine opens. C09.
func TestCompensationsAreCheckedAtOpen(t *testing.T) {
	w := newWorld(t)
	undo := func(context.Context, engine.Call[engine.Undone[number, number]]) error { return nil }
	engine.RegisterCompensation(&w.reg, "u.a", "h.a", undo, engine.Handler{})
	engine.Register(&w.reg, "h.x", func(context.Context, engine.Call[number]) (string, error) { return "", nil }, engine.Handler{})
	engine.RegisterCompensation(&w.reg, "u.x", "h.x", undo, engine.Handler{})
	engine.Register(&w.reg, "pawl.mine", func(context.Context, engine.Call[number]) (string, error) { return "", nil }, engine.Handler{})
	_, err := w.tryOpen(w.cfg, saga)
	for _, want := range []string{
		`register "u.a": it undoes the step "h.a", which is not registered`,
		`register "u.x": it undoes h.x, which takes engine_test.number and gives string`,
		`names that begin with pawl. are the engine's own`,
		`no step "h.b" is registered`, `no step "u.b" is registered`,
	} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("Open: %v, want %q", err, want)
		}
	}
}
