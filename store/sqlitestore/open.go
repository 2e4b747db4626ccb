package sqlitestore

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"modernc.org/sqlite"

	"github.com/pawl-dev/pawl/engine"
)

// Store is an engine.Store in an SQLite file. It is safe for concurrent use.
type Store struct {
	writer *sql.DB // one connection
	reader *sql.DB
	busy   time.Duration
	clock  func() time.Time

	writes prepared // on writer
	claims sized    // claimSQL, on writer
	load   kept     // loadSQL, on reader
	looks  sized    // lookSQL, on reader
}

var _ engine.Store = (*Store)(nil)

// Open opens the store in the file at path, which is made if it is missing;
// its folder is not. It migrates the schema, see [Options.NoMigrate]. An
// in-memory database is refused, since each connection would have its own.
// Close the store after use.
func Open(ctx context.Context, path string, o Options) (*Store, error) {
	s, err := open(ctx, path, o)
	if err != nil {
		return nil, fmt.Errorf("open store %q: %w", path, err)
	}
	return s, nil
}

func open(ctx context.Context, path string, o Options) (*Store, error) {
	o, err := o.withDefaults()
	if err != nil {
		return nil, err
	}
	file, err := location(path)
	if err != nil {
		return nil, err
	}
	s := &Store{busy: o.BusyTimeout, clock: o.Clock}
	if s.writer, err = pool(file, o, 1, "_txlock=immediate"); err != nil {
		return nil, err
	}
	if s.reader, err = pool(file, o, o.Readers, "_query_only=1"); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	if err := s.setUp(ctx, o); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

// location checks path and makes it absolute, so that it can be a URI.
func location(path string) (string, error) {
	if path == "" || strings.HasPrefix(path, ":memory:") || strings.HasPrefix(path, "file:") {
		return "", fmt.Errorf("%w: the path must name a file; databases in memory and URIs are not supported",
			engine.ErrInvalid)
	}
	abs, err := filepath.Abs(path)
	if err != nil {
		return "", fmt.Errorf("%w: %v", engine.ErrInvalid, err)
	}
	if dir, err := os.Stat(filepath.Dir(abs)); err != nil || !dir.IsDir() {
		return "", fmt.Errorf("%w: there is no folder %q; create it first", engine.ErrInvalid, filepath.Dir(path))
	}
	return abs, nil
}

// pool returns the connections to file. The pragmas belong to the connection,
// so no call pays for them.
func pool(file string, o Options, size int, mode string) (*sql.DB, error) {
	name := filepath.ToSlash(file)
	if !strings.HasPrefix(name, "/") {
		name = "/" + name // C:/pawl.db
	}
	uri := url.URL{Scheme: "file", OmitHost: true, Path: name, RawQuery: strings.Join([]string{
		mode,
		"_busy_timeout=" + strconv.FormatInt(o.BusyTimeout.Milliseconds(), 10),
		"_synchronous=" + o.Synchronous,
		"_dqs=0",
		"_pragma=cache_size(-16000)",           // KiB
		"_pragma=wal_autocheckpoint(4000)",     // pages; each checkpoint is two more fsyncs
		"_pragma=journal_size_limit(67108864)", // bytes
	}, "&")}
	c, err := sqlite.NewConnector(uri.String())
	if err != nil {
		return nil, fmt.Errorf("%w: %v", engine.ErrInvalid, err)
	}
	db := sql.OpenDB(o.Wrap(c))
	db.SetMaxOpenConns(size)
	db.SetMaxIdleConns(size)
	return db, nil
}

// setUp makes the file ready: its mode, its schema and the statements.
func (s *Store) setUp(ctx context.Context, o Options) error {
	err := s.patiently(ctx, func() error {
		_, err := s.writer.ExecContext(ctx, "PRAGMA journal_mode = WAL")
		return err
	})
	if err != nil {
		return fail(ctx, err)
	}
	check := s.Migrate
	if o.NoMigrate {
		check = s.checkSchema
	}
	if err := check(ctx); err != nil {
		return err
	}
	if err := s.writes.prepare(ctx, s.writer); err != nil {
		return fail(ctx, err)
	}
	if s.load, err = keep(ctx, s.reader, loadSQL); err != nil {
		return fail(ctx, err)
	}
	return nil
}

// Close closes the file. Calls that still run fail.
func (s *Store) Close() error {
	var errs []error
	for _, db := range []*sql.DB{s.reader, s.writer} {
		if db != nil {
			errs = append(errs, db.Close())
		}
	}
	return errors.Join(errs...)
}

// DB returns the connection that writes, for tables of the caller's own in the
// same file. It is one connection: a transaction that is left open stops the
// store. Its transactions begin immediate.
func (s *Store) DB() *sql.DB { return s.writer }

// Now implements engine.Store.
func (s *Store) Now(context.Context) (time.Time, error) {
	return whole(s.clock()), nil
}
