package storetest

import (
	"testing"
	"time"

	"github.com/pawl-dev/pawl/engine"
)

// waitClauses are about the same lines, joined and left by transitions.
func waitClauses() []clause {
	return []clause{
		{"Acquire/FreeKeyIsTaken", acquireFree},
		{"Acquire/HeldKeyLeavesItInLine", acquireHeld},
		{"Acquire/AgainKeepsThePlace", acquireAgain},
		{"Acquire/AfterReleaseGoesToTheEnd", acquireAfterRelease},
		{"Acquire/LostTakesNothing", acquireLost},
		{"Acquire/QueuedComesDueAtItsDeadline", acquireDeadline},
		{"Acquire/WakingFencesOffTheDeadline", acquireWake},
		{"Release/LeavesTheLine", releaseLeaves},
		{"Release/OfWhatItDoesNotHoldWakesNobody", releaseOther},
		{"Release/LostReleasesNothing", releaseLost},
	}
}

// entering returns the transition of in to state b, for which it needs the
// keys.
func entering(in engine.Instance, keys ...string) engine.Transition {
	tr := move(in, "b")
	for _, k := range keys {
		tr.Acquire = append(tr.Acquire, engine.Hold{Name: k})
	}
	return tr
}

func acquireFree(t *testing.T, s engine.Store) {
	mustCreate(t, s, job("x"))
	tr := entering(mustClaimOne(t, s, start, "w"), "k")
	tr.Instance.Attempt, tr.Instance.LeaseOwner, tr.Instance.LeaseUntil = 1, "w", start.Add(leaseTime)
	mustDo(t, s, engine.Done, tr)
	if in := mustLoad(t, s, "x"); in.Status != engine.Running || in.LeaseOwner != "w" {
		t.Errorf("the row = %+v, want it running under its lease", in)
	}
	mustCreate(t, s, needing("y", "k"))
	wantQueued(t, s, []string{"y"}, "y")
}

func acquireHeld(t *testing.T, s engine.Store) {
	mustCreate(t, s, needing("holder", "k"), job("x"))
	got := mustClaim(t, s, claimAt(start, "w", "do.a"))
	tr := entering(got[1], "k")
	tr.Instance.Attempt, tr.Instance.LeaseOwner, tr.Instance.LeaseUntil = 1, "w", start.Add(leaseTime)
	tr.Instance.Failures, tr.Instance.DeadlineAt = 1, start.Add(time.Hour)
	out := mustDo(t, s, engine.InLine, tr)
	if out.By != "holder" || out.Version != got[1].Version+1 {
		t.Errorf("Commit = %+v, want it behind holder at version %d", out, got[1].Version+1)
	}
	want := tr.Instance
	want.Version, want.Status, want.DueAt = out.Version, engine.Queued, want.DeadlineAt
	want.Attempt, want.Failures, want.LeaseOwner, want.LeaseUntil = 0, 0, "", time.Time{}
	wantSame(t, "the row", mustLoad(t, s, "x"), want)
	if lines := mustHistory(t, s, "x"); len(lines) != 1 || lines[0].To != "b" {
		t.Errorf("history = %+v, want the line to b", lines)
	}
	mustRelease(t, s, "holder", "k")
	in := mustClaim(t, s, claimAt(start, "w2", "do.b"))
	if len(in) != 1 || in[0].Attempt != 1 || in[0].Doubt {
		t.Errorf("Claim after the release = %+v, want x at its first attempt", in)
	}
}

func acquireAgain(t *testing.T, s engine.Store) {
	mustCreate(t, s, needing("a", "k"), needing("b", "k"), needing("c", "k"))
	mustDo(t, s, engine.Done, entering(mustLoad(t, s, "a"), "k"))
	tr := entering(mustLoad(t, s, "b"), "k")
	if out := mustDo(t, s, engine.InLine, tr); out.By != "a" {
		t.Errorf("Commit = %+v, want it behind a", out)
	}
	mustRelease(t, s, "a", "k")
	wantQueued(t, s, []string{"b", "c"}, "c")
}

