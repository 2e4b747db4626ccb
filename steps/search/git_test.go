package search_test

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-dev/pawl/engine"
	"github.com/pawl-dev/pawl/steps/search"
)

// repo is a bare repository, made by real git.
type repo struct {
	t   *testing.T
	dir string
}

func newRepo(t *testing.T, args ...string) repo {
	t.Helper()
	r := repo{t: t, dir: filepath.Join(t.TempDir(), "r.git")}
	r.git("", append([]string{"init", "-q", "--bare"}, args...)...)
	return r
}

// git runs a command and returns what it writes.
func (r repo) git(in string, args ...string) string {
	r.t.Helper()
	cmd := exec.CommandContext(r.t.Context(), "git", append([]string{"--git-dir=" + r.dir}, args...)...)
	cmd.Stdin = strings.NewReader(in)
	cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_CONFIG_NOSYSTEM=1",
		"GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@example.org", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@example.org")
	cmd.Stderr = r.t.Output()
	out, err := cmd.Output()
	if err != nil {
		r.t.Fatalf("git %s: %v", args[0], err)
	}
	return strings.TrimSpace(string(out))
}

func (r repo) blob(content string) string {
	r.t.Helper()
	return r.git(content, "hash-object", "-w", "--stdin")
}

// tree makes a tree of entries "mode type id<TAB>name".
func (r repo) tree(entries ...string) string {
	r.t.Helper()
	return r.git(strings.Join(entries, "\x00")+"\x00", "mktree", "-z")
}

func (r repo) commit(tree string, parents ...string) string {
	r.t.Helper()
	args := []string{"commit-tree", tree, "-m", "m"}
	for _, p := range parents {
		args = append(args, "-p", p)
	}
	return r.git("", args...)
}

// source finds the repository as "org/repo" only.
func (r repo) source() search.GitSource {
	return search.GitSource{Dir: func(_ context.Context, repoID string) (string, error) {
		if repoID != "org/repo" {
			return "", errors.New("no repository " + repoID)
		}
		return r.dir, nil
	}}
}

// read collects the files of a commit.
func read(t *testing.T, s search.Source, sha string) (files, error) {
	t.Helper()
	got := files{}
	err := s.Files(t.Context(), "org/repo", sha, func(path string, content []byte) error {
		if _, twice := got[path]; twice {
			t.Errorf("%q is visited twice", path)
		}
		got[path] = string(content)
		return nil
	})
	return got, err
}

func TestGitFiles(t *testing.T) {
	t.Parallel()
	r := newRepo(t)
	text := r.blob("text\n")
	sub := r.tree("100644 blob "+text+"\tё 😀.txt", "100755 blob "+r.blob("#!/bin/sh")+"\trun")
	top := r.tree(
		"100644 blob "+text+"\ta.txt",
		"100644 blob "+text+"\tsame content.txt",
		"100644 blob "+r.blob("")+"\tempty",
		"100644 blob "+r.blob("no line end")+"\t-rf",
		"100644 blob "+r.blob("a\nb\n")+"\tnew\nline",
		"100644 blob "+r.blob("tab")+"\ttab\tname",
		"100644 blob "+r.blob("latin1")+"\tcaf\xe9",
		"100644 blob "+r.blob("quote")+"\t\"quoted\"",
		"100644 blob "+r.blob("bin\x00ary")+"\tbinary",
		"100644 blob "+r.blob(strings.Repeat("x", 1<<20))+"\tfull",
		"100644 blob "+r.blob(strings.Repeat("x", 1<<20+1))+"\ttoo large",
		"120000 blob "+r.blob("a.txt")+"\tlink",
		"160000 commit "+strings.Repeat("1", 40)+"\tmodule",
		"040000 tree "+sub+"\tsub",
	)
	got, err := read(t, r.source(), r.commit(top))
	if err != nil {
		t.Fatal(err)
	}
	want := files{
		"a.txt": "text\n", "same content.txt": "text\n", "empty": "", "-rf": "no line end", "new\nline": "a\nb\n",
		"tab\tname": "tab", "caf\xe9": "latin1", "\"quoted\"": "quote", "binary": "bin\x00ary",
		"full": strings.Repeat("x", 1<<20), "sub/ё 😀.txt": "text\n", "sub/run": "#!/bin/sh",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("files (-want +got):\n%s", diff)
	}
}

func TestGitFilesOfAnEmptyTree(t *testing.T) {
	t.Parallel()
	r := newRepo(t)
	empty := r.commit(r.git("", "mktree"))
	if got, err := read(t, r.source(), empty); err != nil || len(got) != 0 {
		t.Errorf("Files = %q, %v, want none", got, err)
	}
}

func TestGitFilesOfManyBlobs(t *testing.T) {
	t.Parallel()
	r := newRepo(t)
	large := r.blob(strings.Repeat("0123456789abcdef", 1<<13)) // more than a pipe holds
	entries := make([]string, 0, 600)
	for i := range 600 {
		entries = append(entries, "100644 blob "+large+"\tf"+commit(i))
	}
	got, err := read(t, r.source(), r.commit(r.tree(entries...)))
	if err != nil || len(got) != 600 {
		t.Errorf("%d files, %v, want 600", len(got), err)
	}
}

