package engine_test

import (
	"context"
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/pawl-dev/pawl/engine"
	"github.com/pawl-dev/pawl/internal/sqlcount"
	"github.com/pawl-dev/pawl/store/sqlitestore"
)

// four is the saga of four steps that the targets of cost are stated for.
const four = `pawl: 1
workflow: four
version: 1
input: {id: string}
instance_key: ${{ input.id }}
on_failure: {policy: mark_failed, to: FAILED}
start: VALIDATING
states:
  VALIDATING: {step: noop, next: MERGING}
  MERGING: {step: noop, irreversible: true, next: NOTIFYING}
  NOTIFYING: {step: noop, next: INDEXING}
  INDEXING: {step: noop, next: MERGED}
  MERGED: {end: succeeded}
  FAILED: {end: failed}
`

// counted is a world whose statements are counted at the driver.
func counted(tb testing.TB) (*world, *sqlcount.Counter) {
	tb.Helper()
	w := newWorld(tb)
	c := &sqlcount.Counter{}
	w.store = w.openStore(sqlitestore.Options{Clock: w.clock.Now, Wrap: c.Wrap})
	engine.Register(&w.reg, "noop", func(context.Context, engine.Call[json.RawMessage]) (struct{}, error) {
		return struct{}{}, nil
	}, engine.Handler{})
	w.open(four)
	return w, c
}

func startMany(tb testing.TB, w *world, prefix string, n int) {
	tb.Helper()
	reqs := make([]engine.StartRequest, n)
	for i := range reqs {
		reqs[i] = engine.StartRequest{Workflow: "four", Input: json.RawMessage(fmt.Sprintf(`{"id":"%s-%07d"}`, prefix, i))}
	}
	if _, err := w.eng.StartBatch(context.Background(), reqs); err != nil {
		tb.Fatal(err)
	}
}

// An idle tick is one read and no write, with sleepers and without.
func TestIdleTickIsOneRead(t *testing.T) {
	w, c := counted(t)
	w.tick() // the first one prepares
	idle := func(when string) {
		t.Helper()
		before := c.Counts()
		w.tick()
		if got, want := c.Counts().Sub(before), (sqlcount.Counts{sqlcount.Query: 1}); got != want {
			t.Errorf("%s: %v (query, exec, begin, commit, rollback), want %v", when, got, want)
		}
	}
	idle("an empty store")
	startMany(t, w, "done", 10)
	w.tick()
	idle("ended instances")
	startMany(t, w, "asleep", 100)
	w.clock.Advance(-time.Hour)
	idle("sleeping instances")
}

// A lone saga of four steps is one start, one claim and four commits, all in
// one tick: it does not wait for a tick per step. S2.
func TestLoneSagaIsSixCommits(t *testing.T) {
	w, c := counted(t)
	w.tick()
	before := c.Counts()
	id := w.start("four", "1")
	w.tick()
	if in := w.load(id); in.State != "MERGED" {
		t.Fatalf("state %s", in.State)
	}
	got := c.Counts().Sub(before)
	if got[sqlcount.Begin] != 6 || got[sqlcount.Commit] != 6 {
		t.Errorf("%d transactions and %d commits, want 6", got[sqlcount.Begin], got[sqlcount.Commit])
	}
}

// Under load the commits are shared.
func TestLoadSharesCommits(t *testing.T) {
	w, c := counted(t)
	w.tick()
	const n = 2000
	before := c.Counts()
	startMany(t, w, "load", n)
	if r := w.tick(); r.Succeeded != n {
		t.Fatalf("%d succeeded, want %d", r.Succeeded, n)
	}
	commits := c.Counts().Sub(before)[sqlcount.Commit]
	t.Logf("%.3f commits per saga", float64(commits)/n)
	if commits > n/5 {
		t.Errorf("%d commits for %d sagas, want at most 0.2 each", commits, n)
	}
}
