package git_test

import (
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-dev/pawl/engine"
	"github.com/pawl-dev/pawl/steps/git"
)

func TestMergeClean(t *testing.T) {
	t.Parallel()
	r := mustRepo(t)
	base, head := r.simple()
	out := mustMerge(t, mustMerger(t, r, ""), call(head))

	want := git.MergeOutput{MergeSHA: r.tip(), BaseSHA: base}
	if diff := cmp.Diff(want, out); diff != "" {
		t.Errorf("output (-want +got):\n%s", diff)
	}
	got := r.git("log", "-1", "--format=%P|%an <%ae> %aI|%cn <%ce> %cI|%B", "main")
	text := base + " " + head + "|pawl <pawl@localhost> 2026-03-01T09:00:00+00:00|" +
		"pawl <pawl@localhost> 2026-03-01T09:00:00+00:00|" +
		"Merge pull request 42 into main\n\nPawl-Instance: i-42\nPawl-Key: i-42/MERGING/1\n"
	if diff := cmp.Diff(text, got); diff != "" {
		t.Errorf("commit (-want +got):\n%s", diff)
	}
	if got := r.git("ls-tree", "-r", "--name-only", "main"); got != "a\nb" {
		t.Errorf("the merged files are %q, want a and b", got)
	}
	if got := r.git("log", "-1", "--format=%(trailers:key=Pawl-Key,valueonly)", "main"); got != "i-42/MERGING/1\n" {
		t.Errorf("git finds the trailer %q", got)
	}
	r.git("fsck", "--strict")
}

