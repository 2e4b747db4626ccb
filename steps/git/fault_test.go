package git_test

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/pawl-dev/pawl/engine"
	"github.com/pawl-dev/pawl/steps/git"
)

// C28: a git that was killed says nothing about the merge, least of all that
// there is a conflict.
func TestKilledGitIsUnknown(t *testing.T) {
	t.Parallel()
	tree := strings.Repeat("a", 40)
	tests := []struct {
		name  string
		fault fault
		want  string
	}{
		{"Refs", fault{Command: "for-each-ref", Skip: true, Kill: true}, "unknown"},
		{"CatFile", fault{Command: "cat-file", Kill: true}, "unknown"},
		{"MergeTree", fault{Command: "merge-tree", Skip: true, Kill: true}, "unknown"},
		{"MergeTreeInItsOutput", fault{Command: "merge-tree", Skip: true, Stdout: tree + "\x00a\x00", Kill: true}, "unknown"},
		{"MergeTreeBehindAShell", fault{Command: "merge-tree", Skip: true, Stdout: tree + "\x00a\x00", Exit: 137}, "unknown"},
		{"CommitTree", fault{Command: "commit-tree", Kill: true}, "unknown"},
		{"UpdateRef", fault{Command: "update-ref", Skip: true, Kill: true}, "unknown"},
		{"UpdateRefBehindAShell", fault{Command: "update-ref", Skip: true, Exit: 137}, "unknown"},

		{"RefsFail", fault{Command: "for-each-ref", Skip: true, Exit: 128}, "definite"},
		{"RefsAreBroken", fault{Command: "for-each-ref", Skip: true, Stderr: "warning: ignoring broken ref\n"}, "definite"},
		{"RefsAreNoisy", fault{Command: "for-each-ref", Stderr: "warning: noise\n"}, "ok"},
		{"CatFileFails", fault{Command: "cat-file", Skip: true, Exit: 128}, "definite"},
		{"CatFileIsSilent", fault{Command: "cat-file", Skip: true}, "definite"},
		{"MergeTreeFails", fault{Command: "merge-tree", Skip: true, Exit: 128, Stderr: "fatal: disk full\n"}, "definite"},
		{"MergeTreeSaysOneOnly", fault{Command: "merge-tree", Skip: true, Exit: 1}, "definite"},
		{"MergeTreeIsSilent", fault{Command: "merge-tree", Skip: true}, "definite"},
		{"MergeTreeIsCut", fault{Command: "merge-tree", Skip: true, Exit: 1, Stdout: tree + "\x00a\x00b"}, "definite"},
		{"MergeTreeNamesNoFile", fault{Command: "merge-tree", Skip: true, Exit: 1, Stdout: tree + "\x00"}, "definite"},
		{"MergeTreeSaysNonsense", fault{Command: "merge-tree", Skip: true, Exit: 1, Stdout: "help\x00"}, "definite"},
		{"CommitTreeFails", fault{Command: "commit-tree", Skip: true, Exit: 128}, "definite"},
		{"CommitTreeIsSilent", fault{Command: "commit-tree", Skip: true}, "definite"},
		{"UpdateRefFails", fault{Command: "update-ref", Skip: true, Exit: 128, Stderr: "fatal: disk full\n"}, "definite"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			r := mustRepo(t)
			base, head := r.simple()
			program, _ := fakeGit(t, tt.fault)
			_, err := mustMerger(t, r, program).Merge(t.Context(), call(head))
			wantError(t, err, tt.want, "git "+tt.fault.Command)
			if got := r.tip(); err != nil && got != base {
				t.Errorf("main is at %s, want %s untouched", got, base)
			}
			mustMerge(t, mustMerger(t, r, ""), call(head))
		})
	}
}

// After a refused update the refs cannot be read either: nobody knows.
func TestUpdateAndLookFail(t *testing.T) {
	t.Parallel()
	r := mustRepo(t)
	_, head := r.simple()
	program, _ := fakeGit(t,
		fault{Command: "update-ref", Exit: 128, Stderr: "fatal: first\n"},
		fault{Command: "for-each-ref", N: 2, Skip: true, Exit: 128, Stderr: "fatal: second\n"},
	)
	_, err := mustMerger(t, r, program).Merge(t.Context(), call(head))
	wantError(t, err, "unknown", "fatal: first", "fatal: second")
}

