package storetest

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"

	"github.com/pawl-dev/pawl/engine"
)

func contextClauses() []clause {
	return []clause{
		{"Context/AnEndedOneChangesNothing", contextEnded},
		{"Context/AnEndedOneSpoilsNothing", contextSpoils},
	}
}

// calls are all methods that go to the database.
func calls(s engine.Store, in engine.Instance) map[string]func(ctx context.Context) error {
	return map[string]func(ctx context.Context) error{
		"Insert": func(ctx context.Context) error {
			_, err := s.Insert(ctx, start, []engine.New{job("new")})
			return err
		},
		"Claim": func(ctx context.Context) error {
			_, err := s.Claim(ctx, claimAt(start, "w", "do.free"))
			return err
		},
		"Commit": func(ctx context.Context) error {
			_, err := s.Commit(ctx, start, []engine.Transition{finish(in)})
			return err
		},
		"Extend": func(ctx context.Context) error {
			_, err := s.Extend(ctx, start, []engine.Lease{{ID: in.ID, Version: in.Version}})
			return err
		},
		"Load": func(ctx context.Context) error {
			_, err := s.Load(ctx, in.ID)
			return err
		},
		"List": func(ctx context.Context) error {
			_, err := s.List(ctx, engine.Filter{})
			return err
		},
		"History": func(ctx context.Context) error {
			_, err := s.History(ctx, in.ID, 0, 10)
			return err
		},
		"Purge": func(ctx context.Context) error {
			_, err := s.Purge(ctx, start, 10)
			return err
		},
		"PutDefinition": func(ctx context.Context) error {
			return s.PutDefinition(ctx, start, engine.StoredDefinition{Workflow: "flow", Version: 1, Hash: "h"})
		},
	}
}

func contextEnded(t *testing.T, s engine.Store) {
	mustCreate(t, s, job("x"), job("free", atStep("do.free")))
	want := mustClaimOne(t, s, start, "w")
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	for name, call := range calls(s, want) {
		if err := call(ended); !errors.Is(err, engine.ErrUnavailable) && !errors.Is(err, engine.ErrUnknown) {
			t.Errorf("%s with an ended context = %v, want ErrUnavailable", name, err)
		}
	}
	wantSame(t, "the row", mustLoad(t, s, "x"), want)
	if in := mustLoad(t, s, "free"); in.Version != 1 {
		t.Errorf("a claim with an ended context leased %+v", in)
	}
	if _, err := s.Load(t.Context(), "new"); !errors.Is(err, engine.ErrNotFound) {
		t.Errorf("Load of what an ended context inserted = %v, want ErrNotFound", err)
	}
	for name, call := range calls(s, want) {
		if err := call(t.Context()); err != nil {
			t.Errorf("%s afterwards = %v", name, err)
		}
	}
}

// Contexts end in the middle of calls of all kinds; then every kind works.
func contextSpoils(t *testing.T, s engine.Store) {
	var all []engine.New
	for i := range 200 {
		all = append(all, job(fmt.Sprint("row", i), atStep("do.free")))
	}
	mustCreate(t, s, append(all, job("x"))...)
	in := mustClaimOne(t, s, start, "w")
	var wg sync.WaitGroup
	for range 4 {
		for name, call := range calls(s, in) {
			if name == "Commit" || name == "Extend" {
				continue // once is enough to change x
			}
			wg.Go(func() {
				for range 5 {
					ctx, cancel := context.WithCancel(t.Context())
					done := make(chan error, 1)
					go func() { done <- call(ctx) }()
					cancel()
					if err := <-done; err != nil && !errors.Is(err, engine.ErrUnavailable) && !errors.Is(err, engine.ErrUnknown) {
						t.Errorf("%s with a context that ends = %v, want ErrUnavailable or ErrUnknown", name, err)
					}
				}
			})
		}
	}
	wg.Wait()
	for name, call := range calls(s, in) {
		if err := call(t.Context()); err != nil {
			t.Errorf("%s afterwards = %v", name, err)
		}
	}
}
