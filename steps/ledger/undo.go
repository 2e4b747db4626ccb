package ledger

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/pawl-dev/pawl/engine"
)

// Release is the compensation of ledger.reserve. Where the reserve was
// withdrawn, it wants the withdrawal undone first, and has nothing left to do
// then.
func (l *Ledger) Release(ctx context.Context, call engine.Call[engine.Undone[ReserveInput, ReserveOutput]]) error {
	err := l.undo(ctx, call.StepKey(), call.In.Out != nil, func(tx *sql.Tx, r movement) error {
		if by, found, err := emptied(ctx, tx, r.id); err != nil || found {
			if err != nil {
				return err
			}
			return refunded(ctx, tx, by)
		}
		return l.move(ctx, tx, movement{
			id: call.Key, kind: release, source: r.target, target: r.source, Money: r.Money, empties: r.id,
		})
	})
	if err != nil {
		return fmt.Errorf("release the reserve %q: %w", call.StepKey(), err)
	}
	return nil
}

// refunded refuses a withdrawal that stands.
func refunded(ctx context.Context, tx *sql.Tx, withdrawal string) error {
	gone, err := undone(ctx, tx, withdrawal)
	if err != nil || gone {
		return err
	}
	return engine.Permanent(fmt.Errorf("it was withdrawn by %q; undo that first", withdrawal))
}

// Refund is the compensation of ledger.withdraw. The money goes back to where
// it was available before it was reserved.
func (l *Ledger) Refund(ctx context.Context, call engine.Call[engine.Undone[WithdrawInput, WithdrawOutput]]) error {
	err := l.undo(ctx, call.StepKey(), call.In.Out != nil, func(tx *sql.Tx, w movement) error {
		r, found, err := find(ctx, tx, w.empties)
		if err != nil {
			return err
		}
		if !found {
			return engine.Permanent(fmt.Errorf("its reserve %q is not in the ledger", w.empties))
		}
		return l.move(ctx, tx, movement{id: call.Key, kind: refund, source: w.target, target: r.source, Money: w.Money})
	})
	if err != nil {
		return fmt.Errorf("refund the withdrawal %q: %w", call.StepKey(), err)
	}
	return nil
}

// undo writes down that the step of that key is undone, and has back undo what
// it did. The second time it does nothing. happened says that the step is known
// to have succeeded.
func (l *Ledger) undo(ctx context.Context, key string, happened bool, back func(tx *sql.Tx, m movement) error) error {
	return l.write(ctx, func(tx *sql.Tx) error {
		res, err := tx.ExecContext(ctx, undoSQL, key, l.clock().UnixMicro())
		if err != nil {
			return err
		}
		added, err := res.RowsAffected()
		if err != nil || added == 0 {
			return err
		}
		m, found, err := find(ctx, tx, key)
		switch {
		case err != nil:
			return err
		case found:
			return back(tx, m)
		case happened:
			return engine.Permanent(errors.New("the step succeeded, but its movement is not in this ledger"))
		default:
			return nil
		}
	})
}
