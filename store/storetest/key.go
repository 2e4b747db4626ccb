package storetest

import (
	"testing"

	"github.com/pawl-dev/pawl/engine"
)

func keyClauses() []clause {
	return []clause{
		{"Key/HeldKeyGivesItsHolder", keyHeld},
		{"Key/FreedKeyGetsTheNextRun", keyFreed},
		{"Key/SameKeyTwiceInOneCallIsOne", keyTwice},
		{"Key/IsHeldWhenFormerRunsAreGone", keyFormerGone},
		{"Key/WorkflowsHaveTheirOwn", keyPerWorkflow},
		{"Key/IsHeldBeyondTheEndUnlessFreed", keyHeldByEnded},
		{"Key/ReclaimTakesItAgain", keyReclaim},
		{"Key/ReclaimIsTakenIfANewerRunHasIt", keyTaken},
		{"Key/ReclaimOfAnOlderRunHoldsIt", keyReclaimOld},
		{"Key/ReclaimOfAStaleVersionIsLost", keyReclaimStale},
		{"Key/LostFreeFreesNothing", keyLostFree},
	}
}

func keyHeld(t *testing.T, s engine.Store) {
	mustCreate(t, s, keyed("k"))
	got := mustInsert(t, s, keyed("k"))[0]
	if got.Created || got.Instance.ID != "flow/k" || got.Instance.Run != 1 {
		t.Errorf("Insert of a held key = %+v, want run 1, not created", got)
	}
}

// mustFree ends the instance and gives its key back.
func mustFree(t *testing.T, s engine.Store, id string) {
	t.Helper()
	tr := finish(mustLoad(t, s, id))
	tr.Free = true
	mustDo(t, s, engine.Done, tr)
}

func keyFreed(t *testing.T, s engine.Store) {
	mustCreate(t, s, keyed("k"))
	for run := 2; run <= 12; run++ { // 9 and 10 tell numbers from texts
		mustFree(t, s, engine.InstanceID("flow", "k", run-1))
		got := mustInsert(t, s, keyed("k"))[0]
		want := engine.InstanceID("flow", "k", run)
		if !got.Created || got.Instance.Run != run || got.Instance.ID != want {
			t.Fatalf("Insert of a freed key = %+v, want %s created", got, want)
		}
		if in := mustLoad(t, s, want); in.Run != run || in.Key != "k" {
			t.Fatalf("run %d is stored as run %d of key %q", run, in.Run, in.Key)
		}
	}
}

func keyTwice(t *testing.T, s engine.Store) {
	got := mustInsert(t, s, keyed("k"), keyed("k"))
	if !got[0].Created || got[1].Created || got[1].Instance.ID != "flow/k" {
		t.Errorf("Insert(k, k) = %+v, want the second to find the first", got)
	}
	mustFree(t, s, "flow/k")
	got = mustInsert(t, s, keyed("k"), keyed("k"))
	if !got[0].Created || got[1].Created || got[1].Instance.ID != "flow/k~2" {
		t.Errorf("Insert(k, k) of a freed key = %+v, want the second to find the first", got)
	}
}

func keyFormerGone(t *testing.T, s engine.Store) {
	mustCreate(t, s, keyed("k"))
	tr := finish(mustLoad(t, s, "flow/k"))
	tr.Free, tr.Instance.ExpireAt = true, start
	mustDo(t, s, engine.Done, tr)
	mustCreate(t, s, keyed("k"))
	if n := mustPurge(t, s, start, 10); n != 1 {
		t.Fatalf("Purge = %d, want the first run", n)
	}
	if got := mustInsert(t, s, keyed("k"))[0]; got.Created || got.Instance.ID != "flow/k~2" {
		t.Errorf("Insert = %+v, want run 2, which holds the key", got)
	}
	mustFree(t, s, "flow/k~2")
	if got := mustInsert(t, s, keyed("k"))[0]; !got.Created || got.Instance.ID != "flow/k~3" {
		t.Errorf("Insert = %+v, want run 3", got)
	}
}

