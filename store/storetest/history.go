package storetest

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-dev/pawl/engine"
)

func historyClauses() []clause {
	return []clause{
		{"History/EveryFieldComesBack", historyFields},
		{"History/NumbersHaveNoGaps", historyGapless},
		{"History/ComesInPages", historyPages},
		{"History/OfANewInstanceIsEmpty", historyEmpty},
		{"History/MissingIsErrNotFound", historyMissing},
	}
}

func historyFields(t *testing.T, s engine.Store) {
	mustCreate(t, s, job("x"))
	tr := move(mustClaimOne(t, s, start, "w"), "b")
	want := engine.History{
		Seq: 1, At: start.Add(time.Microsecond), From: "a", To: "b", Reason: engine.ReasonCaught, Attempt: 3,
		Code: "code", Message: "it \"said\" 'no'\nü", FailedState: "a", Duration: 1234567 * time.Microsecond, Actor: "w",
	}
	line := want
	line.Seq, line.At = 99, want.At.In(time.FixedZone("west", -5*3600))
	tr.History = &line
	mustDo(t, s, engine.Done, tr)
	if diff := cmp.Diff([]engine.History{want}, mustHistory(t, s, "x")); diff != "" {
		t.Errorf("history differs (-want +got):\n%s", diff)
	}
}

// mustStory writes n lines of an instance, with claims and silent transitions
// in between.
func mustStory(t *testing.T, s engine.Store, id string, n int) {
	t.Helper()
	mustCreate(t, s, job(id))
	for i := range n {
		if i%3 == 0 {
			mustClaim(t, s, claimAt(start, "w", "do.a"))
		}
		in := mustLoad(t, s, id)
		if i%5 == 0 {
			silent := move(in, "a")
			silent.History = nil
			in.Version = mustDo(t, s, engine.Done, silent).Version
		}
		tr := move(in, "a")
		tr.History.Message = fmt.Sprint("line ", i+1)
		mustDo(t, s, engine.Done, tr)
	}
}

func historyGapless(t *testing.T, s engine.Store) {
	mustStory(t, s, "other", 3)
	mustStory(t, s, "x", 40)
	lines := mustHistory(t, s, "x")
	if len(lines) != 40 {
		t.Fatalf("%d lines, want 40", len(lines))
	}
	for i, l := range lines {
		if l.Seq != int64(i+1) || l.Message != fmt.Sprint("line ", i+1) {
			t.Errorf("line %d = %d %q", i+1, l.Seq, l.Message)
		}
	}
}

func historyPages(t *testing.T, s engine.Store) {
	mustStory(t, s, "x", 25)
	var got []engine.History
	for range 10 { // bounded
		after := int64(len(got))
		page, err := s.History(t.Context(), "x", after, 10)
		if err != nil {
			t.Fatal(err)
		}
		if len(page) == 0 {
			break
		}
		got = append(got, page...)
		if after == 10 { // lines that come in the meantime come at the end
			mustDo(t, s, engine.Done, move(mustLoad(t, s, "x"), "a"))
		}
	}
	if diff := cmp.Diff(mustHistory(t, s, "x"), got); diff != "" || len(got) != 26 {
		t.Errorf("%d lines in pages, want 26, the same as at once (-want +got):\n%s", len(got), diff)
	}
}

func historyEmpty(t *testing.T, s engine.Store) {
	mustCreate(t, s, job("x"))
	if lines := mustHistory(t, s, "x"); len(lines) != 0 {
		t.Errorf("history = %+v, want none", lines)
	}
}

func historyMissing(t *testing.T, s engine.Store) {
	if _, err := s.History(t.Context(), "nobody", 0, 10); !errors.Is(err, engine.ErrNotFound) {
		t.Errorf("History = %v, want ErrNotFound", err)
	}
}
