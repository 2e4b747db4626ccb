package search_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/blevesearch/bleve/v2"

	"github.com/pawl-dev/pawl/engine"
	"github.com/pawl-dev/pawl/steps/search"
)

func TestConcurrentUpdates(t *testing.T) {
	t.Parallel()
	trees := map[string]files{commit(1): {"a": "alpha", "b": "beta"}, commit(2): {"a": "alpha", "c": "gamma"}}
	dir := filepath.Join(t.TempDir(), "index")
	var wg sync.WaitGroup
	for p := range 2 { // as if in two processes: locks are per open file
		x := mustNew(t, search.Config{Dir: dir, Source: ordered{commits{trees: trees}}, LockWait: time.Minute})
		for i := range 3 {
			wg.Go(func() {
				for _, c := range []int{1, 2} {
					if _, err := update(t, x, fmt.Sprint("r", i), commit(c)); err != nil {
						t.Errorf("process %d: %v", p, err)
					}
				}
			})
		}
	}
	wg.Wait()
	x := mustNew(t, search.Config{Dir: dir})
	wantFound(t, x, "alpha", "r0:a", "r1:a", "r2:a")
	wantFound(t, x, "beta")
	wantFound(t, x, "gamma", "r0:c", "r1:c", "r2:c")
}

func TestIndexInUse(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "index")
	trees := map[string]files{commit(1): {"a": "alpha"}, commit(2): {"a": "beta"}}
	x := mustNew(t, search.Config{Dir: dir, Source: commits{trees: trees}, LockWait: 20 * time.Millisecond})
	mustUpdate(t, x, "r", commit(1))
	other, err := bleve.Open(filepath.Join(dir, "index"))
	if err != nil {
		t.Fatal(err)
	}
	inUse := fmt.Sprintf("the index at %s is in use by another process", dir)
	_, err = update(t, x, "r", commit(2))
	if want := (engine.Verdict{Definite: true}); engine.VerdictOf(err) != want || !strings.Contains(err.Error(), inUse) {
		t.Errorf("Update = %v, want a definite error: %s", err, inUse)
	}
	if _, err := x.Search(t.Context(), search.Query{Text: "alpha"}); err == nil || !strings.Contains(err.Error(), inUse) {
		t.Errorf("Search = %v, want %s", err, inUse)
	}
	if err := other.Close(); err != nil {
		t.Fatal(err)
	}
	mustUpdate(t, x, "r", commit(2))
	wantFound(t, x, "beta", "r:a")
}

// write makes a file and the folders above it.
func write(path, content string) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	return os.WriteFile(path, []byte(content), 0o600)
}

func TestFolderThatIsNone(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name string
		make func(dir string) error
		want string // with the folder for %s; empty: it works
	}{
		{
			"PlainFile", func(dir string) error { return write(dir, "keep me") },
			"cannot open the index at %s: it is a plain file; move it away",
		},
		{
			"BelowAPlainFile", func(dir string) error { return write(filepath.Dir(dir), "") },
			"cannot open the index at %s: ",
		},
		{
			"SomethingElse", func(dir string) error { return write(filepath.Join(dir, "index", "notes.txt"), "") },
			"cannot open the index at %s: ",
		},
		{
			"Broken", func(dir string) error { return write(filepath.Join(dir, "index", "index_meta.json"), "{") },
			"cannot open the index at %s: ",
		},
		{
			"PlainFileWithin", func(dir string) error { return write(filepath.Join(dir, "index"), "") },
			"cannot open the index at %s: it is a plain file; move it away",
		},
		{"EmptyFolder", func(dir string) error { return os.MkdirAll(dir, 0o700) }, ""},
		{"OtherFiles", func(dir string) error { return write(filepath.Join(dir, "lost+found", "x"), "") }, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			dir := filepath.Join(t.TempDir(), "x", "search")
			if err := tt.make(dir); err != nil {
				t.Fatal(err)
			}
			x := mustNew(t, search.Config{Dir: dir, Source: commits{trees: map[string]files{commit(1): {"a": "alpha"}}}})
			_, searchErr := x.Search(t.Context(), search.Query{Text: "alpha"})
			out, err := update(t, x, "r", commit(1))
			if tt.want == "" {
				if err != nil || searchErr != nil || out.Documents != 1 {
					t.Errorf("Update = %+v, %v, Search %v, want them to work", out, err, searchErr)
				}
				return
			}
			want := fmt.Sprintf(tt.want, dir)
			if err == nil || !strings.Contains(err.Error(), want) || engine.VerdictOf(err) != (engine.Verdict{Definite: true}) {
				t.Errorf("Update = %v %+v, want a definite error: %s", err, engine.VerdictOf(err), want)
			}
			if searchErr == nil || !strings.Contains(searchErr.Error(), want) {
				t.Errorf("Search = %v, want %s", searchErr, want)
			}
		})
	}
	t.Run("MovedAway", func(t *testing.T) {
		t.Parallel()
		dir := filepath.Join(t.TempDir(), "index")
		if err := write(dir, "keep me"); err != nil {
			t.Fatal(err)
		}
		x := mustNew(t, search.Config{Dir: dir, Source: commits{trees: map[string]files{commit(1): {"a": "alpha"}}}})
		if _, err := update(t, x, "r", commit(1)); err == nil {
			t.Fatal("Update over a plain file succeeded")
		}
		if got, err := os.ReadFile(dir); err != nil || string(got) != "keep me" {
			t.Errorf("the plain file has %q, %v, want it untouched", got, err)
		}
		if err := os.Remove(dir); err != nil {
			t.Fatal(err)
		}
		mustUpdate(t, x, "r", commit(1))
		wantFound(t, x, "alpha", "r:a")
	})
}