// The killed git of a re-run or a verification.
func TestKilledWhileLooking(t *testing.T) {
	t.Parallel()
	for _, command := range []string{"merge-base", "rev-list"} {
		t.Run(command, func(t *testing.T) {
			t.Parallel()
			r := mustRepo(t)
			_, head := r.simple()
			want := mustMerge(t, mustMerger(t, r, ""), call(head))
			for _, tt := range []struct {
				fault fault
				want  string
			}{
				{fault{Command: command, Kill: true}, "unknown"},
				{fault{Command: command, Skip: true, Exit: 128}, "definite"},
			} {
				program, _ := fakeGit(t, tt.fault)
				m := mustMerger(t, r, program)
				_, err := m.Merge(t.Context(), call(head))
				wantError(t, err, tt.want, "git "+command)
				_, done, err := m.VerifyMerge(t.Context(), call(head))
				wantError(t, err, tt.want, "git "+command)
				if done {
					t.Error("VerifyMerge says done")
				}
			}
			if got := mustMerge(t, mustMerger(t, r, ""), call(head)); got != want {
				t.Errorf("Merge = %+v, want %+v", got, want)
			}
		})
	}
}

// More output than fits is cut, not taken for a failure of git.
func TestHugeConflictList(t *testing.T) {
	t.Parallel()
	r := mustRepo(t)
	_, head := r.simple()
	out := strings.Repeat("a", 40) + "\x00" + strings.Repeat(strings.Repeat("x", 99)+"\x00", 60_000)
	program, _ := fakeGit(t, fault{Command: "merge-tree", Skip: true, Exit: 1, Stdout: out})
	_, err := mustMerger(t, r, program).Merge(t.Context(), call(head))
	wantError(t, err, "permanent merge_conflict", "conflicts in more than 4")
}

// A history too long to read gives the tip.
func TestHugeHistory(t *testing.T) {
	t.Parallel()
	r := mustRepo(t)
	base, head := r.simple()
	tip := r.commit("main", files{"a": "2\n", "b": "1\n"}, base, head)
	tip = r.commit("main", files{"a": "3\n", "b": "1\n"}, tip)
	program, _ := fakeGit(t, fault{Command: "rev-list", N: 2, Skip: true, Stdout: strings.Repeat(head+" \n", 110_000)})
	want := git.MergeOutput{MergeSHA: tip, BaseSHA: tip, AlreadyMerged: true}
	if got := mustMerge(t, mustMerger(t, r, program), call(head)); got != want {
		t.Errorf("Merge = %+v, want %+v", got, want)
	}
}

func TestStaleLock(t *testing.T) {
	t.Parallel()
	r := mustRepo(t)
	base, head := r.simple()
	lock := filepath.Join(r.dir, "refs", "heads", "main.lock")
	if err := os.WriteFile(lock, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	m := mustMerger(t, r, "")
	_, err := m.Merge(t.Context(), call(head))
	wantError(t, err, "definite", "refs/heads/main.lock", "File exists", "remove the file")
	if strings.Contains(err.Error(), "\n") {
		t.Errorf("the error has more than a line: %q", err)
	}
	if err := os.Remove(lock); err != nil {
		t.Fatal(err)
	}
	if out := mustMerge(t, m, call(head)); out.BaseSHA != base {
		t.Errorf("the merge is made on %s, want %s", out.BaseSHA, base)
	}
}

// The step's timeout ends git with all its children, and git leaves no lock.
func TestTimeoutWhileTheRefIsLocked(t *testing.T) {
	t.Parallel()
	r := mustRepo(t)
	base, head := r.simple()
	mustHook(t, r, `test "$1" = prepared || exit 0; echo $$ >pid.new; mv pid.new pid; exec sleep 60`)
	lock := filepath.Join(r.dir, "refs", "heads", "main.lock")
	ctx, cancel := context.WithCancelCause(t.Context())
	errs := make(chan error, 1)
	m := mustMerger(t, r, "")
	go func() {
		_, err := m.Merge(ctx, call(head))
		errs <- err
	}()
	until(t, "the hook", func() bool { return exists(filepath.Join(r.dir, "pid")) })
	if !exists(lock) {
		t.Error("the ref is not locked while the hook runs")
	}
	why := errors.New("time is up")
	cancel(why)
	err := <-errs
	wantError(t, err, "unknown", "git update-ref was stopped", "time is up")
	if !errors.Is(err, why) {
		t.Errorf("the error %v does not wrap the cause", err)
	}
	pid, err := os.ReadFile(filepath.Join(r.dir, "pid"))
	if err != nil {
		t.Fatal(err)
	}
	until(t, "the end of the hook", func() bool {
		return exec.Command("kill", "-0", strings.TrimSpace(string(pid))).Run() != nil
	})
	if exists(lock) {
		t.Error("git was killed and has left its lock")
	}
	if got := r.tip(); got != base {
		t.Errorf("main is at %s, want %s", got, base)
	}
}

// A hook of the repository that says no is a refusal, nothing more.
func TestHookRefuses(t *testing.T) {
	t.Parallel()
	r := mustRepo(t)
	base, head := r.simple()
	mustHook(t, r, `test "$1" != prepared`)
	_, err := mustMerger(t, r, "").Merge(t.Context(), call(head))
	wantError(t, err, "definite", "hook")
	if got := r.tip(); got != base {
		t.Errorf("main is at %s, want %s", got, base)
	}
}

// What a hook leaves running in the background does not blur the outcome.
func TestHookLeavesAProcess(t *testing.T) {
	t.Parallel()
	r := mustRepo(t)
	base, head := r.simple()
	mustHook(t, r, `test "$1" = committed || exit 0; sleep 4 & exit 0`)
	out := mustMerge(t, mustMerger(t, r, ""), call(head))
	if want := (git.MergeOutput{MergeSHA: r.tip(), BaseSHA: base}); out != want {
		t.Errorf("Merge = %+v, want %+v", out, want)
	}
}

// mustHook installs a hook that is asked when a ref is about to change.
func mustHook(t *testing.T, r *repo, script string) {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("needs a shell and process groups")
	}
	// Written by a child: a file that this process has open for writing could
	// be inherited by the fork of another test, and would be busy.
	const install = "mkdir -p hooks; cat >hooks/reference-transaction; chmod +x hooks/reference-transaction"
	cmd := exec.Command("sh", "-c", install)
	cmd.Dir, cmd.Stdin = r.dir, strings.NewReader("#!/bin/sh\ncat >/dev/null\n"+script+"\n")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
}

