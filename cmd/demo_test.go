package pawlcmd_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/pawl-dev/pawl/internal/golden"
)

// TestDemo runs the demo and then looks at what it has left, as a user would.
func TestDemo(t *testing.T) {
	t.Parallel()
	c := newCLI(t)
	dir := filepath.Join(c.dir, "demo")
	golden.Check(t, "testdata/demo.txt", []byte(c.must(t, "demo", "--dir", dir)))

	if got := git(t, filepath.Join(dir, "repo.git"), "rev-list", "--merges", "--count", "main"); got != "2" {
		t.Errorf("main has %s merge commits, want 2", got)
	}
	git(t, filepath.Join(dir, "repo.git"), "fsck", "--strict")

	c.env["PAWL_STORE"] = "sqlite:" + filepath.Join(dir, "pawl.db")
	states := map[string]int{}
	for _, in := range decode[listed](t, c.must(t, "list", "-o", "json")).Instances {
		states[in.State]++
	}
	if states["MERGED"] != 2 || states["MERGE_FAILED"] != 1 || states["PUBLISHED"] != 4 || len(states) != 3 {
		t.Errorf("states = %v, want 2 MERGED, 1 MERGE_FAILED and 4 PUBLISHED", states)
	}
	merges, retried := 0, false
	for _, line := range decode[story](t, c.must(t, "history", "pr-merge/2", "-o", "json")).Transitions {
		if line.From == "MERGING" {
			merges++
		}
		if line.From == "MERGE_FAILED" {
			retried = line.To == "INDEXING"
		}
	}
	if merges != 1 || !retried {
		t.Errorf("git.merge ran %d times for pr-merge/2 and its retry to INDEXING is %v, want 1 and true", merges, retried)
	}
	if got := c.must(t, "show", "pr-merge/3"); !strings.Contains(got, "merge_conflict") || !strings.Contains(got, "greeting.txt") {
		t.Errorf("show pr-merge/3 does not name the conflict:\n%s", got)
	}
}

func TestDemoRefusesAUsedFolder(t *testing.T) {
	t.Parallel()
	c := newCLI(t)
	c.write(t, "used/pawl.db", "")
	c.write(t, "full/x", "")
	for _, dir := range []string{"DIR/used", "DIR/full", "DIR/full/x"} {
		a := c.run(t, "demo", "--dir", dir)
		if a.code != 2 || a.out != "" || !strings.Contains(a.err, dir) {
			t.Errorf("demo --dir %s = %+v, want exit code 2 and the name", dir, a)
		}
	}
}

func TestDemoWithoutAFolderLeavesNothing(t *testing.T) {
	c := newCLI(t)
	t.Setenv("TMPDIR", c.dir)
	t.Setenv("TMP", c.dir) // on Windows
	c.must(t, "demo")
	left, err := filepath.Glob(filepath.Join(c.dir, "pawl-demo-*"))
	if err != nil || len(left) > 0 {
		t.Errorf("the demo has left %v (%v)", left, err)
	}
}
