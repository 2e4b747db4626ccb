package engine_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pawl-dev/pawl/engine"
	"github.com/pawl-dev/pawl/store/sqlitestore"
)

// newBubble is a world on the bubble's clock: engine, store and timeouts all
// run on it.
func newBubble(t *testing.T) *world {
	w := newWorld(t)
	w.store = w.openStore(sqlitestore.Options{})
	w.cfg.Clock = nil
	return w
}

// A handler that does not heed its timeout is left behind: its attempt is over,
// the next one runs, and its late result changes nothing but is noted. C04.
func TestLateResultIsIgnoredAndNoted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newBubble(t)
		w.cfg.Lease = 5 * time.Second
		var calls, b atomic.Int32
		w.handle("h.a", func(context.Context, engine.Call[json.RawMessage]) error {
			if calls.Add(1) == 1 {
				time.Sleep(12 * time.Second)
			}
			return nil
		})
		w.handle("h.b", func(context.Context, engine.Call[json.RawMessage]) error {
			b.Add(1)
			return nil
		})
		w.open(demo)
		id := w.start("demo", "1")
		w.tick()
		if in := w.load(id); in.Code != "timeout" || in.State != "A" {
			t.Errorf("after the timeout: state %s, code %q", in.State, in.Code)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if err := w.eng.Close(ctx); err == nil || !strings.Contains(err.Error(), id) {
			t.Errorf("Close while the handler runs: %v, want an error that names %s", err, id)
		}
		time.Sleep(2 * time.Second)
		w.tick()
		done := w.load(id)
		if done.State != "DONE" {
			t.Fatalf("after the second attempt: %s", done.State)
		}
		if err := w.eng.Close(t.Context()); err != nil {
			t.Errorf("Close when the handler has ended: %v", err)
		}
		after := w.load(id)
		if after.State != "DONE" || after.Version != done.Version {
			t.Errorf("the late result changed the instance: %s version %d, was %d", after.State, after.Version, done.Version)
		}
		story := w.story(id)
		if last := story[len(story)-1]; !strings.Contains(last, "late result ignored") {
			t.Errorf("the last line is %q, want the late result; all: %v", last, story)
		}
		if b.Load() != 1 {
			t.Errorf("the next step ran %d times, want 1", b.Load())
		}
	})
}

// Two hundred handlers that outlive their attempts leave no goroutine. C04.
func TestLateHandlersLeaveNoGoroutines(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newBubble(t)
		w.handle("h.a", func(context.Context, engine.Call[json.RawMessage]) error {
			time.Sleep(12 * time.Second)
			return nil
		})
		w.handle("h.b", ok)
		w.open(strings.Replace(demo, "max_attempts: 3", "max_attempts: 1", 1))
		for i := range 200 {
			w.start("demo", fmt.Sprint(i))
		}
		w.tick()
		before := runtime.NumGoroutine()
		if err := w.eng.Close(t.Context()); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		if after := runtime.NumGoroutine(); after > before-200 {
			t.Errorf("%d goroutines, %d while 200 late handlers ran", after, before)
		}
	})
}

// A step may run longer than the lease, which is renewed meanwhile: another
// engine does not get it.
func TestLeaseIsRenewedWhileTheStepRuns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newBubble(t)
		w.cfg.Lease = 6 * time.Second
		var running, most atomic.Int32
		w.handle("h.a", func(context.Context, engine.Call[json.RawMessage]) error {
			most.Store(max(most.Load(), running.Add(1)))
			time.Sleep(40 * time.Second)
			running.Add(-1)
			return nil
		})
		w.handle("h.b", ok)
		src := strings.Replace(demo, "timeout: 2s", "timeout: 1m", 1)
		w.open(src)
		other := w.cfg
		other.Worker = "w2"
		e2 := w.openAs(other, src)
		id := w.start("demo", "1")
		ctx, cancel := context.WithCancel(t.Context())
		var wg sync.WaitGroup
		for _, e := range []*engine.Engine{w.eng, e2} {
			wg.Go(func() {
				if err := e.Run(ctx, time.Second); err != nil {
					t.Errorf("Run: %v", err)
				}
			})
		}
		time.Sleep(45 * time.Second)
		cancel()
		wg.Wait()
		if in := w.load(id); in.State != "DONE" || most.Load() != 1 {
			t.Errorf("state %s, at most %d attempts at once; want DONE and 1. %v", in.State, most.Load(), w.story(id))
		}
	})
}

