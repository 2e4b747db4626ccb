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

