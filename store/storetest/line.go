package storetest

import (
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/pawl-dev/pawl/engine"
)

// lineClauses are about the lines for concurrency keys, at the start.
func lineClauses() []clause {
	return []clause{
		{"Hold/TheFirstHasTheKey", holdFirst},
		{"Hold/ReleaseWakesTheNextInOrder", holdOrder},
		{"Hold/OneHolderUnderRace", holdRace},
		{"Hold/ALostHolderKeepsTheKey", holdCrash},
		{"Hold/RejectCreatesNothing", holdReject},
		{"Hold/RejectOfAFreeKeyCreates", holdRejectFree},
		{"Hold/HeldInstanceKeyComesBeforeReject", holdRejectSame},
		{"Hold/NeedsAllOfItsKeys", holdAll},
		{"Hold/RepeatedStartKeepsItsPlace", holdRepeat},
		{"Hold/OddNamesAreDifferent", holdNames},
	}
}

// needing returns an instance that needs the keys to begin.
func needing(id string, keys ...string) engine.New {
	n := job(id)
	for _, k := range keys {
		n.Acquire = append(n.Acquire, engine.Hold{Name: k})
	}
	return n
}

// mustRelease ends the instance and gives the keys back.
func mustRelease(t *testing.T, s engine.Store, id string, keys ...string) engine.Outcome {
	t.Helper()
	tr := finish(mustLoad(t, s, id))
	tr.Release = keys
	return mustDo(t, s, engine.Done, tr)
}

// wantQueued fails unless exactly these of all the instances wait in line.
func wantQueued(t *testing.T, s engine.Store, all []string, want ...string) {
	t.Helper()
	queued := map[string]bool{}
	for _, id := range want {
		queued[id] = true
	}
	for _, id := range all {
		in := mustLoad(t, s, id)
		if (in.Status == engine.Queued) != queued[id] {
			t.Errorf("%s is %s, want queued: %t", id, in.Status, queued[id])
		}
	}
}

func holdFirst(t *testing.T, s engine.Store) {
	deadline := start.Add(time.Hour)
	waiter := needing("b", "k")
	waiter.Instance.DeadlineAt = deadline
	waiter.Instance.Attempt = 1
	got := mustInsert(t, s, needing("a", "k"), waiter, needing("c", "k"))
	if got[0].Instance.Status != engine.Running || !got[1].Created || got[1].Instance.Status != engine.Queued {
		t.Fatalf("Insert = %+v, want a running and b queued", got)
	}
	wantSame(t, "Started of b", got[1].Instance, mustLoad(t, s, "b"))
	if b := got[1].Instance; b.Attempt != 0 || !b.DueAt.Equal(deadline) {
		t.Errorf("b has attempt %d and is due at %s, want 0 and its deadline", b.Attempt, b.DueAt)
	}
	if c := got[2].Instance; !c.DueAt.IsZero() {
		t.Errorf("c is due at %s, want never", c.DueAt)
	}
	wantIDs(t, "Claim", mustClaim(t, s, claimAt(start, "w", "do.a")), "a")
}

func holdOrder(t *testing.T, s engine.Store) {
	all := []string{"z", "m", "a", "q", "b"} // not in the order of the ids
	for _, id := range all {
		mustCreate(t, s, needing(id, "k"))
	}
	for i, id := range all {
		wantQueued(t, s, all, all[i+1:]...)
		wantIDs(t, "Claim", mustClaim(t, s, claimAt(start, "w", "do.a")), id)
		before := int64(1)
		if i+1 < len(all) {
			before = mustLoad(t, s, all[i+1]).Version
		}
		out := mustRelease(t, s, id, "k")
		if woken := i+1 < len(all); out.Woken != woken {
			t.Errorf("release by %s: Woken = %t, want %t", id, out.Woken, woken)
		}
		if i+1 < len(all) {
			next := mustLoad(t, s, all[i+1])
			if next.Status != engine.Running || !next.DueAt.Equal(start) || next.Version != before+1 || next.Attempt != 0 {
				t.Errorf("the next in line = %+v, want it running, due now, at version %d", next, before+1)
			}
		}
	}
	mustCreate(t, s, needing("last", "k"))
	wantQueued(t, s, []string{"last"})
}