// A git that does not listen is killed.
func TestTimeoutOfADeafGit(t *testing.T) {
	t.Parallel()
	r := mustRepo(t)
	_, head := r.simple()
	program, _ := fakeGit(t, fault{Command: "merge-tree", Hang: true, Deaf: true})
	ctx, cancel := context.WithCancel(t.Context())
	errs := make(chan error, 1)
	m := mustMerger(t, r, program)
	go func() {
		_, err := m.Merge(ctx, call(head))
		errs <- err
	}()
	until(t, "the hanging git", func() bool { return exists(filepath.Join(r.dir, "hangs")) })
	cancel()
	err := <-errs
	wantError(t, err, "unknown", "git merge-tree was stopped")
	if !errors.Is(err, context.Canceled) {
		t.Errorf("the error %v does not wrap context.Canceled", err)
	}
}

func TestEndedContext(t *testing.T) {
	t.Parallel()
	r := mustRepo(t)
	_, head := r.simple()
	m := mustMerger(t, r, "")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := m.Merge(ctx, call(head))
	if !errors.Is(err, context.Canceled) || engine.VerdictOf(err).Code != "" {
		t.Errorf("Merge = %v, want context.Canceled without a code", err)
	}
}

// The program is gone: nothing has happened.
func TestGitDisappears(t *testing.T) {
	t.Parallel()
	r := mustRepo(t)
	_, head := r.simple()
	program, _ := fakeGit(t)
	m := mustMerger(t, r, program)
	if err := os.Remove(program); err != nil {
		t.Fatal(err)
	}
	_, err := m.Merge(t.Context(), call(head))
	wantError(t, err, "definite", "start git for-each-ref")
}

// Nothing around the process changes what git does.
func TestEnvironmentIsPinned(t *testing.T) {
	r := mustRepo(t)
	_, head := r.simple()
	want := mustMerge(t, mustMerger(t, r, ""), call(head))
	r.git("update-ref", "refs/heads/main", want.BaseSHA)
	r.git("replace", head, want.BaseSHA)

	home := t.TempDir()
	config := "[core]\n\tbare = nonsense\n"
	attributes := "* merge=none\n"
	if err := errors.Join(
		os.WriteFile(filepath.Join(home, ".gitconfig"), []byte(config), 0o600),
		os.MkdirAll(filepath.Join(home, "git"), 0o700),
		os.WriteFile(filepath.Join(home, "git", "config"), []byte(config), 0o600),
		os.WriteFile(filepath.Join(home, "git", "attributes"), []byte(attributes), 0o600),
	); err != nil {
		t.Fatal(err)
	}
	for k, v := range map[string]string{
		"HOME": home, "XDG_CONFIG_HOME": home, "GIT_DIR": home, "GIT_WORK_TREE": home, "GIT_INDEX_FILE": home,
		"GIT_OBJECT_DIRECTORY": home, "GIT_COMMON_DIR": home, "GIT_NAMESPACE": "n", "GIT_CONFIG_GLOBAL": home,
		"GIT_CONFIG_COUNT": "1", "GIT_CONFIG_KEY_0": "core.bare", "GIT_CONFIG_VALUE_0": "nonsense",
		"GIT_AUTHOR_DATE": "nonsense", "GIT_COMMITTER_NAME": "nobody", "GIT_DEFAULT_HASH": "sha256",
		"GIT_TRACE": "1", "LC_ALL": "de_DE.UTF-8", "LANGUAGE": "de", "GIT_REPLACE_REF_BASE": "refs/x",
	} {
		t.Setenv(k, v)
	}
	if got := mustMerge(t, mustMerger(t, r, ""), call(head)); got != want {
		t.Errorf("Merge = %+v, want %+v", got, want)
	}
}
