package storequeue

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/pawl-dev/pawl/steps/queue"
)

// DeadSuffix ends the name of a queue of dead letters.
const DeadSuffix = "-dead"

// ErrStaleReceipt means that the receipt is not that of the newest delivery:
// the message was received again, or has moved to the dead letters. Nothing
// was deleted.
var ErrStaleReceipt = errors.New("stale receipt")

// Options are the settings of a queue. The zero value is good.
type Options struct {
	// Clock tells the time. Default: time.Now.
	Clock func() time.Time

	// MaxReceive is how often a message is delivered before it moves to the
	// dead letters, at the first [Queue.Receive] that would deliver it once
	// more. Negative means without end. A queue of dead letters never moves
	// anything. Default: 5.
	MaxReceive int

	// Dedup is for how long the id of a message is known after the message
	// was deleted; while it is in the queue it is known anyhow. A message
	// with a known id is accepted by [Queue.Send] and dropped. An id whose
	// message moved to the dead letters is unknown at once, so that a dead
	// letter can be sent again.
	// Default: 5 minutes.
	Dedup time.Duration
}

// Queue is one queue in a table of a database. It is safe for concurrent use.
type Queue struct {
	db         *sql.DB
	name       string
	now        func() time.Time
	maxReceive int // 0: without end
	dedup      time.Duration
}

var _ queue.Queue = (*Queue)(nil)

// New returns the queue of that name in db, and creates the table if it is not
// there. Nothing needs to be closed; db stays the caller's.
func New(ctx context.Context, db *sql.DB, name string, opts Options) (*Queue, error) {
	if name == "" {
		return nil, errors.New("open queue: the name is empty")
	}
	for _, statement := range []string{tableSQL, visibleIndexSQL, forgetIndexSQL} {
		if _, err := db.ExecContext(ctx, statement); err != nil {
			return nil, fmt.Errorf("create the table of queue %q: %w", name, err)
		}
	}
	q := &Queue{db: db, name: name, now: opts.Clock, maxReceive: opts.MaxReceive, dedup: opts.Dedup}
	if q.now == nil {
		q.now = time.Now
	}
	if q.maxReceive == 0 {
		q.maxReceive = 5
	}
	if q.maxReceive < 0 || strings.HasSuffix(name, DeadSuffix) {
		q.maxReceive = 0
	}
	if q.dedup <= 0 {
		q.dedup = 5 * time.Minute
	}
	return q, nil
}

// Name returns the name of the queue.
func (q *Queue) Name() string { return q.name }

// Dead returns the queue that q's dead letters move to. The dead letters of a
// queue of dead letters stay there.
func (q *Queue) Dead() *Queue {
	if strings.HasSuffix(q.name, DeadSuffix) {
		return q
	}
	dead := *q
	dead.name, dead.maxReceive = q.name+DeadSuffix, 0
	return &dead
}

// Send implements [queue.Queue]. All messages are stored in one transaction,
// so either all are accepted or none is. The id of a message is the queue's
// id too.
func (q *Queue) Send(ctx context.Context, batch []queue.Message) ([]queue.Result, error) {
	results := make([]queue.Result, len(batch))
	err := q.write(ctx, func(tx *sql.Tx) error {
		now := q.now().UnixMicro()
		if _, err := tx.ExecContext(ctx, purgeSQL, now, purgeLimit); err != nil {
			return fmt.Errorf("purge: %w", err)
		}
		for i, m := range batch {
			if m.ID == "" {
				results[i].Err = errNoID
				continue
			}
			if _, err := tx.ExecContext(ctx, forgetOldSQL, q.name, m.ID, now); err != nil {
				return fmt.Errorf("forget message %q: %w", m.ID, err)
			}
			if err := insert(ctx, tx, q.name, m, now); err != nil {
				return err
			}
			results[i] = queue.Result{Accepted: true, QueueID: m.ID}
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("send to queue %q: %w", q.name, err)
	}
	return results, nil
}

// Peek returns up to limit messages in the order in which they become
// visible, those in flight included. It changes nothing, and its entries have
// no receipt.
func (q *Queue) Peek(ctx context.Context, limit int) ([]Delivery, error) {
	rows, err := q.db.QueryContext(ctx, peekSQL, q.name, limit)
	if err != nil {
		return nil, fmt.Errorf("peek into queue %q: %w", q.name, err)
	}
	list, err := scan(rows)
	if err != nil {
		return nil, fmt.Errorf("peek into queue %q: %w", q.name, err)
	}
	out := make([]Delivery, len(list))
	for i, r := range list {
		out[i] = r.delivery()
	}
	return out, nil
}

// Len returns how many messages are in the queue, those in flight included.
func (q *Queue) Len(ctx context.Context) (int, error) {
	var n int
	if err := q.db.QueryRowContext(ctx, lenSQL, q.name).Scan(&n); err != nil {
		return 0, fmt.Errorf("count queue %q: %w", q.name, err)
	}
	return n, nil
}

// write runs f in a transaction, which begins with the write lock if the
// database was opened as the package asks.
func (q *Queue) write(ctx context.Context, f func(tx *sql.Tx) error) error {
	tx, err := q.db.BeginTx(ctx, nil)
	if err != nil {
		return fmt.Errorf("begin: %w", err)
	}
	defer func() { _ = tx.Rollback() }()
	if err := f(tx); err != nil {
		return err
	}
	if err := tx.Commit(); err != nil {
		return fmt.Errorf("commit: %w", err)
	}
	return nil
}
