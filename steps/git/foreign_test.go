package git_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/pawl-dev/pawl/steps/git"
)

// C27: during validation somebody else has brought the head into main.
func TestAlreadyMergedByOthers(t *testing.T) {
	t.Parallel()
	both := files{"a": "2\n", "b": "1\n"}
	tests := []struct {
		name string
		// merge does it and returns what merge_sha should be.
		merge    func(r *repo, base, head string) string
		ancestor bool // so that VerifyMerge can know
	}{
		{"Merge", func(r *repo, base, head string) string {
			return r.commit("main", both, base, head)
		}, true},
		{"MergeAndMore", func(r *repo, base, head string) string {
			base = r.commit("main", files{"a": "2\n", "c": "1\n"}, base)
			sha := r.commit("main", both, base, head)
			for i := range 3 {
				r.commit("main", files{"a": fmt.Sprintln(i)}, r.tip())
			}
			return sha
		}, true},
		{"MergeOfABranchThatHadIt", func(r *repo, base, head string) string {
			more := r.commit("", files{"a": "1\n", "b": "2\n"}, head)
			more = r.commit("", files{"a": "2\n", "b": "2\n"}, more, base)
			sha := r.commit("main", both, base, more)
			r.commit("main", files{"a": "9\n"}, sha)
			return sha
		}, true},
		{"FastForward", func(r *repo, base, head string) string {
			r.git("update-ref", "refs/heads/main", head)
			return head
		}, true},
		{"FastForwardAndMore", func(r *repo, base, head string) string {
			r.commit("main", both, r.commit("", files{"a": "5\n"}, head))
			return head
		}, true},
		{"SquashAndDelete", func(r *repo, base, head string) string {
			sha := r.commit("main", both, base)
			r.git("update-ref", "-d", "refs/heads/topic")
			return sha
		}, false},
		{"SquashAndMore", func(r *repo, base, head string) string {
			sha := r.commit("main", both, base)
			return r.commit("main", files{"a": "3\n", "b": "1\n"}, sha)
		}, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			r := mustRepo(t)
			base, head := r.simple()
			sha := tt.merge(r, base, head)
			tip, refs := r.tip(), r.git("for-each-ref")
			want := git.MergeOutput{MergeSHA: sha, BaseSHA: tip, AlreadyMerged: true}
			m := mustMerger(t, r, "")
			c := call(head)
			c.In.HeadRef = "refs/heads/topic"
			if got := mustMerge(t, m, c); got != want {
				t.Errorf("Merge = %+v, want %+v", got, want)
			}
			got, done, err := m.VerifyMerge(t.Context(), c)
			if !tt.ancestor {
				want = git.MergeOutput{}
			}
			if got != want || done != tt.ancestor || err != nil {
				t.Errorf("VerifyMerge = %+v, %v, %v, want %+v, %v", got, done, err, want, tt.ancestor)
			}
			if now := r.git("for-each-ref"); now != refs {
				t.Errorf("the refs were\n%s\nand are\n%s", refs, now)
			}
		})
	}
}

// A merge that was squashed and then taken back is not contained any more.
func TestRevertedSquashIsMerged(t *testing.T) {
	t.Parallel()
	r := mustRepo(t)
	base, head := r.simple()
	squash := r.commit("main", files{"a": "2\n", "b": "1\n"}, base)
	revert := r.commit("main", files{"a": "2\n"}, squash)
	out := mustMerge(t, mustMerger(t, r, ""), call(head))
	if want := (git.MergeOutput{MergeSHA: r.tip(), BaseSHA: revert}); out != want {
		t.Errorf("Merge = %+v, want %+v", out, want)
	}
	if got := r.git("show", "main:b"); got != "1" {
		t.Errorf("b holds %q, want 1", got)
	}
}

// C27 (c), and the commit is gone with the branch.
func TestHeadGone(t *testing.T) {
	t.Parallel()
	r := mustRepo(t)
	r.simple()
	gone := strings.Repeat("0123456789", 4)
	m := mustMerger(t, r, "")
	_, err := m.Merge(t.Context(), call(gone))
	wantError(t, err, "permanent head_gone", gone, "deleted or rewritten")
	if out, done, err := m.VerifyMerge(t.Context(), call(gone)); done || err != nil {
		t.Errorf("VerifyMerge = %+v, %v, %v, want not done", out, done, err)
	}
	_, err = m.Merge(t.Context(), call(strings.Repeat("0", 40)))
	wantError(t, err, "permanent head_gone")
}

func TestHeadIsNoCommit(t *testing.T) {
	t.Parallel()
	r := mustRepo(t)
	base, _ := r.simple()
	m := mustMerger(t, r, "")
	r.git("tag", "-a", "-m", "t", "v1", base)
	for _, rev := range []string{"main^{tree}", "main:a", "refs/tags/v1"} {
		c := call(r.git("rev-parse", rev))
		_, err := m.Merge(t.Context(), c)
		wantError(t, err, "permanent", "not a commit")
		_, done, err := m.VerifyMerge(t.Context(), c)
		wantError(t, err, "permanent", "not a commit")
		if done {
			t.Errorf("VerifyMerge of %s says done", rev)
		}
	}
}

func TestBaseGone(t *testing.T) {
	t.Parallel()
	r := mustRepo(t)
	_, head := r.simple()
	r.git("update-ref", "-d", "refs/heads/main")
	m := mustMerger(t, r, "")
	_, err := m.Merge(t.Context(), call(head))
	wantError(t, err, "permanent base_gone", "refs/heads/main")
	if out, done, err := m.VerifyMerge(t.Context(), call(head)); done || err != nil {
		t.Errorf("VerifyMerge = %+v, %v, %v, want not done", out, done, err)
	}
}

