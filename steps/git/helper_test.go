package git_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/pawl-dev/pawl/engine"
	"github.com/pawl-dev/pawl/steps/git"
)

// TestMain lets the test binary stand in for git, see fakeGit.
func TestMain(m *testing.M) {
	if filepath.Base(os.Args[0]) == "git" {
		// Not os.Exit, which under -cover writes a warning to stderr.
		syscall.Exit(runFake(filepath.Dir(os.Args[0]), os.Args[1:]))
	}
	os.Exit(m.Run())
}

// started is when the instances of these tests were started.
var started = time.Date(2026, 3, 1, 12, 0, 0, 123456000, time.FixedZone("", 3*3600))

// repo is a bare repository below root.
type repo struct {
	t    testing.TB
	root string
	dir  string
	n    int
}

func mustRepo(tb testing.TB, initArgs ...string) *repo {
	tb.Helper()
	r := &repo{t: tb, root: tb.TempDir()}
	r.dir = filepath.Join(r.root, "repo.git")
	if err := os.Mkdir(r.dir, 0o755); err != nil {
		tb.Fatal(err)
	}
	r.git(append([]string{"init", "--quiet", "--bare", "--initial-branch=main"}, initArgs...)...)
	return r
}

// git runs the real git and returns its output without the last newline.
func (r *repo) git(args ...string) string {
	r.t.Helper()
	return r.gitIn("", args...)
}

func (r *repo) gitIn(stdin string, args ...string) string {
	r.t.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir = r.dir
	cmd.Env = []string{
		"PATH=" + os.Getenv("PATH"), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_NOSYSTEM=1", "LC_ALL=C",
		"GIT_AUTHOR_NAME=human", "GIT_AUTHOR_EMAIL=human@localhost", "GIT_AUTHOR_DATE=@1700000000 +0000",
		"GIT_COMMITTER_NAME=human", "GIT_COMMITTER_EMAIL=human@localhost", "GIT_COMMITTER_DATE=@1700000000 +0000",
	}
	cmd.Stdin = strings.NewReader(stdin)
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		r.t.Fatalf("git %q: %v\n%s", args, err, stderr.String())
	}
	return strings.TrimSuffix(string(out), "\n")
}

// files are a whole tree: path -> content; a content "sub:ID" is a submodule.
type files map[string]string

// commit makes a commit of that tree and points the branch, if any, to it.
func (r *repo) commit(branch string, tree files, parents ...string) string {
	r.t.Helper()
	r.n++
	ref := "refs/heads/" + branch
	if branch == "" {
		ref = fmt.Sprintf("refs/test/%d", r.n)
	}
	var in strings.Builder
	fmt.Fprintf(&in, "commit %s\nmark :1\n", ref)
	fmt.Fprintf(&in, "committer human <human@localhost> %d +0000\ndata 6\nchange\n", 1700000000+r.n)
	for i, p := range parents {
		fmt.Fprintf(&in, "%s %s\n", []string{"from", "merge"}[min(i, 1)], p)
	}
	in.WriteString("deleteall\n")
	for path, content := range tree {
		if id, ok := strings.CutPrefix(content, "sub:"); ok {
			fmt.Fprintf(&in, "M 160000 %s %s\n", id, quotePath(path))
			continue
		}
		fmt.Fprintf(&in, "M 100644 inline %s\ndata %d\n%s\n", quotePath(path), len(content), content)
	}
	in.WriteString("get-mark :1\n")
	return r.gitIn(in.String(), "fast-import", "--quiet", "--force")
}

func quotePath(s string) string {
	var b strings.Builder
	for i := range len(s) {
		fmt.Fprintf(&b, `\%03o`, s[i])
	}
	return `"` + b.String() + `"`
}

// tip is where main is.
func (r *repo) tip() string {
	r.t.Helper()
	return r.git("rev-parse", "--verify", "refs/heads/main")
}

// merges counts the merge commits that main can reach.
func (r *repo) merges() string {
	r.t.Helper()
	return r.git("rev-list", "--count", "--merges", "refs/heads/main")
}

// simple makes main and a head of it that touch different files.
func (r *repo) simple() (base, head string) {
	r.t.Helper()
	root := r.commit("main", files{"a": "1\n"})
	head = r.commit("topic", files{"a": "1\n", "b": "1\n"}, root)
	base = r.commit("main", files{"a": "2\n"}, root)
	return base, head
}

// call is the call of an attempt to merge head into main.
func call(head string) engine.Call[git.MergeInput] {
	return engine.Call[git.MergeInput]{
		In:       git.MergeInput{RepoID: "repo", PRID: "42", Base: "main", HeadSHA: head},
		Instance: "i-42", Workflow: "pr-merge", State: "MERGING", Attempt: 1,
		Key: "i-42/MERGING/1", StartedAt: started,
	}
}

func mustMerger(tb testing.TB, r *repo, program string) *git.Merger {
	tb.Helper()
	m, err := git.New(tb.Context(), git.Config{Repositories: git.Dir(r.root), Git: program})
	if err != nil {
		tb.Fatal(err)
	}
	return m
}