// A worker that dies is replaced when its lease has run out, its attempt
// counts, and a step that kills its worker each time is failed after exactly
// max_attempts runs. C01, C07.
func TestLostWorkersAreBounded(t *testing.T) {
	w := newWorld(t)
	w.handle("h.a", ok)
	w.handle("h.b", ok)
	w.open(demo)
	id := w.start("demo", "1")
	// A worker that claims and is never heard of again.
	die := func() int {
		got, err := w.store.Claim(context.Background(), engine.ClaimRequest{
			Owner: "dead", Now: w.clock.Now(), Until: w.clock.Now().Add(20 * time.Second),
			Steps: []engine.StepLimit{{Step: "h.a", Limit: 10}}, Limit: 10,
		})
		if err != nil {
			t.Fatal(err)
		}
		return len(got.Instances)
	}
	for i := range 3 {
		if die() != 1 {
			t.Fatalf("claim %d got nothing", i+1)
		}
		if die() != 0 {
			t.Fatalf("claim %d: a live lease was taken", i+1)
		}
		if r := w.tick(); r.Claimed != 0 {
			t.Fatalf("claim %d: a tick took a live lease", i+1)
		}
		w.clock.Advance(20 * time.Second)
	}
	r := w.tick()
	in := w.load(id)
	if r.Steps != 0 || in.State != "FAILED" || in.Code != "unknown" || !strings.Contains(in.Message, "lost") {
		t.Errorf("%d steps ran; %s, %s: %s; want FAILED, lost worker, without a run", r.Steps, in.State, in.Code, in.Message)
	}
	if in.Failures != 3 {
		t.Errorf("%d failures, want 3", in.Failures)
	}
}

// Three engines on one store: each effect once, versions rise, no way out of
// an end. C05.
func TestParallelEnginesRunEachStepOnce(t *testing.T) {
	src := strings.Replace(demo, "next: DONE}", "next: C}\n  C: {step: h.c, next: DONE}", 1)
	w := newWorld(t)
	w.cfg.Clock = nil
	w.store = w.openStore(sqlitestore.Options{})
	var mu sync.Mutex
	effects := make(map[string]int)
	for _, name := range []string{"h.a", "h.b", "h.c"} {
		w.handle(name, func(_ context.Context, c engine.Call[json.RawMessage]) error {
			mu.Lock()
			defer mu.Unlock()
			effects[c.Key]++
			return nil
		})
	}
	w.open(src)
	const n = 300
	reqs := make([]engine.StartRequest, n)
	for i := range reqs {
		reqs[i] = engine.StartRequest{Workflow: "demo", Input: json.RawMessage(fmt.Sprintf(`{"id":"%d"}`, i))}
	}
	if _, err := w.eng.StartBatch(context.Background(), reqs); err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	for i := range 3 {
		cfg := w.cfg
		cfg.Worker = fmt.Sprint("w", i)
		cfg.Concurrency = 16
		cfg.Store = w.openStore(sqlitestore.Options{})
		e := w.openAs(cfg, src)
		wg.Go(func() {
			for {
				r, err := e.Tick(context.Background(), time.Minute)
				if err != nil {
					t.Error(err)
				}
				if r.Claimed == 0 || err != nil {
					return
				}
			}
		})
	}
	wg.Wait()
	for i := range n {
		id := fmt.Sprintf("demo/%d", i)
		if in := w.load(id); in.State != "DONE" || in.Version != 5 {
			t.Errorf("%s: state %s, version %d; want DONE and 5 (start, claim, three commits)", id, in.State, in.Version)
		}
		lines, err := w.eng.History(context.Background(), id, 0, 0)
		if err != nil || len(lines) != 3 || slices.ContainsFunc(lines, func(h engine.History) bool { return h.From == "DONE" }) {
			t.Errorf("%s: history %v, %v", id, lines, err)
		}
	}
	total := 0
	for key, n := range effects {
		if total += n; n != 1 {
			t.Errorf("effect %s happened %d times", key, n)
		}
	}
	if total != 3*n {
		t.Errorf("%d effects, want %d", total, 3*n)
	}
}