func acquireAfterRelease(t *testing.T, s engine.Store) {
	mustCreate(t, s, needing("a", "k"), needing("b", "k"))
	tr := entering(mustLoad(t, s, "a"), "k")
	tr.Release = []string{"k"}
	if out := mustDo(t, s, engine.InLine, tr); out.By != "b" || !out.Woken {
		t.Errorf("Commit = %+v, want it behind b, which is woken", out)
	}
	wantQueued(t, s, []string{"a", "b"}, "a")
	mustRelease(t, s, "b", "k")
	wantQueued(t, s, []string{"a"})
}

func acquireLost(t *testing.T, s engine.Store) {
	mustCreate(t, s, job("x"))
	tr := entering(mustLoad(t, s, "x"), "k")
	tr.Instance.Version = 4
	mustDo(t, s, engine.Lost, tr)
	mustCreate(t, s, needing("y", "k"))
	wantQueued(t, s, []string{"y"})
}

func acquireDeadline(t *testing.T, s engine.Store) {
	mustCreate(t, s, needing("a", "k"))
	n := needing("b", "k")
	n.Instance.DeadlineAt, n.Instance.Step = start.Add(time.Hour), "do.b"
	mustCreate(t, s, n)
	wantIDs(t, "Claim before", mustClaim(t, s, claimAt(start.Add(time.Hour-1000), "w", "do.b")))
	got := mustClaim(t, s, claimAt(start.Add(time.Hour), "w", "do.b"))
	if len(got) != 1 || got[0].Status != engine.Queued {
		t.Errorf("Claim at the deadline = %+v, want b, still queued", got)
	}
}

func acquireWake(t *testing.T, s engine.Store) {
	mustCreate(t, s, needing("a", "k"))
	n := needing("b", "k")
	n.Instance.DeadlineAt, n.Instance.Step = start.Add(time.Hour), "do.b"
	mustCreate(t, s, n)
	slow := mustClaim(t, s, claimAt(start.Add(time.Hour), "w", "do.b"))
	mustRelease(t, s, "a", "k")
	if len(slow) != 1 {
		t.Fatalf("Claim at the deadline = %q, want b", ids(slow))
	}
	mustDo(t, s, engine.Lost, finish(slow[0]))
	got := mustClaim(t, s, claimAt(start, "w2", "do.b"))
	if len(got) != 1 || got[0].Attempt != 1 || got[0].Failures != 0 || got[0].Doubt || got[0].Status != engine.Running {
		t.Errorf("Claim after it was woken = %+v, want b running at its first attempt", got)
	}
}

func releaseLeaves(t *testing.T, s engine.Store) {
	mustCreate(t, s, needing("a", "k"), needing("b", "k"), needing("c", "k"))
	if out := mustRelease(t, s, "b", "k"); out.Woken {
		t.Error("leaving the middle of a line woke somebody")
	}
	wantQueued(t, s, []string{"a", "c"}, "c")
	mustRelease(t, s, "a", "k")
	wantQueued(t, s, []string{"c"})
}

func releaseOther(t *testing.T, s engine.Store) {
	mustCreate(t, s, needing("a", "k"), needing("b", "k"), job("x"))
	if out := mustRelease(t, s, "x", "k", "no such key"); out.Woken {
		t.Error("the release of a key of another instance woke somebody")
	}
	wantQueued(t, s, []string{"a", "b"}, "b")
}

func releaseLost(t *testing.T, s engine.Store) {
	mustCreate(t, s, needing("a", "k"), needing("b", "k"))
	tr := finish(mustLoad(t, s, "a"))
	tr.Instance.Version, tr.Release = 9, []string{"k"}
	mustDo(t, s, engine.Lost, tr)
	wantQueued(t, s, []string{"a", "b"}, "b")
}
