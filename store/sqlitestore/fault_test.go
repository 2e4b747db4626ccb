package sqlitestore_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/pawl-dev/pawl/engine"
	"github.com/pawl-dev/pawl/internal/sqlcount"
	"github.com/pawl-dev/pawl/store/sqlitestore"
)

var errCut = errors.New("the power was cut")

// A commit whose answer is lost is ErrUnknown, and a repeat settles it.
func TestUnknownCommit(t *testing.T) {
	t.Parallel()
	var cut atomic.Bool
	for name, c := range map[string]*sqlcount.Counter{
		"Applied": {After: func(op sqlcount.Op, _ string) error {
			if op == sqlcount.Commit && cut.CompareAndSwap(true, false) {
				return errCut
			}
			return nil
		}},
		"NotApplied": {Before: func(op sqlcount.Op, _ string) error {
			if op == sqlcount.Commit && cut.CompareAndSwap(true, false) {
				return errCut
			}
			return nil
		}},
	} {
		t.Run(name, func(t *testing.T) {
			s := mustOpen(t, sqlitestore.Options{Wrap: c.Wrap})
			cut.Store(true)
			if _, err := s.Insert(t.Context(), epoch, sagas(0)); !errors.Is(err, engine.ErrUnknown) {
				t.Errorf("Insert = %v, want ErrUnknown", err)
			}
			if _, err := s.Insert(t.Context(), epoch, sagas(0)); err != nil {
				t.Errorf("the repeat = %v", err)
			}
			ins := claimBatch(t, s)
			tr := []engine.Transition{{Instance: ins[0], Token: "t", History: &engine.History{At: epoch, Actor: "w"}}}
			cut.Store(true)
			if _, err := s.Commit(t.Context(), epoch, tr); !errors.Is(err, engine.ErrUnknown) {
				t.Errorf("Commit = %v, want ErrUnknown", err)
			}
			if out, err := s.Commit(t.Context(), epoch, tr); err != nil || out[0].Result != engine.Done {
				t.Errorf("the repeat = %+v, %v, want done", out, err)
			}
			if lines, err := s.History(t.Context(), ins[0].ID, 0, 10); err != nil || len(lines) != 1 {
				t.Errorf("History = %+v, %v, want one line", lines, err)
			}
		})
	}
}

// Whatever statement of a write fails, nothing of it is there.
func TestFailedStatementChangesNothing(t *testing.T) {
	t.Parallel()
	var left atomic.Int64
	c := sqlcount.Counter{Before: func(op sqlcount.Op, _ string) error {
		if op != sqlcount.Rollback && left.Add(-1) == 0 {
			return errCut
		}
		return nil
	}}
	s := mustOpen(t, sqlitestore.Options{Wrap: c.Wrap})
	mustInsert(t, s, sagas(0))
	ins := claimBatch(t, s)
	tr := engine.Transition{
		Instance: ins[0], History: &engine.History{At: epoch, Code: "c"}, Token: "t",
		Acquire: []engine.Hold{{Name: "k"}}, Start: sagas(5000)[:1], Free: true,
	}
	tr.Instance.State = "moved"
	for n := int64(1); n < 20; n++ { // bounded
		left.Store(n)
		_, err := s.Commit(t.Context(), epoch, []engine.Transition{tr})
		left.Store(0)
		if err == nil {
			if n < 6 {
				t.Errorf("a commit has %d calls of the driver, want more", n-1)
			}
			return
		}
		if !errors.Is(err, engine.ErrUnavailable) && !errors.Is(err, engine.ErrUnknown) {
			t.Errorf("Commit with call %d cut off = %v, want ErrUnavailable or ErrUnknown", n, err)
		}
		in, err := s.Load(t.Context(), ins[0].ID)
		if err != nil || in.Version != ins[0].Version || in.State != ins[0].State {
			t.Fatalf("after call %d was cut off: %+v, %v, want the row as it was", n, in, err)
		}
		lines, err := s.History(t.Context(), in.ID, 0, 10)
		if err != nil || len(lines) > 0 {
			t.Fatalf("after call %d was cut off: history %+v, %v, want none", n, lines, err)
		}
		if _, err := s.Load(t.Context(), tr.Start[0].Instance.ID); !errors.Is(err, engine.ErrNotFound) {
			t.Fatalf("after call %d was cut off: Load of the event = %v, want ErrNotFound", n, err)
		}
	}
	t.Error("the commit never succeeded")
}

