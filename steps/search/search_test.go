package search_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-dev/pawl/engine"
	"github.com/pawl-dev/pawl/steps/search"
)

// files is a tree: path -> content.
type files map[string]string

// commits is a source in memory: commit -> tree, of every repository. Commits
// are in the order of their ids.
type commits struct {
	trees map[string]files
	// before is called before each file, if it is set.
	before func(path string) error
}

func (c commits) Files(_ context.Context, _, sha string, visit func(string, []byte) error) error {
	tree, ok := c.trees[sha]
	if !ok {
		return errors.New("no such commit")
	}
	for _, path := range slices.Sorted(maps.Keys(tree)) {
		if c.before != nil {
			if err := c.before(path); err != nil {
				return err
			}
		}
		if err := visit(path, []byte(tree[path])); err != nil {
			return err
		}
	}
	return nil
}

// ordered is a source that knows the order.
type ordered struct{ commits }

func (ordered) Contains(_ context.Context, _, commit, ancestor string) (bool, error) {
	if strings.HasPrefix(commit, "f") {
		return false, errors.New("no order")
	}
	return ancestor <= commit, nil
}

// commit makes an id.
func commit(n int) string { return fmt.Sprintf("%040x", n) }

func mustNew(t *testing.T, cfg search.Config) *search.Index {
	t.Helper()
	x, err := search.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return x
}

func update(t *testing.T, x *search.Index, repo, sha string) (search.Output, error) {
	t.Helper()
	return x.Update(t.Context(), engine.Call[search.Input]{In: search.Input{RepoID: repo, SHA: sha}})
}

