package git_test

import (
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-dev/pawl/engine"
	"github.com/pawl-dev/pawl/steps/git"
)

// C11 (1): a crash before the ref moves. The next attempt writes the same
// commit id, so nothing is left over.
func TestRerunBeforeUpdateGivesTheSameCommit(t *testing.T) {
	t.Parallel()
	r := mustRepo(t)
	base, head := r.simple()
	program, _ := fakeGit(t, fault{Command: "update-ref", N: 1, Skip: true, Kill: true})
	m := mustMerger(t, r, program)

	_, err := m.Merge(t.Context(), call(head))
	wantError(t, err, "unknown", "git update-ref")
	if got := r.tip(); got != base {
		t.Fatalf("main is at %s, want %s", got, base)
	}
	if _, done, err := m.VerifyMerge(t.Context(), call(head)); done || err != nil {
		t.Errorf("VerifyMerge = %v, %v, want not done", done, err)
	}
	written := r.git("cat-file", "--batch-all-objects", "--batch-check=%(objectname)")
	first := mustMerge(t, m, call(head))
	if !strings.Contains(written, first.MergeSHA) {
		t.Errorf("the first attempt has not written %s", first.MergeSHA)
	}
	r.git("update-ref", "refs/heads/main", base)
	again := call(head)
	again.Attempt = 7
	if second := mustMerge(t, mustMerger(t, r, ""), again); second != first {
		t.Errorf("merged again on the same tip: %+v, want %+v", second, first)
	}
}

// C11 (2): a crash right after the ref has moved.
func TestRerunAfterUpdateIsDone(t *testing.T) {
	t.Parallel()
	r := mustRepo(t)
	base, head := r.simple()
	program, _ := fakeGit(t, fault{Command: "update-ref", Kill: true})
	_, err := mustMerger(t, r, program).Merge(t.Context(), call(head))
	wantError(t, err, "unknown", "git update-ref")
	want := git.MergeOutput{MergeSHA: r.tip(), BaseSHA: base}
	if want.MergeSHA == base {
		t.Fatal("main has not moved")
	}
	m := mustMerger(t, r, "")

	check := func(when string) {
		t.Helper()
		if got := mustMerge(t, m, call(head)); got != want {
			t.Errorf("%s: Merge = %+v, want %+v", when, got, want)
		}
		got, done, err := m.VerifyMerge(t.Context(), call(head))
		if got != want || !done || err != nil {
			t.Errorf("%s: VerifyMerge = %+v, %v, %v, want %+v", when, got, done, err, want)
		}
		if n := r.merges(); n != "1" {
			t.Errorf("%s: there are %s merge commits, want 1", when, n)
		}
	}
	check("at once")
	r.commit("main", files{"a": "3\n", "b": "3\n"}, want.MergeSHA)
	check("with a commit on top")
	r.commit("main", files{"a": "1\n"}, r.tip())
	check("after a revert")
	r.git("update-ref", "-d", "refs/heads/topic")
	check("without the head branch")
}

// Our merge is found also where the first-parent history has lost it.
func TestRerunFindsOwnCommitBehindFoxtrot(t *testing.T) {
	t.Parallel()
	r := mustRepo(t)
	base, head := r.simple()
	m := mustMerger(t, r, "")
	want := mustMerge(t, m, call(head))
	side := r.commit("", files{"a": "2\n", "c": "1\n"}, base)
	r.commit("main", files{"a": "2\n", "b": "1\n", "c": "1\n"}, side, want.MergeSHA)
	if got := mustMerge(t, m, call(head)); got != want {
		t.Errorf("Merge = %+v, want %+v", got, want)
	}
}

// Who copies our trailer does not become our commit.
func TestRerunIgnoresForeignTrailer(t *testing.T) {
	t.Parallel()
	r := mustRepo(t)
	base, head := r.simple()
	tree := r.git("rev-parse", head+"^{tree}")
	c := call(head)
	human := r.gitIn("m\n\nPawl-Key: "+c.Key+"1\n", "commit-tree", tree, "-p", base, "-p", head)
	top := r.gitIn("m\n\nPawl-Key: "+c.Key+"\n", "commit-tree", tree, "-p", human)
	r.git("update-ref", "refs/heads/main", top)
	want := git.MergeOutput{MergeSHA: human, BaseSHA: top, AlreadyMerged: true}
	if got := mustMerge(t, mustMerger(t, r, ""), c); got != want {
		t.Errorf("Merge = %+v, want %+v", got, want)
	}
}

// C26: both merges are computed on the same tip, the other one is published
// first.
func TestTargetMovesMeanwhile(t *testing.T) {
	t.Parallel()
	r := mustRepo(t)
	base, head := r.simple()
	rival := r.commit("", files{"a": "2\n", "c": "1\n"}, base)
	program, ran := fakeGit(t, fault{
		Command: "update-ref", N: 1, Before: [][]string{{"update-ref", "refs/heads/main", rival, base}},
	})
	out := mustMerge(t, mustMerger(t, r, program), call(head))
	want := git.MergeOutput{MergeSHA: r.tip(), BaseSHA: rival}
	if out != want {
		t.Errorf("Merge = %+v, want %+v", out, want)
	}
	if got := r.git("log", "-1", "--format=%P", "main"); got != rival+" "+head {
		t.Errorf("the parents are %s, want %s %s", got, rival, head)
	}
	t.Logf("git ran for %v", ran())
}

