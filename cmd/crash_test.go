package pawlcmd_test

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	pawlcmd "github.com/pawl-dev/pawl/cmd"
	"github.com/pawl-dev/pawl/engine"
	"github.com/pawl-dev/pawl/engine/definition"
	"github.com/pawl-dev/pawl/steps/queue/storequeue"
	"github.com/pawl-dev/pawl/store/sqlitestore"
	"github.com/pawl-dev/pawl/workflows"
)

// dying is a store whose n-th commit is the last thing that its process does:
// it is stored or not, and the engine gives up on it.
type dying struct {
	engine.Store
	mu     sync.Mutex
	left   int // commits until then; negative: never
	stored bool
}

func (d *dying) Commit(ctx context.Context, now time.Time, tr []engine.Transition) ([]engine.Outcome, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.left--
	if d.left != -1 {
		return d.Store.Commit(ctx, now, tr)
	}
	if d.stored {
		if _, err := d.Store.Commit(ctx, now, tr); err != nil {
			return nil, err
		}
	}
	return nil, engine.ErrSchema
}

// The process dies at each commit of a merge, before or after it is stored.
// The merge is done all the same, and exactly once: what had moved the branch
// is recognised, what had not is run. C11, S1.
func TestMergeSurvivesACrashAtEachCommit(t *testing.T) {
	for _, stored := range []bool{false, true} {
		for commit := range 4 {
			t.Run(fmt.Sprintf("Commit%dStored%t", commit, stored), func(t *testing.T) {
				t.Parallel()
				m := newMerge(t)
				m.store.left, m.store.stored = commit, stored
				m.tick(t)
				m.store.left = -1
				m.advance(21 * time.Second)
				in := m.settle(t)
				if in.State != "MERGED" {
					t.Fatalf("ended in %s: %s %s", in.State, in.Code, in.Message)
				}
				if n := git(t, m.w.repo(), "rev-list", "--merges", "--count", "main"); n != "1" {
					t.Errorf("%s merge commits, want 1", n)
				}
				want := []string{"VALIDATING>MERGING", "MERGING>NOTIFYING", "NOTIFYING>INDEXING", "INDEXING>MERGED"}
				if got := m.moves(t); !slices.Equal(got, want) {
					t.Errorf("moves %v, want %v", got, want)
				}
			})
		}
	}
}

// Indexing fails for good after the merge: nothing is rolled back, and the
// operator's retry runs indexing alone. C11.
func TestFailedIndexingKeepsTheMerge(t *testing.T) {
	t.Parallel()
	m := newMerge(t)
	index := filepath.Join(m.w.dir, "index")
	if err := os.WriteFile(index, []byte("in the way"), 0o600); err != nil {
		t.Fatal(err)
	}
	in := m.settle(t)
	if in.State != "MERGE_FAILED" || in.FailedState != "INDEXING" || in.Failures != 8 {
		t.Fatalf("%s, failed state %s after %d failures; want MERGE_FAILED, INDEXING, 8", in.State, in.FailedState, in.Failures)
	}
	tip := git(t, m.w.repo(), "rev-parse", "main")
	if err := os.Remove(index); err != nil {
		t.Fatal(err)
	}
	plan, err := m.eng.Retry(t.Context(), in.ID, engine.Operator{Actor: "alice", Reason: "it was in the way"})
	if err != nil || plan.Step != "search.index" {
		t.Fatalf("retry: %+v, %v; want search.index", plan, err)
	}
	before := len(m.moves(t))
	if in := m.settle(t); in.State != "MERGED" {
		t.Fatalf("after the retry: %s: %s", in.State, in.Message)
	}
	if got := m.moves(t)[before:]; !slices.Equal(got, []string{"INDEXING>MERGED"}) {
		t.Errorf("the retry went %v, want INDEXING>MERGED alone", got)
	}
	if now := git(t, m.w.repo(), "rev-parse", "main"); now != tip {
		t.Errorf("the retry moved main from %s to %s", tip, now)
	}
}

// merge is one pull request in an engine of this process, with a clock that
// the test moves.
type merge struct {
	w     *world
	store *dying
	eng   *engine.Engine
	id    string

	mu  sync.Mutex
	now time.Time
}

func newMerge(t *testing.T) *merge {
	t.Helper()
	w := newWorld(t, 1)
	m := &merge{w: w, id: "pr-merge/1", now: time.Now()}
	base, err := sqlitestore.Open(t.Context(), filepath.Join(w.dir, "pawl.db"), sqlitestore.Options{Clock: m.clock})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = base.Close() })
	m.store = &dying{Store: base, left: -1}
	q, err := storequeue.New(t.Context(), base.DB(), "events", storequeue.Options{Clock: m.clock})
	if err != nil {
		t.Fatal(err)
	}
	var reg engine.Registry
	steps := pawlcmd.Shipped{
		Repos: w.cli.env["PAWL_REPOS"], CIURL: w.cli.env["PAWL_CI_URL"],
		SearchIndex: w.cli.env["PAWL_SEARCH_INDEX"], CIPoll: time.Second,
	}
	quiet := slog.New(slog.DiscardHandler)
	if err := steps.Handlers(t.Context(), &pawlcmd.Setup{
		Handlers: &reg, DB: base.DB(), Queue: q, Logger: quiet, Clock: m.clock, Getenv: func(string) string { return "" },
	}); err != nil {
		t.Fatal(err)
	}
	cfg := engine.Config{Store: m.store, Handlers: &reg, Clock: m.clock, Logger: quiet}
	for _, name := range []string{"pr-merge.yaml", "outbox-delivery.yaml"} {
		src, err := workflows.FS.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		def, diags := definition.Parse(name, src)
		if err := diags.Err(); err != nil {
			t.Fatal(err)
		}
		cfg.Definitions = append(cfg.Definitions, def)
	}
	if m.eng, err = engine.Open(t.Context(), cfg); err != nil {
		t.Fatal(err)
	}
	return m
}

func (m *merge) clock() time.Time {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.now
}

func (m *merge) advance(d time.Duration) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.now = m.now.Add(d)
}

// tick ticks once; a store that dies makes it fail, which is the point.
func (m *merge) tick(t *testing.T) {
	t.Helper()
	_, err := m.eng.Tick(t.Context(), time.Minute)
	if err != nil && !strings.Contains(err.Error(), engine.ErrSchema.Error()) {
		t.Fatal(err)
	}
}

// settle ticks until the pull request has ended, and moves the clock to the
// next due time where the engine would wait.
func (m *merge) settle(t *testing.T) engine.Instance {
	t.Helper()
	for range 100 {
		m.tick(t)
		in, err := m.eng.Load(t.Context(), m.id)
		if err != nil {
			t.Fatal(err)
		}
		if in.Status.Ended() {
			return in
		}
		m.advance(max(in.DueAt.Sub(m.clock()), 0))
	}
	t.Fatalf("%s does not end", m.id)
	return engine.Instance{}
}

// moves are the lines of the history that leave a state.
func (m *merge) moves(t *testing.T) []string {
	t.Helper()
	lines, err := m.eng.History(t.Context(), m.id, 0, 0)
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, h := range lines {
		if h.From != h.To {
			out = append(out, h.From+">"+h.To)
		}
	}
	return out
}
