package storetest

import (
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/pawl-dev/pawl/engine"
)

func claimClauses() []clause {
	return []clause{
		{"Claim/OnlyGivenSteps", claimSteps},
		{"Claim/NothingBeforeItIsDue", claimDue},
		{"Claim/OldestDueFirst", claimOldest},
		{"Claim/OneStepDoesNotStarveAnother", claimFair},
		{"Claim/LimitsHold", claimLimits},
		{"Claim/WithoutAStepIsNeverDue", claimNoStep},
		{"Claim/WhateverTheStatus", claimStatus},
		{"Claim/NoStepsClaimNothing", claimNone},
		{"Claim/ManySteps", claimManySteps},
		{"Claim/IsAsTheRowIsAfterIt", claimIsRow},
		{"Claim/CountsTheAttempt", claimCounts},
		{"Claim/EachInstanceGoesToOneOwner", claimRace},
		{"Claim/ReportsWhatHasExpired", claimExpired},
		{"Claim/TellsTheStoresTime", claimTime},
	}
}

func claimSteps(t *testing.T, s engine.Store) {
	mustCreate(t, s, job("1", atStep("do.a")), job("2", atStep("do.b")), job("3", atStep("do")), job("4", atStep("do.ab")))
	wantIDs(t, "Claim of do.b", mustClaim(t, s, claimAt(start, "w", "do.b")), "2")
	wantIDs(t, "Claim of do.c", mustClaim(t, s, claimAt(start, "w", "do.c")))
	if got := mustClaim(t, s, claimAt(start, "w", "do.a", "do", "do.c")); len(got) != 2 {
		t.Errorf("Claim of do.a and do = %q, want 1 and 3", ids(got))
	}
}

func claimDue(t *testing.T, s engine.Store) {
	mustCreate(t, s, job("x", dueAt(start.Add(time.Microsecond))), job("never", dueAt(time.Time{})))
	wantIDs(t, "Claim a microsecond early", mustClaim(t, s, claimAt(start, "w", "do.a")))
	wantIDs(t, "Claim on time", mustClaim(t, s, claimAt(start.Add(time.Microsecond), "w", "do.a")), "x")
	wantIDs(t, "Claim in a thousand years", mustClaim(t, s, claimAt(start.AddDate(1000, 0, 0), "w", "do.a")), "x")
}

func claimOldest(t *testing.T, s engine.Store) {
	now := start.Add(time.Hour)
	mustCreate(t, s,
		job("c", dueAt(start.Add(3*time.Second)), atStep("do.b")),
		job("a", dueAt(start.Add(1*time.Second)), atStep("do.b")),
		job("d", dueAt(start.Add(4*time.Second))), job("b", dueAt(start.Add(2*time.Second))))
	for _, want := range [][]string{{"a", "b"}, {"c", "d"}, nil} {
		req := claimAt(now, "w", "do.a", "do.b")
		req.Limit = 2
		wantIDs(t, "Claim of the two oldest", mustClaim(t, s, req), want...)
	}
}

func claimFair(t *testing.T, s engine.Store) {
	var all []engine.New
	for i := range 20 {
		all = append(all, job(fmt.Sprint("a", i), dueAt(start.Add(-time.Hour))))
	}
	mustCreate(t, s, append(all, job("b", atStep("do.b")))...)
	req := claimAt(start, "w", "do.a", "do.b")
	req.Steps[0].Limit = 5
	got := mustClaim(t, s, req)
	if len(got) != 6 || got[5].ID != "b" {
		t.Errorf("Claim = %q, want 5 of the older step and then b", ids(got))
	}
}

func claimLimits(t *testing.T, s engine.Store) {
	var all []engine.New
	for i := range 20 {
		all = append(all, job(fmt.Sprint("a", i)), job(fmt.Sprint("b", i), atStep("do.b")))
	}
	mustCreate(t, s, all...)
	req := claimAt(start, "w", "do.a", "do.b")
	req.Steps[0].Limit, req.Steps[1].Limit, req.Limit = 0, 3, 10
	if got := mustClaim(t, s, req); len(got) != 3 {
		t.Errorf("Claim of 0 and 3 = %q, want three", ids(got))
	}
	req.Steps[0].Limit, req.Steps[1].Limit, req.Limit = 30, 30, 7
	if got := mustClaim(t, s, req); len(got) != 7 {
		t.Errorf("Claim of 7 = %q, want seven", ids(got))
	}
	req.Limit = 0
	wantIDs(t, "Claim of 0", mustClaim(t, s, req))
}

func claimNoStep(t *testing.T, s engine.Store) {
	mustCreate(t, s, job("x", atStep("")))
	wantIDs(t, "Claim", mustClaim(t, s, claimAt(start.AddDate(1, 0, 0), "w", "do.a", "")))
}

func claimNone(t *testing.T, s engine.Store) {
	mustCreate(t, s, job("x"))
	wantIDs(t, "Claim of no steps", mustClaim(t, s, claimAt(start, "w")))
}

func claimManySteps(t *testing.T, s engine.Store) {
	var all []engine.New
	var steps []string
	for i := range 300 {
		steps = append(steps, fmt.Sprint("do.", i))
		all = append(all, job(fmt.Sprint("x", i), atStep(steps[i])))
	}
	mustCreate(t, s, all...)
	if got := mustClaim(t, s, claimAt(start, "w", steps...)); len(got) != 300 {
		t.Errorf("Claim of 300 steps = %d instances, want 300", len(got))
	}
}

