package engine_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/pawl-dev/pawl/engine"
)

// Whatever happens, an instance that has not ended has a time at which a tick
// will look at it, no later than its back-off or its lease allows; and once
// handlers succeed again, every one of them ends well. C07.
func TestNothingGetsStuck(t *testing.T) {
	const lease, longest = 20 * time.Second, time.Minute
	for seed := range uint64(10) {
		t.Run(fmt.Sprint("Seed", seed), func(t *testing.T) {
			rng := rand.New(rand.NewPCG(seed, 7))
			w := newWorld(t)
			w.cfg.Concurrency = 1 // one rng, no lock, the same run each time
			calm := false
			step := func(context.Context, engine.Call[json.RawMessage]) error {
				if calm {
					return nil
				}
				switch rng.IntN(8) {
				case 0:
					return errBoom
				case 1:
					return engine.Definite(errBoom)
				case 2:
					return engine.TargetDown(errBoom)
				case 3:
					return engine.Wait(time.Duration(rng.IntN(30))*time.Second, "not yet")
				case 4:
					return engine.RetryAfter(errBoom, time.Duration(rng.IntN(60))*time.Second)
				case 5:
					panic("poison")
				default:
					return nil
				}
			}
			for _, name := range []string{"h.a", "h.b", "h.c"} {
				w.handle(name, step)
			}
			src := strings.Replace(keyed, "max_attempts: 2, initial_delay: 1s", "max_attempts: 50, initial_delay: 1s, max_delay: 1m", 1)
			w.open(src)
			var ids []string
			for i := range 6 {
				in := fmt.Sprintf(`{"id":"%d","repo":"r%d"}`, i, i%2)
				s, err := w.eng.Start(context.Background(), engine.StartRequest{Workflow: "keyed", Input: json.RawMessage(in)})
				if err != nil {
					t.Fatal(err)
				}
				ids = append(ids, s.Instance.ID)
			}
			for range 60 {
				switch rng.IntN(4) {
				case 0: // a worker that claims and dies
					if _, err := w.store.Claim(context.Background(), engine.ClaimRequest{
						Owner: "dead", Now: w.clock.Now(), Until: w.clock.Now().Add(lease), Limit: 2,
						Steps: []engine.StepLimit{{Step: "h.a", Limit: 1}, {Step: "h.b", Limit: 1}, {Step: "h.c", Limit: 1}},
					}); err != nil {
						t.Fatal(err)
					}
				case 1: // a tick that is cancelled at once
					ctx, cancel := context.WithCancel(context.Background())
					cancel()
					if _, err := w.eng.Tick(ctx, time.Second); err != nil && !errors.Is(err, context.Canceled) {
						t.Fatal(err)
					}
				default:
					w.tick()
				}
				checkAlive(t, w, ids, max(lease, longest))
				w.clock.Advance(time.Duration(rng.IntN(20)) * time.Second)
			}
			calm = true
			for _, id := range ids {
				if in := w.load(id); in.Status == engine.Failed {
					if _, err := w.eng.Retry(context.Background(), id, engine.Operator{Actor: "alice"}); err != nil {
						t.Errorf("retry: %v", err)
					}
				}
			}
			for range 20 {
				w.clock.Advance(longest)
				w.tick()
			}
			for _, id := range ids {
				if in := w.load(id); in.State != "DONE" {
					t.Errorf("%s is in %s (%s), want DONE; %v", id, in.State, in.Status, w.story(id))
				}
			}
		})
	}
}

func checkAlive(t *testing.T, w *world, ids []string, most time.Duration) {
	t.Helper()
	holders := 0
	for _, id := range ids {
		in := w.load(id)
		switch {
		case in.Status.Ended():
			if in.Step != "" || !in.DueAt.IsZero() || in.LeaseOwner != "" {
				t.Fatalf("%s has ended and is still due: %+v", id, in)
			}
		case in.Status == engine.Queued:
			// It waits for another one that is alive.
		case in.Status != engine.Running:
			t.Fatalf("%s is %s", id, in.Status)
		case in.DueAt.IsZero() || in.DueAt.After(w.clock.Now().Add(most)):
			t.Fatalf("%s will be looked at in %s, want at most %s: %+v", id, in.DueAt.Sub(w.clock.Now()), most, in)
		default:
			holders++
		}
	}
	queued := slices.ContainsFunc(ids, func(id string) bool { return w.load(id).Status == engine.Queued })
	if queued && holders == 0 {
		t.Fatalf("instances wait in line and nobody runs")
	}
}
