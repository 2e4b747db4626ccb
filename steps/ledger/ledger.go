package ledger

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/pawl-dev/pawl/engine"
)

// MaxAmount is the largest amount of a movement, in minor units: the largest
// integer that every reader of JSON keeps exactly.
const MaxAmount = 1<<53 - 1

// Options are the settings of a [Ledger]. The zero value is good.
type Options struct {
	// Clock tells the time that is kept with a movement. Default: time.Now.
	Clock func() time.Time
}

// Ledger is a double-entry ledger. The zero Ledger is good for [Register]
// where only the types of the steps matter. It is safe for concurrent use, by
// any number of processes.
type Ledger struct {
	db    *sql.DB
	clock func() time.Time
}

// New returns the ledger in db, and creates its tables if they are not there.
// Nothing needs to be closed; db stays the caller's.
func New(ctx context.Context, db *sql.DB, opts Options) (*Ledger, error) {
	for _, statement := range schema() {
		if _, err := db.ExecContext(ctx, statement); err != nil {
			return nil, fmt.Errorf("create the tables of the ledger: %w", err)
		}
	}
	if opts.Clock == nil {
		opts.Clock = time.Now
	}
	return &Ledger{db: db, clock: opts.Clock}, nil
}

// OpenAccount opens a customer's account, with nothing on it. To repeat it is
// not an error, but another currency is.
func (l *Ledger) OpenAccount(ctx context.Context, id, currency string) error {
	err := l.write(ctx, func(tx *sql.Tx) error {
		if id == "" || currency == "" {
			return engine.Permanent(errors.New("an account needs an id and a currency"))
		}
		for _, name := range []string{available(id), reserved(id), clearing(currency), outside(currency)} {
			if _, err := tx.ExecContext(ctx, openSQL, name, currency); err != nil {
				return err
			}
		}
		_, err := balance(ctx, tx, id, currency)
		return err
	})
	if err != nil {
		return fmt.Errorf("open account %q: %w", id, err)
	}
	return nil
}

// Money is an amount in minor units of a currency.
type Money struct {
	Amount   int64
	Currency string
}

func (m Money) String() string { return fmt.Sprintf("%d %s", m.Amount, m.Currency) }

// Deposit puts money on a customer's account. A deposit with a key that was
// used before does nothing, if it is the same one. Keys of steps are keys too,
// so choose others.
func (l *Ledger) Deposit(ctx context.Context, key, account string, m Money) error {
	err := l.write(ctx, func(tx *sql.Tx) error {
		if _, err := balance(ctx, tx, account, m.Currency); err != nil {
			return err
		}
		move := movement{id: key, kind: deposit, source: outside(m.Currency), target: available(account), Money: m}
		done, err := l.begin(ctx, tx, move)
		if done || err != nil {
			return err
		}
		return l.move(ctx, tx, move)
	})
	if err != nil {
		return fmt.Errorf("deposit %s to account %q: %w", m, account, err)
	}
	return nil
}

// Balance is what is on a customer's account.
type Balance struct {
	Currency            string
	Available, Reserved int64
}

// Balance returns what is on a customer's account.
func (l *Ledger) Balance(ctx context.Context, account string) (Balance, error) {
	var b Balance
	err := l.db.QueryRowContext(ctx, balanceSQL, available(account), reserved(account)).
		Scan(&b.Currency, &b.Available, &b.Reserved)
	if errors.Is(err, sql.ErrNoRows) {
		err = errUnknownAccount
	}
	if err != nil {
		return Balance{}, fmt.Errorf("balance of account %q: %w", account, err)
	}
	return b, nil
}

// write runs f in a transaction. Until the commit nothing has happened; the
// outcome of a commit that fails is unknown.
func (l *Ledger) write(ctx context.Context, f func(tx *sql.Tx) error) error {
	tx, err := l.db.BeginTx(ctx, nil)
	if err != nil {
		return engine.Definite(fmt.Errorf("begin: %w", err))
	}
	defer func() { _ = tx.Rollback() }()
	if err := f(tx); err != nil {
		return engine.Definite(err)
	}
	if err := tx.Commit(); err != nil {
		return fmt.Errorf("commit: %w", err)
	}
	return nil
}
