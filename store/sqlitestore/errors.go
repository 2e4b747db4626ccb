package sqlitestore

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"modernc.org/sqlite"
	lib "modernc.org/sqlite/lib"

	"github.com/pawl-dev/pawl/engine"
)

// code returns the primary result code of SQLite in err, or 0.
func code(err error) int {
	if e, ok := errors.AsType[*sqlite.Error](err); ok {
		return e.Code() & 0xff
	}
	return lib.SQLITE_OK
}

// fail says in the engine's words what it means that a call of the database
// other than a commit returned err. Nothing has happened then. Errors of this
// package and its callers pass; those of the driver stay here.
func fail(ctx context.Context, err error) error {
	switch {
	case err == nil, isOurs(err):
		return err
	case ctx.Err() != nil:
		return fmt.Errorf("%w: %w", engine.ErrUnavailable, context.Cause(ctx))
	}
	switch code(err) {
	case lib.SQLITE_TOOBIG:
		return fmt.Errorf("%w: %v", engine.ErrTooLarge, err)
	case lib.SQLITE_ERROR: // the statements are constant, so tables or columns are not there
		return fmt.Errorf("%w: %v; run migrate", engine.ErrSchema, err)
	default:
		return fmt.Errorf("%w: %v", engine.ErrUnavailable, err)
	}
}

// isOurs reports whether err has its meaning already.
func isOurs(err error) bool {
	for _, known := range []error{
		engine.ErrUnavailable, engine.ErrUnknown, engine.ErrNotFound, engine.ErrConflict,
		engine.ErrSchema, engine.ErrTooLarge, engine.ErrInvalid,
	} {
		if errors.Is(err, known) {
			return true
		}
	}
	return false
}

// missing turns the answer of no rows into ErrNotFound.
func missing(err error, what string) error {
	if errors.Is(err, sql.ErrNoRows) {
		return fmt.Errorf("%s: %w", what, engine.ErrNotFound)
	}
	return err
}
