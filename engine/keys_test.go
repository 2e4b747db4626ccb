package engine_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-dev/pawl/engine"
)

const outbox = `pawl: 1
workflow: outbox-delivery
version: 1
input: {event_id: string, event_type: string, key: string, payload: object}
instance_key: ${{ input.event_id }}
on_failure: {policy: mark_failed, to: FAILED}
start: PENDING
states:
  PENDING: {step: queue.publish, batch: 10, next: PUBLISHED}
  PUBLISHED: {end: succeeded}
  FAILED: {end: failed}
`

type event struct {
	EventID   string          `json:"event_id"`
	EventType string          `json:"event_type"`
	Key       string          `json:"key"`
	Payload   json.RawMessage `json:"payload"`
}

const keyed = `pawl: 1
workflow: keyed
version: 1
input: {id: string, repo: string}
instance_key: ${{ input.id }}
on_failure: {policy: mark_failed, to: FAILED}
defaults: {retry: {max_attempts: 2, initial_delay: 1s}}
start: A
states:
  A: {step: h.a, next: B}
  B:
    step: h.b
    concurrency: {key: "${{ input.repo }}", on_conflict: queue}
    next: C
  C: {step: h.c, next: DONE}
  DONE: {end: succeeded}
  FAILED: {end: failed}
`

// One instance at a time holds a key, the next one starts in the same tick in
// which the first one leaves, in the order of arrival.
func TestConcurrencyKeyIsHeldByOneInOrder(t *testing.T) {
	w := newWorld(t)
	var holding, most atomic.Int32
	var order []string
	w.handle("h.a", ok)
	w.handle("h.b", func(_ context.Context, c engine.Call[json.RawMessage]) error {
		most.Store(max(most.Load(), holding.Add(1)))
		order = append(order, c.Instance)
		holding.Add(-1)
		if c.Instance == "keyed/3" {
			return engine.Permanent(errBoom) // a failure passes the key on as well
		}
		return nil
	})
	w.handle("h.c", ok)
	w.open(keyed)
	for i := range 10 {
		in := fmt.Sprintf(`{"id":"%d","repo":"org/repo"}`, i)
		if _, err := w.eng.Start(context.Background(), engine.StartRequest{Workflow: "keyed", Input: json.RawMessage(in)}); err != nil {
			t.Fatal(err)
		}
	}
	r := w.tick()
	if r.Succeeded != 9 || r.Failed != 1 {
		t.Errorf("one tick ended %d well and %d failed, want 9 and 1: %+v", r.Succeeded, r.Failed, r)
	}
	if most.Load() != 1 || len(order) != 10 {
		t.Errorf("%d held the key at once, %d in all; want 1 and 10", most.Load(), len(order))
	}
	sorted := slices.Clone(order)
	slices.Sort(sorted)
	if len(slices.Compact(sorted)) != 10 {
		t.Errorf("some ran twice: %v", order)
	}
}

