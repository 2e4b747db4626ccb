package sqlitestore_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/pawl-dev/pawl/engine"
	"github.com/pawl-dev/pawl/store/sqlitestore"
)

func TestOpenRefuses(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file := filepath.Join(dir, "file")
	if err := os.WriteFile(file, []byte("no database, but long enough to look like one"), 0o600); err != nil {
		t.Fatal(err)
	}
	good := filepath.Join(dir, "good.db")
	tests := []struct {
		name string
		path string
		opts sqlitestore.Options
		want error
		text string
	}{
		{"NoPath", "", sqlitestore.Options{}, engine.ErrInvalid, "must name a file"},
		{"Memory", ":memory:", sqlitestore.Options{}, engine.ErrInvalid, "in memory"},
		{"URI", "file:pawl.db?mode=memory", sqlitestore.Options{}, engine.ErrInvalid, "URIs are not supported"},
		{"MissingFolder", filepath.Join(dir, "nowhere", "pawl.db"), sqlitestore.Options{}, engine.ErrInvalid, "create it first"},
		{"FolderIsAFile", filepath.Join(file, "pawl.db"), sqlitestore.Options{}, engine.ErrInvalid, "create it first"},
		{"Folder", dir, sqlitestore.Options{}, engine.ErrUnavailable, "unable to open"},
		{"NoDatabase", file, sqlitestore.Options{}, engine.ErrUnavailable, "not a database"},
		{"Synchronous", good, sqlitestore.Options{Synchronous: "OFF"}, engine.ErrInvalid, `"OFF"`},
		{"BusyTimeout", good, sqlitestore.Options{BusyTimeout: -1}, engine.ErrInvalid, "BusyTimeout"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			_, err := sqlitestore.Open(t.Context(), tt.path, tt.opts)
			if !errors.Is(err, tt.want) || !strings.Contains(err.Error(), tt.text) {
				t.Errorf("Open(%q) = %v, want %v with %q", tt.path, err, tt.want, tt.text)
			}
		})
	}
}

func TestOpenOddNames(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"a b.db", "a?b.db", "a#b.db", "a%20b.db", "a&b=c.db", "ü.db", "'.db", "-.db", "a;b.db"} {
		file := filepath.Join(t.TempDir(), name)
		mustInsert(t, mustOpenFile(t, file, sqlitestore.Options{}), sagas(0))
		if _, err := os.Stat(file); err != nil {
			t.Errorf("Open(%q): %v", name, err)
		}
	}
}

func TestSettings(t *testing.T) {
	t.Parallel()
	for mode, want := range map[string]int{"": 2, "FULL": 2, "NORMAL": 1} {
		s := mustOpen(t, sqlitestore.Options{Synchronous: mode})
		var sync int
		var journal string
		if err := s.DB().QueryRow("PRAGMA synchronous").Scan(&sync); err != nil {
			t.Fatal(err)
		}
		if err := s.DB().QueryRow("PRAGMA journal_mode").Scan(&journal); err != nil {
			t.Fatal(err)
		}
		if sync != want || journal != "wal" {
			t.Errorf("Synchronous %q gives synchronous %d, journal_mode %s, want %d, wal", mode, sync, journal, want)
		}
	}
}

func TestClock(t *testing.T) {
	t.Parallel()
	at := epoch.Add(42 * time.Hour).In(time.FixedZone("east", 3600))
	s := mustOpen(t, sqlitestore.Options{Clock: func() time.Time { return at }})
	now, err := s.Now(t.Context())
	if err != nil || now != at.UTC() {
		t.Errorf("Now = %s, %v, want %s", now, err, at.UTC())
	}
	got, err := s.Claim(t.Context(), claimRequest())
	if err != nil || got.Now != at.UTC() {
		t.Errorf("Claimed.Now = %s, %v, want %s", got.Now, err, at.UTC())
	}
}

func TestClosedIsUnavailable(t *testing.T) {
	t.Parallel()
	s := mustOpen(t, sqlitestore.Options{})
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Insert(t.Context(), epoch, sagas(0)); !errors.Is(err, engine.ErrUnavailable) {
		t.Errorf("Insert = %v, want ErrUnavailable", err)
	}
	if _, err := s.Load(t.Context(), "x"); !errors.Is(err, engine.ErrUnavailable) {
		t.Errorf("Load = %v, want ErrUnavailable", err)
	}
}