func keyPerWorkflow(t *testing.T, s engine.Store) {
	mustCreate(t, s, keyed("k"), keyed("k", func(in *engine.Instance) {
		in.Workflow, in.ID = "other", engine.InstanceID("other", "k", 1)
	}))
}

func keyHeldByEnded(t *testing.T, s engine.Store) {
	mustCreate(t, s, keyed("k"))
	mustDo(t, s, engine.Done, finish(mustLoad(t, s, "flow/k")))
	if got := mustInsert(t, s, keyed("k"))[0]; got.Created || got.Instance.Status != engine.Succeeded {
		t.Errorf("Insert = %+v, want the ended instance that has the key", got)
	}
}

func keyReclaim(t *testing.T, s engine.Store) {
	mustCreate(t, s, keyed("k"))
	mustFree(t, s, "flow/k")
	tr := move(mustLoad(t, s, "flow/k"), "a")
	tr.Reclaim = true
	mustDo(t, s, engine.Done, tr)
	if got := mustInsert(t, s, keyed("k"))[0]; got.Created || got.Instance.ID != "flow/k" {
		t.Errorf("Insert of a reclaimed key = %+v, want its holder", got)
	}
}

func keyTaken(t *testing.T, s engine.Store) {
	mustCreate(t, s, keyed("k"))
	mustFree(t, s, "flow/k")
	mustCreate(t, s, keyed("k"))
	before := mustLoad(t, s, "flow/k")
	tr := move(before, "a")
	tr.Reclaim = true
	out := mustDo(t, s, engine.Taken, tr)
	if out.By != "flow/k~2" {
		t.Errorf("By = %q, want flow/k~2", out.By)
	}
	wantSame(t, "the instance whose key is taken", mustLoad(t, s, "flow/k"), before)
}

// The newest run is freed, an older one is retried: it holds the key, and the
// numbers go on from the newest.
func keyReclaimOld(t *testing.T, s engine.Store) {
	mustCreate(t, s, keyed("k"))
	mustFree(t, s, "flow/k")
	mustCreate(t, s, keyed("k"))
	mustFree(t, s, "flow/k~2")
	tr := move(mustLoad(t, s, "flow/k"), "a")
	tr.Reclaim = true
	mustDo(t, s, engine.Done, tr)
	if got := mustInsert(t, s, keyed("k"))[0]; got.Created || got.Instance.ID != "flow/k" {
		t.Errorf("Insert = %+v, want the older run that holds the key", got)
	}
	other := move(mustLoad(t, s, "flow/k~2"), "a")
	other.Reclaim = true
	if out := mustDo(t, s, engine.Taken, other); out.By != "flow/k" {
		t.Errorf("By = %q, want flow/k", out.By)
	}
	mustFree(t, s, "flow/k")
	if got := mustInsert(t, s, keyed("k"))[0]; !got.Created || got.Instance.ID != "flow/k~3" {
		t.Errorf("Insert = %+v, want run 3", got)
	}
}

func keyReclaimStale(t *testing.T, s engine.Store) {
	mustCreate(t, s, keyed("k"))
	mustFree(t, s, "flow/k")
	mustCreate(t, s, keyed("k"))
	tr := move(mustLoad(t, s, "flow/k"), "a")
	tr.Reclaim = true
	tr.Instance.Version--
	tr.Token = "another call"
	mustDo(t, s, engine.Lost, tr)
}

func keyLostFree(t *testing.T, s engine.Store) {
	mustCreate(t, s, keyed("k"))
	tr := finish(mustLoad(t, s, "flow/k"))
	tr.Free = true
	tr.Instance.Version += 7
	mustDo(t, s, engine.Lost, tr)
	if got := mustInsert(t, s, keyed("k"))[0]; got.Created {
		t.Errorf("Insert = %+v, want the key to be held", got)
	}
}