func mustUpdate(t *testing.T, x *search.Index, repo, sha string) search.Output {
	t.Helper()
	out, err := update(t, x, repo, sha)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// found returns the hits as "repo:path", in order.
func found(t *testing.T, x *search.Index, q search.Query) []string {
	t.Helper()
	hits, err := x.Search(t.Context(), q)
	if err != nil {
		t.Fatal(err)
	}
	var list []string
	for _, h := range hits {
		list = append(list, h.RepoID+":"+h.Path)
	}
	slices.Sort(list)
	return list
}

func wantFound(t *testing.T, x *search.Index, text string, want ...string) {
	t.Helper()
	if got := found(t, x, search.Query{Text: text}); !slices.Equal(got, want) {
		t.Errorf("Search(%q) = %q, want %q", text, got, want)
	}
}

func TestUpdateFollowsTheCommits(t *testing.T) {
	t.Parallel()
	x := mustNew(t, search.Config{Dir: filepath.Join(t.TempDir(), "deep", "index"), Source: commits{trees: map[string]files{
		commit(1): {"a.go": "package alpha", "b.go": "package beta", "sub/c.txt": "gamma"},
		commit(2): {"a.go": "package alpha", "b.go": "package delta", "new.go": "epsilon"},
		commit(3): {},
	}}})
	wantFound(t, x, "alpha") // there is no index yet

	want := search.Output{Documents: 3, Commit: commit(1)}
	for range 2 { // the second does nothing
		if out := mustUpdate(t, x, "org/repo", commit(1)); out != want {
			t.Errorf("Update = %+v, want %+v", out, want)
		}
	}
	wantFound(t, x, "package", "org/repo:a.go", "org/repo:b.go")
	wantFound(t, x, "gamma", "org/repo:sub/c.txt")

	want = search.Output{Documents: 3, Commit: commit(2)}
	if out := mustUpdate(t, x, "org/repo", commit(2)); out != want {
		t.Errorf("Update = %+v, want %+v", out, want)
	}
	wantFound(t, x, "alpha", "org/repo:a.go")
	wantFound(t, x, "beta")
	wantFound(t, x, "delta", "org/repo:b.go")
	wantFound(t, x, "gamma")
	wantFound(t, x, "epsilon", "org/repo:new.go")

	want = search.Output{Documents: 0, Commit: commit(3)}
	for range 2 {
		if out := mustUpdate(t, x, "org/repo", commit(3)); out != want {
			t.Errorf("Update to an empty tree = %+v, want %+v", out, want)
		}
	}
	wantFound(t, x, "alpha")
}

func TestUpdateDoesNothingTwice(t *testing.T) {
	t.Parallel()
	read := 0
	x := mustNew(t, search.Config{Dir: filepath.Join(t.TempDir(), "index"), Source: commits{
		trees:  map[string]files{commit(1): {"a": "alpha", "b": "beta"}},
		before: func(string) error { read++; return nil },
	}})
	first := mustUpdate(t, x, "r", commit(1))
	if again := mustUpdate(t, x, "r", commit(1)); again != first || read != 2 {
		t.Errorf("second Update = %+v after %d files read, want %+v after 2", again, read, first)
	}
}

func TestUpdateKeepsRepositoriesApart(t *testing.T) {
	t.Parallel()
	x := mustNew(t, search.Config{Dir: filepath.Join(t.TempDir(), "index"), Source: commits{trees: map[string]files{
		commit(1): {"a": "alpha", "b": "beta"}, commit(2): {"a": "alpha"},
	}}})
	repos := []string{"org/repo", "org/repo#42", "a%2Fb", "a/b", "x y", "..", "ё/😀", "-rf", "'; DROP", "a\nb", "a\xffb", "org/rep"}
	for _, repo := range repos {
		mustUpdate(t, x, repo, commit(1))
	}
	mustUpdate(t, x, "a/b", commit(2))
	var want []string
	for _, repo := range repos {
		want = append(want, repo+":a")
		wantBeta := []string{repo + ":b"}
		if repo == "a/b" {
			wantBeta = nil
		}
		if got := found(t, x, search.Query{Text: "beta", RepoID: repo}); !slices.Equal(got, wantBeta) {
			t.Errorf("Search in %q = %q, want %q", repo, got, wantBeta)
		}
	}
	slices.Sort(want)
	wantFound(t, x, "alpha", want...)
	if got := found(t, x, search.Query{Text: "alpha", RepoID: "org"}); got != nil {
		t.Errorf("Search in a part of a name = %q, want nothing", got)
	}
}

func TestUpdateOddPaths(t *testing.T) {
	t.Parallel()
	tree := files{}
	for _, path := range []string{"a b", "ё/😀.txt", "-rf", "'; DROP", "a\nb", "a\tb", "a\xffb", "a%2Fb", "a/b", strings.Repeat("p/", 1000) + "q"} {
		tree[path] = "word"
	}
	x := mustNew(t, search.Config{Dir: filepath.Join(t.TempDir(), "index"), Source: commits{trees: map[string]files{
		commit(1): tree, commit(2): {},
	}}})
	mustUpdate(t, x, "r", commit(1))
	var want []string
	for path := range tree {
		want = append(want, "r:"+path)
	}
	slices.Sort(want)
	wantFound(t, x, "word", want...)
	mustUpdate(t, x, "r", commit(2))
	wantFound(t, x, "word")
}

func TestUpdateLeavesOut(t *testing.T) {
	t.Parallel()
	late := strings.Repeat("x ", 5000)
	x := mustNew(t, search.Config{
		Dir: filepath.Join(t.TempDir(), "index"), MaxFile: 20000,
		Source: commits{trees: map[string]files{
			commit(1): {
				"binary": "word\x00", "late": late + "word\x00", "latin1": "word caf\xe9", "empty": "",
				"large": strings.Repeat("word ", 4001), "full": strings.Repeat("word ", 4000),
				"minified": "word " + strings.Repeat("y", 101) + " " + strings.Repeat("z", 100),
			},
			commit(2): {"latin1": "word\x00"},
		}},
	})
	if out := mustUpdate(t, x, "r", commit(1)); out.Documents != 5 {
		t.Errorf("Documents = %d, want 5", out.Documents)
	}
	wantFound(t, x, "word", "r:full", "r:late", "r:latin1", "r:minified")
	wantFound(t, x, "empty", "r:empty") // by its path
	wantFound(t, x, strings.Repeat("y", 101))
	wantFound(t, x, strings.Repeat("z", 100), "r:minified")
	if out := mustUpdate(t, x, "r", commit(2)); out.Documents != 0 {
		t.Errorf("Documents after the file became binary = %d, want 0", out.Documents)
	}
	wantFound(t, x, "word")
}

func TestUpdateNeverGoesBack(t *testing.T) {
	t.Parallel()
	trees := map[string]files{
		commit(1): {"a": "one"}, commit(2): {"a": "two", "b": "two"}, strings.Repeat("f", 40): {"a": "three"},
	}
	dir := filepath.Join(t.TempDir(), "index")
	x := mustNew(t, search.Config{Dir: dir, Source: ordered{commits{trees: trees}}})
	mustUpdate(t, x, "r", commit(2))
	want := search.Output{Documents: 2, Commit: commit(2)}
	if out := mustUpdate(t, x, "r", commit(1)); out != want {
		t.Errorf("Update to an older commit = %+v, want %+v", out, want)
	}
	wantFound(t, x, "two", "r:a", "r:b")
	mustUpdate(t, x, "r", strings.Repeat("f", 40))
	wantFound(t, x, "three", "r:a")
	_, err := update(t, x, "r", commit(1))
	if want := (engine.Verdict{Definite: true}); engine.VerdictOf(err) != want || err == nil || !strings.Contains(err.Error(), "no order") {
		t.Errorf("Update without an order = %v, want a definite error", err)
	}

	plain := mustNew(t, search.Config{Dir: dir, Source: commits{trees: trees}})
	mustUpdate(t, plain, "r", commit(1)) // without a History, the last one wins
	wantFound(t, x, "one", "r:a")
}

func TestUpdateErrors(t *testing.T) {
	t.Parallel()
	const small, large = 1, 1 << 20 // of a batch
	broken := errors.New("broken")
	tree := files{"a": "alpha", "b": "beta", "c": "gamma"}
	var (
		again     = engine.Verdict{Definite: true}
		permanent = engine.Verdict{Definite: true, Permanent: true}
	)
	fail := func(at string, err error) commits {
		return commits{
			trees: map[string]files{commit(1): tree},
			before: func(path string) error {
				if path == at {
					return err
				}
				return nil
			},
		}
	}
	tests := []struct {
		name   string
		source search.Source
		in     search.Input
		batch  int
		want   engine.Verdict
		text   string
	}{
		{"NoSource", nil, search.Input{RepoID: "r", SHA: commit(1)}, large, permanent, "no source"},
		{"NoRepo", fail("", nil), search.Input{SHA: commit(1)}, large, permanent, `repo_id is ""`},
		{"NULInRepo", fail("", nil), search.Input{RepoID: "a\x00b", SHA: commit(1)}, large, permanent, "repo_id"},
		{"NoCommit", fail("", nil), search.Input{RepoID: "r"}, large, permanent, `sha is ""`},
		{"Flag", fail("", nil), search.Input{RepoID: "r", SHA: "--output=x"}, large, permanent, "hex digits"},
		{"UnknownCommit", fail("", nil), search.Input{RepoID: "r", SHA: commit(9)}, large, again, "read the files: no such commit"},
		{"BeforeTheFirstWrite", fail("c", broken), search.Input{RepoID: "r", SHA: commit(1)}, large, again, "read the files: broken"},
		{"AfterTheFirstWrite", fail("c", broken), search.Input{RepoID: "r", SHA: commit(1)}, small, engine.Verdict{}, "read the files: broken"},
		{"VerdictOfTheSource", fail("a", engine.Permanent(broken)), search.Input{RepoID: "r", SHA: commit(1)}, large, permanent, "broken"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			x := mustNew(t, search.Config{Dir: filepath.Join(t.TempDir(), "index"), Source: tt.source, BatchBytes: tt.batch})
			out, err := x.Update(t.Context(), engine.Call[search.Input]{In: tt.in})
			if err == nil {
				t.Fatalf("Update = %+v, want an error", out)
			}
			if got := engine.VerdictOf(err); got != tt.want || !strings.Contains(err.Error(), tt.text) {
				t.Errorf("Update = %v %+v, want %q %+v", err, got, tt.text, tt.want)
			}
		})
	}
}