func TestMergeIdentity(t *testing.T) {
	t.Parallel()
	r := mustRepo(t)
	_, head := r.simple()
	cfg := git.Config{Repositories: git.Dir(r.root), Name: "Бот d'été", Email: "bot@example.org"}
	m, err := git.New(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	mustMerge(t, m, call(head))
	if got := r.git("log", "-1", "--format=%an <%ae>", "main"); got != "Бот d'été <bot@example.org>" {
		t.Errorf("the author is %q", got)
	}
}

// A tag of the same name is what plain git merge and rev-parse would take.
func TestMergeTagOfTheSameName(t *testing.T) {
	t.Parallel()
	r := mustRepo(t)
	base, head := r.simple()
	other := r.commit("", files{"x": "y\n"})
	for _, tag := range []string{"main", "topic", "heads/main", "refs/heads/main", head} {
		r.git("update-ref", "refs/tags/"+tag, other)
	}
	out := mustMerge(t, mustMerger(t, r, ""), call(head))
	if got := r.git("log", "-1", "--format=%H %P", out.MergeSHA); got != r.tip()+" "+base+" "+head {
		t.Errorf("merge and parents are %s, want main, %s and %s", got, base, head)
	}
	c := call(head)
	c.In.Base = "gone"
	r.git("update-ref", "refs/tags/refs/heads/gone", other)
	r.git("update-ref", "refs/heads/gone/child", base)
	_, err := mustMerger(t, r, "").Merge(t.Context(), c)
	wantError(t, err, "permanent base_gone", "refs/heads/gone")
}

func TestMergeFastForwardableMakesMergeCommit(t *testing.T) {
	t.Parallel()
	r := mustRepo(t)
	base := r.commit("main", files{"a": "1\n"})
	head := r.commit("topic", files{"a": "2\n"}, base)
	out := mustMerge(t, mustMerger(t, r, ""), call(strings.ToUpper(head)))
	if got := r.git("log", "-1", "--format=%P", out.MergeSHA); got != base+" "+head {
		t.Errorf("parents are %s, want %s %s", got, base, head)
	}
}

func TestMergeSHA256(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if out, err := exec.Command("git", "init", "--bare", "--object-format=sha256", dir).CombinedOutput(); err != nil {
		t.Skipf("this git has no sha256: %s", out)
	}
	r := mustRepo(t, "--object-format=sha256")
	_, head := r.simple()
	m := mustMerger(t, r, "")
	_, err := m.Merge(t.Context(), call(head[:40]))
	wantError(t, err, "permanent", "40 digits", "64")
	first := mustMerge(t, m, call(head))
	if len(first.MergeSHA) != 64 || first.MergeSHA != r.tip() {
		t.Errorf("merge_sha is %s, want main at %s", first.MergeSHA, r.tip())
	}
	if again := mustMerge(t, m, call(head)); again != first {
		t.Errorf("the second run gives %+v, want %+v", again, first)
	}
}

// What people call things must arrive whole and must not leave its line.
func TestMergeOddNames(t *testing.T) {
	t.Parallel()
	odd := "\n\"a\" 'b'\tё😀\\\\%0A$(x)"
	r := mustRepo(t)
	root := r.commit("", files{"a": "1\n"})
	head := r.commit("-rf/ё😀", files{"a": "1\n", "f" + odd: "1\n"}, root)
	base := r.commit("--upload-pack=touch", files{"a": "2\n"}, root)
	c := call(head)
	c.In.Base = "--upload-pack=touch"
	c.In.HeadRef = "refs/heads/-rf/ё😀"
	c.In.PRID = "org/repo#42\n\nPawl-Key: forged"
	c.Instance = "i\x00\xff\nPawl-Key: forged" + odd
	c.Key = " k" + odd + " "
	m := mustMerger(t, r, "")
	out := mustMerge(t, m, c)
	if out.BaseSHA != base || out.AlreadyMerged {
		t.Errorf("output = %+v, want a merge on %s", out, base)
	}
	message := r.git("log", "-1", "--format=%B", out.MergeSHA)
	want := "Merge pull request org/repo#42%0A%0APawl-Key: forged into --upload-pack=touch\n\n" +
		`Pawl-Instance: i%00%FF%0APawl-Key: forged%0A"a" 'b'%09ё😀\\%250A$(x)` + "\n" +
		`Pawl-Key: %20k%0A"a" 'b'%09ё😀\\%250A$(x)%20` + "\n"
	if diff := cmp.Diff(want, message); diff != "" {
		t.Errorf("message (-want +got):\n%s", diff)
	}
	if again := mustMerge(t, m, c); again != out {
		t.Errorf("the second run gives %+v, want %+v", again, out)
	}
}

func TestMergeLongNames(t *testing.T) {
	t.Parallel()
	r := mustRepo(t)
	_, head := r.simple()
	c := call(head)
	c.In.PRID = strings.Repeat("ё", 2000)
	c.Key = strings.Repeat("k", 2048)
	m := mustMerger(t, r, "")
	out := mustMerge(t, m, c)
	if got := mustMerge(t, m, c); got != out {
		t.Errorf("the second run gives %+v, want %+v", got, out)
	}
}

// An empty or early date, key and pull request are no reason to fail.
func TestMergeSparseCall(t *testing.T) {
	t.Parallel()
	r := mustRepo(t)
	_, head := r.simple()
	c := engine.Call[git.MergeInput]{In: git.MergeInput{RepoID: "repo", Base: "main", HeadSHA: head}}
	out := mustMerge(t, mustMerger(t, r, ""), c)
	got, want := r.git("log", "-1", "--format=%ct %B", out.MergeSHA), "0 Merge commit "+head+" into main\n"
	if got != want {
		t.Errorf("date and message are %q, want %q", got, want)
	}
	if again := mustMerge(t, mustMerger(t, r, ""), c); again.MergeSHA != out.MergeSHA || !again.AlreadyMerged {
		t.Errorf("without a key the second run gives %+v, want %s as already merged", again, out.MergeSHA)
	}
}

func TestMergeHeadRef(t *testing.T) {
	t.Parallel()
	r := mustRepo(t)
	base, head := r.simple()
	m := mustMerger(t, r, "")
	c := call(head)
	c.In.HeadRef = "refs/heads/topic"
	newer := r.commit("topic", files{"a": "evil\n"}, head)

	_, err := m.Merge(t.Context(), c)
	wantError(t, err, "permanent head_moved", "refs/heads/topic", newer)
	if got := r.tip(); got != base {
		t.Errorf("main is at %s, want %s untouched", got, base)
	}

	// Gone is not moved: the object is still there.
	r.git("update-ref", "-d", "refs/heads/topic")
	out := mustMerge(t, m, c)

	// Merged and then used again for other work.
	r.commit("topic", files{"a": "evil\n"}, head)
	if again := mustMerge(t, m, c); again != out {
		t.Errorf("after the merge the branch may move: got %+v, want %+v", again, out)
	}
}

// The head branch moves between the look and the merge.
func TestMergeHeadRefMovesMeanwhile(t *testing.T) {
	t.Parallel()
	r := mustRepo(t)
	base, head := r.simple()
	newer := r.commit("", files{"a": "evil\n"}, head)
	program, _ := fakeGit(t, fault{
		Command: "update-ref", N: 1, Before: [][]string{{"update-ref", "refs/heads/topic", newer}},
	})
	c := call(head)
	c.In.HeadRef = "refs/heads/topic"
	_, err := mustMerger(t, r, program).Merge(t.Context(), c)
	wantError(t, err, "permanent head_moved", newer)
	if got := r.tip(); got != base {
		t.Errorf("main is at %s, want %s untouched", got, base)
	}
}

func TestRegister(t *testing.T) {
	t.Parallel()
	r := mustRepo(t)
	var reg engine.Registry
	git.Register(&reg, mustMerger(t, r, ""))
	info, ok := reg.Manifest()["git.merge"]
	if !ok {
		t.Fatal("git.merge is not registered")
	}
	want := []string{"merge_conflict", "head_gone", "head_moved", "base_gone", "unrelated_histories"}
	if diff := cmp.Diff(want, info.Codes); diff != "" {
		t.Errorf("codes (-want +got):\n%s", diff)
	}
}

func TestNew(t *testing.T) {
	t.Parallel()
	dir := git.Dir(t.TempDir())
	tests := []struct {
		name    string
		answer  string // of git version
		exit    int
		problem string // "" for none; %s is the program
	}{
		{"Oldest", "git version 2.38.0\n", 0, ""},
		{"Debian", "git version 2.39.5\n", 0, ""},
		{"Apple", "git version 2.39.5 (Apple Git-154)\n", 0, ""},
		{"Windows", "git version 2.45.1.windows.1\n", 0, ""},
		{"Candidate", "git version 2.40-rc1\n", 0, ""},
		{"Future", "git version 3.0\n", 0, ""},
		{"TooOld", "git version 2.30.2\n", 0, "git 2.38 or newer is needed for merge-tree --write-tree; found 2.30 at %s"},
		{"Ancient", "git version 1.99.9\n", 0, "found 1.99 at %s"},
		{"NotGit", "hg 6.1\n", 0, `it answered "hg 6.1"`},
		{"OneNumber", "git version 2\n", 0, "it answered"},
		{"NoNumber", "git version x.y\n", 0, "it answered"},
		{"Empty", "", 0, "it answered"},
		{"Fails", "git version 2.39.5\n", 1, "it answered"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			program, _ := fakeGit(t, fault{Command: "version", Skip: true, Stdout: tt.answer, Exit: tt.exit})
			_, err := git.New(t.Context(), git.Config{Repositories: dir, Git: program})
			want := strings.ReplaceAll(tt.problem, "%s", program)
			if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
				t.Errorf("New with %q = %v, want %q", tt.answer, err, want)
			}
		})
	}
}