// A retry stands in line for its key like everybody else.
func TestRetryQueuesForItsKey(t *testing.T) {
	w := newWorld(t)
	b := scripted(engine.Permanent(errBoom), nil)
	w.handle("h.a", ok)
	w.handle("h.b", b.run)
	w.handle("h.c", ok)
	w.open(keyed)
	start := func(id string) {
		t.Helper()
		in := fmt.Sprintf(`{"id":%q,"repo":"r"}`, id)
		if _, err := w.eng.Start(context.Background(), engine.StartRequest{Workflow: "keyed", Input: json.RawMessage(in)}); err != nil {
			t.Fatal(err)
		}
	}
	start("1")
	if in := w.settle("keyed/1"); in.FailedState != "B" {
		t.Fatalf("setup: %+v", in)
	}
	// Another one takes the key and its worker dies with it.
	start("2")
	for _, step := range []string{"h.a"} {
		got, err := w.store.Claim(context.Background(), engine.ClaimRequest{
			Owner: "dead", Now: w.clock.Now(), Until: w.clock.Now().Add(20e9), Limit: 1,
			Steps: []engine.StepLimit{{Step: step, Limit: 1}},
		})
		if err != nil || len(got.Instances) != 1 {
			t.Fatal(got, err)
		}
		in := got.Instances[0]
		in.State, in.Step, in.LeaseUntil, in.DueAt = "B", "h.b", w.clock.Now().Add(20e9), w.clock.Now().Add(20e9)
		in.Data = json.RawMessage(`{"moves":2,"visits":{"A":1,"B":1},"with_of":"B","holds":[{"state":"B","name":"keyed/B/r"}]}`)
		out, err := w.store.Commit(context.Background(), w.clock.Now(), []engine.Transition{{
			Instance: in, Acquire: []engine.Hold{{Name: "keyed/B/r"}}, Token: "dead",
			History: &engine.History{At: w.clock.Now(), From: "A", To: "B", Reason: engine.ReasonDone, Actor: "dead"},
		}})
		if err != nil || out[0].Result != engine.Done {
			t.Fatal(out, err)
		}
	}
	r, err := w.eng.Retry(context.Background(), "keyed/1", engine.Operator{Actor: "alice"})
	if err != nil || r.QueuedBehind != "keyed/2" {
		t.Fatalf("retry: %+v, %v; want it queued behind keyed/2", r, err)
	}
	if in := w.load("keyed/1"); in.Status != engine.Queued {
		t.Errorf("status %s, want queued", in.Status)
	}
	w.clock.Advance(20e9) // the lease of the dead worker is over
	w.tick()
	for _, id := range []string{"keyed/1", "keyed/2"} {
		if in := w.load(id); in.State != "DONE" {
			t.Errorf("%s is in %s, want DONE; %v", id, in.State, w.story(id))
		}
	}
}

// on_conflict: reject refuses the second start and names the holder.
func TestRejectedStart(t *testing.T) {
	w := newWorld(t)
	w.handle("h.a", ok)
	w.handle("h.b", ok)
	w.open(strings.Replace(demo, "on_failure:", "concurrency: {key: \"${{ 'all' }}\", on_conflict: reject}\non_failure:", 1))
	w.start("demo", "1")
	_, err := w.eng.Start(context.Background(), engine.StartRequest{Workflow: "demo", Input: json.RawMessage(`{"id":"2"}`)})
	if !errors.Is(err, engine.ErrConflict) || !strings.Contains(err.Error(), "demo/1") {
		t.Fatalf("second start: %v, want a conflict that names demo/1", err)
	}
	w.tick()
	w.start("demo", "2")
	if w.tick(); w.load("demo/2").State != "DONE" {
		t.Errorf("after the first has ended the second is in %s", w.load("demo/2").State)
	}
}

// Events are instances of the outbox workflow, written with the transition,
// delivered in the same tick, ten in a call, with ids that never change.
func TestEmittedEventsAreDelivered(t *testing.T) {
	src := strings.Replace(demo, "DONE: {end: succeeded}", `DONE:
    end: succeeded
    emit:
      - event: Done
        key: ${{ input.id }}
        payload: {id: "${{ input.id }}", instance: "${{ instance.id }}"}
      - event: Second`, 1)
	w := newWorld(t)
	w.handle("h.a", ok)
	w.handle("h.b", ok)
	var mu sync.Mutex
	var sizes []int
	got := make(map[string]engine.Call[event])
	engine.RegisterBatch(&w.reg, "queue.publish", func(_ context.Context, calls []engine.Call[event]) []engine.Result[struct{}] {
		mu.Lock()
		defer mu.Unlock()
		sizes = append(sizes, len(calls))
		for _, c := range calls {
			got[c.In.EventID] = c
		}
		return make([]engine.Result[struct{}], len(calls))
	}, engine.Handler{})
	w.open(src, outbox)
	for i := range 50 {
		w.start("demo", fmt.Sprint(i))
	}
	r := w.tick()
	if r.Succeeded != 150 || len(got) != 100 {
		t.Fatalf("%d ended, %d events arrived; want 150 and 100", r.Succeeded, len(got))
	}
	types := make(map[string]int)
	for _, c := range got {
		types[c.In.EventType]++
		if c.In.EventType == "Done" {
			want := fmt.Sprintf(`{"id":"%s","instance":"demo/%s"}`, c.In.Key, c.In.Key)
			if string(c.In.Payload) != want {
				t.Errorf("payload %s, want %s", c.In.Payload, want)
			}
		}
		if len(c.In.EventID) != 32 {
			t.Errorf("event id %q has %d characters, want 32", c.In.EventID, len(c.In.EventID))
		}
	}
	if diff := cmp.Diff(map[string]int{"Done": 50, "Second": 50}, types); diff != "" {
		t.Errorf("events (-want +got):\n%s", diff)
	}
	for _, n := range sizes {
		if n > 10 {
			t.Errorf("a call had %d items, the workflow says 10", n)
		}
	}
	if len(sizes) > 40 {
		t.Errorf("100 events took %d calls: %v", len(sizes), sizes)
	}
}

