package storequeue

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/pawl-dev/pawl/engine"
	"github.com/pawl-dev/pawl/steps/queue"
)

// A row with forget_at > 0 is what is left of a message that was deleted: its
// id is known until then. Sequence numbers are never used again, so that they
// can be part of a receipt.
const tableSQL = `
CREATE TABLE IF NOT EXISTS queue_message (
	seq        INTEGER PRIMARY KEY AUTOINCREMENT,
	queue      TEXT    NOT NULL,
	id         TEXT    NOT NULL,
	type       TEXT    NOT NULL,
	grp        TEXT    NOT NULL,
	body       TEXT    NOT NULL,
	sent_at    INTEGER NOT NULL,
	visible_at INTEGER NOT NULL,
	received   INTEGER NOT NULL DEFAULT 0,
	forget_at  INTEGER NOT NULL DEFAULT 0,
	UNIQUE (queue, id)
)`

const visibleIndexSQL = `
CREATE INDEX IF NOT EXISTS queue_message_visible
	ON queue_message (queue, visible_at, seq) WHERE forget_at = 0`

const forgetIndexSQL = `
CREATE INDEX IF NOT EXISTS queue_message_forget
	ON queue_message (forget_at) WHERE forget_at > 0`

// purgeLimit bounds how many rows one Send clears away. It is far more than
// one Send adds.
const purgeLimit = 100

const purgeSQL = `
DELETE FROM queue_message WHERE seq IN
	(SELECT seq FROM queue_message WHERE forget_at > 0 AND forget_at <= ? LIMIT ?)`

// forgetOldSQL makes room for an id whose time is over, which purgeSQL may not
// have come to yet.
const forgetOldSQL = `
DELETE FROM queue_message WHERE queue = ? AND id = ? AND forget_at > 0 AND forget_at <= ?`

const insertSQL = `
INSERT INTO queue_message (queue, id, type, grp, body, sent_at, visible_at)
VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT (queue, id) DO NOTHING`

const columns = `seq, id, type, grp, body, sent_at, visible_at, received`

const peekSQL = `
SELECT ` + columns + ` FROM queue_message
WHERE queue = ? AND forget_at = 0 ORDER BY visible_at, seq LIMIT ?`

const dueSQL = `
SELECT ` + columns + ` FROM queue_message
WHERE queue = ? AND forget_at = 0 AND visible_at <= ? ORDER BY visible_at, seq LIMIT ?`

const anyDueSQL = `
SELECT EXISTS (SELECT 1 FROM queue_message WHERE queue = ? AND forget_at = 0 AND visible_at <= ?)`

const lenSQL = `SELECT count(*) FROM queue_message WHERE queue = ? AND forget_at = 0`

const takeSQL = `UPDATE queue_message SET visible_at = ?, received = received + 1 WHERE seq = ?`

// The number of the delivery fences both: it is in the receipt.
const deleteSQL = `
UPDATE queue_message SET forget_at = ?, body = ''
WHERE queue = ? AND seq = ? AND received = ? AND forget_at = 0`

const deletedSQL = `
SELECT EXISTS (SELECT 1 FROM queue_message
	WHERE queue = ? AND seq = ? AND received = ? AND forget_at > 0)`

const (
	removeSQL   = `DELETE FROM queue_message WHERE seq = ?`
	forgetIDSQL = `DELETE FROM queue_message WHERE queue = ? AND id = ? AND forget_at > 0`
)

var errNoID = engine.Permanent(errors.New("the message has no id"))

// row is a message as it is stored.
type row struct {
	seq       int64
	message   queue.Message
	sentAt    int64
	visibleAt int64
	received  int
}

func (r row) delivery() Delivery {
	return Delivery{
		Message:   r.message,
		Received:  r.received,
		SentAt:    time.UnixMicro(r.sentAt).UTC(),
		VisibleAt: time.UnixMicro(r.visibleAt).UTC(),
	}
}

// insert stores m as a new message, or does nothing if its id is known.
func insert(ctx context.Context, tx *sql.Tx, name string, m queue.Message, now int64) error {
	_, err := tx.ExecContext(ctx, insertSQL, name, m.ID, m.Type, m.Group, string(m.Body), now, now)
	if err != nil {
		return fmt.Errorf("insert message %q: %w", m.ID, err)
	}
	return nil
}

// scan reads all rows and closes them.
func scan(rows *sql.Rows) ([]row, error) {
	defer func() { _ = rows.Close() }()
	var list []row
	for rows.Next() {
		var r row
		var body string
		err := rows.Scan(&r.seq, &r.message.ID, &r.message.Type, &r.message.Group, &body,
			&r.sentAt, &r.visibleAt, &r.received)
		if err != nil {
			return nil, err
		}
		r.message.Body = json.RawMessage(body)
		list = append(list, r)
	}
	return list, rows.Err()
}