func TestNewRefuses(t *testing.T) {
	t.Parallel()
	dir := git.Dir(t.TempDir())
	tests := []struct {
		name string
		cfg  git.Config
		want []string
	}{
		{"Nothing", git.Config{}, []string{"Repositories is nil"}},
		{"NoGit", git.Config{Repositories: dir, Git: filepath.Join(t.TempDir(), "git")}, []string{"find git"}},
		{"AllAtOnce", git.Config{Git: "no-such-git", Name: "a\nb"}, []string{"Repositories", "identity", "find git"}},
		{"NameWithMail", git.Config{Repositories: dir, Name: "a <b@c>"}, []string{"identity"}},
		{"NameOfDots", git.Config{Repositories: dir, Name: "..."}, []string{"identity"}},
		{"Mail", git.Config{Repositories: dir, Email: "a\x00b"}, []string{"identity"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			_, err := git.New(t.Context(), tt.cfg)
			if err == nil {
				t.Fatal("New succeeded")
			}
			for _, w := range tt.want {
				if !strings.Contains(err.Error(), w) {
					t.Errorf("the error %q does not say %q", err, w)
				}
			}
		})
	}
}

// Dates outside of what git can write fall back to its first day.
func TestMergeEarlyStart(t *testing.T) {
	t.Parallel()
	r := mustRepo(t)
	_, head := r.simple()
	c := call(head)
	c.StartedAt = time.Date(1960, 1, 1, 0, 0, 0, 0, time.UTC)
	out := mustMerge(t, mustMerger(t, r, ""), c)
	if got := r.git("log", "-1", "--format=%ct", out.MergeSHA); got != "0" {
		t.Errorf("the date is %s, want 0", got)
	}
}
