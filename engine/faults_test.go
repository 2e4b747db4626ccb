package engine_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-dev/pawl/engine"
)

// faulty is a store that fails on demand.
type faulty struct {
	engine.Store
	mu    sync.Mutex
	fails map[string][]error // method -> what its next calls give; nil passes
	after bool               // a failing Commit is applied all the same
}

func (f *faulty) next(method string) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	list := f.fails[method]
	if len(list) == 0 {
		return nil
	}
	f.fails[method] = list[1:]
	return list[0]
}

func (f *faulty) Claim(ctx context.Context, req engine.ClaimRequest) (engine.Claimed, error) {
	if err := f.next("Claim"); err != nil {
		return engine.Claimed{Now: req.Now}, err
	}
	return f.Store.Claim(ctx, req)
}

func (f *faulty) Commit(ctx context.Context, now time.Time, tr []engine.Transition) ([]engine.Outcome, error) {
	if err := f.next("Commit"); err != nil {
		if f.after {
			if _, err := f.Store.Commit(ctx, now, tr); err != nil {
				return nil, err
			}
		}
		return nil, err
	}
	return f.Store.Commit(ctx, now, tr)
}

func (f *faulty) Definition(ctx context.Context, workflow, hash string) (engine.StoredDefinition, error) {
	if err := f.next("Definition"); err != nil {
		return engine.StoredDefinition{}, err
	}
	return f.Store.Definition(ctx, workflow, hash)
}

func newFaulty(t *testing.T) (*world, *faulty) {
	w := newWorld(t)
	f := &faulty{Store: w.store, fails: make(map[string][]error)}
	w.cfg.Store = f
	return w, f
}

// A store that is away at the claim makes the tick fail, runs no handler, and
// the next tick in the same process works. C13.
func TestUnavailableClaimRunsNothing(t *testing.T) {
	w, f := newFaulty(t)
	a := scripted()
	w.handle("h.a", a.run)
	w.handle("h.b", ok)
	w.open(demo)
	id := w.start("demo", "1")
	f.fails["Claim"] = []error{engine.ErrUnavailable}
	if _, err := w.eng.Tick(context.Background(), time.Second); !errors.Is(err, engine.ErrUnavailable) {
		t.Errorf("tick: %v, want ErrUnavailable", err)
	}
	if a.count() != 0 {
		t.Errorf("a handler ran without a claim")
	}
	if w.tick(); w.load(id).State != "DONE" {
		t.Errorf("the next tick did not work: %s", w.load(id).State)
	}
}

// A commit that fails for a while is repeated; the handler is not. C13.
func TestFailedCommitIsRepeatedNotTheStep(t *testing.T) {
	for _, err := range []error{engine.ErrUnavailable, fmt.Errorf("x: %w", engine.ErrUnknown)} {
		t.Run(err.Error(), func(t *testing.T) {
			w, f := newFaulty(t)
			a := scripted()
			w.handle("h.a", a.run)
			w.handle("h.b", ok)
			w.open(demo)
			id := w.start("demo", "1")
			f.fails["Commit"] = []error{err, err, nil, err}
			if w.tick(); w.load(id).State != "DONE" || a.count() != 1 {
				t.Errorf("state %s after %d runs, want DONE after 1", w.load(id).State, a.count())
			}
		})
	}
}

// A commit that went through although an error was reported is recognised, not
// done twice and not taken for lost.
func TestUnknownCommitThatWentThrough(t *testing.T) {
	w, f := newFaulty(t)
	f.after = true
	a, b := scripted(), scripted()
	w.handle("h.a", a.run)
	w.handle("h.b", b.run)
	w.open(demo)
	id := w.start("demo", "1")
	f.fails["Commit"] = []error{engine.ErrUnknown, engine.ErrUnknown, nil, engine.ErrUnknown}
	r := w.tick()
	if in := w.load(id); in.State != "DONE" || a.count() != 1 || b.count() != 1 || r.Lost != 0 {
		t.Errorf("state %s, %d and %d runs, %d lost; want DONE, 1, 1, 0; %v", in.State, a.count(), b.count(), r.Lost, w.story(id))
	}
	if n := len(w.story(id)); n != 2 {
		t.Errorf("%d lines of history, want 2", n)
	}
}

