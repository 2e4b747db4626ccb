package storequeue

import (
	"context"
	"database/sql"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/pawl-dev/pawl/steps/queue"
)

// Delivery is a message with what the queue knows about it.
type Delivery struct {
	queue.Message

	// Receipt is what [Queue.Delete] wants. It is good until the message is
	// received again.
	Receipt string
	// Received counts the deliveries, this one included.
	Received int
	SentAt   time.Time
	// VisibleAt is when the message comes again unless it is deleted.
	VisibleAt time.Time
}

// Receive returns up to limit messages and hides them for the visibility
// timeout. It does not wait: an empty queue gives none, at the price of one
// read. If the outcome of its commit is lost, the messages come again when the
// timeout is over.
func (q *Queue) Receive(ctx context.Context, limit int, visibility time.Duration) ([]Delivery, error) {
	if limit < 1 || visibility < time.Microsecond {
		return nil, fmt.Errorf("receive from queue %q: %d messages for %s, want at least one for a microsecond",
			q.name, limit, visibility)
	}
	now := q.now()
	var due bool
	if err := q.db.QueryRowContext(ctx, anyDueSQL, q.name, now.UnixMicro()).Scan(&due); err != nil {
		return nil, fmt.Errorf("receive from queue %q: %w", q.name, err)
	}
	if !due {
		return nil, nil
	}
	var out []Delivery
	err := q.write(ctx, func(tx *sql.Tx) (err error) {
		// The lock may have been long in coming.
		now = q.now()
		out, err = q.take(ctx, tx, limit, now, now.Add(visibility))
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("receive from queue %q: %w", q.name, err)
	}
	return out, nil
}

// take hides up to limit messages until then. Those that were delivered often
// enough it moves to the dead letters, and looks for others in their place.
func (q *Queue) take(ctx context.Context, tx *sql.Tx, limit int, now, until time.Time) ([]Delivery, error) {
	var out []Delivery
	for len(out) < limit {
		rows, err := tx.QueryContext(ctx, dueSQL, q.name, now.UnixMicro(), limit-len(out))
		if err != nil {
			return nil, err
		}
		due, err := scan(rows)
		if err != nil || len(due) == 0 {
			return out, err
		}
		for _, r := range due {
			if q.maxReceive > 0 && r.received >= q.maxReceive {
				if err := q.bury(ctx, tx, r, now); err != nil {
					return nil, err
				}
				continue
			}
			if _, err := tx.ExecContext(ctx, takeSQL, until.UnixMicro(), r.seq); err != nil {
				return nil, err
			}
			r.received, r.visibleAt = r.received+1, until.UnixMicro()
			d := r.delivery()
			d.Receipt = receipt(r.seq, r.received)
			out = append(out, d)
		}
	}
	return out, nil
}

// bury moves a message to the dead letters. No id stays behind, neither here
// nor there: a dead letter that is sent here again is no duplicate, nor is one
// that comes back.
func (q *Queue) bury(ctx context.Context, tx *sql.Tx, r row, now time.Time) error {
	dead := q.Dead().name
	if _, err := tx.ExecContext(ctx, forgetIDSQL, dead, r.message.ID); err != nil {
		return fmt.Errorf("bury message %q: %w", r.message.ID, err)
	}
	if err := insert(ctx, tx, dead, r.message, now.UnixMicro()); err != nil {
		return err
	}
	if _, err := tx.ExecContext(ctx, removeSQL, r.seq); err != nil {
		return fmt.Errorf("bury message %q: %w", r.message.ID, err)
	}
	return nil
}

// Delete removes a message for good. It works also after the visibility
// timeout as long as nobody has received the message again; otherwise it
// deletes nothing and returns [ErrStaleReceipt]. To repeat a Delete within
// [Options.Dedup] is not an error.
func (q *Queue) Delete(ctx context.Context, receipt string) error {
	seq, received, ok := parse(receipt)
	if !ok {
		return fmt.Errorf("delete from queue %q: %q is not a receipt", q.name, receipt)
	}
	err := q.delete(ctx, seq, received)
	if err != nil {
		return fmt.Errorf("delete from queue %q: receipt %q: %w", q.name, receipt, err)
	}
	return nil
}

func (q *Queue) delete(ctx context.Context, seq, received int64) error {
	forget := q.now().Add(q.dedup).UnixMicro()
	res, err := q.db.ExecContext(ctx, deleteSQL, forget, q.name, seq, received)
	if err != nil {
		return err
	}
	n, err := res.RowsAffected()
	if err != nil || n > 0 {
		return err
	}
	var done bool
	if err := q.db.QueryRowContext(ctx, deletedSQL, q.name, seq, received).Scan(&done); err != nil {
		return err
	}
	if !done {
		return ErrStaleReceipt
	}
	return nil
}

// receipt names one delivery of one message.
func receipt(seq int64, received int) string {
	return strconv.FormatInt(seq, 10) + "." + strconv.Itoa(received)
}

func parse(receipt string) (seq, received int64, ok bool) {
	a, b, found := strings.Cut(receipt, ".")
	seq, err1 := strconv.ParseInt(a, 10, 64)
	received, err2 := strconv.ParseInt(b, 10, 64)
	return seq, received, found && err1 == nil && err2 == nil
}
