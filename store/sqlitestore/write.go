package sqlitestore

import (
	"context"
	"database/sql"
	"fmt"

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
	return [kinds]string{
		insertPlain: insertPlainSQL,
		insertKeyed: insertKeyedSQL,
		insertFull:  insertFullSQL,
		updateHot:   updateHotSQL,
		updateFull:  updateFullSQL,
		insertLine:  insertLineSQL,
		insertLines: insertLinesSQL(),
	}[k]
}

// kept is a prepared statement that lives as long as what it was prepared on.
type kept struct{ *sql.Stmt }

// preparer is a database or a transaction.
type preparer interface {
	PrepareContext(ctx context.Context, query string) (*sql.Stmt, error)
}

func keep(ctx context.Context, on preparer, text string) (kept, error) {
	st, err := on.PrepareContext(ctx, text)
	return kept{st}, err
}

// prepared are the statements by kind.
type prepared [kinds]kept

func (p *prepared) prepare(ctx context.Context, db *sql.DB) (err error) {
	for k := range kinds {
		if p[k], err = keep(ctx, db, k.sql()); err != nil {
			return err
		}
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

// bind makes the statement of that kind ready for the transaction.
func (w *writer) bind(ctx context.Context, k kind) (err error) {
	switch {
	case w.bound[k].Stmt != nil:
	case w.ready != nil:
		w.bound[k] = kept{w.tx.StmtContext(ctx, w.ready[k].Stmt)}
	default:
		w.bound[k], err = keep(ctx, w.tx, k.sql())
	}
	return err
}

// run executes the statement of that kind and returns how many rows it wrote.
func (w *writer) run(ctx context.Context, k kind, args []any) (int64, error) {
	if err := w.bind(ctx, k); err != nil {
		return 0, err
	}
	res, err := w.bound[k].ExecContext(ctx, args...)
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
