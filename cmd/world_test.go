package pawlcmd_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	pawlcmd "github.com/pawl-dev/pawl/cmd"
	"github.com/pawl-dev/pawl/engine"
	"github.com/pawl-dev/pawl/steps/notify"
	"github.com/pawl-dev/pawl/steps/queue/storequeue"
	"github.com/pawl-dev/pawl/steps/search"
	"github.com/pawl-dev/pawl/store/sqlitestore"
)

// world is a repository with pull requests, a CI that is green, and a store in
// which all of them are started.
type world struct {
	dir   string
	cli   *cli
	store *sqlitestore.Store
	heads []string // of the pull requests, in order
	lease string
	procs []*process

	mu    sync.Mutex
	asked map[string]int // commit -> how often the CI was asked
}

func newWorld(t *testing.T, prs int) *world {
	t.Helper()
	w := &world{cli: newCLI(t), lease: "2s", asked: make(map[string]int)}
	w.dir = w.cli.dir
	w.makeRepo(t, prs)
	ci := httptest.NewServer(http.HandlerFunc(w.serveCI))
	t.Cleanup(ci.Close)
	w.cli.env["PAWL_REPOS"] = filepath.Join(w.dir, "repos")
	w.cli.env["PAWL_SEARCH_INDEX"] = filepath.Join(w.dir, "index")
	w.cli.env["PAWL_CI_URL"] = ci.URL
	w.cli.opts.Clock = time.Now
	for i, head := range w.heads {
		w.cli.must(t, "start", "pr-merge", "--input", prInput(fmt.Sprint(i+1), head))
	}
	var err error
	w.store, err = sqlitestore.Open(t.Context(), filepath.Join(w.dir, "pawl.db"), sqlitestore.Options{NoMigrate: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = w.store.Close() })
	return w
}

func (w *world) repo() string { return filepath.Join(w.dir, "repos", worldRepo+".git") }

// makeRepo makes a branch with a file of its own for each pull request.
func (w *world) makeRepo(t *testing.T, prs int) {
	t.Helper()
	if err := os.MkdirAll(w.repo(), 0o750); err != nil {
		t.Fatal(err)
	}
	git(t, w.repo(), "init", "--quiet", "--bare", "--initial-branch=main")
	var b strings.Builder
	commit := func(branch, file, from string) {
		fmt.Fprintf(&b, "commit refs/heads/%s\ncommitter Ada <ada@localhost> 1767225600 +0000\ndata 0\n", branch)
		if from != "" {
			fmt.Fprintf(&b, "from %s\n", from)
		}
		text := "word " + file + "\n"
		fmt.Fprintf(&b, "M 100644 inline %s\ndata %d\n%s\n", file, len(text), text)
	}
	commit("main", "readme", "")
	for i := range prs {
		commit(fmt.Sprintf("pr%d", i+1), fmt.Sprintf("zebra%d", i+1), "refs/heads/main")
	}
	gitReads(t, w.repo(), b.String()+"done\n", "fast-import", "--quiet", "--done")
	for i := range prs {
		w.heads = append(w.heads, git(t, w.repo(), "rev-parse", fmt.Sprintf("refs/heads/pr%d", i+1)))
	}
}

// serveCI says of every commit that it is green.
func (w *world) serveCI(rw http.ResponseWriter, r *http.Request) {
	sha := filepath.Base(filepath.Dir(r.URL.Path)) // .../commits/SHA/status
	w.mu.Lock()
	w.asked[sha]++
	w.mu.Unlock()
	rw.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(rw).Encode(map[string]any{
		"sha": sha, "state": "success", "total_count": 1,
		"statuses": []map[string]string{{"context": "build", "state": "success"}},
	})
}

// lines counts the lines of all histories.
func (w *world) lines(t *testing.T) (n int) {
	t.Helper()
	if err := w.store.DB().QueryRowContext(t.Context(), "SELECT count(*) FROM history").Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n
}

// busy reports whether something is left to do.
func (w *world) busy(t *testing.T) bool {
	t.Helper()
	for _, status := range []engine.Status{engine.Running, engine.Queued, engine.Parked} {
		page, err := w.store.List(t.Context(), engine.Filter{Status: status, Limit: 1})
		if err != nil {
			t.Fatal(err)
		}
		if len(page.Instances) > 0 {
			return true
		}
	}
	return false
}

// patience is far more than is needed: it ends a test that hangs.
const patience = 2 * time.Minute

func (w *world) waitForLines(t *testing.T, n int) {
	t.Helper()
	until(t, patience, func() bool { return w.lines(t) >= n }, func() string { return w.dump(t) })
}

// waitForEnd waits until nothing is left to do.
func (w *world) waitForEnd(t *testing.T) {
	t.Helper()
	until(t, patience, func() bool { return !w.busy(t) }, func() string { return w.dump(t) })
}

// dump says what there is when a test fails.
func (w *world) dump(t *testing.T) string {
	t.Helper()
	var b strings.Builder
	b.WriteString(w.cli.must(t, "list", "--all"))
	for i, p := range w.procs {
		fmt.Fprintf(&b, "--- log of process %d\n%s", i+1, p.log())
	}
	return b.String()
}

func (w *world) instances(t *testing.T) []engine.Instance {
	t.Helper()
	page, err := w.store.List(t.Context(), engine.Filter{Limit: 1000})
	if err != nil || page.Next != "" {
		t.Fatalf("List = %v, next %q", err, page.Next)
	}
	return page.Instances
}

