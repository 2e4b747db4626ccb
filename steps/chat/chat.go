package chat

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/pawl-dev/pawl/engine"
)

// Names under which [Register] registers the steps and the compensation.
const (
	StoreStep   = "messages.store"
	RetractStep = "messages.retract"
	DeliverStep = "push.deliver"
)

// Options are the settings of [Messages]. The zero value is good.
type Options struct {
	// Clock tells the time that is kept. Default: time.Now.
	Clock func() time.Time
}

// Messages are the messages of all chats. The zero Messages is good for
// [Register] where only the types of the steps matter. It is safe for
// concurrent use, by any number of processes.
type Messages struct {
	db    *sql.DB
	clock func() time.Time
}

// New returns the messages in db, and creates its tables if they are not
// there. Nothing needs to be closed; db stays the caller's.
func New(ctx context.Context, db *sql.DB, opts Options) (*Messages, error) {
	for _, statement := range schema() {
		if _, err := db.ExecContext(ctx, statement); err != nil {
			return nil, fmt.Errorf("create the tables of messages: %w", err)
		}
	}
	if opts.Clock == nil {
		opts.Clock = time.Now
	}
	return &Messages{db: db, clock: opts.Clock}, nil
}

// Register registers the steps and the compensation.
func Register(reg *engine.Registry, m *Messages) {
	engine.Register(reg, StoreStep, m.Store, engine.Handler{})
	engine.RegisterCompensation(reg, RetractStep, StoreStep, m.Retract, engine.Handler{})
	engine.Register(reg, DeliverStep, m.Deliver, engine.Handler{})
}

var (
	errNoKey     = engine.Permanent(errors.New("the idempotency key is empty"))
	errRetracted = engine.Permanent(errors.New("the message was retracted"))
	errDelivered = engine.Permanent(errors.New("the message was delivered, so it cannot be taken back"))
	errOtherUse  = engine.Permanent(errors.New("the idempotency key was used before, with another input"))
)

// write runs f in a transaction. Until the commit nothing has happened; the
// outcome of a commit that fails is unknown.
func (m *Messages) write(ctx context.Context, f func(tx *sql.Tx) error) error {
	tx, err := m.db.BeginTx(ctx, nil)
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

// now is the time as it is stored: in microseconds.
func (m *Messages) now() time.Time { return m.clock().UTC().Truncate(time.Microsecond) }