// Each item of a batch has its own outcome. A missing answer, an error and a
// panic concern their item alone.
func TestBatchItemsFailAlone(t *testing.T) {
	w := newWorld(t)
	var calls atomic.Int32
	engine.RegisterBatch(&w.reg, "queue.publish", func(_ context.Context, items []engine.Call[event]) []engine.Result[struct{}] {
		calls.Add(1)
		results := make([]engine.Result[struct{}], 0, len(items))
		for _, c := range items {
			switch c.In.EventID {
			case "panics":
				panic("poison")
			case "fails":
				results = append(results, engine.Result[struct{}]{Err: engine.Permanent(errBoom)})
			case "z-missing":
				// No result; it is the last one.
			default:
				results = append(results, engine.Result[struct{}]{})
			}
		}
		return results
	}, engine.Handler{})
	w.open(strings.Replace(outbox, "start: PENDING", "defaults: {retry: {max_attempts: 2, initial_delay: 1s}}\nstart: PENDING", 1))
	put := func(id string) {
		t.Helper()
		in := fmt.Sprintf(`{"event_id":%q,"event_type":"T","key":"","payload":{}}`, id)
		if _, err := w.eng.Start(context.Background(), engine.StartRequest{Workflow: "outbox-delivery", Input: json.RawMessage(in)}); err != nil {
			t.Fatal(err)
		}
		w.clock.Advance(1000) // so that they are claimed in this order
	}
	for _, id := range []string{"a", "b", "fails", "c", "z-missing"} {
		put(id)
	}
	if w.tick(); calls.Load() != 1 {
		t.Errorf("five events took %d calls, want 1", calls.Load())
	}
	check := func(state string, ids ...string) {
		t.Helper()
		for _, id := range ids {
			if in := w.load("outbox-delivery/" + id); in.State != state {
				t.Errorf("%s is in %s (%s: %.40s), want %s", id, in.State, in.Code, in.Message, state)
			}
		}
	}
	check("PUBLISHED", "a", "b", "c")
	check("FAILED", "fails")
	check("PENDING", "z-missing")
	// A panic takes its whole call down; then each of them is called alone.
	for _, id := range []string{"d", "panics", "e"} {
		put(id)
	}
	w.tick()
	w.clock.Advance(2e9)
	w.tick()
	check("PUBLISHED", "d", "e")
	check("FAILED", "panics")
}

