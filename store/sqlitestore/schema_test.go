package sqlitestore_test

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/pawl-dev/pawl/engine"
	"github.com/pawl-dev/pawl/store/sqlitestore"
)

// Six processes open an empty file at once: one version row, nobody fails. C16.
func TestMigrateByManyProcesses(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "pawl.db")
	var waits []func() error
	for range 6 {
		waits = append(waits, mustSpawn(t, "migrate", file))
	}
	for _, wait := range waits {
		if err := wait(); err != nil {
			t.Error(err)
		}
	}
	wantMigrated(t, file)
}

func TestMigrateByManyHandles(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "pawl.db")
	errs := make(chan error)
	for range 6 {
		go func() {
			s, err := sqlitestore.Open(t.Context(), file, sqlitestore.Options{})
			if err == nil {
				err = s.Close()
			}
			errs <- err
		}()
	}
	for range 6 {
		if err := <-errs; err != nil {
			t.Error(err)
		}
	}
	wantMigrated(t, file)
}

// A process is killed before each statement of the migration in turn. The next
// one does the rest. C16.
func TestMigrateAfterAKilledOne(t *testing.T) {
	t.Parallel()
	for n := 1; n <= 20; n++ { // bounded
		file := filepath.Join(t.TempDir(), "pawl.db")
		err := mustSpawn(t, fmt.Sprint("die at statement ", n), file)()
		wantMigrated(t, file)
		if err == nil {
			if n < 5 {
				t.Errorf("Open has %d statements, want at least the mode, the version, the tables and the commit", n-1)
			}
			return
		}
	}
	t.Error("the child never survived")
}

// wantMigrated opens the file, uses it and looks for one row of the version.
func wantMigrated(t *testing.T, file string) {
	t.Helper()
	s := mustOpenFile(t, file, sqlitestore.Options{})
	defer func() { _ = s.Close() }()
	mustInsert(t, s, sagas(0))
	var rows, version int
	if err := s.DB().QueryRow("SELECT count(*), max(version) FROM pawl_schema").Scan(&rows, &version); err != nil {
		t.Fatal(err)
	}
	if rows != 1 || version != 1 {
		t.Errorf("pawl_schema has %d rows, the highest %d, want one row with 1", rows, version)
	}
}

func TestMigrateAgainChangesNothing(t *testing.T) {
	t.Parallel()
	s := mustOpen(t, sqlitestore.Options{})
	mustInsert(t, s, sagas(0))
	for range 2 {
		if err := s.Migrate(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	claimBatch(t, s)
}

// A program refuses tables that are newer than it knows, and says which. C16.
func TestOpenOtherSchema(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name  string
		sql   string
		opts  sqlitestore.Options
		parts []string // of the error
	}{
		{"Newer", "UPDATE pawl_schema SET version = 7", sqlitestore.Options{}, []string{"schema 7 is newer than this program (1)", "update the program"}},
		{"NewerNoMigrate", "UPDATE pawl_schema SET version = 7", sqlitestore.Options{NoMigrate: true}, []string{"schema 7 is newer than this program (1)"}},
		{"OlderNoMigrate", "UPDATE pawl_schema SET version = 0", sqlitestore.Options{NoMigrate: true}, []string{"schema 0 is older than this program (1)", "run migrate"}},
		{"MissingNoMigrate", "DROP TABLE pawl_schema", sqlitestore.Options{NoMigrate: true}, []string{"tables are missing", "run migrate"}},
		{"ForeignTables", "DROP TABLE pawl_schema", sqlitestore.Options{}, []string{"instance already exists"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			file := filepath.Join(t.TempDir(), "pawl.db")
			s := mustOpenFile(t, file, sqlitestore.Options{})
			if _, err := s.DB().Exec(tt.sql); err != nil {
				t.Fatal(err)
			}
			_, err := sqlitestore.Open(t.Context(), file, tt.opts)
			if !errors.Is(err, engine.ErrSchema) {
				t.Fatalf("Open = %v, want ErrSchema", err)
			}
			for _, part := range tt.parts {
				if !strings.Contains(err.Error(), part) {
					t.Errorf("Open = %q, want it to say %q", err, part)
				}
			}
		})
	}
}

func TestOpenNoMigrate(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "pawl.db")
	mustOpenFile(t, file, sqlitestore.Options{})
	mustInsert(t, mustOpenFile(t, file, sqlitestore.Options{NoMigrate: true}), sagas(0))
}
