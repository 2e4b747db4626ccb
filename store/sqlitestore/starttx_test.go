package sqlitestore_test

import (
	"database/sql"
	"errors"
	"path/filepath"
	"testing"

	"github.com/pawl-dev/pawl/engine"
	"github.com/pawl-dev/pawl/store/sqlitestore"
)

// mustOwn returns a handle that the store did not make, as an application has
// one, on the same file, with a table of its own.
func mustOwn(t *testing.T, file string) *sql.DB {
	t.Helper()
	db, err := sql.Open("sqlite", file+"?_txlock=immediate&_busy_timeout=5000")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	if _, err := db.Exec("CREATE TABLE push (id TEXT PRIMARY KEY)"); err != nil {
		t.Fatal(err)
	}
	return db
}

func mustBegin(t *testing.T, db *sql.DB) *sql.Tx {
	t.Helper()
	tx, err := db.BeginTx(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = tx.Rollback() })
	if _, err := tx.Exec("INSERT INTO push VALUES ('p')"); err != nil {
		t.Fatal(err)
	}
	return tx
}

func wantPushes(t *testing.T, db *sql.DB, want int) {
	t.Helper()
	var got int
	if err := db.QueryRow("SELECT count(*) FROM push").Scan(&got); err != nil {
		t.Fatal(err)
	}
	if got != want {
		t.Errorf("the application has %d rows, want %d", got, want)
	}
}

// What is started in a transaction is there if that commits, and else not. C06.
func TestStartTx(t *testing.T) {
	t.Parallel()
	for _, own := range []bool{false, true} {
		file := filepath.Join(t.TempDir(), "pawl.db")
		s := mustOpenFile(t, file, sqlitestore.Options{})
		db := mustOwn(t, file)
		if !own {
			db = s.DB()
		}
		n := sagas(0)[0]
		n.Start = sagas(1)[:1]

		tx := mustBegin(t, db)
		got, err := sqlitestore.StartTx(t.Context(), tx, n)
		if err != nil || !got.Created {
			t.Fatalf("StartTx = %+v, %v, want it created", got, err)
		}
		if _, err := s.Load(t.Context(), n.Instance.ID); !errors.Is(err, engine.ErrNotFound) {
			t.Errorf("Load before the commit = %v, want ErrNotFound", err)
		}
		if err := tx.Rollback(); err != nil {
			t.Fatal(err)
		}
		for _, id := range []string{n.Instance.ID, n.Start[0].Instance.ID} {
			if _, err := s.Load(t.Context(), id); !errors.Is(err, engine.ErrNotFound) {
				t.Errorf("Load after the rollback = %v, want ErrNotFound", err)
			}
		}
		wantPushes(t, db, 0)

		tx = mustBegin(t, db)
		if got, err := sqlitestore.StartTx(t.Context(), tx, n); err != nil || !got.Created {
			t.Fatalf("StartTx after the rollback = %+v, %v, want it created", got, err)
		}
		if got, err := sqlitestore.StartTx(t.Context(), tx, n); err != nil || got.Created {
			t.Fatalf("the second StartTx = %+v, %v, want it found", got, err)
		}
		if err := tx.Commit(); err != nil {
			t.Fatal(err)
		}
		if _, err := s.Load(t.Context(), n.Instance.ID); err != nil {
			t.Errorf("Load after the commit = %v", err)
		}
		wantPushes(t, db, 1)
	}
}

// A caller that does not look at the error cannot commit without the instance.
func TestStartTxFailureSpoilsTheTransaction(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "other.db")
	db := mustOwn(t, file) // a file without the tables
	tx := mustBegin(t, db)
	_, err := sqlitestore.StartTx(t.Context(), tx, sagas(0)[0])
	if !errors.Is(err, engine.ErrSchema) {
		t.Errorf("StartTx without tables = %v, want ErrSchema", err)
	}
	if err := tx.Commit(); err == nil {
		t.Error("the transaction was committed without its instance")
	}
	wantPushes(t, db, 0)
}

func TestStartTxOfAnEndedContext(t *testing.T) {
	t.Parallel()
	s := mustOpen(t, sqlitestore.Options{})
	tx, err := s.DB().BeginTx(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := tx.Rollback(); err != nil {
		t.Fatal(err)
	}
	if _, err := sqlitestore.StartTx(t.Context(), tx, sagas(0)[0]); !errors.Is(err, engine.ErrUnavailable) {
		t.Errorf("StartTx in an ended transaction = %v, want ErrUnavailable", err)
	}
}

// The store goes on while a caller of its own handle has its transaction open.
func TestStartTxWaitsForTheStore(t *testing.T) {
	t.Parallel()
	s := mustOpen(t, sqlitestore.Options{})
	if _, err := s.DB().Exec("CREATE TABLE push (id TEXT PRIMARY KEY)"); err != nil {
		t.Fatal(err)
	}
	tx := mustBegin(t, s.DB())
	inserted := make(chan error, 1)
	go func() {
		_, err := s.Insert(t.Context(), epoch, sagas(100))
		inserted <- err
	}()
	if _, err := sqlitestore.StartTx(t.Context(), tx, sagas(0)[0]); err != nil {
		t.Fatal(err)
	}
	if err := tx.Commit(); err != nil {
		t.Fatal(err)
	}
	if err := <-inserted; err != nil {
		t.Errorf("Insert beside the caller's transaction = %v", err)
	}
}