// A program without the outbox workflow leaves what emits to others, and says
// so, instead of losing the events or itself.
func TestEmittingNeedsTheOutbox(t *testing.T) {
	src := strings.Replace(demo, "DONE: {end: succeeded}", "DONE: {end: succeeded, emit: [{event: Done}]}", 1)
	w := newWorld(t)
	a := scripted()
	w.handle("h.a", a.run)
	w.handle("h.b", ok)
	engine.RegisterBatch(&w.reg, "queue.publish", func(_ context.Context, calls []engine.Call[event]) []engine.Result[struct{}] {
		return make([]engine.Result[struct{}], len(calls))
	}, engine.Handler{})
	if _, err := w.tryOpen(w.cfg, src); err == nil || !strings.Contains(err.Error(), "outbox-delivery") {
		t.Fatalf("open without the outbox workflow: %v, want an error that names it", err)
	}
	w.open(src, outbox)
	id := w.start("demo", "1")
	lacking := w.openAs(w.cfg)
	if _, err := lacking.Tick(context.Background(), 1e9); err != nil {
		t.Errorf("tick of a program without the outbox: %v", err)
	}
	if in := w.load(id); a.count() != 0 || in.Attempt != 0 || !strings.Contains(in.Note, "outbox") {
		t.Errorf("%d runs, attempt %d, note %q; want none, 0, the reason", a.count(), in.Attempt, in.Note)
	}
	if in := w.settle(id); in.State != "DONE" {
		t.Errorf("with the outbox: %s", in.State)
	}
}

// A key of the whole workflow is held from start to end: instances of one key
// run one after another, those of other keys beside them.
func TestWorkflowKeyIsHeldFromStartToEnd(t *testing.T) {
	w := newWorld(t)
	var mu sync.Mutex
	var inside, most int
	var order []string
	w.handle("h.a", func(_ context.Context, c engine.Call[json.RawMessage]) error {
		mu.Lock()
		defer mu.Unlock()
		inside++
		most = max(most, inside)
		order = append(order, c.Instance)
		return nil
	})
	w.handle("h.b", func(context.Context, engine.Call[json.RawMessage]) error {
		mu.Lock()
		defer mu.Unlock()
		inside--
		return nil
	})
	w.open(strings.Replace(demo, "on_failure:", "concurrency: {key: \"${{ 'all' }}\"}\non_failure:", 1))
	var want []string
	for i := range 5 {
		want = append(want, w.start("demo", fmt.Sprint(i)))
	}
	if in := w.load("demo/1"); in.Status != engine.Queued || in.Attempt != 0 {
		t.Errorf("the second one is %s with attempt %d, want queued and 0", in.Status, in.Attempt)
	}
	r := w.tick()
	if r.Succeeded != 5 || most != 1 {
		t.Errorf("%d ended, at most %d at once; want 5 and 1", r.Succeeded, most)
	}
	if diff := cmp.Diff(want, order); diff != "" {
		t.Errorf("order (-want +got):\n%s", diff)
	}
}

// The second run of a key is an instance of its own: its id, the events of its
// start and what its expressions see differ.
func TestSecondRunOfAKeyHasItsOwnEvents(t *testing.T) {
	src := strings.Replace(demo, "A: {step: h.a, next: B}", `A:
    step: h.a
    with: {me: "${{ instance.id }}"}
    emit: [{event: Begun, key: "${{ instance.id }}"}]
    next: B`, 1)
	w := newWorld(t)
	a := scripted(engine.Permanent(errBoom), nil)
	w.handle("h.a", a.run)
	w.handle("h.b", ok)
	var mu sync.Mutex
	events := make(map[string]string) // id -> key
	engine.RegisterBatch(&w.reg, "queue.publish", func(_ context.Context, calls []engine.Call[event]) []engine.Result[struct{}] {
		mu.Lock()
		defer mu.Unlock()
		for _, c := range calls {
			events[c.In.EventID] = c.In.Key
		}
		return make([]engine.Result[struct{}], len(calls))
	}, engine.Handler{})
	w.open(src, outbox)
	w.settle(w.start("demo", "1"))
	if in := w.settle(w.start("demo", "1")); in.ID != "demo/1~2" || in.Run != 2 {
		t.Fatalf("the second run is %s, run %d", in.ID, in.Run)
	}
	w.tick()
	if len(events) != 2 {
		t.Errorf("events %v, want one of each run", events)
	}
	for i, id := range []string{"demo/1", "demo/1~2"} {
		if got, want := string(a.calls[i].In), fmt.Sprintf(`{"me":%q}`, id); got != want {
			t.Errorf("call %d got %s, want %s", i, got, want)
		}
	}
}