// C26: git says no, but the tip is our own commit.
func TestUpdateFailsButTipIsOurs(t *testing.T) {
	t.Parallel()
	r := mustRepo(t)
	base, head := r.simple()
	program, _ := fakeGit(t, fault{
		Command: "update-ref", Exit: 128, Stderr: "fatal: cannot lock ref 'refs/heads/main': is at X but expected OLD\n",
	})
	want := git.MergeOutput{BaseSHA: base}
	c := call(head)
	c.Key = "" // so that no trailer tells
	got := mustMerge(t, mustMerger(t, r, program), c)
	want.MergeSHA = r.tip()
	if got != want || r.merges() != "1" {
		t.Errorf("Merge = %+v with %s merges, want %+v with 1", got, r.merges(), want)
	}
}

// The rival turns the clean merge into a conflict.
func TestTargetMovesIntoConflict(t *testing.T) {
	t.Parallel()
	r := mustRepo(t)
	base, head := r.simple()
	rival := r.commit("", files{"a": "2\n", "b": "other\n"}, base)
	program, _ := fakeGit(t, fault{
		Command: "update-ref", N: 1, Before: [][]string{{"update-ref", "refs/heads/main", rival, base}},
	})
	_, err := mustMerger(t, r, program).Merge(t.Context(), call(head))
	wantError(t, err, "permanent merge_conflict", "a conflict in b (")
	if got := r.tip(); got != rival {
		t.Errorf("main is at %s, want %s", got, rival)
	}
}

// The base branch is deleted between the look and the merge.
func TestTargetDeletedMeanwhile(t *testing.T) {
	t.Parallel()
	r := mustRepo(t)
	_, head := r.simple()
	program, _ := fakeGit(t, fault{Command: "update-ref", Before: [][]string{{"update-ref", "-d", "refs/heads/main"}}})
	_, err := mustMerger(t, r, program).Merge(t.Context(), call(head))
	wantError(t, err, "permanent base_gone", "refs/heads/main")
}

// A branch that never stands still is given up for this attempt.
func TestTargetKeepsMoving(t *testing.T) {
	t.Parallel()
	r := mustRepo(t)
	base, head := r.simple()
	var faults []fault
	for i := range 12 {
		base = r.commit("", files{"a": fmt.Sprintln(i)}, base)
		faults = append(faults, fault{
			Command: "update-ref", N: i + 1, Before: [][]string{{"update-ref", "refs/heads/main", base}},
		})
	}
	program, _ := fakeGit(t, faults...)
	_, err := mustMerger(t, r, program).Merge(t.Context(), call(head))
	wantError(t, err, "definite", "moved 10 times")
	if got := r.merges(); got != "0" {
		t.Errorf("there are %s merge commits, want 0", got)
	}
}

// C26 with real races: all are merged, and the first-parent history has one
// commit for each.
func TestConcurrentMerges(t *testing.T) {
	t.Parallel()
	const n = 6
	r := mustRepo(t)
	base := r.commit("main", files{"a": "1\n"})
	calls := make([]engine.Call[git.MergeInput], n)
	for i := range calls {
		calls[i] = call(r.commit("", files{"a": "1\n", fmt.Sprint("f", i): "1\n"}, base))
		calls[i].In.PRID = fmt.Sprint(i)
		calls[i].Key = fmt.Sprint("key-", i)
	}
	outs, errs := race(t, r, calls)
	for i, err := range errs {
		if err != nil {
			t.Errorf("merge %d: %v", i, err)
		}
	}
	if got := r.git("rev-list", "--count", "--first-parent", base+"..main"); got != fmt.Sprint(n) {
		t.Errorf("the first-parent history has %s new commits, want %d", got, n)
	}
	if got := r.merges(); got != fmt.Sprint(n) {
		t.Errorf("there are %s merge commits, want %d", got, n)
	}
	for i, c := range calls {
		if got := mustMerge(t, mustMerger(t, r, ""), c); got != outs[i] {
			t.Errorf("the second run of %d gives %+v, want %+v", i, got, outs[i])
		}
	}
	r.git("fsck", "--strict")
}

// The same instance runs twice at once, after a lost lease: one merge.
func TestConcurrentRunsOfOneCall(t *testing.T) {
	t.Parallel()
	r := mustRepo(t)
	_, head := r.simple()
	c := call(head)
	outs, errs := race(t, r, []engine.Call[git.MergeInput]{c, c, c, c})
	for i := range outs {
		if errs[i] != nil || outs[i] != outs[0] {
			t.Errorf("run %d: %+v, %v, want %+v", i, outs[i], errs[i], outs[0])
		}
	}
	if got := r.merges(); got != "1" {
		t.Errorf("there are %s merge commits, want 1", got)
	}
}

func race(t *testing.T, r *repo, calls []engine.Call[git.MergeInput]) ([]git.MergeOutput, []error) {
	t.Helper()
	m := mustMerger(t, r, "")
	outs, errs := make([]git.MergeOutput, len(calls)), make([]error, len(calls))
	var wg sync.WaitGroup
	for i, c := range calls {
		wg.Go(func() { outs[i], errs[i] = m.Merge(t.Context(), c) })
	}
	wg.Wait()
	return outs, errs
}

// One merge costs five processes, and a re-run no more.
func TestProcessCount(t *testing.T) {
	t.Parallel()
	r := mustRepo(t)
	_, head := r.simple()
	program, ran := fakeGit(t)
	m := mustMerger(t, r, program)
	mustMerge(t, m, call(head))
	want := []string{"version", "for-each-ref", "cat-file", "merge-tree", "commit-tree", "update-ref"}
	if diff := cmp.Diff(want, ran()); diff != "" {
		t.Errorf("a merge runs (-want +got):\n%s", diff)
	}
	mustMerge(t, m, call(head))
	want = append(want, "for-each-ref", "cat-file", "merge-tree", "merge-base", "rev-list")
	if diff := cmp.Diff(want, ran()); diff != "" {
		t.Errorf("a re-run runs (-want +got):\n%s", diff)
	}
}
