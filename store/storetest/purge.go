package storetest

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/pawl-dev/pawl/engine"
)

func purgeClauses() []clause {
	return []clause{
		{"Purge/IsBounded", purgeBounded},
		{"Purge/TakesOnlyWhatHasExpired", purgeExpired},
		{"Purge/TakesAllThatBelongsToIt", purgeAll},
		{"Purge/GivesKeysBack", purgeKeys},
	}
}

func expireAt(at time.Time) func(*engine.Instance) {
	return func(in *engine.Instance) { in.ExpireAt = at }
}

func mustPurge(t *testing.T, s engine.Store, now time.Time, limit int) int {
	t.Helper()
	n, err := s.Purge(t.Context(), now, limit)
	if err != nil {
		t.Fatalf("Purge: %v", err)
	}
	return n
}

func purgeBounded(t *testing.T, s engine.Store) {
	var all []engine.New
	for i := range 25 {
		all = append(all, job(fmt.Sprint("x", i), expireAt(start)))
	}
	mustCreate(t, s, all...)
	left := 25
	for _, want := range []int{12, 12, 1, 0} {
		if n := mustPurge(t, s, start, 12); n != want {
			t.Errorf("Purge = %d, want %d", n, want)
		}
		left -= want
		if got := mustList(t, s, engine.Filter{}); len(got) != left {
			t.Errorf("%d instances are left, want %d", len(got), left)
		}
	}
}

func purgeExpired(t *testing.T, s engine.Store) {
	mustCreate(t, s, job("never"), job("later", expireAt(start.Add(time.Microsecond))), job("now", expireAt(start)))
	if n := mustPurge(t, s, start, 10); n != 1 {
		t.Errorf("Purge = %d, want 1", n)
	}
	mustLoad(t, s, "never")
	mustLoad(t, s, "later")
	if _, err := s.Load(t.Context(), "now"); !errors.Is(err, engine.ErrNotFound) {
		t.Errorf("Load of what has expired = %v, want ErrNotFound", err)
	}
}

func purgeAll(t *testing.T, s engine.Store) {
	mustCreate(t, s, keyed("k"))
	tr := finish(mustLoad(t, s, "flow/k"))
	tr.Instance.ExpireAt = start
	mustDo(t, s, engine.Done, tr)
	mustPurge(t, s, start, 10)
	if _, err := s.History(t.Context(), "flow/k", 0, 10); !errors.Is(err, engine.ErrNotFound) {
		t.Errorf("History = %v, want ErrNotFound", err)
	}
	mustCreate(t, s, keyed("k"))
	if in := mustLoad(t, s, "flow/k"); in.Run != 1 {
		t.Errorf("the key starts with run %d, want 1", in.Run)
	}
	if lines := mustHistory(t, s, "flow/k"); len(lines) != 0 {
		t.Errorf("the new instance has the history of the old one: %+v", lines)
	}
}

func purgeKeys(t *testing.T, s engine.Store) {
	mustCreate(t, s, needing("a", "k", "l"), needing("b", "k"), needing("c", "l"))
	in := mustLoad(t, s, "a")
	in.ExpireAt = start
	mustDo(t, s, engine.Done, engine.Transition{Instance: in})
	wantQueued(t, s, []string{"b", "c"}, "b", "c")
	mustPurge(t, s, start, 10)
	wantQueued(t, s, []string{"b", "c"})
}
