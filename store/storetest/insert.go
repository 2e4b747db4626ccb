package storetest

import (
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/pawl-dev/pawl/engine"
)

func insertClauses() []clause {
	return []clause{
		{"Insert/WhatWasStoredComesBack", insertComesBack},
		{"Insert/StartedIsAsStored", insertStarted},
		{"Insert/TakenIDGivesTheOneThatHasIt", insertTaken},
		{"Insert/SameIDTwiceInOneCallIsOne", insertTwice},
		{"Insert/RepeatCreatesNothing", insertRepeat},
		{"Insert/RaceOnOneIDCreatesOne", insertRace},
		{"Insert/NothingIsAnEmptyAnswer", insertNothing},
		{"Insert/WhatBeginsWithItIsThere", insertStarts},
		{"Insert/WhatBeginsWithItIsLeftAloneIfThere", insertStartsOnce},
		{"Insert/NothingBeginsWithWhatWasNotCreated", insertStartsNot},
		{"Load/MissingIsErrNotFound", loadMissing},
	}
}

// full returns an instance with something in every field that a start may set.
func full() engine.Instance {
	return engine.Instance{
		ID: "flow/full", Workflow: "flow", DefVersion: 7, DefHash: "sha256:abc", Key: "full", Run: 1,
		State: "a", Status: engine.Running, Step: "do.a", Version: 1,
		Attempt: 2, Failures: 1, Doubt: true, DueAt: start.Add(time.Second),
		Code: "busy", Message: "the \"other\" side", FailedState: "b", Note: "waits",
		StartedAt: start, EnteredAt: start.Add(1 * time.Microsecond), UpdatedAt: start.Add(2 * time.Microsecond),
		EndedAt: start.Add(3 * time.Hour), DeadlineAt: start.Add(4 * time.Hour), ExpireAt: start.Add(5 * time.Hour),
		Labels: map[string]string{"repo": "org/repo", "ü": "\"x\""},
		Input:  []byte(`{"in":1}`), With: []byte(`{"with":2}`), Data: []byte(`{"data":3}`), Output: []byte(`{"out":4}`),
	}
}

func insertComesBack(t *testing.T, s engine.Store) {
	want := full()
	mustCreate(t, s, engine.New{Instance: want})
	wantSame(t, "the full row", mustLoad(t, s, want.ID), want)

	bare := engine.Instance{ID: "bare", Workflow: "flow", State: "a", Status: engine.Running, StartedAt: start, Version: 1}
	mustCreate(t, s, engine.New{Instance: bare})
	wantSame(t, "the row with next to nothing", mustLoad(t, s, "bare"), bare)
}

func insertStarted(t *testing.T, s engine.Store) {
	n := keyed("1")
	n.Instance.StartedAt = start.Add(999 * time.Nanosecond).In(time.FixedZone("east", 3600))
	first := mustInsert(t, s, n)[0]
	wantSame(t, "Started of a new instance", first.Instance, mustLoad(t, s, n.Instance.ID))
	again := mustInsert(t, s, n)[0]
	if again.Created {
		t.Error("the second start says Created")
	}
	wantSame(t, "Started of a held key", again.Instance, mustLoad(t, s, n.Instance.ID))
}

func insertTaken(t *testing.T, s engine.Store) {
	mustCreate(t, s, job("x"))
	other := job("x")
	other.Instance.Input, other.Instance.State = []byte(`{"n":2}`), "b"
	got := mustInsert(t, s, other)[0]
	if got.Created || string(got.Instance.Input) != `{"n":1}` || got.Instance.State != "a" {
		t.Errorf("Insert of a taken id = %+v, want the first one, not created", got)
	}
}

func insertTwice(t *testing.T, s engine.Store) {
	got := mustInsert(t, s, job("x"), job("y"), job("x"))
	if !got[0].Created || !got[1].Created || got[2].Created || got[2].Instance.ID != "x" {
		t.Errorf("Insert(x, y, x) = %+v, want the last one to find the first", got)
	}
}

func insertRepeat(t *testing.T, s engine.Store) {
	var all []engine.New
	for i := range 50 {
		all = append(all, job(fmt.Sprint("job-", i)), keyed(fmt.Sprint("key-", i)))
	}
	mustCreate(t, s, all...)
	for i, got := range mustInsert(t, s, all...) {
		if got.Created || got.Instance.ID != all[i].Instance.ID {
			t.Fatalf("repeated Insert(%q) = %+v, want the same, not created", all[i].Instance.ID, got)
		}
	}
}

func insertRace(t *testing.T, s engine.Store) {
	const n = 8
	got := make([]engine.Started, n)
	errs := make([]error, n)
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() {
			out, err := s.Insert(t.Context(), start, []engine.New{job("plain"), keyed("k")})
			if err == nil {
				got[i] = out[1]
				got[i].Created = out[0].Created && out[1].Created
			}
			errs[i] = err
		})
	}
	wg.Wait()
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
	created := 0
	for _, st := range got {
		if st.Created {
			created++
		}
		if st.Instance.ID != "flow/k" {
			t.Errorf("a racing start got %q, want flow/k", st.Instance.ID)
		}
	}
	if created != 1 {
		t.Errorf("%d of %d racing starts created the instances, want 1", created, n)
	}
}

func insertNothing(t *testing.T, s engine.Store) {
	if out, err := s.Insert(t.Context(), start, nil); err != nil || len(out) != 0 {
		t.Errorf("Insert of nothing = %v, %v, want nothing", out, err)
	}
}

func insertStarts(t *testing.T, s engine.Store) {
	n := job("parent")
	n.Start = []engine.New{job("event-1"), keyed("event-2")}
	n.Start[0].Start = []engine.New{job("event-of-event")}
	mustCreate(t, s, n)
	for _, id := range []string{"parent", "event-1", "flow/event-2", "event-of-event"} {
		mustLoad(t, s, id)
	}
}

func insertStartsOnce(t *testing.T, s engine.Store) {
	mustCreate(t, s, job("event", func(in *engine.Instance) { in.State = "moved on" }))
	n := job("parent")
	n.Start = []engine.New{job("event"), job("other")}
	mustCreate(t, s, n)
	if in := mustLoad(t, s, "event"); in.State != "moved on" {
		t.Errorf("the event that was there is in state %q, want it left alone", in.State)
	}
	mustLoad(t, s, "other")
}

func insertStartsNot(t *testing.T, s engine.Store) {
	mustCreate(t, s, job("parent"))
	n := job("parent")
	n.Start = []engine.New{job("event")}
	mustInsert(t, s, n)
	if _, err := s.Load(t.Context(), "event"); !errors.Is(err, engine.ErrNotFound) {
		t.Errorf("Load of the event of a start that created nothing = %v, want ErrNotFound", err)
	}
}

func loadMissing(t *testing.T, s engine.Store) {
	if _, err := s.Load(t.Context(), "nobody"); !errors.Is(err, engine.ErrNotFound) {
		t.Errorf("Load = %v, want ErrNotFound", err)
	}
}