func TestGitFilesSHA256(t *testing.T) {
	t.Parallel()
	r := newRepo(t, "--object-format=sha256")
	sha := r.commit(r.tree("100644 blob " + r.blob("text") + "\ta"))
	got, err := read(t, r.source(), sha)
	if diff := cmp.Diff(files{"a": "text"}, got); err != nil || len(sha) != 64 || diff != "" {
		t.Errorf("files of %s: %v (-want +got):\n%s", sha, err, diff)
	}
}

func TestGitFilesIgnoreTheEnvironment(t *testing.T) {
	r, other := newRepo(t), newRepo(t)
	sha := r.commit(r.tree("100644 blob " + r.blob("text") + "\ta"))
	t.Setenv("GIT_DIR", other.dir)
	t.Setenv("GIT_OBJECT_DIRECTORY", filepath.Join(other.dir, "objects"))
	t.Setenv("GIT_CONFIG_COUNT", "nonsense")
	if got, err := read(t, r.source(), sha); err != nil || got["a"] != "text" {
		t.Errorf("Files = %q, %v, want those of the repository that was asked for", got, err)
	}
}

func TestGitErrors(t *testing.T) {
	t.Parallel()
	r := newRepo(t)
	sha := r.commit(r.tree("100644 blob "+r.blob("a")+"\ta", "100644 blob "+r.blob("b")+"\tb"))
	broken := errors.New("broken")
	missing := newRepo(t)
	lost := missing.blob("lost")
	holed := missing.commit(missing.tree("100644 blob "+missing.blob("a")+"\ta", "100644 blob "+lost+"\tb"))
	if err := os.Remove(filepath.Join(missing.dir, "objects", lost[:2], lost[2:])); err != nil {
		t.Fatal(err)
	}
	cancelled, cancel := context.WithCancelCause(t.Context())
	cancel(engine.ErrShutdown)

	tests := []struct {
		name   string
		source search.GitSource
		ctx    context.Context //nolint:containedctx // of the case
		repo   string
		sha    string
		want   string
	}{
		{"UnknownRepo", r.source(), nil, "org/other", sha, "find the repository: no repository org/other"},
		{"UnknownCommit", r.source(), nil, "org/repo", strings.Repeat("1", 40), "git ls-tree: exit status 128: fatal: not a tree object"},
		{"NotACommit", r.source(), nil, "org/repo", "HEAD", `"HEAD" is not a commit`},
		{"Flag", r.source(), nil, "org/repo", "--format=" + sha[9:], "is not a commit"},
		{
			"NoRepository",
			search.GitSource{Dir: func(context.Context, string) (string, error) { return filepath.Join(r.dir, "none"), nil }},
			nil, "org/repo", sha, "not a git repository",
		},
		{
			"NoGit",
			search.GitSource{Git: filepath.Join(r.dir, "none"), Dir: r.source().Dir},
			nil, "org/repo", sha, "git ls-tree: ",
		},
		{"MissingBlob", missing.source(), nil, "org/repo", holed, "git ls-tree: "},
		{"Cancelled", r.source(), cancelled, "org/repo", sha, "git ls-tree: " + engine.ErrShutdown.Error()},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			ctx := tt.ctx
			if ctx == nil {
				ctx = t.Context()
			}
			err := tt.source.Files(ctx, tt.repo, tt.sha, func(string, []byte) error { return nil })
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("Files = %v, want %q", err, tt.want)
			}
		})
	}
	t.Run("VisitFails", func(t *testing.T) {
		t.Parallel()
		calls := 0
		err := r.source().Files(t.Context(), "org/repo", sha, func(string, []byte) error {
			calls++
			return broken
		})
		if !errors.Is(err, broken) || calls != 1 {
			t.Errorf("Files = %v after %d calls, want the error of visit after one", err, calls)
		}
	})
	t.Run("CancelledWithin", func(t *testing.T) {
		t.Parallel()
		ctx, cancel := context.WithCancelCause(t.Context())
		err := r.source().Files(ctx, "org/repo", sha, func(string, []byte) error {
			cancel(engine.ErrShutdown)
			<-ctx.Done()
			return nil
		})
		if !errors.Is(err, engine.ErrShutdown) {
			t.Errorf("Files = %v, want the cause of the cancellation", err)
		}
	})
}