// C28: two merge bases.
func TestCrissCrossMerges(t *testing.T) {
	t.Parallel()
	r := mustRepo(t)
	root := r.commit("", files{"a": "1\n", "b": "1\n"})
	x := r.commit("", files{"a": "2\n", "b": "1\n"}, root)
	y := r.commit("", files{"a": "1\n", "b": "2\n"}, root)
	left := r.commit("", files{"a": "2\n", "b": "2\n"}, x, y)
	right := r.commit("", files{"a": "2\n", "b": "2\n"}, y, x)
	base := r.commit("main", files{"a": "2\n", "b": "2\n", "c": "1\n"}, left)
	head := r.commit("topic", files{"a": "3\n", "b": "2\n"}, right)
	if got := r.git("merge-base", "--all", base, head); !strings.Contains(got, "\n") {
		t.Fatalf("the merge bases are %q, want two", got)
	}
	mustMerge(t, mustMerger(t, r, ""), call(head))
	if got := r.git("show", "main:a"); got != "3" {
		t.Errorf("a holds %q, want 3", got)
	}
}

// C28: conflicts are permanent and name the files.
func TestConflicts(t *testing.T) {
	t.Parallel()
	sub := func(digit string) string { return "sub:" + strings.Repeat(digit, 40) }
	text := "one\ntwo\nthree\nfour\nfive\nsix\n"
	tests := []struct {
		name             string
		root, base, head files
		want             []string
	}{
		{
			"Contents",
			files{"a": "1\n"},
			files{"a": "2\n"},
			files{"a": "3\n"},
			[]string{"a conflict in a (contents); merge the base branch into the head branch by hand"},
		},
		{
			"BothAdded",
			files{"z": "1\n"},
			files{"z": "1\n", "a": "2\n"},
			files{"z": "1\n", "a": "3\n"},
			[]string{"a conflict in a ("},
		},
		{
			"RenameRename",
			files{"a": text},
			files{"b": text},
			files{"c": text},
			[]string{"conflicts in 3 files: a (rename/rename), b (rename/rename), c (rename/rename)"},
		},
		{
			"ModifyDelete",
			files{"a": "1\n", "z": "1\n"},
			files{"z": "1\n"},
			files{"a": "3\n", "z": "1\n"},
			[]string{"a conflict in a (modify/delete)"},
		},
		{
			"Submodule",
			files{"s": sub("1")},
			files{"s": sub("2")},
			files{"s": sub("3")},
			[]string{"a conflict in s (submodule"},
		},
		{
			"FileAndDirectory",
			files{"z": "1\n"},
			files{"z": "1\n", "a": "1\n"},
			files{"z": "1\n", "a/b": "1\n"},
			[]string{"a"},
		},
		{
			"OddNames",
			files{"n\nl": "1\n", `q"uote`: "1\n", "ё😀": "1\n", "-rf": "1\n", "x y": "1\n", "\xff": "1\n"},
			files{"n\nl": "2\n", `q"uote`: "2\n", "ё😀": "2\n", "-rf": "2\n", "x y": "2\n", "\xff": "2\n"},
			files{"n\nl": "3\n", `q"uote`: "3\n", "ё😀": "3\n", "-rf": "3\n", "x y": "3\n", "\xff": "3\n"},
			[]string{"conflicts in 6 files: ", `"n\nl" (contents)`, `"q\"uote"`, ", ё😀 (", "-rf (", `"x y"`, `"\xff"`},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			r := mustRepo(t)
			root := r.commit("", tt.root)
			head := r.commit("topic", tt.head, root)
			base := r.commit("main", tt.base, root)
			_, err := mustMerger(t, r, "").Merge(t.Context(), call(head))
			wantError(t, err, "permanent merge_conflict", tt.want...)
			if got := r.tip(); got != base {
				t.Errorf("main is at %s, want %s untouched", got, base)
			}
		})
	}
}

func TestManyConflictsAreCounted(t *testing.T) {
	t.Parallel()
	r := mustRepo(t)
	trees := [3]files{{}, {}, {}}
	for i := range 50 {
		for j := range trees {
			trees[j][fmt.Sprint("f", i, strings.Repeat("x", 200))] = fmt.Sprintln(j)
		}
	}
	root := r.commit("", trees[0])
	head := r.commit("topic", trees[1], root)
	r.commit("main", trees[2], root)
	_, err := mustMerger(t, r, "").Merge(t.Context(), call(head))
	wantError(t, err, "permanent merge_conflict", "conflicts in 50 files: f0", ", ...;")
	if err != nil && len(err.Error()) > 5000 {
		t.Errorf("the error has %d bytes", len(err.Error()))
	}
}

func TestUnrelatedHistories(t *testing.T) {
	t.Parallel()
	r := mustRepo(t)
	r.simple()
	head := r.commit("other", files{"x": "1\n"})
	m := mustMerger(t, r, "")
	_, err := m.Merge(t.Context(), call(head))
	wantError(t, err, "permanent unrelated_histories", "no common ancestor")
	if out, done, err := m.VerifyMerge(t.Context(), call(head)); done || err != nil {
		t.Errorf("VerifyMerge = %+v, %v, %v, want not done", out, done, err)
	}
}
