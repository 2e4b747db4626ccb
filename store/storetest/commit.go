package storetest

import (
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/pawl-dev/pawl/engine"
)

func commitClauses() []clause {
	return []clause{
		{"Commit/StoresEveryField", commitFields},
		{"Commit/NeverChangesTheStart", commitStart},
		{"Commit/ClearsWhatIsNotSet", commitClears},
		{"Commit/SuccessClearsTheError", commitSucceeds},
		{"Commit/GivesTheLeaseBack", commitFrees},
		{"Commit/KeepsALeaseThatIsSet", commitKeepsLease},
		{"Commit/RunsOnWithoutAnotherClaim", commitChain},
		{"Commit/EndedIsNotDue", commitEnds},
		{"Commit/StaleVersionIsLost", commitStale},
		{"Commit/FormerOwnerIsLost", commitFormerOwner},
		{"Commit/RenewedLeaseOfAnotherIsNotTouched", commitFormerOwnerExtended},
		{"Commit/OthersAreAppliedBesideALostOne", commitMixed},
		{"Commit/TwoOfOneInstanceInACall", commitTwo},
		{"Commit/RaceHasOneWinner", commitRace},
		{"Commit/MissingIsAbsent", commitAbsent},
		{"Commit/NothingIsAnEmptyAnswer", commitNothing},
		{"Commit/WhatStartsWithItIsThere", commitStarts},
		{"Commit/NothingStartsWithALostOne", commitStartsNot},
		{"Commit/LateNoteIsALine", commitLateNote},
		{"Commit/WithoutLateNoteThereIsNoLine", commitNoLateNote},
	}
}

func commitFields(t *testing.T, s engine.Store) {
	mustCreate(t, s, keyed("k"))
	for _, status := range []engine.Status{engine.Running, engine.Parked, engine.Failed, engine.Succeeded, engine.Running} {
		want := mustLoad(t, s, "flow/k")
		want.State, want.Status, want.Step = "b", status, "do.b"
		want.Attempt, want.Failures, want.Doubt = 3, 2, true
		want.DueAt, want.LeaseOwner, want.LeaseUntil = start.Add(time.Minute), "w", start.Add(time.Minute)
		want.Code, want.Message, want.FailedState, want.Note = "code", "message", "a", "note"
		want.EnteredAt, want.UpdatedAt = start.Add(1*time.Second), start.Add(2*time.Second)
		want.EndedAt, want.DeadlineAt, want.ExpireAt = start.Add(3*time.Second), start.Add(4*time.Second), start.Add(5*time.Second)
		want.With, want.Data, want.Output = []byte(`{"w":1}`), []byte(`{"d":1}`), []byte(`{"o":1}`)
		out := mustDo(t, s, engine.Done, engine.Transition{Instance: want})
		want.Version++
		if out.Version != want.Version || out.Woken || out.By != "" {
			t.Errorf("Commit = %+v, want version %d and no more", out, want.Version)
		}
		wantSame(t, "the row", mustLoad(t, s, "flow/k"), want)
	}
}

func commitStart(t *testing.T, s engine.Store) {
	n := keyed("k")
	n.Instance.Labels = map[string]string{"a": "b"}
	mustCreate(t, s, n)
	want := mustLoad(t, s, "flow/k")
	in := want
	in.Input, in.Labels, in.Key, in.StartedAt = []byte(`{}`), map[string]string{"c": "d"}, "other", start.Add(time.Hour)
	mustDo(t, s, engine.Done, engine.Transition{Instance: in})
	want.Version++
	wantSame(t, "the row", mustLoad(t, s, "flow/k"), want)
}

func commitClears(t *testing.T, s engine.Store) {
	in := full()
	mustCreate(t, s, engine.New{Instance: in})
	want := engine.Instance{
		ID: in.ID, Workflow: in.Workflow, DefVersion: in.DefVersion, DefHash: in.DefHash, Key: in.Key, Run: in.Run,
		State: "b", Status: engine.Running, Version: 1, StartedAt: in.StartedAt, Labels: in.Labels, Input: in.Input,
	}
	mustDo(t, s, engine.Done, engine.Transition{Instance: want})
	want.Version = 2
	wantSame(t, "the row", mustLoad(t, s, in.ID), want)
	got, err := s.Claim(t.Context(), claimAt(start.AddDate(1, 0, 0), "w", "do.a"))
	if err != nil || len(got.Instances) > 0 || got.Expired {
		t.Errorf("Claim = %+v, %v, want nothing due and nothing expired", got, err)
	}
}

