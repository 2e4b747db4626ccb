package search_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/pawl-dev/pawl/engine"
	"github.com/pawl-dev/pawl/steps/search"
)

// The test runs itself as a process that dies, which these tell what to do.
const (
	envKillDir = "PAWL_TEST_KILL_DIR"
	envKillAt  = "PAWL_TEST_KILL_AT"
)

// killTrees are two commits that have no file in common.
func killTrees() map[string]files {
	trees := map[string]files{commit(1): {}, commit(2): {}}
	for i := range 10 {
		trees[commit(1)][fmt.Sprint("old", i)] = "old word"
		trees[commit(2)][fmt.Sprint("new", i)] = "new word"
	}
	return trees
}

// TestKillHelper is the process that dies at its n-th file.
func TestKillHelper(t *testing.T) {
	dir := os.Getenv(envKillDir)
	if dir == "" {
		t.Skip("runs only as a process of TestKilledUpdate")
	}
	at, err := strconv.Atoi(os.Getenv(envKillAt))
	if err != nil {
		t.Fatal(err)
	}
	read := 0
	x := mustNew(t, search.Config{Dir: dir, BatchBytes: 1, Source: commits{
		trees: killTrees(),
		before: func(string) error {
			if read++; read < at {
				return nil
			}
			self, err := os.FindProcess(os.Getpid())
			if err != nil {
				return err
			}
			if err := self.Kill(); err != nil {
				return err
			}
			select {}
		},
	}})
	_, _ = x.Update(t.Context(), engine.Call[search.Input]{In: search.Input{RepoID: "r", SHA: commit(2)}})
}

// TestKilledUpdate kills the process at one file after the other and looks
// that the next run makes the index whole.
func TestKilledUpdate(t *testing.T) {
	t.Parallel()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(t.TempDir(), "search")
	x := mustNew(t, search.Config{Dir: dir, Source: commits{trees: killTrees()}})
	for _, at := range []int{1, 3, 10} {
		mustUpdate(t, x, "r", commit(1))
		for range 2 {
			cmd := exec.CommandContext(t.Context(), self, "-test.run=^TestKillHelper$")
			cmd.Env = append(os.Environ(), envKillDir+"="+dir, envKillAt+"="+strconv.Itoa(at))
			if out, err := cmd.CombinedOutput(); err == nil {
				t.Fatalf("the process was not killed:\n%s", out)
			}
		}
		if out := mustUpdate(t, x, "r", commit(2)); out.Documents != 10 {
			t.Errorf("killed at file %d: Documents = %d, want 10", at, out.Documents)
		}
		if n := len(found(t, x, search.Query{Text: "new"})); n != 10 {
			t.Errorf("killed at file %d: %d new files, want 10", at, n)
		}
		if got := found(t, x, search.Query{Text: "old"}); got != nil {
			t.Errorf("killed at file %d: old files %q, want none", at, got)
		}
	}
}
