package storetest

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-dev/pawl/engine"
)

func leaseClauses() []clause {
	return []clause{
		{"Lease/IsNotClaimedWhileItLasts", leaseHeld},
		{"Lease/LostOneIsAFailureInDoubt", leaseLost},
		{"Lease/LostOneOfAnotherStepIsNotClaimed", leaseLostStep},
		{"Extend/KeepsTheLease", extendKeeps},
		{"Extend/LeavesTheVersion", extendVersion},
		{"Extend/ReportsEachLostLease", extendLost},
	}
}

func leaseHeld(t *testing.T, s engine.Store) {
	mustCreate(t, s, job("x"))
	mustClaimOne(t, s, start, "w1")
	early := start.Add(leaseTime - time.Microsecond)
	wantIDs(t, "Claim of a leased instance", mustClaim(t, s, claimAt(early, "w2", "do.a")))
	mustClaimOne(t, s, start.Add(leaseTime), "w2")
}

func leaseLost(t *testing.T, s engine.Store) {
	mustCreate(t, s, job("x"))
	for i := range 4 {
		now := start.Add(time.Duration(i) * leaseTime)
		in := mustClaimOne(t, s, now, "w")
		if in.Attempt != i+1 || in.Failures != i || in.Doubt != (i > 0) || in.Version != int64(i+2) {
			t.Fatalf("after %d lost leases: Attempt %d, Failures %d, Doubt %t, Version %d", i,
				in.Attempt, in.Failures, in.Doubt, in.Version)
		}
	}
}

func leaseLostStep(t *testing.T, s engine.Store) {
	mustCreate(t, s, job("x"))
	tr := move(mustClaimOne(t, s, start, "w1"), "b")
	tr.Instance.LeaseOwner, tr.Instance.LeaseUntil, tr.Instance.Attempt = "w1", start.Add(leaseTime), 1
	mustDo(t, s, engine.Done, tr)
	wantIDs(t, "Claim of the former step", mustClaim(t, s, claimAt(start.Add(leaseTime), "w2", "do.a")))
	got := mustClaim(t, s, claimAt(start.Add(leaseTime), "w2", "do.b"))
	if len(got) != 1 || got[0].Attempt != 2 || got[0].Failures != 1 || !got[0].Doubt {
		t.Errorf("Claim of the present step = %+v, want attempt 2 after a failure in doubt", got)
	}
}

func extendKeeps(t *testing.T, s engine.Store) {
	mustCreate(t, s, job("x"))
	in := mustClaimOne(t, s, start, "w1")
	until := start.Add(2 * leaseTime)
	held, err := s.Extend(t.Context(), until, []engine.Lease{{ID: "x", Version: in.Version}})
	if err != nil || !cmp.Equal(held, []bool{true}) {
		t.Fatalf("Extend = %v, %v, want it held", held, err)
	}
	wantIDs(t, "Claim after the first end", mustClaim(t, s, claimAt(start.Add(leaseTime), "w2", "do.a")))
	mustClaimOne(t, s, until, "w2")
}

func extendVersion(t *testing.T, s engine.Store) {
	mustCreate(t, s, job("x"))
	want := mustClaimOne(t, s, start, "w1")
	until := start.Add(time.Minute)
	if _, err := s.Extend(t.Context(), until, []engine.Lease{{ID: "x", Version: want.Version}}); err != nil {
		t.Fatal(err)
	}
	want.LeaseUntil, want.DueAt = until, until
	wantSame(t, "the row after Extend", mustLoad(t, s, "x"), want)
	mustDo(t, s, engine.Done, finish(want))
}

func extendLost(t *testing.T, s engine.Store) {
	mustCreate(t, s, job("kept"), job("lost"), job("given back"), job("never leased", dueAt(time.Time{})))
	was := map[string]engine.Instance{}
	for _, in := range mustClaim(t, s, claimAt(start, "w1", "do.a")) {
		was[in.ID] = in
	}
	mustDo(t, s, engine.Done, move(was["given back"], "b"))
	late := start.Add(leaseTime)
	req := claimAt(late, "w2", "do.a")
	if held, err := s.Extend(t.Context(), late.Add(time.Second), []engine.Lease{{ID: "kept", Version: was["kept"].Version}}); err != nil || !held[0] {
		t.Fatalf("Extend of an overdue lease that nobody took = %v, %v, want it held", held, err)
	}
	req.Now = late
	wantIDs(t, "Claim", mustClaim(t, s, req), "lost")
	lost := mustLoad(t, s, "lost")
	held, err := s.Extend(t.Context(), late.Add(time.Minute), []engine.Lease{
		{ID: "lost", Version: was["lost"].Version},
		{ID: "kept", Version: was["kept"].Version},
		{ID: "given back", Version: was["given back"].Version},
		{ID: "given back", Version: was["given back"].Version + 1},
		{ID: "never leased", Version: 1},
		{ID: "missing", Version: 1},
	})
	if want := []bool{false, true, false, false, false, false}; err != nil || !cmp.Equal(held, want) {
		t.Errorf("Extend = %v, %v, want %v", held, err, want)
	}
	wantSame(t, "the row of the new owner", mustLoad(t, s, "lost"), lost)
}
