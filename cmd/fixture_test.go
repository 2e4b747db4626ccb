package pawlcmd_test

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"github.com/pawl-dev/pawl/engine"
	"github.com/pawl-dev/pawl/store/sqlitestore"
)

// scene is a store in which instances of pr-merge are in all situations that
// an operator may meet.
type scene struct {
	store *sqlitestore.Store
	token int
}

// openScene starts the instances by the command line and then writes what
// ticks would have written, so that times, workers and durations are fixed.
func openScene(t *testing.T, c *cli) {
	t.Helper()
	began := at(4001)
	c.opts.Clock = func() time.Time { return began }
	for _, pr := range []string{"42", "41", "43", "44", "45", "46", "47"} {
		c.must(t, "start", "pr-merge", "--input", prInput(pr, "0123456789abcdef0123456789abcdef01234567"))
		began = at(60)
	}
	c.opts.Clock = noon
	st, err := sqlitestore.Open(t.Context(), filepath.Join(c.dir, "pawl.db"), sqlitestore.Options{Clock: noon})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = st.Close() })
	s := &scene{store: st}
	s.succeeded(t, "pr-merge/41")
	s.indexFailed(t, "pr-merge/42")
	s.outage(t, "pr-merge/43")
	s.leased(t, "pr-merge/44")
	s.queued(t, "pr-merge/45")
	s.parked(t, "pr-merge/46")
	// 47 is new
}

// worldRepo is the id of the repository that all pull requests are of.
const worldRepo = "org/app"

func prInput(pr, head string) string {
	return fmt.Sprintf(`{"pr_id":%q,"repo_id":%q,"base":"main","head_sha":%q,"requested_by":"ada"}`, pr, worldRepo, head)
}

// at is a time of the scene, in seconds before noon.
func at(seconds int) time.Time { return noon().Add(-time.Duration(seconds) * time.Second) }