func commitSucceeds(t *testing.T, s engine.Store) {
	mustCreate(t, s, job("x", func(in *engine.Instance) {
		in.Attempt, in.Failures, in.Doubt = 3, 2, true
		in.Code, in.Message, in.FailedState, in.Note = "code", "message", "a", "note"
		in.Output = []byte(`{"o":1}`)
	}))
	tr := move(mustLoad(t, s, "x"), "b")
	tr.Instance.Code, tr.Instance.Message, tr.Instance.FailedState, tr.Instance.Note = "", "", "", ""
	tr.Instance.Output = nil
	want := tr.Instance
	want.Version = mustDo(t, s, engine.Done, tr).Version
	wantSame(t, "the row", mustLoad(t, s, "x"), want)
}

func commitFrees(t *testing.T, s engine.Store) {
	mustCreate(t, s, job("x"))
	mustDo(t, s, engine.Done, move(mustClaimOne(t, s, start, "w1"), "a"))
	in := mustClaimOne(t, s, start, "w2")
	if in.Attempt != 1 || in.Failures != 0 || in.Doubt {
		t.Errorf("after a commit: Attempt %d, Failures %d, Doubt %t, want a fresh start", in.Attempt, in.Failures, in.Doubt)
	}
}

func commitKeepsLease(t *testing.T, s engine.Store) {
	mustCreate(t, s, job("x"))
	tr := move(mustClaimOne(t, s, start, "w1"), "a")
	tr.Instance.Attempt, tr.Instance.LeaseOwner, tr.Instance.LeaseUntil = 1, "w1", start.Add(leaseTime)
	out := mustDo(t, s, engine.Done, tr)
	wantIDs(t, "Claim of a kept lease", mustClaim(t, s, claimAt(start, "w2", "do.a")))
	in := mustLoad(t, s, "x")
	if in.LeaseOwner != "w1" || !in.LeaseUntil.Equal(start.Add(leaseTime)) || in.Attempt != 1 || in.Version != out.Version {
		t.Errorf("the row = %+v, want the lease of w1 at version %d", in, out.Version)
	}
}

func commitChain(t *testing.T, s engine.Store) {
	mustCreate(t, s, job("x"))
	in := mustClaimOne(t, s, start, "w1")
	for _, state := range []string{"b", "c", "d"} {
		tr := move(in, state)
		tr.Instance.Attempt, tr.Instance.LeaseOwner, tr.Instance.LeaseUntil = 1, "w1", in.LeaseUntil
		in = tr.Instance
		in.Version = mustDo(t, s, engine.Done, tr).Version
	}
	mustDo(t, s, engine.Done, finish(in))
	if got := mustLoad(t, s, "x"); got.Version != 6 || got.Status != engine.Succeeded || got.LeaseOwner != "" {
		t.Errorf("the row = %+v, want it succeeded at version 6", got)
	}
	if lines := mustHistory(t, s, "x"); len(lines) != 4 {
		t.Errorf("%d lines of history, want 4", len(lines))
	}
}

func commitEnds(t *testing.T, s engine.Store) {
	mustCreate(t, s, job("x"))
	mustDo(t, s, engine.Done, finish(mustClaimOne(t, s, start, "w1")))
	wantIDs(t, "Claim", mustClaim(t, s, claimAt(start.AddDate(1, 0, 0), "w", "do.a", "do.done", "")))
}

func commitStale(t *testing.T, s engine.Store) {
	mustCreate(t, s, job("x"))
	in := mustClaimOne(t, s, start, "w1")
	for _, version := range []int64{0, 1, 3, 99} {
		tr := finish(in)
		tr.Instance.Version = version
		if out := mustDo(t, s, engine.Lost, tr); out.Version != 2 {
			t.Errorf("Commit at version %d = %+v, want the version of the row, 2", version, out)
		}
	}
	wantSame(t, "the row", mustLoad(t, s, "x"), in)
	if lines := mustHistory(t, s, "x"); len(lines) != 0 {
		t.Errorf("history = %+v, want none", lines)
	}
}

