package sqlitestore

import (
	"context"
	"database/sql"
	"fmt"
	"time"

	lib "modernc.org/sqlite/lib"

	"github.com/pawl-dev/pawl/engine"
)

// kind names a statement of the hot path, which is kept prepared.
type kind int

const (
	insertPlain kind = iota
	insertKeyed
	insertFull
	updateHot
	updateFull
	insertLine
	insertLines
	kinds
)

// sql returns the text of the statement.
func (k kind) sql() string {
	switch k {
	case insertPlain:
		return insertPlainSQL
	case insertKeyed:
		return insertKeyedSQL
	case insertFull:
		return insertFullSQL
	case updateHot:
		return updateHotSQL
	case updateFull:
		return updateFullSQL
	case insertLine:
		return insertLineSQL
	default:
		return insertLinesSQL()
	}
}

// prepared are the statements by kind.
type prepared [kinds]*sql.Stmt

func (p *prepared) prepare(ctx context.Context, db *sql.DB) error {
	for k := range kinds {
		st, err := db.PrepareContext(ctx, k.sql())
		if err != nil {
			return err
		}
		p[k] = st
	}
	return nil
}

// writer is a transaction that writes.
type writer struct {
	tx    *sql.Tx
	ready *prepared // nil in a caller's own transaction
	bound prepared  // to tx
	args  []any     // room for the arguments of one statement
	lines []any     // arguments of the lines of history that are not written yet
}

// stmt returns the statement of that kind for the transaction.
func (w *writer) stmt(ctx context.Context, k kind) (*sql.Stmt, error) {
	if w.bound[k] != nil {
		return w.bound[k], nil
	}
	if w.ready != nil {
		w.bound[k] = w.tx.StmtContext(ctx, w.ready[k])
		return w.bound[k], nil
	}
	st, err := w.tx.PrepareContext(ctx, k.sql())
	w.bound[k] = st
	return st, err
}

// run executes the statement of that kind and returns how many rows it wrote.
func (w *writer) run(ctx context.Context, k kind, args []any) (int64, error) {
	st, err := w.stmt(ctx, k)
	if err != nil {
		return 0, err
	}
	res, err := st.ExecContext(ctx, args...)
	if err != nil {
		return 0, err
	}
	return res.RowsAffected()
}

// exec executes a statement that is not on the hot path.
func (w *writer) exec(ctx context.Context, text string, args ...any) (int64, error) {
	res, err := w.tx.ExecContext(ctx, text, args...)
	if err != nil {
		return 0, err
	}
	return res.RowsAffected()
}

// write runs f in a transaction and commits it. Once that has begun ctx cannot
// end it: it is short, and a transaction that is cut off costs the connection.
// Errors of f mean that nothing happened.
func (s *Store) write(ctx context.Context, what string, f func(ctx context.Context, w *writer) error) error {
	tx, free, err := s.begin(ctx)
	if err != nil {
		return fmt.Errorf("%s: %w", what, fail(ctx, err))
	}
	defer free()
	defer func() { _ = tx.Rollback() }() // no effect after the commit
	steady := context.WithoutCancel(ctx)
	w := writer{tx: tx, ready: &s.writes}
	if err := f(steady, &w); err != nil {
		return fmt.Errorf("%s: %w", what, fail(steady, err))
	}
	if err := tx.Commit(); err != nil {
		return fmt.Errorf("%s: commit: %w: %v", what, engine.ErrUnknown, err)
	}
	return nil
}

// begin waits for the lock of the file, at most until ctx ends or the busy
// timeout is over, and begins a transaction that ctx does not end. The caller
// calls free after the transaction.
func (s *Store) begin(ctx context.Context) (tx *sql.Tx, free context.CancelFunc, err error) {
	err = s.patiently(ctx, func() error {
		tx, free, err = s.beginOnce(ctx)
		return err
	})
	return tx, free, err
}

// beginOnce ties the transaction to a context that follows ctx only until it
// has begun.
func (s *Store) beginOnce(ctx context.Context) (*sql.Tx, context.CancelFunc, error) {
	own, cancel := context.WithCancel(context.WithoutCancel(ctx))
	unfollow := context.AfterFunc(ctx, cancel)
	limit := time.AfterFunc(s.busy, cancel)
	tx, err := s.writer.BeginTx(own, nil)
	if unfollow() && limit.Stop() && err == nil {
		return tx, cancel, nil
	}
	limit.Stop()
	if err == nil { // begun, and given up at the same time
		_ = tx.Rollback()
		err = context.Canceled
	}
	cancel()
	if ctx.Err() == nil && own.Err() != nil && code(err) == lib.SQLITE_OK {
		return nil, nil, fmt.Errorf("%w: other writes took all of %s", engine.ErrUnavailable, s.busy)
	}
	return nil, nil, err
}

// patiently repeats f while other processes hold the file, until ctx ends or
// the busy timeout is over. SQLite waits by itself in most cases, but not in
// all, such as the change to WAL mode.
func (s *Store) patiently(ctx context.Context, f func() error) error {
	limit := time.NewTimer(s.busy)
	defer limit.Stop()
	for {
		err := f()
		if c := code(err); c != lib.SQLITE_BUSY && c != lib.SQLITE_LOCKED {
			return err
		}
		again := time.NewTimer(5 * time.Millisecond)
		select {
		case <-again.C:
		case <-ctx.Done():
			again.Stop()
			return err
		case <-limit.C:
			again.Stop()
			return err
		}
	}
}