func TestUpdateGoesOnWhereItBrokeOff(t *testing.T) {
	t.Parallel()
	broken := errors.New("broken")
	stop, read := 4, 0
	trees := map[string]files{commit(1): {}, commit(2): {}}
	for i := range 10 {
		trees[commit(1)][fmt.Sprint("old", i)] = "old word"
		trees[commit(2)][fmt.Sprint("new", i)] = "new word"
	}
	x := mustNew(t, search.Config{
		Dir: filepath.Join(t.TempDir(), "index"), BatchBytes: 1,
		Source: ordered{commits{trees: trees, before: func(string) error {
			if read++; read == stop {
				return broken
			}
			return nil
		}}},
	})
	for range 2 { // the second goes over what the first wrote
		read = 0
		if _, err := update(t, x, "r", commit(1)); !errors.Is(err, broken) {
			t.Fatalf("Update = %v, want it broken", err)
		}
	}
	stop = 0
	if out := mustUpdate(t, x, "r", commit(1)); out.Documents != 10 {
		t.Errorf("Documents = %d, want 10", out.Documents)
	}
	stop, read = 4, 0
	if _, err := update(t, x, "r", commit(2)); !errors.Is(err, broken) {
		t.Fatalf("Update = %v, want it broken", err)
	}
	// The record of the first commit does not hold any more.
	stop = 0
	if out := mustUpdate(t, x, "r", commit(1)); out.Documents != 10 {
		t.Errorf("Documents = %d, want 10", out.Documents)
	}
	if old, mixed := found(t, x, search.Query{Text: "old"}), found(t, x, search.Query{Text: "new"}); len(old) != 10 || mixed != nil {
		t.Errorf("index has %d old and %d new files, want 10 and 0", len(old), len(mixed))
	}
	mustUpdate(t, x, "r", commit(2))
	if old, all := found(t, x, search.Query{Text: "old"}), found(t, x, search.Query{Text: "new"}); old != nil || len(all) != 10 {
		t.Errorf("index has %d old and %d new files, want 0 and 10", len(old), len(all))
	}
}