func commitFormerOwner(t *testing.T, s engine.Store) {
	mustCreate(t, s, job("x"))
	slow := mustClaimOne(t, s, start, "w1")
	fast := mustClaimOne(t, s, start.Add(leaseTime), "w2")
	mustDo(t, s, engine.Lost, move(slow, "b"))
	wantSame(t, "the row of the new owner", mustLoad(t, s, "x"), fast)
	mustDo(t, s, engine.Done, finish(fast))
	mustDo(t, s, engine.Lost, move(slow, "c"))
	if in := mustLoad(t, s, "x"); in.Status != engine.Succeeded {
		t.Errorf("a late result opened the ended instance again: %+v", in)
	}
}

func commitFormerOwnerExtended(t *testing.T, s engine.Store) {
	mustCreate(t, s, job("x"))
	slow := mustClaimOne(t, s, start, "w1")
	mustClaimOne(t, s, start.Add(leaseTime), "w2")
	held, err := s.Extend(t.Context(), start.Add(time.Hour), []engine.Lease{{ID: "x", Version: slow.Version}})
	if err != nil || held[0] {
		t.Fatalf("Extend by the former owner = %v, %v, want it not held", held, err)
	}
	if in := mustLoad(t, s, "x"); in.LeaseOwner != "w2" || !in.LeaseUntil.Equal(start.Add(2*leaseTime)) {
		t.Errorf("the row = %+v, want the lease of w2 as it was", in)
	}
}

func commitMixed(t *testing.T, s engine.Store) {
	var all []engine.New
	for i := range 40 {
		all = append(all, job(fmt.Sprint("x", i)))
	}
	mustCreate(t, s, all...)
	var tr []engine.Transition
	for i, in := range mustClaim(t, s, claimAt(start, "w", "do.a")) {
		tr = append(tr, finish(in))
		if i%3 == 0 {
			tr[i].Instance.Version--
		}
	}
	for i, out := range mustCommit(t, s, tr...) {
		want := engine.Done
		if i%3 == 0 {
			want = engine.Lost
		}
		in := mustLoad(t, s, tr[i].Instance.ID)
		if out.Result != want || in.Status.Ended() != (want == engine.Done) {
			t.Errorf("transition %d = %+v with status %s, want %s", i, out, in.Status, want)
		}
		if n := len(mustHistory(t, s, in.ID)); (n == 1) != (want == engine.Done) {
			t.Errorf("transition %d, %s, left %d lines", i, want, n)
		}
	}
}

func commitTwo(t *testing.T, s engine.Store) {
	mustCreate(t, s, job("x"))
	in := mustClaimOne(t, s, start, "w")
	first, second, third := move(in, "b"), move(in, "c"), move(in, "d")
	second.Token = "another call"
	third.Instance.Version++
	third.History.From = "b"
	out := mustCommit(t, s, first, second, third)
	if out[0].Result != engine.Done || out[1].Result != engine.Lost || out[2].Result != engine.Done {
		t.Errorf("Commit = %+v, want done, lost, done", out)
	}
	if in := mustLoad(t, s, "x"); in.State != "d" || in.Version != 4 {
		t.Errorf("the row is in %q at version %d, want d at 4", in.State, in.Version)
	}
}

func commitRace(t *testing.T, s engine.Store) {
	const n = 8
	mustCreate(t, s, job("x"))
	in := mustClaimOne(t, s, start, "w")
	results := make([]engine.CommitResult, n)
	errs := make([]error, n)
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() {
			tr := move(in, fmt.Sprint("s", i))
			tr.Token = fmt.Sprint("call ", i)
			out, err := s.Commit(t.Context(), start, []engine.Transition{tr})
			if err == nil {
				results[i] = out[0].Result
			}
			errs[i] = err
		})
	}
	wg.Wait()
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
	won := map[engine.CommitResult]int{}
	for _, r := range results {
		won[r]++
	}
	if won[engine.Done] != 1 || won[engine.Lost] != n-1 {
		t.Errorf("racing commits = %v, want one done and the others lost", won)
	}
	if lines := mustHistory(t, s, "x"); len(lines) != 1 {
		t.Errorf("%d lines of history, want 1", len(lines))
	}
}