// Engines whose clocks are ten minutes ahead or behind go by the store's: a
// live lease is not taken and a back-off is not cut short. C15.
func TestClockSkewTakesNoLiveLease(t *testing.T) {
	for _, skew := range []time.Duration{10 * time.Minute, -10 * time.Minute} {
		t.Run(skew.String(), func(t *testing.T) {
			w := newWorld(t)
			a := scripted(errBoom, nil)
			w.handle("h.a", a.run)
			w.handle("h.b", ok)
			w.cfg.Lease = 5 * time.Minute
			jump := time.Duration(0)
			w.cfg.Clock = func() time.Time { return w.clock.Now().Add(skew + jump) }
			w.open(demo)
			id := w.start("demo", "1")
			got, err := w.store.Claim(context.Background(), engine.ClaimRequest{
				Owner: "other", Now: w.clock.Now(), Until: w.clock.Now().Add(5 * time.Minute),
				Steps: []engine.StepLimit{{Step: "h.a", Limit: 1}}, Limit: 1,
			})
			if err != nil || len(got.Instances) != 1 {
				t.Fatalf("setup: %v, %v", got, err)
			}
			w.clock.Advance(time.Minute)
			if r := w.tick(); r.Claimed != 0 {
				t.Fatalf("a lease with four minutes left was taken")
			}
			w.clock.Advance(4 * time.Minute)
			if w.tick(); a.count() != 1 {
				t.Fatalf("%d runs after the lease ran out, want 1", a.count())
			}
			if in := w.load(id); !in.DueAt.Equal(w.clock.Now().Add(2 * time.Second)) {
				t.Errorf("due %s after the store's now, want the back-off of the second attempt, 2s", in.DueAt.Sub(w.clock.Now()))
			}
			// The local clock jumps back an hour: one tick stops and says so,
			// the next one goes on, and nothing ran too early.
			jump = -time.Hour
			_, err = w.eng.Tick(context.Background(), time.Second)
			if !errors.Is(err, engine.ErrClockSkew) {
				t.Errorf("tick after the jump: %v, want ErrClockSkew", err)
			}
			if w.tick(); a.count() != 1 {
				t.Errorf("%d runs before the back-off was over, want 1", a.count())
			}
			w.clock.Advance(2 * time.Second)
			if w.tick(); a.count() != 2 {
				t.Errorf("%d runs after the back-off, want 2", a.count())
			}
		})
	}
}

// At shutdown a handler gets the grace to finish, then its attempt is given
// back: the next engine makes the same attempt again.
func TestShutdownGivesTheAttemptBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newBubble(t)
		var attempts []int
		w.handle("h.a", func(ctx context.Context, c engine.Call[json.RawMessage]) error {
			attempts = append(attempts, c.Attempt)
			if len(attempts) > 1 {
				return nil
			}
			begun := time.Now()
			<-ctx.Done()
			if !errors.Is(context.Cause(ctx), engine.ErrShutdown) {
				t.Errorf("cause %v, want ErrShutdown", context.Cause(ctx))
			}
			if d := time.Since(begun); d != 3*time.Second+5*time.Second {
				t.Errorf("cancelled after %s, want 3s until shutdown and 5s of grace", d)
			}
			return ctx.Err()
		})
		w.handle("h.b", ok)
		w.open(strings.Replace(demo, "timeout: 2s", "timeout: 1m", 1))
		id := w.start("demo", "1")
		ctx, cancel := context.WithTimeout(t.Context(), 3*time.Second)
		defer cancel()
		if err := w.eng.Run(ctx, time.Second); err != nil {
			t.Fatal(err)
		}
		in := w.load(id)
		if in.Attempt != 0 || in.LeaseOwner != "" || !in.Doubt {
			t.Errorf("after shutdown: attempt %d, lease %q, doubt %t; want 0, none, true", in.Attempt, in.LeaseOwner, in.Doubt)
		}
		if w.tick(); w.load(id).State != "DONE" || !slices.Equal(attempts, []int{1, 1}) {
			t.Errorf("attempts %v, want the first one twice; %v", attempts, w.story(id))
		}
	})
}