// TestGitAnswers has a git that answers as no real one should. It runs alone: a
// process that another test starts while the script is being written would
// keep it busy.
func TestGitAnswers(t *testing.T) {
	const id = "1111111111111111111111111111111111111111"
	tests := []struct {
		name string
		tree string // of ls-tree
		file string // a script for cat-file
		want string
	}{
		{"ShortLine", `printf '100644 blob\tx\0'`, "", "cannot read the line"},
		{"NoSize", `printf '100644 blob ` + id + ` x\ta\0'`, "", "cannot read the line"},
		{"NoPath", `printf '100644 blob ` + id + ` 1\0'`, "", "cannot read the line"},
		{"Missing", `printf '100644 blob ` + id + ` 1\ta\0'`, `read x; echo "$x missing"`, `read "a": git answered`},
		{"OtherBlob", `printf '100644 blob ` + id + ` 1\ta\0'`, `read x; echo "222 blob 1"`, `read "a": git answered`},
		{"NoNumber", `printf '100644 blob ` + id + ` 1\ta\0'`, `read x; echo "$x blob x"`, `read "a": git answered`},
		{"CutOff", `printf '100644 blob ` + id + ` 9\ta\0'`, `read x; echo "$x blob 9"; printf abc`, `read "a": EOF`},
		{"Dies", `printf '100644 blob ` + id + ` 9\ta\0'`, `echo "disk on fire" >&2; exit 3`, "disk on fire"},
		{"DiesAtTheEnd", `printf '100644 blob ` + id + ` 1\ta\0'`, `read x; echo "$x blob 1"; echo a; cat; exit 3`, "exit status 3"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			script := filepath.Join(t.TempDir(), "git")
			text := "#!/bin/sh\ncase \"$2\" in\nls-tree) " + tt.tree + " ;;\ncat-file) " + tt.file + "\n;;\nesac\n"
			if err := os.WriteFile(script, []byte(text), 0o700); err != nil {
				t.Fatal(err)
			}
			s := search.GitSource{Git: script, Dir: func(context.Context, string) (string, error) { return "x", nil }}
			if got, err := read(t, s, commit(1)); err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("Files = %q, %v, want %q", got, err, tt.want)
			}
		})
	}
}

func TestGitContains(t *testing.T) {
	t.Parallel()
	r := newRepo(t)
	tree := r.git("", "mktree")
	first := r.commit(tree)
	second := r.commit(r.tree("100644 blob "+r.blob("a")+"\ta"), first)
	other := r.commit(r.tree("100644 blob " + r.blob("b") + "\tb"))
	gone := strings.Repeat("1", 40)
	tests := []struct {
		name             string
		commit, ancestor string
		want             bool
	}{
		{"Itself", first, first, true},
		{"Parent", second, first, true},
		{"Child", first, second, false},
		{"Unrelated", second, other, false},
		{"CommitGone", gone, first, false},
		{"AncestorGone", first, gone, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if got, err := r.source().Contains(t.Context(), "org/repo", tt.commit, tt.ancestor); err != nil || got != tt.want {
				t.Errorf("Contains = %v, %v, want %v", got, err, tt.want)
			}
		})
	}
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	noGit := r.source()
	noGit.Git = filepath.Join(r.dir, "none")
	for name, f := range map[string]func() (bool, error){
		"UnknownRepo": func() (bool, error) { return r.source().Contains(t.Context(), "x", first, first) },
		"NotACommit":  func() (bool, error) { return r.source().Contains(t.Context(), "org/repo", first, "HEAD") },
		"Cancelled":   func() (bool, error) { return r.source().Contains(cancelled, "org/repo", first, first) },
		"NoGit":       func() (bool, error) { return noGit.Contains(t.Context(), "org/repo", first, first) },
	} {
		if got, err := f(); got || err == nil {
			t.Errorf("%s: Contains = %v, %v, want an error", name, got, err)
		}
	}
}

// TestUpdateFromGit indexes merges of a real repository, the second first.
func TestUpdateFromGit(t *testing.T) {
	t.Parallel()
	r := newRepo(t)
	base := r.commit(r.tree("100644 blob " + r.blob("alpha") + "\ta"))
	first := r.commit(r.tree("100644 blob "+r.blob("alpha")+"\ta", "100644 blob "+r.blob("beta")+"\tb"), base)
	second := r.commit(r.tree("100644 blob "+r.blob("gamma")+"\tc", "100644 blob "+r.blob("x\x00")+"\tbin"), first)
	x := mustNew(t, search.Config{Dir: filepath.Join(t.TempDir(), "search"), Source: r.source()})
	mustUpdate(t, x, "org/repo", base)
	wantFound(t, x, "alpha", "org/repo:a")
	want := search.Output{Documents: 1, Commit: second}
	for _, sha := range []string{second, first, second} {
		if out := mustUpdate(t, x, "org/repo", sha); out != want {
			t.Errorf("Update to %s = %+v, want %+v", sha, out, want)
		}
	}
	wantFound(t, x, "gamma", "org/repo:c")
	wantFound(t, x, "alpha")
	_, err := update(t, x, "org/repo", strings.Repeat("1", 40))
	if want := (engine.Verdict{Definite: true}); engine.VerdictOf(err) != want {
		t.Errorf("Update to an unknown commit = %v, want a definite error", err)
	}
	if got := found(t, x, search.Query{Text: "c", RepoID: "org/repo"}); !slices.Equal(got, []string{"org/repo:c"}) {
		t.Errorf("Search = %q, want it as it was", got)
	}
}