func mustMerge(tb testing.TB, m *git.Merger, c engine.Call[git.MergeInput]) git.MergeOutput {
	tb.Helper()
	out, err := m.Merge(tb.Context(), c)
	if err != nil {
		tb.Fatal(err)
	}
	return out
}

// verdict says in words what the engine makes of err.
func verdict(err error) string {
	v := engine.VerdictOf(err)
	switch {
	case err == nil:
		return "ok"
	case v.Permanent && v.Definite:
		return strings.TrimSpace("permanent " + v.Code)
	case v.Definite && v.Code == "":
		return "definite"
	case v == (engine.Verdict{}):
		return "unknown"
	}
	return fmt.Sprintf("%+v", v)
}

// wantError checks the verdict and the words of err.
func wantError(t *testing.T, err error, want string, words ...string) {
	t.Helper()
	if got := verdict(err); got != want {
		t.Errorf("the verdict is %q, want %q; the error: %v", got, want, err)
	}
	for _, w := range words {
		if err != nil && !strings.Contains(err.Error(), w) {
			t.Errorf("the error %q does not say %q", err, w)
		}
	}
}

// until waits for cond, which another process makes true.
func until(t *testing.T, what string, cond func() bool) {
	t.Helper()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	for !cond() {
		select {
		case <-tick.C:
		case <-ctx.Done():
			t.Fatalf("waited in vain for %s", what)
		}
	}
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// fault is what a stand-in for git does instead of, or around, the real one
// when it is called for the N-th time (from 1; 0 means always) with that
// subcommand.
type fault struct {
	Command string
	N       int
	Before  [][]string // runs of the real git
	Skip    bool       // do not run the real git
	Stdout  string
	Stderr  string
	Exit    int
	Kill    bool // die by a signal, at the end
	Hang    bool // do not end, before the real git
	Deaf    bool // and do not listen to signals
}

// fakeGit makes a stand-in with faults. It also returns a function that reads
// the subcommands run so far.
func fakeGit(tb testing.TB, faults ...fault) (program string, ran func() []string) {
	tb.Helper()
	if runtime.GOOS == "windows" {
		tb.Skip("the stand-in for git is a symbolic link")
	}
	dir := tb.TempDir()
	plan, err := json.Marshal(faults)
	if err != nil {
		tb.Fatal(err)
	}
	self, err := os.Executable()
	if err != nil {
		tb.Fatal(err)
	}
	program = filepath.Join(dir, "git")
	if err := errors.Join(
		os.WriteFile(filepath.Join(dir, "plan"), plan, 0o600),
		os.Symlink(self, program),
	); err != nil {
		tb.Fatal(err)
	}
	return program, func() []string {
		b, err := os.ReadFile(filepath.Join(dir, "log"))
		if err != nil {
			tb.Fatal(err)
		}
		return strings.Fields(string(b))
	}
}

func runFake(dir string, args []string) int {
	log, err1 := os.OpenFile(filepath.Join(dir, "log"), os.O_CREATE|os.O_APPEND|os.O_RDWR, 0o600)
	plan, err2 := os.ReadFile(filepath.Join(dir, "plan"))
	var faults []fault
	if err := errors.Join(err1, err2, json.Unmarshal(plan, &faults)); err != nil {
		fmt.Fprintln(os.Stderr, "fake:", err)
		return 99
	}
	command := subcommand(args)
	before, _ := io.ReadAll(log)
	fmt.Fprintln(log, command)
	n := strings.Count("\n"+string(before), "\n"+command+"\n") + 1
	i := slices.IndexFunc(faults, func(f fault) bool { return f.Command == command && (f.N == 0 || f.N == n) })
	if i < 0 {
		return realGit(os.Stdin, args)
	}
	return faults[i].run(args)
}

// subcommand skips the global options.
func subcommand(args []string) string {
	for i := 0; i < len(args); i++ {
		if args[i] == "-c" {
			i++
		} else if !strings.HasPrefix(args[i], "-") {
			return args[i]
		}
	}
	return "none"
}

func (f fault) run(args []string) int {
	for _, b := range f.Before {
		if code := realGit(nil, b); code != 0 {
			return 99
		}
	}
	if f.Deaf {
		signal.Ignore(syscall.SIGTERM)
	}
	if f.Hang {
		os.WriteFile("hangs", nil, 0o600)
		<-time.After(time.Minute)
	}
	code := f.Exit
	if !f.Skip {
		if c := realGit(os.Stdin, args); c != 0 {
			code = c
		}
	}
	os.Stdout.WriteString(f.Stdout)
	os.Stderr.WriteString(f.Stderr)
	if f.Kill {
		p, _ := os.FindProcess(os.Getpid())
		p.Kill()
		<-time.After(time.Minute)
	}
	return code
}

func realGit(stdin *os.File, args []string) int {
	cmd := exec.Command("git", args...)
	if stdin != nil {
		cmd.Stdin = stdin
	}
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	cmd.Run()
	return cmd.ProcessState.ExitCode()
}