// A slow handler holds nobody back, and a start wakes a resident engine.
func TestSlowHandlerHoldsNobodyBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newBubble(t)
		w.handle("h.a", func(_ context.Context, c engine.Call[json.RawMessage]) error {
			if c.Instance == "demo/slow" {
				time.Sleep(50 * time.Second)
			}
			return nil
		})
		w.handle("h.b", ok)
		w.open(strings.Replace(demo, "timeout: 2s", "timeout: 1m", 1))
		slow := w.start("demo", "slow")
		ctx, cancel := context.WithCancel(t.Context())
		var wg sync.WaitGroup
		wg.Go(func() {
			if err := w.eng.Run(ctx, 30*time.Second); err != nil {
				t.Error(err)
			}
		})
		time.Sleep(time.Second)
		fast := w.start("demo", "fast")
		time.Sleep(time.Second)
		if in := w.load(fast); in.State != "DONE" {
			t.Errorf("a second after its start the fast one is in %s", in.State)
		}
		if in := w.load(slow); in.State != "A" {
			t.Errorf("the slow one is in %s, want A", in.State)
		}
		time.Sleep(50 * time.Second)
		if in := w.load(slow); in.State != "DONE" {
			t.Errorf("the slow one is in %s, want DONE", in.State)
		}
		cancel()
		wg.Wait()
	})
}

// A target that is down is not tried again in the same tick, however long the
// tick lasts because of others. C02.
func TestDownTargetIsTriedOncePerTick(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newBubble(t)
		var calls atomic.Int32
		w.handle("h.a", func(_ context.Context, c engine.Call[json.RawMessage]) error {
			if c.Instance == "demo/slow" {
				time.Sleep(8 * time.Second)
				return nil
			}
			return nil
		})
		w.handle("h.b", func(context.Context, engine.Call[json.RawMessage]) error {
			calls.Add(1)
			return engine.TargetDown(errBoom)
		})
		w.open(strings.Replace(demo, "timeout: 2s", "timeout: 1m", 1))
		w.start("demo", "slow")
		w.start("demo", "1")
		w.start("demo", "2")
		w.tick()
		if n := calls.Load(); n < 1 || n > 2 {
			t.Errorf("%d calls in one tick, want one, or two that began together", n)
		}
	})
}

// After the budget no step begins, and the instance is given back at once.
func TestBudgetIsKept(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newBubble(t)
		w.handle("h.a", func(context.Context, engine.Call[json.RawMessage]) error {
			time.Sleep(1500 * time.Millisecond)
			return nil
		})
		b := scripted()
		w.handle("h.b", b.run)
		w.open(demo)
		id := w.start("demo", "1")
		begun := time.Now()
		if _, err := w.eng.Tick(t.Context(), time.Second); err != nil {
			t.Fatal(err)
		}
		if d := time.Since(begun); d != 1500*time.Millisecond {
			t.Errorf("the tick took %s, want 1.5s: the running step is let finish", d)
		}
		in := w.load(id)
		if in.State != "B" || in.Attempt != 0 || in.LeaseOwner != "" || in.DueAt.After(time.Now()) || b.count() != 0 {
			t.Errorf("after the budget: %s, attempt %d, lease %q, due %s; B ran %d times", in.State, in.Attempt, in.LeaseOwner, in.DueAt, b.count())
		}
		if _, err := w.eng.Tick(t.Context(), 0); !errors.Is(err, engine.ErrInvalid) {
			t.Errorf("tick without a budget: %v, want ErrInvalid", err)
		}
	})
}

// What this program has no handler for is left to others.
func TestUnknownStepsAreNotClaimed(t *testing.T) {
	w := newWorld(t)
	w.handle("h.a", ok)
	w.handle("h.b", ok)
	w.open(demo)
	id := w.start("demo", "1")
	var half engine.Registry
	engine.Register(&half, "h.a", func(context.Context, engine.Call[struct{}]) (struct{}, error) { return struct{}{}, nil }, engine.Handler{})
	cfg := engine.Config{Store: w.store, Handlers: &half, Clock: w.clock.Now, Worker: "half", Logger: slog.New(slog.DiscardHandler)}
	e, err := engine.Open(context.Background(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if _, err := e.Tick(context.Background(), time.Second); err != nil {
			t.Fatal(err)
		}
	}
	in := w.load(id)
	if in.State != "B" || in.Attempt != 0 || in.LeaseOwner != "" {
		t.Fatalf("with a handler for A only: %s, attempt %d, lease %q; want B, untouched", in.State, in.Attempt, in.LeaseOwner)
	}
	if w.tick(); w.load(id).State != "DONE" {
		t.Errorf("the program that has both did not go on")
	}
}