// write commits what change makes of the instance, with a line of history.
func (s *scene) write(t *testing.T, id string, h engine.History, change func(in *engine.Instance)) {
	t.Helper()
	in, err := s.store.Load(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	h.From, h.Actor = in.State, "worker-1"
	in.LeaseOwner, in.LeaseUntil = "", time.Time{}
	in.UpdatedAt = h.At
	change(&in)
	if h.To == "" {
		h.To = in.State
	}
	if in.State != h.From {
		in.EnteredAt = h.At
	}
	s.token++
	out, err := s.store.Commit(t.Context(), noon(), []engine.Transition{{
		Instance: in, History: &h, Token: fmt.Sprint(s.token),
	}})
	if err != nil || out[0].Result != engine.Done {
		t.Fatalf("write %s: %+v, %v", id, out, err)
	}
}

// pass moves an instance through a state whose step succeeded.
func (s *scene) pass(t *testing.T, id, to, step string, seconds int, took time.Duration) {
	t.Helper()
	s.write(t, id, engine.History{At: at(seconds), Reason: engine.ReasonDone, Attempt: 1, Duration: took}, func(in *engine.Instance) {
		in.State, in.Step, in.DueAt = to, step, at(seconds)
		in.Attempt, in.Failures = 0, 0
	})
}

func (s *scene) succeeded(t *testing.T, id string) {
	t.Helper()
	s.pass(t, id, "MERGING", "git.merge", 50, 120*time.Millisecond)
	s.pass(t, id, "NOTIFYING", "watchers.notify", 48, 1900*time.Millisecond)
	s.pass(t, id, "INDEXING", "search.index", 48, 3*time.Millisecond)
	s.write(t, id, engine.History{At: at(45), Reason: engine.ReasonDone, Attempt: 1, Duration: 2500 * time.Millisecond}, func(in *engine.Instance) {
		in.State, in.Status, in.Step, in.DueAt = "MERGED", engine.Succeeded, "", time.Time{}
		in.EndedAt, in.ExpireAt = at(45), at(45).Add(30*24*time.Hour)
		in.With, in.Output = nil, json.RawMessage(`{"id":634866135153775564}`)
	})
}

func (s *scene) indexFailed(t *testing.T, id string) {
	t.Helper()
	const text = `index "org/app" at 0123456: cannot open the index at /srv/index: it is a plain file; move it away`
	s.pass(t, id, "MERGING", "git.merge", 4000, 120*time.Millisecond)
	s.pass(t, id, "NOTIFYING", "watchers.notify", 3990, 1900*time.Millisecond)
	s.pass(t, id, "INDEXING", "search.index", 3990, 3*time.Millisecond)
	for i, seconds := range []int{3990, 3985, 3975} {
		s.write(t, id, engine.History{
			At: at(seconds), Reason: engine.ReasonRetry, Attempt: i + 1, Code: "failed", Message: text, Duration: 40 * time.Millisecond,
		}, func(in *engine.Instance) {
			in.Attempt, in.Failures, in.Code, in.Message = i+1, i+1, "failed", text
		})
	}
	s.write(t, id, engine.History{
		At: at(3700), Reason: engine.ReasonFailed, Attempt: 8, Code: "timeout", Message: "the attempt timed out after 45s",
		FailedState: "INDEXING", Duration: 45 * time.Second,
	}, func(in *engine.Instance) {
		in.State, in.Status, in.Step, in.DueAt = "MERGE_FAILED", engine.Failed, "", time.Time{}
		in.Attempt, in.Failures, in.Doubt = 8, 8, true
		in.FailedState, in.Code, in.Message = "INDEXING", "timeout", "the attempt timed out after 45s"
		in.EndedAt = at(3700)
		in.With = json.RawMessage(`{"repo_id":"org/app","sha":"89abcdef0123456789abcdef0123456789abcdef"}`)
		in.Data = json.RawMessage(`{"moves":4,"pivot":true,"with_of":"INDEXING","visits":{"INDEXING":1},"outputs":{"MERGING":{"merge_sha":"8f14e45fceea167a5a36dedd4bea2543"}}}`) // as the engine writes it
	})
}

// outage has made more attempts than count.
func (s *scene) outage(t *testing.T, id string) {
	t.Helper()
	s.write(t, id, engine.History{
		At: at(30), Reason: engine.ReasonDown, Attempt: 7, Code: "failed", Message: "ci.example.org: connection refused\nsecond line",
		Duration: 12 * time.Millisecond,
	}, func(in *engine.Instance) {
		in.Attempt, in.Failures, in.Code, in.Message = 7, 2, "failed", "ci.example.org: connection refused\nsecond line"
		in.DueAt = noon().Add(90 * time.Second)
	})
}

func (s *scene) leased(t *testing.T, id string) {
	t.Helper()
	s.pass(t, id, "MERGING", "git.merge", 5, 120*time.Millisecond)
	s.write(t, id, engine.History{
		At: at(4), Reason: engine.ReasonRetry, Attempt: 1, Code: "unknown", Message: "git was killed", Duration: time.Second,
	}, func(in *engine.Instance) {
		in.Attempt, in.Failures, in.Doubt, in.Code, in.Message = 2, 1, true, "unknown", "git was killed"
		in.LeaseOwner, in.LeaseUntil, in.DueAt = "worker-1", noon().Add(16*time.Second), noon().Add(16*time.Second)
	})
}

func (s *scene) queued(t *testing.T, id string) {
	t.Helper()
	s.write(t, id, engine.History{At: at(3), Reason: engine.ReasonDone, Attempt: 1, Duration: 80 * time.Millisecond}, func(in *engine.Instance) {
		in.State, in.Status, in.Step, in.DueAt = "MERGING", engine.Queued, "git.merge", in.DeadlineAt
		in.Attempt = 0
	})
}

func (s *scene) parked(t *testing.T, id string) {
	t.Helper()
	const note = "definition missing: version 1 of pr-merge is neither in this program nor in the store"
	s.write(t, id, engine.History{At: at(2), Reason: engine.ReasonParked, Message: note}, func(in *engine.Instance) {
		in.Status, in.Step, in.DueAt, in.Note = engine.Parked, "", time.Time{}, note
	})
}