// A commit that cannot be stored at all leaves the instance to its lease. C13.
func TestCommitThatNeverWorksLeavesTheInstanceToItsLease(t *testing.T) {
	w, f := newFaulty(t)
	a := scripted()
	w.handle("h.a", a.run)
	w.handle("h.b", ok)
	w.open(demo)
	id := w.start("demo", "1")
	f.fails["Commit"] = []error{engine.ErrSchema}
	if _, err := w.eng.Tick(context.Background(), time.Second); !errors.Is(err, engine.ErrSchema) {
		t.Errorf("tick: %v, want the store's error", err)
	}
	if r := w.tick(); r.Claimed != 0 {
		t.Errorf("the lease was not kept")
	}
	w.clock.Advance(20 * time.Second)
	if w.tick(); w.load(id).State != "DONE" || a.count() != 2 {
		t.Errorf("state %s after %d runs, want DONE after 2", w.load(id).State, a.count())
	}
}

// An instance whose definition cannot be read because the store is away is
// given back, not parked. C13.
func TestUnavailableDefinitionGivesBack(t *testing.T) {
	w, f := newFaulty(t)
	w.handle("h.a", ok)
	w.handle("h.b", ok)
	w.open(demo)
	id := w.start("demo", "1")
	// A program that has another version of the workflow only.
	v2 := mustParse(t, "pawl: 1\nworkflow: demo\nversion: 2\non_failure: {policy: mark_failed, to: F}\nstart: A\nstates: {A: {step: h.a, next: D}, D: {end: succeeded}, F: {end: failed}}\n")
	cfg := w.cfg
	cfg.Definitions, cfg.Handlers = append(cfg.Definitions, v2), &w.reg
	e, err := engine.Open(context.Background(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	f.fails["Definition"] = []error{engine.ErrUnavailable}
	if _, err := e.Tick(context.Background(), time.Second); !errors.Is(err, engine.ErrUnavailable) {
		t.Errorf("tick: %v, want ErrUnavailable", err)
	}
	if in := w.load(id); in.Status != engine.Running || in.Attempt != 0 || in.LeaseOwner != "" {
		t.Errorf("%s, attempt %d, lease %q; want it given back", in.Status, in.Attempt, in.LeaseOwner)
	}
	if _, err := e.Tick(context.Background(), time.Second); err != nil {
		t.Fatal(err)
	}
	if in := w.load(id); in.State != "DONE" {
		t.Errorf("state %s, want DONE: the version comes from the store", in.State)
	}
}

// A deadline that fires in the middle of a tick does not spoil the process:
// what was claimed is given back, and the next tick works. C13.
func TestCancelledTickLeavesNoTrace(t *testing.T) {
	w := newWorld(t)
	ctx, cancel := context.WithCancel(context.Background())
	w.handle("h.a", func(context.Context, engine.Call[json.RawMessage]) error {
		cancel()
		return nil
	})
	b := scripted()
	w.handle("h.b", b.run)
	w.open(demo)
	id := w.start("demo", "1")
	if _, err := w.eng.Tick(ctx, time.Minute); err != nil && !errors.Is(err, context.Canceled) {
		t.Errorf("tick: %v", err)
	}
	if in := w.load(id); in.State != "B" || in.LeaseOwner != "" || b.count() != 0 {
		t.Errorf("after the cancelled tick: %s, lease %q, %d runs of B; want B recorded and free", in.State, in.LeaseOwner, b.count())
	}
	if _, err := w.eng.Tick(ctx, time.Minute); err != nil && !errors.Is(err, context.Canceled) {
		t.Errorf("tick with a dead context: %v", err)
	}
	if w.tick(); w.load(id).State != "DONE" {
		t.Errorf("the next tick did not work: %s", w.load(id).State)
	}
}

// A result that comes when the instance belongs to another claim is ignored,
// noted and counted. C04, S3.
func TestStaleResultDoesNotOverwrite(t *testing.T) {
	w := newWorld(t)
	w.handle("h.a", func(context.Context, engine.Call[json.RawMessage]) error {
		// While the step runs, its lease runs out and another worker takes
		// the instance to its end.
		w.clock.Advance(time.Hour)
		got, err := w.store.Claim(context.Background(), engine.ClaimRequest{
			Owner: "w2", Now: w.clock.Now(), Until: w.clock.Now().Add(time.Minute),
			Steps: []engine.StepLimit{{Step: "h.a", Limit: 1}}, Limit: 1,
		})
		if err != nil || len(got.Instances) != 1 {
			t.Fatal(got, err)
		}
		in := got.Instances[0]
		in.State, in.Status, in.Step, in.LeaseUntil, in.LeaseOwner = "DONE", engine.Succeeded, "", time.Time{}, ""
		in.DueAt, in.EndedAt = time.Time{}, w.clock.Now()
		out, err := w.store.Commit(context.Background(), w.clock.Now(), []engine.Transition{{
			Instance: in, Token: "w2",
			History: &engine.History{At: w.clock.Now(), From: "A", To: "DONE", Reason: engine.ReasonDone, Actor: "w2"},
		}})
		if err != nil || out[0].Result != engine.Done {
			t.Fatal(out, err)
		}
		return engine.Permanent(errBoom)
	})
	w.handle("h.b", ok)
	w.open(demo)
	id := w.start("demo", "1")
	r, err := w.eng.Tick(context.Background(), time.Second)
	if err != nil {
		t.Fatal(err)
	}
	if in := w.load(id); in.State != "DONE" || in.Status != engine.Succeeded || r.Lost != 1 {
		t.Errorf("%s, %s, %d lost; want DONE, succeeded, 1", in.State, in.Status, r.Lost)
	}
	story := w.story(id)
	if len(story) != 2 || story[1] != "A>A late result ignored 1 failed" {
		t.Errorf("story %q", story)
	}
}

// Wherever a worker dies, before or after its commit is stored, no step is
// skipped and the instance ends well. C11, S1: a state is left by the commit
// that records its step, never before.
func TestNoStepIsSkippedByACrash(t *testing.T) {
	for _, after := range []bool{false, true} {
		for point := range 3 {
			t.Run(fmt.Sprintf("Commit%dStored%t", point, after), func(t *testing.T) {
				w, f := newFaulty(t)
				f.after = after
				a, b := scripted(), scripted()
				w.handle("h.a", a.run)
				w.handle("h.b", b.run)
				w.open(demo)
				id := w.start("demo", "1")
				// An error that is not repeated stands for the end of the
				// process: the row is as the commit left it, lease and all.
				f.fails["Commit"] = append(make([]error, point), engine.ErrSchema)
				_, err := w.eng.Tick(context.Background(), time.Second)
				if (err != nil) != (point < 2) {
					t.Fatalf("tick: %v", err)
				}
				w.clock.Advance(20 * time.Second)
				w.tick()
				if in := w.load(id); in.State != "DONE" || a.count() < 1 || b.count() < 1 || a.count()+b.count() > 3 {
					t.Errorf("state %s after %d and %d runs; want DONE, each at least once, one of them at most twice", in.State, a.count(), b.count())
				}
				if diff := cmp.Diff([]string{"A>B", "B>DONE"}, moves(w.story(id))); diff != "" {
					t.Errorf("moves (-want +got):\n%s", diff)
				}
			})
		}
	}
}

// moves leaves the from>to of the lines that leave a state.
func moves(story []string) []string {
	var out []string
	for _, line := range story {
		move, _, _ := strings.Cut(line, " ")
		if from, to, _ := strings.Cut(move, ">"); from != to {
			out = append(out, move)
		}
	}
	return out
}