// check holds the world against what must be true in the end.
func (w *world) check(t *testing.T) {
	t.Helper()
	w.checkInstances(t)
	w.checkRepo(t)
	w.checkNotices(t)
	w.checkIndex(t)
	w.checkQueue(t)
	if t.Failed() {
		t.Log(w.dump(t))
	}
}

// checkInstances: all are there, all have ended well, and their stories are
// possible ones.
func (w *world) checkInstances(t *testing.T) {
	t.Helper()
	list := w.instances(t)
	if want := 2 * len(w.heads); len(list) != want { // each has an event
		t.Errorf("there are %d instances, want %d", len(list), want)
	}
	for _, in := range list {
		if in.State != "MERGED" && in.State != "PUBLISHED" {
			t.Errorf("%s is %s (%s: %s)", in.ID, in.State, in.Code, in.Message)
		}
		w.checkStory(t, in)
	}
}

// checkStory: each line begins where the one before ended, an end is never
// left, each other state is left once.
func (w *world) checkStory(t *testing.T, in engine.Instance) {
	t.Helper()
	lines, err := w.store.History(t.Context(), in.ID, 0, 1000)
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"VALIDATING", "MERGING", "NOTIFYING", "INDEXING", "MERGED"}
	if in.Workflow != "pr-merge" {
		want = []string{"PENDING", "PUBLISHED"}
	}
	visited := []string{want[0]}
	var last engine.History
	for _, h := range lines {
		if h.Reason == engine.ReasonLate {
			continue // it tells of a step that lost its lease, and changes nothing
		}
		if h.Seq <= last.Seq {
			t.Errorf("%s: line %d comes after line %d", in.ID, h.Seq, last.Seq)
		}
		if h.From != visited[len(visited)-1] {
			t.Errorf("%s: line %d begins in %s, the one before has ended in %s", in.ID, h.Seq, h.From, last.To)
		}
		if h.From != h.To {
			visited = append(visited, h.To)
		}
		last = h
	}
	if !slices.Equal(visited, want) {
		t.Errorf("%s was in %v, want %v", in.ID, visited, want)
	}
	if in.Version < int64(len(visited)) {
		t.Errorf("%s has version %d after %d states", in.ID, in.Version, len(visited))
	}
}

// checkRepo: main is a line of one merge for each pull request.
func (w *world) checkRepo(t *testing.T) {
	t.Helper()
	n := len(w.heads)
	merges := git(t, w.repo(), "rev-list", "--merges", "--count", "main")
	line := git(t, w.repo(), "rev-list", "--first-parent", "--count", "main")
	if merges != fmt.Sprint(n) || line != fmt.Sprint(n+1) {
		t.Errorf("main has %s merges in a line of %s commits, want %d in %d", merges, line, n, n+1)
	}
	parents := strings.Fields(git(t, w.repo(), "rev-list", "--merges", "--first-parent", "--no-commit-header", "--format=%P", "main"))
	for i, head := range w.heads {
		found := 0
		for j := 1; j < len(parents); j += 2 { // the second parents
			if parents[j] == head {
				found++
			}
		}
		if found != 1 {
			t.Errorf("pull request %d was merged %d times", i+1, found)
		}
	}
	git(t, w.repo(), "fsck", "--strict")
}

// checkNotices: one for each pull request.
func (w *world) checkNotices(t *testing.T) {
	t.Helper()
	rec, err := notify.NewRecorder(t.Context(), w.store.DB(), notify.RecorderOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for i := range w.heads {
		if list, err := rec.List(t.Context(), fmt.Sprint(i+1), 10); err != nil || len(list) != 1 {
			t.Errorf("there are %d notices of pull request %d (%v), want 1", len(list), i+1, err)
		}
	}
}

// checkQueue: one event for each pull request.
func (w *world) checkQueue(t *testing.T) {
	t.Helper()
	q, err := storequeue.New(t.Context(), w.store.DB(), pawlcmd.QueueName, storequeue.Options{})
	if err != nil {
		t.Fatal(err)
	}
	list, err := q.Peek(t.Context(), 1000)
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]bool{}
	for _, d := range list {
		got[string(d.Body)] = d.Type == "PullRequestMerged"
	}
	if len(list) != len(w.heads) || len(got) != len(w.heads) || slices.Contains(slices.Collect(maps.Values(got)), false) {
		t.Errorf("there are %d events in the queue, want one PullRequestMerged for each of %d: %v", len(list), len(w.heads), got)
	}
}

// checkIndex: the file of each pull request is found once.
func (w *world) checkIndex(t *testing.T) {
	t.Helper()
	x, err := search.New(search.Config{Dir: filepath.Join(w.dir, "index")})
	if err != nil {
		t.Fatal(err)
	}
	for i := range w.heads {
		hits, err := x.Search(t.Context(), search.Query{Text: fmt.Sprintf("zebra%d", i+1)})
		if err != nil || len(hits) != 1 {
			t.Errorf("the index has %d files of pull request %d (%v), want 1", len(hits), i+1, err)
		}
	}
}

// checkAsked: the CI was asked once for each attempt of VALIDATING.
func (w *world) checkAsked(t *testing.T) {
	t.Helper()
	w.mu.Lock()
	defer w.mu.Unlock()
	for i, head := range w.heads {
		lines, err := w.store.History(t.Context(), fmt.Sprintf("pr-merge/%d", i+1), 0, 1000)
		if err != nil {
			t.Fatal(err)
		}
		attempts := 0
		for _, h := range lines {
			if h.From == "VALIDATING" {
				attempts = max(attempts, h.Attempt)
			}
		}
		if w.asked[head] != attempts {
			t.Errorf("the CI was asked %d times about pull request %d, in %d attempts", w.asked[head], i+1, attempts)
		}
	}
}