func claimIsRow(t *testing.T, s engine.Store) {
	in := full()
	in.DueAt = start
	mustCreate(t, s, engine.New{Instance: in})
	got := mustClaimOne(t, s, start, "worker")
	in.Version, in.Attempt = 2, in.Attempt+1
	in.LeaseOwner, in.LeaseUntil, in.DueAt = "worker", start.Add(leaseTime), start.Add(leaseTime)
	wantSame(t, "the claimed instance", got, in)
	wantSame(t, "the row", mustLoad(t, s, in.ID), in)
}

func claimCounts(t *testing.T, s engine.Store) {
	mustCreate(t, s, job("x"))
	for attempt := 1; attempt <= 3; attempt++ {
		in := mustClaimOne(t, s, start, "w")
		if in.Attempt != attempt || in.Failures != 0 || in.Doubt {
			t.Fatalf("claim %d has Attempt %d, Failures %d, Doubt %t", attempt, in.Attempt, in.Failures, in.Doubt)
		}
		tr := move(in, "a") // waits, and is asked again
		tr.Instance.Attempt = attempt
		mustDo(t, s, engine.Done, tr)
	}
}

func claimRace(t *testing.T, s engine.Store) {
	const total, owners = 60, 6
	var all []engine.New
	for i := range total {
		all = append(all, job(fmt.Sprint("x", i)))
	}
	mustCreate(t, s, all...)
	got := make([][]engine.Instance, owners)
	errs := make([]error, owners)
	var wg sync.WaitGroup
	for i := range owners {
		wg.Go(func() {
			for range total { // bounded: each round but the last takes some
				req := claimAt(start, fmt.Sprint("w", i), "do.a")
				req.Limit = 7
				out, err := s.Claim(t.Context(), req)
				if err != nil || len(out.Instances) == 0 {
					errs[i] = err
					return
				}
				got[i] = append(got[i], out.Instances...)
			}
		})
	}
	wg.Wait()
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
	owner := map[string]string{}
	for i := range got {
		for _, in := range got[i] {
			if other, ok := owner[in.ID]; ok {
				t.Errorf("%s went to %s and to w%d", in.ID, other, i)
			}
			owner[in.ID] = fmt.Sprint("w", i)
			if in.LeaseOwner != owner[in.ID] || in.Version != 2 {
				t.Errorf("%s has owner %s at version %d, want %s at 2", in.ID, in.LeaseOwner, in.Version, owner[in.ID])
			}
		}
	}
	if len(owner) != total {
		t.Errorf("%d instances were claimed, want %d", len(owner), total)
	}
}

func claimExpired(t *testing.T, s engine.Store) {
	mustCreate(t, s, job("x", atStep(""), func(in *engine.Instance) {
		in.Status, in.ExpireAt = engine.Succeeded, start.Add(time.Hour)
	}))
	for _, tt := range []struct {
		now  time.Time
		want bool
	}{{start.Add(time.Hour - time.Microsecond), false}, {start.Add(time.Hour), true}} {
		got, err := s.Claim(t.Context(), claimAt(tt.now, "w", "do.a"))
		if err != nil || got.Expired != tt.want {
			t.Errorf("Claim at %s: Expired = %t, %v, want %t", tt.now, got.Expired, err, tt.want)
		}
	}
}

func claimTime(t *testing.T, s engine.Store) {
	first, err := s.Now(t.Context())
	if err != nil || first.IsZero() || first.Location() != time.UTC {
		t.Fatalf("Now = %s, %v, want a time in UTC", first, err)
	}
	got, err := s.Claim(t.Context(), claimAt(start, "w", "do.a"))
	if err != nil || got.Now.Before(first) || got.Now.Location() != time.UTC {
		t.Errorf("Claimed.Now = %s, %v, want a time in UTC from %s on", got.Now, err, first)
	}
}

// A status is the engine's word: what is due is claimed, and keeps it.
func claimStatus(t *testing.T, s engine.Store) {
	due := []engine.Status{engine.Running, engine.Waiting, engine.Stuck, engine.Compensating}
	for _, status := range due {
		mustCreate(t, s, job(string(status), func(in *engine.Instance) { in.Status = status }))
	}
	mustCreate(t, s, job("later", func(in *engine.Instance) {
		in.Status, in.DueAt = engine.Waiting, start.Add(time.Hour)
	}), job("never", func(in *engine.Instance) {
		in.Status, in.DueAt = engine.Waiting, time.Time{}
	}), job("no", func(in *engine.Instance) {
		in.Status, in.Step, in.DueAt = engine.CompensationFailed, "", time.Time{}
	}))
	got := mustClaim(t, s, claimAt(start, "w", "do.a"))
	if len(got) != len(due) {
		t.Fatalf("Claim = %v, want what is due, whatever its status", ids(got))
	}
	for _, in := range got {
		if string(in.Status) != in.ID {
			t.Errorf("%s came back as %s", in.ID, in.Status)
		}
		in.State, in.Status = "b", engine.Waiting
		mustDo(t, s, engine.Done, move(in, "b"))
		if now := mustLoad(t, s, in.ID); now.Status != engine.Waiting || now.State != "b" {
			t.Errorf("%s is %s in %s after the commit", in.ID, now.Status, now.State)
		}
	}
}
