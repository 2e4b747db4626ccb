package sqlitestore_test

import (
	"database/sql"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/pawl-dev/pawl/engine"
	"github.com/pawl-dev/pawl/internal/sqlcount"
	"github.com/pawl-dev/pawl/store/sqlitestore"
)

func wantCounts(t *testing.T, what string, c *sqlcount.Counter, want sqlcount.Counts, f func()) {
	t.Helper()
	before := c.Counts()
	f()
	if got := c.Counts().Sub(before); got != want {
		t.Errorf("%s = %v queries, execs, begins, commits, rollbacks, want %v", what, got, want)
	}
}

// The cost of the engine's calls is a contract, counted at the driver.
func TestStatements(t *testing.T) {
	t.Parallel()
	var c sqlcount.Counter
	s := mustOpen(t, sqlitestore.Options{Wrap: c.Wrap})
	var ins []engine.Instance
	idle := func() {
		if got, err := s.Claim(t.Context(), claimRequest()); err != nil || len(got.Instances) > 0 {
			t.Errorf("Claim = %+v, %v, want nothing", got, err)
		}
	}
	wantCounts(t, "an idle claim", &c, sqlcount.Counts{sqlcount.Query: 1}, idle)
	wantCounts(t, "a start", &c, sqlcount.Counts{sqlcount.Exec: 1, sqlcount.Begin: 1, sqlcount.Commit: 1}, func() {
		mustInsert(t, s, sagas(0)[:1])
	})
	wantCounts(t, "a claim", &c, sqlcount.Counts{sqlcount.Query: 2, sqlcount.Begin: 1, sqlcount.Commit: 1}, func() {
		got, err := s.Claim(t.Context(), claimRequest())
		if err != nil || len(got.Instances) != 1 {
			t.Fatalf("Claim = %+v, %v, want one", got, err)
		}
		ins = got.Instances
	})
	step := sqlcount.Counts{sqlcount.Exec: 2, sqlcount.Begin: 1, sqlcount.Commit: 1}
	for _, to := range []string{"step1", "step2", "step3"} {
		wantCounts(t, "a step", &c, step, func() { commitBatch(t, s, ins, to) })
	}
	wantCounts(t, "the last step", &c, step, func() { endBatch(t, s, ins) })
	wantCounts(t, "an idle claim after it", &c, sqlcount.Counts{sqlcount.Query: 1}, idle)
}

// Many share what one pays for alone.
func TestStatementsOfABatch(t *testing.T) {
	t.Parallel()
	var c sqlcount.Counter
	s := mustOpen(t, sqlitestore.Options{Wrap: c.Wrap})
	one := sqlcount.Counts{sqlcount.Begin: 1, sqlcount.Commit: 1}
	insert, claim, commit := one, one, one
	insert[sqlcount.Exec] = batch
	claim[sqlcount.Query] = 2
	commit[sqlcount.Exec] = batch + 6 + 4 // 6 times 16 lines of history, and 4
	var ins []engine.Instance
	wantCounts(t, "Insert", &c, insert, func() { mustInsert(t, s, sagas(0)) })
	wantCounts(t, "Claim", &c, claim, func() { ins = claimBatch(t, s) })
	wantCounts(t, "Commit", &c, commit, func() { commitBatch(t, s, ins, "step1") })
}

// No statement walks through all instances or all history, except the list
// without a filter, which walks an index.
func TestPlans(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	var texts []string
	c := sqlcount.Counter{Before: func(_ sqlcount.Op, query string) error {
		mu.Lock()
		defer mu.Unlock()
		if query != "" && !slices.Contains(texts, query) {
			texts = append(texts, query)
		}
		return nil
	}}
	s := mustOpen(t, sqlitestore.Options{Wrap: c.Wrap})
	mu.Lock()
	texts = nil // those of the migration
	mu.Unlock()
	exercise(t, s)
	mu.Lock()
	defer mu.Unlock()
	if len(texts) < 20 {
		t.Fatalf("%d statements were seen, want all of them", len(texts))
	}
	plain := mustOpen(t, sqlitestore.Options{}).DB()
	for _, text := range texts {
		args := make([]any, strings.Count(text, "?"))
		for i := range args {
			args[i] = 1
		}
		checkPlan(t, text, explain(t, plain, text, args))
	}
}

