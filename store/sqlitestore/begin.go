package sqlitestore

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	lib "modernc.org/sqlite/lib"

	"github.com/pawl-dev/pawl/engine"
)

// turn is how long one attempt to get the lock of the file lasts. SQLite asks
// for it ever more rarely, in the end ten times a second, and would lose to a
// process that writes without a pause; so it begins anew.
const turn = 8 * time.Millisecond

// begin waits for the connection and for the lock of the file, at most until
// ctx ends or the busy timeout is over, and begins a transaction that ctx does
// not end. The caller calls free after the transaction.
func (s *Store) begin(ctx context.Context) (tx *sql.Tx, free func(), err error) {
	wait, stop := context.WithTimeout(ctx, s.busy)
	defer stop()
	conn, err := s.writer.Conn(wait)
	if err != nil {
		return nil, nil, s.overdue(ctx, wait, err)
	}
	for {
		tx, cancel, err := beginTurn(wait, conn)
		if err == nil {
			return tx, func() {
				cancel()
				_ = conn.Close() // gives it back to the pool
			}, nil
		}
		if wait.Err() != nil || !isBusy(err) {
			return nil, nil, errors.Join(s.overdue(ctx, wait, err), conn.Close())
		}
	}
}

// beginTurn tries to begin for the length of a turn. The transaction is tied to
// a context that follows ctx only until it has begun.
func beginTurn(ctx context.Context, conn *sql.Conn) (*sql.Tx, context.CancelFunc, error) {
	own, cancel := context.WithCancel(context.WithoutCancel(ctx))
	unfollow := context.AfterFunc(ctx, cancel)
	over := time.AfterFunc(turn, cancel)
	tx, err := conn.BeginTx(own, nil)
	following, inTime := unfollow(), over.Stop()
	if err == nil && following && inTime {
		return tx, cancel, nil
	}
	if err == nil { // begun, and given up at the same time
		_ = tx.Rollback()
		err = context.Canceled
	}
	cancel()
	return nil, nil, err
}

// isBusy reports whether another attempt may succeed.
func isBusy(err error) bool {
	c := code(err)
	return c == lib.SQLITE_BUSY || c == lib.SQLITE_LOCKED || errors.Is(err, context.Canceled)
}

// overdue says so if it was the busy timeout that ended a wait.
func (s *Store) overdue(ctx, wait context.Context, err error) error {
	if ctx.Err() == nil && wait.Err() != nil {
		return fmt.Errorf("%w: other writes took all of %s", engine.ErrUnavailable, s.busy)
	}
	return err
}

// patiently repeats f while other processes hold the file, until ctx ends or
// the busy timeout is over. It is for what SQLite does not wait for by itself:
// the change to WAL mode.
func (s *Store) patiently(ctx context.Context, f func() error) error {
	wait, stop := context.WithTimeout(ctx, s.busy)
	defer stop()
	for {
		err := f()
		if !isBusy(err) {
			return err
		}
		again := time.NewTimer(turn)
		select {
		case <-again.C:
		case <-wait.Done():
			again.Stop()
			return err
		}
	}
}