func holdRace(t *testing.T, s engine.Store) {
	const n = 8
	errs := make([]error, n)
	var wg sync.WaitGroup
	var all []string
	for i := range n {
		id := fmt.Sprint("x", i)
		all = append(all, id)
		wg.Go(func() {
			_, errs[i] = s.Insert(t.Context(), start, []engine.New{needing(id, "k")})
		})
	}
	wg.Wait()
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
	for range all {
		got := mustClaim(t, s, claimAt(start, "w", "do.a"))
		if len(got) != 1 {
			t.Fatalf("Claim = %q, want one holder at a time", ids(got))
		}
		mustRelease(t, s, got[0].ID, "k")
	}
	wantIDs(t, "Claim at the end", mustClaim(t, s, claimAt(start, "w", "do.a")))
}

func holdCrash(t *testing.T, s engine.Store) {
	mustCreate(t, s, needing("a", "k"), needing("b", "k"))
	mustClaimOne(t, s, start, "w1")
	late := start.Add(leaseTime)
	if in := mustClaimOne(t, s, late, "w2"); in.ID != "a" || !in.Doubt {
		t.Errorf("Claim = %+v, want a again, in doubt", in)
	}
	wantQueued(t, s, []string{"a", "b"}, "b")
}

func holdReject(t *testing.T, s engine.Store) {
	mustCreate(t, s, needing("a", "k"))
	n := needing("b", "free", "k")
	n.Acquire[0].Reject, n.Acquire[1].Reject = true, true
	n.Start = []engine.New{job("event")}
	got := mustInsert(t, s, n)[0]
	if got.Created || got.Refused != "a" || got.Instance.ID != "" {
		t.Errorf("Insert = %+v, want it refused by a", got)
	}
	for _, id := range []string{"b", "event"} {
		if _, err := s.Load(t.Context(), id); !errors.Is(err, engine.ErrNotFound) {
			t.Errorf("Load(%q) = %v, want ErrNotFound", id, err)
		}
	}
	mustCreate(t, s, needing("c", "free")) // b took nothing
	wantQueued(t, s, []string{"c"})
	mustRelease(t, s, "a", "k")
	got = mustInsert(t, s, needing("d", "k"))[0]
	if got.Instance.Status != engine.Running {
		t.Errorf("Insert after the release = %+v, want it running", got)
	}
}

func holdRejectFree(t *testing.T, s engine.Store) {
	n := needing("a", "k")
	n.Acquire[0].Reject = true
	mustCreate(t, s, n, needing("b", "k"))
	wantQueued(t, s, []string{"a", "b"}, "b")
}

// A second start of the same key finds the first one; it is not refused by it.
func holdRejectSame(t *testing.T, s engine.Store) {
	n := keyed("k")
	n.Acquire = []engine.Hold{{Name: "c", Reject: true}}
	mustCreate(t, s, n)
	if got := mustInsert(t, s, n)[0]; got.Created || got.Refused != "" || got.Instance.ID != "flow/k" {
		t.Errorf("the second start = %+v, want the first one", got)
	}
}

func holdAll(t *testing.T, s engine.Store) {
	all := []string{"a", "b", "ab", "a2", "b2"}
	mustCreate(t, s, needing("a", "A"), needing("b", "B"), needing("ab", "A", "B"), needing("a2", "A"), needing("b2", "B"))
	wantQueued(t, s, all, "ab", "a2", "b2")
	if out := mustRelease(t, s, "a", "A"); out.Woken {
		t.Error("ab was woken with one key of two")
	}
	wantQueued(t, s, all, "ab", "a2", "b2")
	if out := mustRelease(t, s, "b", "B"); !out.Woken {
		t.Error("ab was not woken with both keys")
	}
	wantQueued(t, s, all, "a2", "b2")
	if out := mustRelease(t, s, "ab", "B", "A"); !out.Woken {
		t.Error("nobody was woken by two keys")
	}
	wantQueued(t, s, all)
}

func holdRepeat(t *testing.T, s engine.Store) {
	mustCreate(t, s, needing("a", "k"), needing("b", "k"), needing("c", "k"))
	for range 2 {
		for _, st := range mustInsert(t, s, needing("a", "k"), needing("b", "k")) {
			if st.Created {
				t.Errorf("a repeated start = %+v, want it not created", st)
			}
		}
	}
	mustRelease(t, s, "a", "k")
	wantQueued(t, s, []string{"b", "c"}, "c")
	mustRelease(t, s, "b", "k")
	wantQueued(t, s, []string{"c"})
}

func holdNames(t *testing.T, s engine.Store) {
	for i, name := range oddTexts() {
		mustCreate(t, s, needing(fmt.Sprint("x", i), name))
		wantQueued(t, s, []string{fmt.Sprint("x", i)})
	}
}
