package storetest

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-dev/pawl/engine"
)

func repeatClauses() []clause {
	return []clause{
		{"Repeat/CommitHasTheResultThatItHad", repeatDone},
		{"Repeat/CommitHasItAfterMoreWrites", repeatLater},
		{"Repeat/CommitOfAnotherCallIsLost", repeatOther},
		{"Repeat/OfAnInstanceInLine", repeatInLine},
		{"Repeat/UnknownOutcomeIsSettled", repeatUnknown},
	}
}

func repeatDone(t *testing.T, s engine.Store) {
	mustCreate(t, s, job("x"))
	tr := finish(mustClaimOne(t, s, start, "w"))
	tr.Start = []engine.New{job("event")}
	tr.LateNote = true
	want := mustDo(t, s, engine.Done, tr)
	row := mustLoad(t, s, "x")
	for range 2 {
		if diff := cmp.Diff(want, mustCommit(t, s, tr)[0]); diff != "" {
			t.Errorf("the repeat differs (-want +got):\n%s", diff)
		}
	}
	wantSame(t, "the row", mustLoad(t, s, "x"), row)
	if lines := mustHistory(t, s, "x"); len(lines) != 1 {
		t.Errorf("%d lines of history after repeats, want 1", len(lines))
	}
}

func repeatLater(t *testing.T, s engine.Store) {
	mustCreate(t, s, job("x"))
	first := move(mustClaimOne(t, s, start, "w1"), "a")
	want := mustDo(t, s, engine.Done, first)
	second := move(mustClaimOne(t, s, start, "w2"), "b")
	mustDo(t, s, engine.Done, second)
	row := mustLoad(t, s, "x")
	if diff := cmp.Diff(want, mustCommit(t, s, first)[0]); diff != "" {
		t.Errorf("the repeat differs (-want +got):\n%s", diff)
	}
	wantSame(t, "the row", mustLoad(t, s, "x"), row)
}

func repeatOther(t *testing.T, s engine.Store) {
	mustCreate(t, s, job("x"))
	in := mustClaimOne(t, s, start, "w")
	mustDo(t, s, engine.Done, move(in, "b"))
	other := move(in, "b")
	other.Token = "another call of the same worker"
	mustDo(t, s, engine.Lost, other)
}

func repeatInLine(t *testing.T, s engine.Store) {
	mustCreate(t, s, job("holder"), job("x", dueAt(start.Add(-1*time.Second))))
	hold := move(mustLoad(t, s, "holder"), "b")
	hold.Acquire = []engine.Hold{{Name: "k"}}
	mustDo(t, s, engine.Done, hold)
	tr := move(mustClaimOne(t, s, start, "w"), "b")
	tr.Acquire = []engine.Hold{{Name: "k"}}
	want := mustDo(t, s, engine.InLine, tr)
	if diff := cmp.Diff(want, mustCommit(t, s, tr)[0]); diff != "" {
		t.Errorf("the repeat differs (-want +got):\n%s", diff)
	}
	done := finish(mustLoad(t, s, "holder"))
	done.Release = []string{"k"}
	mustDo(t, s, engine.Done, done)
	row := mustLoad(t, s, "x")
	// It must not take itself for the owner of a lease, now that it is awake.
	if out := mustCommit(t, s, tr)[0]; out.Result != engine.InLine || out.Version != want.Version {
		t.Errorf("the repeat after it was woken = %+v, want it in line at version %d", out, want.Version)
	}
	wantSame(t, "the row", mustLoad(t, s, "x"), row)
}

// forgetful is a store whose every other answer to a write is lost on the way.
type forgetful struct {
	engine.Store
	calls *int
}

func (f forgetful) lose(err error) error {
	if *f.calls++; err == nil && *f.calls%2 == 1 {
		return fmt.Errorf("the answer is lost: %w", engine.ErrUnknown)
	}
	return err
}

func (f forgetful) Insert(ctx context.Context, now time.Time, in []engine.New) ([]engine.Started, error) {
	out, err := f.Store.Insert(ctx, now, in)
	return out, f.lose(err)
}

func (f forgetful) Commit(ctx context.Context, now time.Time, tr []engine.Transition) ([]engine.Outcome, error) {
	out, err := f.Store.Commit(ctx, now, tr)
	return out, f.lose(err)
}

// Every write is made twice, since its first answer is lost, and the saga ends
// as if it had been made once.
func repeatUnknown(t *testing.T, s engine.Store) {
	calls := 0
	f := forgetful{s, &calls}
	twice := func(write func() error) {
		t.Helper()
		if err := write(); err == nil {
			t.Fatal("the first answer arrived")
		}
		if err := write(); err != nil {
			t.Fatal(err)
		}
	}
	twice(func() error {
		_, err := f.Insert(t.Context(), start, []engine.New{job("x")})
		return err
	})
	in := mustClaimOne(t, s, start, "w")
	for i, state := range []string{"b", "c", "d"} {
		tr := move(in, state)
		tr.Instance.Attempt, tr.Instance.LeaseOwner, tr.Instance.LeaseUntil = 1, "w", in.LeaseUntil
		tr.Start = []engine.New{job(fmt.Sprint("event-", i), atStep("do.event"))}
		twice(func() error {
			out, err := f.Commit(t.Context(), start, []engine.Transition{tr})
			if err == nil && out[0].Result != engine.Done {
				t.Fatalf("the repeat = %+v, want done", out[0])
			}
			return err
		})
		in = tr.Instance
		in.Version++
	}
	if got := mustLoad(t, s, "x"); got.State != "d" || got.Version != 5 {
		t.Errorf("the row is in %q at version %d, want d at 5", got.State, got.Version)
	}
	if n := len(mustHistory(t, s, "x")); n != 3 {
		t.Errorf("%d lines of history, want 3", n)
	}
	if got := mustClaim(t, s, claimAt(start, "w", "do.event")); len(got) != 3 {
		t.Errorf("events = %q, want three", ids(got))
	}
}
