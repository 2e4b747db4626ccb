package git_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/pawl-dev/pawl/engine"
	"github.com/pawl-dev/pawl/steps/git"
)

func TestDir(t *testing.T) {
	t.Parallel()
	top := t.TempDir()
	root := filepath.Join(top, "root")
	for _, dir := range []string{
		"outside", "root/a.git", "root/a", "root/b", "root/org/repo.git", "root/tree/.git", "root/x y\n'\"ё😀.git",
		"root/-rf.git", "root/..dots.git", "root/.github.git",
	} {
		if err := errors.Join(
			os.MkdirAll(filepath.Join(top, dir), 0o755),
			os.WriteFile(filepath.Join(top, dir, "HEAD"), nil, 0o600),
		); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(
		os.Mkdir(filepath.Join(root, "empty"), 0o755),
		os.WriteFile(filepath.Join(root, "file"), nil, 0o600),
	); err != nil {
		t.Fatal(err)
	}
	tests := []struct{ id, want string }{ // want: below root, or ! and a part of the error
		{"a", "a.git"},
		{"a.git", "a.git"},
		{"b", "b"},
		{"org/repo", "org/repo.git"},
		{"x y\n'\"ё😀", "x y\n'\"ё😀.git"},
		{"-rf", "-rf.git"},
		{"..dots", "..dots.git"},
		{".github", ".github.git"},

		{"gone", `!no repository "gone"`},
		{"empty", "!no repository"},
		{"file", "!no repository"},
		{"file/x", "!no repository"},
		{"org", "!no repository"},
		{strings.Repeat("x", 600), "!no repository"},
		{"tree", "!no repository"},
		{"org%2Frepo", "!no repository"},
		{"'; DROP", "!no repository"},

		{"", "!not a path"},
		{".", "!not a path"},
		{"..", "!not a path"},
		{"../outside", "!not a path"},
		{"b/../../outside", "!not a path"},
		{"b/../a", "!not a path"},
		{"b/.", "!not a path"},
		{"./b", "!not a path"},
		{filepath.Join(top, "outside"), "!not a path"},
		{"tree/.git", "!not a path"},
		{"tree/.GIT/x", "!not a path"},
		{"b\x00", "!not a path"},
		{strings.Repeat("x", 2048), "!2048 bytes long"},
	}
	find := git.Dir(root)
	for _, tt := range tests {
		t.Run(fmt.Sprintf("%.20q", tt.id), func(t *testing.T) {
			t.Parallel()
			got, err := find(t.Context(), tt.id)
			if problem, bad := strings.CutPrefix(tt.want, "!"); bad {
				if got != "" {
					t.Errorf("Dir(%q) = %q, want none", tt.id, got)
				}
				wantError(t, err, "permanent", problem)
				return
			}
			if want := filepath.Join(root, tt.want); got != want || err != nil {
				t.Errorf("Dir(%q) = %q, %v, want %q", tt.id, got, err, want)
			}
		})
	}
}

// The verdict of a missing repository, and that of a missing disk.
func TestMissingRepository(t *testing.T) {
	t.Parallel()
	r := mustRepo(t)
	_, head := r.simple()
	c := call(head)
	c.In.RepoID = "other"
	tests := []struct {
		name  string
		repos git.Repositories
		want  string
		words string
	}{
		{"Unknown", git.Dir(r.root), "permanent", `find repository "other": no repository "other"`},
		{"NoRoot", git.Dir(filepath.Join(r.root, "gone")), "definite", "look at the root of the repositories"},
		{"PlainError", found("", errors.New("no answer")), "definite", "no answer"},
		{"TheirVerdict", found("", engine.Permanent(errors.New("sold"))), "permanent", "sold"},
		{"NoDirectory", found(filepath.Join(r.root, "gone"), nil), "definite", "start git for-each-ref"},
		{"NoGit", found(t.TempDir(), nil), "definite", "not a git repository"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			m, err := git.New(t.Context(), git.Config{Repositories: tt.repos})
			if err != nil {
				t.Fatal(err)
			}
			_, err = m.Merge(t.Context(), c)
			wantError(t, err, tt.want, tt.words)
			_, done, err := m.VerifyMerge(t.Context(), c)
			wantError(t, err, tt.want, tt.words)
			if done {
				t.Error("VerifyMerge says done")
			}
		})
	}
}

func found(dir string, err error) git.Repositories {
	return func(context.Context, string) (string, error) { return dir, err }
}