func explain(t *testing.T, db *sql.DB, text string, args []any) string {
	t.Helper()
	rows, err := db.QueryContext(t.Context(), "EXPLAIN QUERY PLAN "+text, args...)
	if err != nil {
		t.Fatalf("explain %s: %v", text, err)
	}
	defer func() { _ = rows.Close() }()
	var plan []string
	for rows.Next() {
		var id, parent, unused int
		var detail string
		if err := rows.Scan(&id, &parent, &unused, &detail); err != nil {
			t.Fatal(err)
		}
		plan = append(plan, detail)
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return strings.Join(plan, "\n")
}

func checkPlan(t *testing.T, text, plan string) {
	t.Helper()
	for line := range strings.SplitSeq(plan, "\n") {
		scans := strings.HasPrefix(line, "SCAN ")
		allowed := strings.HasPrefix(line, "SCAN json_each") || strings.HasPrefix(line, "SCAN (subquery") ||
			line == "SCAN CONSTANT ROW" || strings.HasSuffix(line, "VALUES CLAUSE") ||
			line == "SCAN instance USING INDEX instance_started" && strings.Contains(text, "WHERE true ORDER")
		if scans && !allowed {
			t.Errorf("%s\nhas the plan\n%s", text, plan)
		}
	}
	if strings.Contains(text, "due_at <= ?") && !strings.Contains(plan, "INDEX instance_due (step=? AND due_at<?)") {
		t.Errorf("%s\ndoes not use the index of due rows:\n%s", text, plan)
	}
}

// exercise makes the store use every statement that it has.
func exercise(t *testing.T, s *sqlitestore.Store) {
	t.Helper()
	ctx := t.Context()
	check := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	in := sagas(0)
	in[0].Acquire = []engine.Hold{{Name: "k", Reject: true}}
	in[1].Acquire = []engine.Hold{{Name: "k"}}
	mustInsert(t, s, in)
	_, err := s.Insert(ctx, epoch, in) // finds all
	check(err)
	req := claimRequest()
	req.Limit = 60
	got, err := s.Claim(ctx, req)
	check(err)
	_, err = s.Extend(ctx, req.Until, []engine.Lease{{ID: got.Instances[0].ID, Version: got.Instances[0].Version}})
	check(err)
	ins := got.Instances
	was := slices.Clone(ins)
	commitBatch(t, s, ins, "step1")
	last := engine.Transition{
		Instance: ins[0], Release: []string{"k"}, Reclaim: true, Acquire: []engine.Hold{{Name: "k"}},
		History: &engine.History{Code: "code"}, Token: "token", Start: sagas(1000)[:1],
	}
	late := engine.Transition{Instance: was[1], History: &engine.History{}, LateNote: true}
	again := last
	_, err = s.Commit(ctx, epoch, []engine.Transition{last, late, again})
	check(err)
	_, err = s.Load(ctx, ins[0].ID)
	check(err)
	_, err = s.History(ctx, ins[0].ID, 0, 10)
	check(err)
	_, err = s.History(ctx, ins[0].ID, 10, 10)
	check(err)
	for _, f := range []engine.Filter{
		{},
		{Status: engine.Running},
		{Key: "k"},
		{Workflow: "w", Key: "k", Status: engine.Running, State: "s"},
		{Labels: map[string]string{"a": "b"}, Status: engine.Failed},
	} {
		f.Limit = 5
		page, err := s.List(ctx, f)
		check(err)
		if f.After = page.Next; f.After != "" {
			_, err = s.List(ctx, f)
			check(err)
		}
	}
	endBatch(t, s, ins[1:2])
	_, err = s.Purge(ctx, epoch.AddDate(1, 0, 0), 10)
	check(err)
	d := engine.StoredDefinition{Workflow: "w", Version: 1, Hash: "h"}
	check(s.PutDefinition(ctx, epoch, d))
	_, err = s.Definition(ctx, "w", "h")
	check(err)
}

// What is kept of a finished instance, with four lines of history, is at most
// 1 KB beside its payloads.
func TestKeptBytes(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "pawl.db")
	s := mustOpenFile(t, file, sqlitestore.Options{Synchronous: "NORMAL"})
	const total = 10 * batch
	var payload int
	for from := 0; from < total; from += batch {
		in := sagas(from)
		for i := range in { // scattered, so that pages are as full as they are in real life
			in[i].Instance.Key = fmt.Sprintf("pr-%08x", uint32(from+i)*2654435761)
			in[i].Instance.ID = engine.InstanceID("pr-merge", in[i].Instance.Key, 1)
		}
		mustInsert(t, s, in)
		ins := claimBatch(t, s)
		for _, to := range []string{"step1", "step2", "step3"} {
			commitBatch(t, s, ins, to)
		}
		endBatch(t, s, ins)
		payload = len(ins[0].Input) + len(ins[0].With) + len(ins[0].Data) + len(ins[0].Output)
	}
	if err := s.Close(); err != nil { // writes the WAL back
		t.Fatal(err)
	}
	info, err := os.Stat(file)
	if err != nil {
		t.Fatal(err)
	}
	kept := int(info.Size())/total - payload
	t.Logf("%d bytes beside %d of payloads", kept, payload)
	if kept > 1024 {
		t.Errorf("%d bytes are kept of an instance beside its payloads, want at most 1024", kept)
	}
}