func TestUpdateOfManyFiles(t *testing.T) {
	t.Parallel()
	const n = 2100 // more than two pages of the list
	trees := map[string]files{commit(1): {}, commit(2): {"kept0": "word kept"}}
	for i := range n {
		trees[commit(1)][fmt.Sprint("kept", i)] = "word kept"
	}
	x := mustNew(t, search.Config{Dir: filepath.Join(t.TempDir(), "index"), Source: commits{trees: trees}})
	if out := mustUpdate(t, x, "r", commit(1)); out.Documents != n {
		t.Errorf("Documents = %d, want %d", out.Documents, n)
	}
	if got := found(t, x, search.Query{Text: "kept", Limit: 10 * n}); len(got) != 1000 {
		t.Errorf("%d hits, want the limit of 1000", len(got))
	}
	if got := found(t, x, search.Query{Text: "kept"}); len(got) != 20 {
		t.Errorf("%d hits, want the default of 20", len(got))
	}
	mustUpdate(t, x, "r", commit(2))
	wantFound(t, x, "kept", "r:kept0")
}

func TestManyUpdatesKeepTheFolderSmall(t *testing.T) {
	t.Parallel()
	trees := map[string]files{}
	for i := range 30 {
		trees[commit(i)] = files{"a": fmt.Sprint("word", i), fmt.Sprint("f", i%7): fmt.Sprint("other", i)}
	}
	dir := filepath.Join(t.TempDir(), "index")
	x := mustNew(t, search.Config{Dir: dir, Source: commits{trees: trees}})
	for i := range 30 {
		mustUpdate(t, x, "r", commit(i))
	}
	segments, err := filepath.Glob(filepath.Join(dir, "index", "store", "*.zap"))
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%d segments", len(segments))
	if len(segments) > 15 {
		t.Errorf("%d segments after 30 updates, want them merged", len(segments))
	}
	if left, err := filepath.Glob(filepath.Join(dir, "new-*")); err != nil || left != nil {
		t.Errorf("left beside the index: %q, %v", left, err)
	}
	wantFound(t, x, "word29", "r:a")
}

func TestUpdateWaitsForItsTurn(t *testing.T) {
	t.Parallel()
	entered, leave := make(chan struct{}), make(chan struct{})
	x := mustNew(t, search.Config{Dir: filepath.Join(t.TempDir(), "index"), Source: commits{
		trees: map[string]files{commit(1): {"a": "alpha"}},
		before: func(string) error {
			close(entered)
			<-leave
			return nil
		},
	}})
	var wg sync.WaitGroup
	wg.Go(func() {
		if _, err := update(t, x, "r", commit(1)); err != nil {
			t.Error(err)
		}
	})
	<-entered
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(engine.ErrShutdown)
	_, err := x.Update(ctx, engine.Call[search.Input]{In: search.Input{RepoID: "r", SHA: commit(1)}})
	if !errors.Is(err, engine.ErrShutdown) || !engine.VerdictOf(err).Definite {
		t.Errorf("Update = %v, want the cause of the cancellation, definite", err)
	}
	close(leave)
	wg.Wait()
}

func TestUpdateStopsWhenCancelled(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancelCause(t.Context())
	seen := 0
	x := mustNew(t, search.Config{Dir: filepath.Join(t.TempDir(), "index"), Source: commits{
		trees: map[string]files{commit(1): {"a": "1", "b": "2", "c": "3"}},
		before: func(string) error {
			seen++
			cancel(engine.ErrShutdown)
			return nil
		},
	}})
	call := engine.Call[search.Input]{In: search.Input{RepoID: "r", SHA: commit(1)}}
	if _, err := x.Update(ctx, call); !errors.Is(err, engine.ErrShutdown) || seen != 1 {
		t.Errorf("Update = %v after %d files, want it to stop at the first", err, seen)
	}
	if _, err := x.Update(ctx, call); !errors.Is(err, engine.ErrShutdown) || seen != 1 {
		t.Errorf("Update of a cancelled context = %v, want its cause", err)
	}
}

func TestNewNeedsAFolder(t *testing.T) {
	t.Parallel()
	if _, err := search.New(search.Config{}); err == nil {
		t.Error("New without Dir succeeded")
	}
}

func TestRegister(t *testing.T) {
	t.Parallel()
	var reg engine.Registry
	search.Register(&reg, mustNew(t, search.Config{Dir: "x"}))
	info, ok := reg.Manifest()[search.Step]
	var fields []string
	for _, f := range slices.Concat(info.Input, info.Output) {
		fields = append(fields, f.Name)
	}
	if diff := cmp.Diff([]string{"repo_id", "sha", "documents", "commit"}, fields); !ok || diff != "" {
		t.Errorf("fields of %s (-want +got):\n%s", search.Step, diff)
	}
}
