package sqlitestore_test

import (
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"github.com/pawl-dev/pawl/engine"
	"github.com/pawl-dev/pawl/store/sqlitestore"
)

const batch = 100

// BenchmarkInsert, BenchmarkClaim and BenchmarkCommit do a batch of 100 per
// operation; us/row is the cost of one row in it.
func BenchmarkInsert(b *testing.B) {
	s := mustOpen(b, sqlitestore.Options{})
	for i := 0; b.Loop(); i++ {
		mustInsert(b, s, sagas(i*batch))
	}
	perRow(b)
}

func BenchmarkClaim(b *testing.B) {
	s := mustOpen(b, sqlitestore.Options{})
	for i := 0; b.Loop(); i++ {
		b.StopTimer()
		mustInsert(b, s, sagas(i*batch))
		b.StartTimer()
		claimBatch(b, s)
	}
	perRow(b)
}

func BenchmarkCommit(b *testing.B) {
	s := mustOpen(b, sqlitestore.Options{})
	mustInsert(b, s, sagas(0))
	ins := claimBatch(b, s)
	for i := 0; b.Loop(); i++ {
		commitBatch(b, s, ins, fmt.Sprintf("step%d", i%4))
	}
	perRow(b)
}

// BenchmarkSaga does 100 sagas of four steps per operation: an insert, a claim
// and four commits of each.
func BenchmarkSaga(b *testing.B) {
	for _, mode := range []string{"FULL", "NORMAL"} {
		b.Run(mode, func(b *testing.B) {
			s := mustOpen(b, sqlitestore.Options{Synchronous: mode})
			for i := 0; b.Loop(); i++ {
				mustInsert(b, s, sagas(i*batch))
				ins := claimBatch(b, s)
				for step := range 3 {
					commitBatch(b, s, ins, fmt.Sprintf("step%d", step))
				}
				endBatch(b, s, ins)
			}
			perRow(b)
		})
	}
}

// BenchmarkIdle looks for work where nothing is due.
func BenchmarkIdle(b *testing.B) {
	for _, sleepers := range []int{0, 10_000} {
		b.Run(fmt.Sprint(sleepers), func(b *testing.B) {
			s := mustOpen(b, sqlitestore.Options{Synchronous: "NORMAL"})
			for i := 0; i < sleepers; i += batch {
				in := sagas(i)
				for j := range in {
					in[j].Instance.DueAt = epoch.Add(24 * time.Hour)
				}
				mustInsert(b, s, in)
			}
			for b.Loop() {
				if got, err := s.Claim(b.Context(), claimRequest()); err != nil || len(got.Instances) > 0 {
					b.Fatalf("Claim = %d instances, %v, want none", len(got.Instances), err)
				}
			}
		})
	}
}

var epoch = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

func mustOpen(tb testing.TB, o sqlitestore.Options) *sqlitestore.Store {
	tb.Helper()
	return mustOpenFile(tb, filepath.Join(tb.TempDir(), "pawl.db"), o)
}

func mustOpenFile(tb testing.TB, file string, o sqlitestore.Options) *sqlitestore.Store {
	tb.Helper()
	s, err := sqlitestore.Open(tb.Context(), file, o)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { _ = s.Close() })
	return s
}

func sagas(from int) []engine.New {
	out := make([]engine.New, batch)
	for i := range out {
		key := fmt.Sprintf("pr-%09d", from+i)
		out[i] = engine.New{Instance: engine.Instance{
			ID: engine.InstanceID("pr-merge", key, 1), Workflow: "pr-merge", Key: key, Run: 1,
			DefVersion: 1, DefHash: "0123456789abcdef0123456789abcdef",
			State: "step0", Status: engine.Running, Step: "step0",
			StartedAt: epoch, EnteredAt: epoch, UpdatedAt: epoch, DueAt: epoch,
			Input: []byte(`{"repo_id":"org/repo","number":42,"head_sha":"0123456789012345678901234567890123456789"}`),
			With:  []byte(`{"repo_id":"org/repo","head_sha":"0123456789012345678901234567890123456789"}`),
			Data:  []byte(`{}`),
		}}
	}
	return out
}

func mustInsert(tb testing.TB, s *sqlitestore.Store, in []engine.New) {
	tb.Helper()
	out, err := s.Insert(tb.Context(), epoch, in)
	if err != nil {
		tb.Fatal(err)
	}
	for i := range out {
		if !out[i].Created {
			tb.Fatalf("Insert(%q) created nothing", in[i].Instance.ID)
		}
	}
}

func claimRequest() engine.ClaimRequest {
	req := engine.ClaimRequest{Owner: "worker-1", Now: epoch, Until: epoch.Add(20 * time.Second), Limit: batch}
	for i := range 4 {
		req.Steps = append(req.Steps, engine.StepLimit{Step: fmt.Sprintf("step%d", i), Limit: batch})
	}
	return req
}

func claimBatch(tb testing.TB, s *sqlitestore.Store) []engine.Instance {
	tb.Helper()
	got, err := s.Claim(tb.Context(), claimRequest())
	if err != nil || len(got.Instances) != batch {
		tb.Fatalf("Claim = %d instances, %v, want %d", len(got.Instances), err, batch)
	}
	return got.Instances
}

func commitBatch(tb testing.TB, s *sqlitestore.Store, ins []engine.Instance, to string) {
	tb.Helper()
	commitAll(tb, s, ins, func(in *engine.Instance) {
		in.State, in.Step, in.Attempt = to, to, 1
		in.Data = []byte(`{"validate":{"ok":true},"merge":{"sha":"0123456789012345678901234567890123456789"}}`)
	})
}

func endBatch(tb testing.TB, s *sqlitestore.Store, ins []engine.Instance) {
	tb.Helper()
	commitAll(tb, s, ins, func(in *engine.Instance) {
		in.State, in.Step, in.Status = "done", "", engine.Succeeded
		in.LeaseUntil, in.DueAt, in.With = time.Time{}, time.Time{}, nil
		in.EndedAt, in.ExpireAt = epoch, epoch.Add(30*24*time.Hour)
		in.Output = []byte(`{"merge_sha":"0123456789012345678901234567890123456789"}`)
	})
}

func commitAll(tb testing.TB, s *sqlitestore.Store, ins []engine.Instance, change func(*engine.Instance)) {
	tb.Helper()
	tr := make([]engine.Transition, len(ins))
	for i := range ins {
		from := ins[i].State
		change(&ins[i])
		tr[i] = engine.Transition{Instance: ins[i], Token: "0123456789abcdef", History: &engine.History{
			At: epoch, From: from, To: ins[i].State, Reason: engine.ReasonDone, Attempt: 1,
			Duration: 1234 * time.Microsecond, Actor: "worker-1",
		}}
	}
	out, err := s.Commit(tb.Context(), epoch, tr)
	if err != nil {
		tb.Fatal(err)
	}
	for i := range out {
		if out[i].Result != engine.Done {
			tb.Fatalf("Commit = %+v, want done", out[i])
		}
		ins[i].Version = out[i].Version
	}
}

// perRow reports the time of one row of the batches.
func perRow(b *testing.B) {
	b.Helper()
	b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N*batch), "us/row")
}