// mustLock holds the write lock of the file until the returned function is
// called.
func mustLock(t *testing.T, file string) (unlock func()) {
	t.Helper()
	db, err := sql.Open("sqlite", file+"?_txlock=immediate&_busy_timeout=5000")
	if err != nil {
		t.Fatal(err)
	}
	tx, err := db.BeginTx(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	unlock = func() {
		_ = tx.Rollback()
		_ = db.Close()
	}
	t.Cleanup(unlock)
	return unlock
}

func TestBusyEndsAfterTheTimeout(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "pawl.db")
	s := mustOpenFile(t, file, sqlitestore.Options{BusyTimeout: 50 * time.Millisecond})
	unlock := mustLock(t, file)
	_, err := s.Insert(t.Context(), epoch, sagas(0))
	if !errors.Is(err, engine.ErrUnavailable) {
		t.Errorf("Insert into a locked file = %v, want ErrUnavailable", err)
	}
	for e := err; e != nil; e = errors.Unwrap(e) {
		if name := fmt.Sprintf("%T", e); strings.Contains(name, "sqlite") {
			t.Errorf("the error of the driver leaves the store: %s", name)
		}
	}
	if got, err := s.Claim(t.Context(), claimRequest()); err != nil || len(got.Instances) > 0 {
		t.Errorf("an idle claim in a locked file = %+v, %v, want nothing", got, err)
	}
	unlock()
	mustInsert(t, s, sagas(0))
}

func TestBusyWaits(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "pawl.db")
	s := mustOpenFile(t, file, sqlitestore.Options{})
	unlock := mustLock(t, file)
	inserted := make(chan error, 1)
	go func() {
		_, err := s.Insert(t.Context(), epoch, sagas(0))
		inserted <- err
	}()
	select {
	case err := <-inserted:
		t.Fatalf("Insert into a locked file = %v", err)
	case <-time.After(20 * time.Millisecond): // it waits
	}
	unlock()
	if err := <-inserted; err != nil {
		t.Errorf("Insert after the lock was given back = %v", err)
	}
}

// A context that ends while the file is locked ends the call, and the next
// call works on the same connection.
func TestBusyEndsWithTheContext(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "pawl.db")
	s := mustOpenFile(t, file, sqlitestore.Options{})
	unlock := mustLock(t, file)
	for range 3 {
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
		_, err := s.Insert(ctx, epoch, sagas(0))
		cancel()
		if !errors.Is(err, engine.ErrUnavailable) || !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("Insert = %v, want ErrUnavailable for the deadline", err)
		}
	}
	unlock()
	mustInsert(t, s, sagas(0))
}

// The only connection is taken by a caller of DB: a write waits for it no
// longer than for the file.
func TestBusyConnection(t *testing.T) {
	t.Parallel()
	s := mustOpen(t, sqlitestore.Options{BusyTimeout: 30 * time.Millisecond})
	tx, err := s.DB().BeginTx(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Insert(t.Context(), epoch, sagas(0)); !errors.Is(err, engine.ErrUnavailable) {
		t.Errorf("Insert = %v, want ErrUnavailable", err)
	}
	if err := tx.Rollback(); err != nil {
		t.Fatal(err)
	}
	mustInsert(t, s, sagas(0))
}

// Reads whose contexts end in the middle leave the readers usable.
func TestCutOffReads(t *testing.T) {
	t.Parallel()
	s := mustOpen(t, sqlitestore.Options{Synchronous: "NORMAL", Readers: 1})
	for i := range 20 {
		mustInsert(t, s, sagas(i*batch))
	}
	for i := range 30 {
		ctx, cancel := context.WithTimeout(t.Context(), time.Duration(i)*100*time.Microsecond)
		_, err := s.List(ctx, engine.Filter{Limit: 1000, State: "step0", Labels: map[string]string{"a": "b"}})
		cancel()
		if err != nil && !errors.Is(err, engine.ErrUnavailable) {
			t.Errorf("List = %v, want ErrUnavailable", err)
		}
	}
	page, err := s.List(t.Context(), engine.Filter{Limit: 1000})
	if err != nil || len(page.Instances) != 1000 {
		t.Errorf("List afterwards = %d instances, %v, want 1000", len(page.Instances), err)
	}
}