func commitAbsent(t *testing.T, s engine.Store) {
	tr := move(job("nobody").Instance, "b")
	tr.LateNote = true
	mustDo(t, s, engine.Absent, tr)
}

func commitNothing(t *testing.T, s engine.Store) {
	if out, err := s.Commit(t.Context(), start, nil); err != nil || len(out) != 0 {
		t.Errorf("Commit of nothing = %v, %v, want nothing", out, err)
	}
	if out, err := s.Extend(t.Context(), start, nil); err != nil || len(out) != 0 {
		t.Errorf("Extend of nothing = %v, %v, want nothing", out, err)
	}
}

func commitStarts(t *testing.T, s engine.Store) {
	mustCreate(t, s, job("x"), job("event-1", func(in *engine.Instance) { in.State = "moved on" }))
	tr := finish(mustLoad(t, s, "x"))
	tr.Start = []engine.New{job("event-1"), job("event-2"), keyed("event-3")}
	tr.Start[1].Start = []engine.New{job("event-4")}
	mustDo(t, s, engine.Done, tr)
	for _, id := range []string{"event-2", "flow/event-3", "event-4"} {
		mustLoad(t, s, id)
	}
	if in := mustLoad(t, s, "event-1"); in.State != "moved on" {
		t.Errorf("the event that was there is in state %q, want it left alone", in.State)
	}
}

func commitStartsNot(t *testing.T, s engine.Store) {
	mustCreate(t, s, job("x"))
	tr := finish(mustLoad(t, s, "x"))
	tr.Instance.Version = 5
	tr.Start = []engine.New{job("event")}
	mustDo(t, s, engine.Lost, tr)
	if _, err := s.Load(t.Context(), "event"); !errors.Is(err, engine.ErrNotFound) {
		t.Errorf("Load of the event of a lost transition = %v, want ErrNotFound", err)
	}
}

func commitLateNote(t *testing.T, s engine.Store) {
	mustCreate(t, s, job("x"))
	slow := mustClaimOne(t, s, start, "w1")
	fast := mustClaimOne(t, s, start.Add(leaseTime), "w2")
	late := move(slow, "b")
	late.LateNote = true
	late.History.Code, late.History.Message = "code", "message"
	mustDo(t, s, engine.Lost, late)
	other := late
	other.Token = "another late call"
	mustDo(t, s, engine.Lost, other)
	wantSame(t, "the row", mustLoad(t, s, "x"), fast)
	mustDo(t, s, engine.Done, finish(fast))
	mustDo(t, s, engine.Lost, late) // a repeat adds no line
	lines := mustHistory(t, s, "x")
	if len(lines) != 3 || lines[0].Seq != 1 || lines[2].Seq != 3 || lines[2].Reason != engine.ReasonDone {
		t.Fatalf("history = %+v, want the two late lines and the end", lines)
	}
	got := lines[0]
	if got.Reason != engine.ReasonLate || got.Actor != "w1" || got.From != "a" || got.To != "a" || got.Message != "message" {
		t.Errorf("the late line = %+v, want reason %q of w1, leaving no state", got, engine.ReasonLate)
	}
	other.Token = "a third late call"
	mustDo(t, s, engine.Lost, other)
	if lines := mustHistory(t, s, "x"); len(lines) != 4 || lines[3].Reason != engine.ReasonLate || lines[3].Seq != 4 {
		t.Errorf("history = %+v, want another late line at the end", lines)
	}
}

func commitNoLateNote(t *testing.T, s engine.Store) {
	mustCreate(t, s, job("x"))
	in := mustLoad(t, s, "x")
	in.Version = 9
	mustDo(t, s, engine.Lost, move(in, "b"))
	silent := move(in, "b")
	silent.LateNote, silent.History = true, nil
	mustDo(t, s, engine.Lost, silent)
	if lines := mustHistory(t, s, "x"); len(lines) != 0 {
		t.Errorf("history = %+v, want none", lines)
	}
}
