package storetest

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-dev/pawl/engine"
)

// start is when the clauses begin: exact to the microsecond, as stores are.
var start = time.Date(2026, time.January, 2, 3, 4, 5, 678_901_000, time.UTC)

// leaseTime is how long the claims of the clauses last.
const leaseTime = 20 * time.Second

// job returns an instance without a key that is due at start.
func job(id string, change ...func(*engine.Instance)) engine.New {
	in := engine.Instance{
		ID: id, Workflow: "flow", DefVersion: 1, DefHash: "hash",
		State: "a", Status: engine.Running, Step: "do.a",
		DueAt: start, StartedAt: start, EnteredAt: start, UpdatedAt: start,
		Input: []byte(`{"n":1}`), With: []byte(`{"n":1}`), Data: []byte(`{}`),
	}
	for _, f := range change {
		f(&in)
	}
	return engine.New{Instance: in}
}

// keyed returns the first instance of a key.
func keyed(key string, change ...func(*engine.Instance)) engine.New {
	return job(engine.InstanceID("flow", key, 1), append([]func(*engine.Instance){func(in *engine.Instance) {
		in.Key, in.Run = key, 1
	}}, change...)...)
}

func dueAt(at time.Time) func(*engine.Instance) {
	return func(in *engine.Instance) { in.DueAt = at }
}

func atStep(step string) func(*engine.Instance) {
	return func(in *engine.Instance) { in.Step = step }
}

// move returns the transition of in to state, where it is due at once and free.
func move(in engine.Instance, state string) engine.Transition {
	from := in.State
	actor := in.LeaseOwner
	if actor == "" {
		actor = "operator"
	}
	line := &engine.History{
		At: start, From: from, To: state, Reason: engine.ReasonDone, Attempt: in.Attempt,
		Duration: 1500 * time.Microsecond, Actor: actor,
	}
	in.State, in.Step = state, "do."+state
	in.Attempt, in.Failures, in.Doubt = 0, 0, false
	in.DueAt, in.LeaseOwner, in.LeaseUntil = start, "", time.Time{}
	in.EnteredAt, in.UpdatedAt = start, start
	return engine.Transition{Instance: in, History: line, Token: fmt.Sprintf("%s %s %d", in.ID, actor, in.Version)}
}

// finish returns the transition of in to its end.
func finish(in engine.Instance) engine.Transition {
	tr := move(in, "done")
	tr.Instance.Step, tr.Instance.Status = "", engine.Succeeded
	tr.Instance.DueAt, tr.Instance.EndedAt = time.Time{}, start
	tr.Instance.Output = []byte(`{"ok":true}`)
	return tr
}

func mustInsert(t *testing.T, s engine.Store, in ...engine.New) []engine.Started {
	t.Helper()
	out, err := s.Insert(t.Context(), start, in)
	if err != nil {
		t.Fatalf("Insert: %v", err)
	}
	if len(out) != len(in) {
		t.Fatalf("Insert of %d gives %d results", len(in), len(out))
	}
	return out
}

// mustCreate inserts and fails unless everything was created.
func mustCreate(t *testing.T, s engine.Store, in ...engine.New) {
	t.Helper()
	for i, st := range mustInsert(t, s, in...) {
		if !st.Created || st.Refused != "" {
			t.Fatalf("Insert(%q) = %+v, want it created", in[i].Instance.ID, st)
		}
	}
}

// claimAt asks for instances of the steps, ten at most of each.
func claimAt(now time.Time, owner string, steps ...string) engine.ClaimRequest {
	req := engine.ClaimRequest{Owner: owner, Now: now, Until: now.Add(leaseTime), Limit: 1000}
	for _, step := range steps {
		req.Steps = append(req.Steps, engine.StepLimit{Step: step, Limit: 1000})
	}
	return req
}

func mustClaim(t *testing.T, s engine.Store, req engine.ClaimRequest) []engine.Instance {
	t.Helper()
	got, err := s.Claim(t.Context(), req)
	if err != nil {
		t.Fatalf("Claim: %v", err)
	}
	return got.Instances
}

// mustClaimOne claims the only instance that is due at a step do.a.
func mustClaimOne(t *testing.T, s engine.Store, now time.Time, owner string) engine.Instance {
	t.Helper()
	got := mustClaim(t, s, claimAt(now, owner, "do.a"))
	if len(got) != 1 {
		t.Fatalf("Claim by %s = %v, want one instance", owner, ids(got))
	}
	return got[0]
}

func mustCommit(t *testing.T, s engine.Store, tr ...engine.Transition) []engine.Outcome {
	t.Helper()
	out, err := s.Commit(t.Context(), start, tr)
	if err != nil {
		t.Fatalf("Commit: %v", err)
	}
	if len(out) != len(tr) {
		t.Fatalf("Commit of %d gives %d outcomes", len(tr), len(out))
	}
	return out
}

// mustDo commits and fails unless the result is want.
func mustDo(t *testing.T, s engine.Store, want engine.CommitResult, tr engine.Transition) engine.Outcome {
	t.Helper()
	out := mustCommit(t, s, tr)[0]
	if out.Result != want {
		t.Fatalf("Commit of %q at version %d = %+v, want %s", tr.Instance.ID, tr.Instance.Version, out, want)
	}
	return out
}

func mustLoad(t *testing.T, s engine.Store, id string) engine.Instance {
	t.Helper()
	in, err := s.Load(t.Context(), id)
	if err != nil {
		t.Fatalf("Load(%q): %v", id, err)
	}
	return in
}

func mustHistory(t *testing.T, s engine.Store, id string) []engine.History {
	t.Helper()
	lines, err := s.History(t.Context(), id, 0, 1000)
	if err != nil {
		t.Fatalf("History(%q): %v", id, err)
	}
	return lines
}

func ids(in []engine.Instance) []string {
	out := make([]string, len(in))
	for i := range in {
		out[i] = in[i].ID
	}
	return out
}

func wantIDs(t *testing.T, what string, in []engine.Instance, want ...string) {
	t.Helper()
	if got := ids(in); !cmp.Equal(got, want) && len(got)+len(want) > 0 {
		t.Errorf("%s = %q, want %q", what, got, want)
	}
}

// wantSame compares instances in all fields.
func wantSame(t *testing.T, what string, got, want engine.Instance) {
	t.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s differs (-want +got):\n%s", what, diff)
	}
}
