package ledger

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/pawl-dev/pawl/engine"
)

// Kinds of movements.
const (
	deposit  = "deposit"
	reserve  = "reserve"
	release  = "release"
	withdraw = "withdraw"
	refund   = "refund"
)

// Accounts. No id of a customer can be mistaken for another kind.
func available(account string) string { return "available/" + account }
func reserved(account string) string  { return "reserved/" + account }
func clearing(currency string) string { return "clearing/" + currency }
func outside(currency string) string  { return "outside/" + currency }

// movement moves money from the account source to the account target.
type movement struct {
	id             string // the idempotency key of the call that makes it
	kind           string
	source, target string
	Money
	empties string // the reserve that it empties, if it does
}

var (
	errUnknownAccount = errors.New("no such account")
	errUndone         = errors.New("the step was undone before this attempt came; it must not happen any more")
)

// load returns what is on an account.
func load(ctx context.Context, tx *sql.Tx, name string) (Money, error) {
	var m Money
	err := tx.QueryRowContext(ctx, accountSQL, name).Scan(&m.Currency, &m.Amount)
	if errors.Is(err, sql.ErrNoRows) {
		return m, engine.Permanent(errUnknownAccount)
	}
	return m, err
}

// balance returns what a customer has available, in the currency that the
// account must have.
func balance(ctx context.Context, tx *sql.Tx, account, currency string) (int64, error) {
	m, err := load(ctx, tx, available(account))
	if err != nil {
		return 0, err
	}
	if m.Currency != currency {
		return 0, engine.Permanent(fmt.Errorf("the account is in %s, not in %s", m.Currency, currency))
	}
	return m.Amount, nil
}

// begin reports whether m was made before. It refuses m if it was undone, or
// if its key belongs to another movement.
func (l *Ledger) begin(ctx context.Context, tx *sql.Tx, m movement) (done bool, err error) {
	switch {
	case m.id == "":
		return false, engine.Permanent(errors.New("the idempotency key is empty"))
	case m.Amount < 1 || m.Amount > MaxAmount:
		return false, engine.Permanent(fmt.Errorf("the amount is %d, want 1 to %d", m.Amount, int64(MaxAmount)))
	}
	if gone, err := undone(ctx, tx, m.id); err != nil || gone {
		if err == nil {
			err = engine.Permanent(errUndone)
		}
		return false, err
	}
	old, found, err := find(ctx, tx, m.id)
	if err != nil || !found {
		return false, err
	}
	if old != m {
		return false, engine.Permanent(fmt.Errorf("the key %q was used before, for %s of %s from %s to %s",
			m.id, old.kind, old.Money, old.source, old.target))
	}
	return true, nil
}

// move makes the movement; the database changes both balances with it.
func (l *Ledger) move(ctx context.Context, tx *sql.Tx, m movement) error {
	_, err := tx.ExecContext(ctx, moveSQL, m.id, m.kind, m.source, m.target, m.Currency, m.Amount,
		sql.NullString{String: m.empties, Valid: m.empties != ""}, l.clock().UnixMicro())
	if err != nil {
		return fmt.Errorf("move %s from %s to %s: %w", m.Money, m.source, m.target, err)
	}
	return nil
}

// find returns the movement of that id.
func find(ctx context.Context, tx *sql.Tx, id string) (m movement, found bool, err error) {
	err = tx.QueryRowContext(ctx, movementSQL, id).
		Scan(&m.id, &m.kind, &m.source, &m.target, &m.Currency, &m.Amount, &m.empties)
	if errors.Is(err, sql.ErrNoRows) {
		return m, false, nil
	}
	return m, err == nil, err
}

// emptied returns the withdrawal or release of a reserve.
func emptied(ctx context.Context, tx *sql.Tx, reserve string) (id string, found bool, err error) {
	err = tx.QueryRowContext(ctx, emptiedSQL, reserve).Scan(&id)
	if errors.Is(err, sql.ErrNoRows) {
		return "", false, nil
	}
	return id, err == nil, err
}

func undone(ctx context.Context, tx *sql.Tx, key string) (gone bool, err error) {
	err = tx.QueryRowContext(ctx, undoneSQL, key).Scan(&gone)
	return gone, err
}