// Input that no git command line may see.
func TestHostileInput(t *testing.T) {
	t.Parallel()
	r := mustRepo(t)
	base, head := r.simple()
	tests := []struct {
		name string
		edit func(in *git.MergeInput)
		want string
		word string
	}{
		{"OptionAsBase", func(in *git.MergeInput) { in.Base = "--upload-pack=touch x" }, "permanent", "base"},
		{"OptionThatIsAName", func(in *git.MergeInput) { in.Base = "--upload-pack=x" }, "permanent base_gone", "--upload"},
		{"EmptyBase", func(in *git.MergeInput) { in.Base = "" }, "permanent", "base"},
		{"FullBase", func(in *git.MergeInput) { in.Base = "refs/heads/main" }, "permanent base_gone", "refs/heads/refs"},
		{"BaseUp", func(in *git.MergeInput) { in.Base = "../tags/v1" }, "permanent", "base"},
		{"BaseRange", func(in *git.MergeInput) { in.Base = "a..b" }, "permanent", "base"},
		{"BaseExpression", func(in *git.MergeInput) { in.Base = "main^{tree}" }, "permanent", "base"},
		{"BaseReflog", func(in *git.MergeInput) { in.Base = "main@{1}" }, "permanent", "base"},
		{"BaseColon", func(in *git.MergeInput) { in.Base = "main:a" }, "permanent", "base"},
		{"BaseStar", func(in *git.MergeInput) { in.Base = "*" }, "permanent", "base"},
		{"BaseClass", func(in *git.MergeInput) { in.Base = "[m]ain" }, "permanent", "base"},
		{"BaseBackslash", func(in *git.MergeInput) { in.Base = `a\b` }, "permanent", "base"},
		{"BaseSlash", func(in *git.MergeInput) { in.Base = "main/" }, "permanent", "base"},
		{"BaseSlashes", func(in *git.MergeInput) { in.Base = "a//b" }, "permanent", "base"},
		{"BaseAbsolute", func(in *git.MergeInput) { in.Base = "/main" }, "permanent", "base"},
		{"BaseDot", func(in *git.MergeInput) { in.Base = ".main" }, "permanent", "base"},
		{"BaseInnerDot", func(in *git.MergeInput) { in.Base = "a/.b" }, "permanent", "base"},
		{"BaseEndDot", func(in *git.MergeInput) { in.Base = "main." }, "permanent", "base"},
		{"BaseLock", func(in *git.MergeInput) { in.Base = "main.lock" }, "permanent", "base"},
		{"BaseLockInside", func(in *git.MergeInput) { in.Base = "a.lock/b" }, "permanent", "base"},
		{"BaseNewline", func(in *git.MergeInput) { in.Base = "main\ntopic" }, "permanent", "base"},
		{"BaseNUL", func(in *git.MergeInput) { in.Base = "main\x00" }, "permanent", "base"},
		{"BaseDelete", func(in *git.MergeInput) { in.Base = "main\x7f" }, "permanent", "base"},
		{"BaseLong", func(in *git.MergeInput) { in.Base = strings.Repeat("x", 5000) }, "permanent", "base"},
		{"SHAShort", func(in *git.MergeInput) { in.HeadSHA = head[:12] }, "permanent", "head_sha"},
		{"SHAName", func(in *git.MergeInput) { in.HeadSHA = "topic" }, "permanent", "head_sha"},
		{"SHAEmpty", func(in *git.MergeInput) { in.HeadSHA = "" }, "permanent", "head_sha"},
		{"SHANewline", func(in *git.MergeInput) { in.HeadSHA = head + "\n" }, "permanent", "head_sha"},
		{"SHAOption", func(in *git.MergeInput) { in.HeadSHA = "-" + head[1:] }, "permanent", "head_sha"},
		{"SHATwo", func(in *git.MergeInput) { in.HeadSHA = head + "\n" + base[:23] }, "permanent", "head_sha"},
		{"SHALong", func(in *git.MergeInput) { in.HeadSHA = strings.Repeat("a", 64) }, "permanent", "64 digits"},
		{"HeadRefShort", func(in *git.MergeInput) { in.HeadRef = "topic" }, "permanent", "write refs/heads/"},
		{"HeadRefOption", func(in *git.MergeInput) { in.HeadRef = "--stdin" }, "permanent", "head_ref"},
		{"HeadRefStar", func(in *git.MergeInput) { in.HeadRef = "refs/*" }, "permanent", "head_ref"},
		{"RepoUp", func(in *git.MergeInput) { in.RepoID = ".." }, "permanent", "repo_id"},
		{"RepoAbsolute", func(in *git.MergeInput) { in.RepoID = r.dir }, "permanent", "repo_id"},
		{"RepoOption", func(in *git.MergeInput) { in.RepoID = "--git-dir=x" }, "permanent", "no repository"},
	}
	m := mustMerger(t, r, "")
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			c := call(head)
			tt.edit(&c.In)
			_, err := m.Merge(t.Context(), c)
			wantError(t, err, tt.want, tt.word)
			if err != nil && (len(err.Error()) > 1500 || strings.ContainsAny(err.Error(), "\x00\x7f")) {
				t.Errorf("the error does not fit a log: %q", err)
			}
			if _, done, _ := m.VerifyMerge(t.Context(), c); done {
				t.Error("VerifyMerge says done")
			}
		})
	}
	t.Cleanup(func() {
		if got := r.tip(); got != base {
			t.Errorf("main is at %s, want %s untouched", got, base)
		}
	})
}

func TestAllMistakesAtOnce(t *testing.T) {
	t.Parallel()
	r := mustRepo(t)
	c := engine.Call[git.MergeInput]{In: git.MergeInput{HeadRef: "x y"}}
	_, err := mustMerger(t, r, "").Merge(t.Context(), c)
	wantError(t, err, "permanent", "base", "head_sha", "head_ref")
}
