package sqlitestore_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/pawl-dev/pawl/engine"
	"github.com/pawl-dev/pawl/internal/sqlcount"
	"github.com/pawl-dev/pawl/store/sqlitestore"
)

// The test binary runs itself for tests that need processes: roleVar says what
// the child is, fileVar which file it opens.
const (
	roleVar = "PAWL_TEST_ROLE"
	fileVar = "PAWL_TEST_FILE"
)

func TestMain(m *testing.M) {
	role := os.Getenv(roleVar)
	if role == "" {
		os.Exit(m.Run())
	}
	if err := child(role, os.Getenv(fileVar)); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// child is the main function of a child process.
func child(role, file string) error {
	ctx := context.Background()
	var dieAt int64
	if _, err := fmt.Sscanf(role, "die at statement %d", &dieAt); err == nil {
		return dieMigrating(ctx, file, dieAt)
	}
	s, err := sqlitestore.Open(ctx, file, sqlitestore.Options{})
	if err != nil {
		return err
	}
	defer func() { _ = s.Close() }()
	if role == "migrate" {
		return nil
	}
	return work(ctx, s, role)
}

// mustSpawn starts a child and returns a function that waits for its end.
func mustSpawn(t *testing.T, role, file string) (wait func() error) {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), exe)
	cmd.Env = append(os.Environ(), roleVar+"="+role, fileVar+"="+file)
	var out testWriter
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	return func() error {
		if err := cmd.Wait(); err != nil {
			return fmt.Errorf("child %q: %w\n%s", role, err, out)
		}
		return nil
	}
}

// testWriter keeps what a child writes.
type testWriter []byte

func (w *testWriter) Write(p []byte) (int, error) {
	*w = append(*w, p...)
	return len(p), nil
}

const (
	perStarter = 250
	loops      = 4 // that start, and as many that claim, in each of two processes
)

// Two processes start and finish instances in one file at once. Every start
// succeeds, none is lost or done twice, and nobody hears of a locked file. C14.
func TestTwoProcesses(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "pawl.db")
	waits := []func() error{mustSpawn(t, "p1", file), mustSpawn(t, "p2", file)}
	for _, wait := range waits {
		if err := wait(); err != nil {
			t.Error(err)
		}
	}
	s := mustOpenFile(t, file, sqlitestore.Options{})
	done := 0
	f := engine.Filter{Status: engine.Succeeded, Limit: 1000}
	for range 10 { // bounded
		page, err := s.List(t.Context(), f)
		if err != nil {
			t.Fatal(err)
		}
		for _, in := range page.Instances {
			if in.Version != 3 {
				t.Errorf("%s has version %d, want 3: started, claimed, ended", in.ID, in.Version)
			}
		}
		done += len(page.Instances)
		if f.After = page.Next; f.After == "" {
			break
		}
	}
	if want := 2 * loops * perStarter; done != want {
		t.Errorf("%d instances ended, want %d", done, want)
	}
}

// work starts instances and finishes whatever is due until nothing is left.
func work(ctx context.Context, s *sqlitestore.Store, name string) error {
	var started atomic.Int64
	errs := make([]error, 2*loops)
	var wg sync.WaitGroup
	for i := range loops {
		wg.Go(func() { errs[i] = starter(ctx, s, fmt.Sprint(name, "-", i), &started) })
		wg.Go(func() { errs[loops+i] = finisher(ctx, s, fmt.Sprint(name, "-", i), &started) })
	}
	wg.Wait()
	return errors.Join(errs...)
}

func starter(ctx context.Context, s *sqlitestore.Store, name string, started *atomic.Int64) error {
	defer started.Add(1)
	for i := range perStarter {
		n := sagas(i)[:1]
		n[0].Instance.ID, n[0].Instance.Key = fmt.Sprint(name, "-", i), ""
		out, err := s.Insert(ctx, epoch, n)
		if err != nil || !out[0].Created {
			return fmt.Errorf("insert: %+v, %w", out, err)
		}
	}
	return nil
}

func finisher(ctx context.Context, s *sqlitestore.Store, name string, started *atomic.Int64) error {
	pause := time.NewTicker(time.Millisecond)
	defer pause.Stop()
	for {
		over := started.Load() == loops // before the look
		req := claimRequest()
		req.Owner, req.Until, req.Limit = name, epoch.Add(time.Hour), 20
		got, err := s.Claim(ctx, req)
		if err != nil {
			return err
		}
		if len(got.Instances) == 0 {
			if over {
				return nil
			}
			<-pause.C
			continue
		}
		if err := finishAll(ctx, s, got.Instances); err != nil {
			return err
		}
	}
}

func finishAll(ctx context.Context, s *sqlitestore.Store, ins []engine.Instance) error {
	tr := make([]engine.Transition, len(ins))
	for i, in := range ins {
		in.State, in.Step, in.Status = "done", "", engine.Succeeded
		in.LeaseUntil, in.DueAt = time.Time{}, time.Time{}
		tr[i] = engine.Transition{Instance: in, Token: in.LeaseOwner, History: &engine.History{At: epoch, Actor: in.LeaseOwner}}
	}
	out, err := s.Commit(ctx, epoch, tr)
	if err != nil {
		return err
	}
	for i := range out {
		if out[i].Result != engine.Done {
			return fmt.Errorf("commit of %s: %+v", ins[i].ID, out[i])
		}
	}
	return nil
}

// dieMigrating opens a file and is killed before the n-th statement of that.
func dieMigrating(ctx context.Context, file string, n int64) error {
	var count atomic.Int64
	c := sqlcount.Counter{Before: func(op sqlcount.Op, _ string) error {
		if (op == sqlcount.Exec || op == sqlcount.Commit) && count.Add(1) == n {
			self, err := os.FindProcess(os.Getpid())
			if err != nil {
				return err
			}
			if err := self.Kill(); err != nil {
				return err
			}
			select {} // until the signal arrives
		}
		return nil
	}}
	s, err := sqlitestore.Open(ctx, file, sqlitestore.Options{Wrap: c.Wrap})
	if err != nil {
		return err
	}
	return s.Close()
}
