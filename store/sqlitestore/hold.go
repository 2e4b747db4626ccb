package sqlitestore

import (
	"context"
	"database/sql"
	"errors"

	"github.com/pawl-dev/pawl/engine"
)

const (
	holderSQL = `SELECT id FROM hold WHERE name = ? ORDER BY ticket LIMIT 1`

	// standSQL puts an instance at the end of a line, unless it is in it.
	standSQL = `
INSERT INTO hold (name, ticket, id)
SELECT ?, (SELECT coalesce(max(ticket), 0) + 1 FROM hold WHERE name = ?), ? WHERE true
ON CONFLICT (id, name) DO NOTHING`

	leaveSQL = `DELETE FROM hold WHERE id = ? AND name = ?`

	// promoteSQL makes the first in line of a key due, if it waits and is the
	// first in its other lines too. A tick that holds it, since it had come to
	// its deadline, is fenced off.
	promoteSQL = `
UPDATE instance SET version = version + 1, status = 'running', due_at = ?, updated_at = ?,
	attempt = 0, failures = 0, lease_owner = '', lease_until = 0
WHERE id = (` + holderSQL + `) AND status = 'queued' AND NOT EXISTS (
	SELECT 1 FROM hold AS own JOIN hold AS ahead ON ahead.name = own.name AND ahead.ticket < own.ticket
	WHERE own.id = instance.id)`

	heldSQL = `SELECT name FROM hold WHERE id = ?`
)

// holder returns who holds the key, or "".
func (w *writer) holder(ctx context.Context, name string) (id string, err error) {
	err = w.tx.QueryRowContext(ctx, holderSQL, name).Scan(&id)
	if errors.Is(err, sql.ErrNoRows) {
		err = nil
	}
	return id, err
}

// refused returns the holder of the first key that n does not wait for.
func (w *writer) refused(ctx context.Context, n engine.New) (string, error) {
	for _, h := range n.Acquire {
		if !h.Reject {
			continue
		}
		if id, err := w.holder(ctx, h.Name); err != nil || id != "" {
			return id, err
		}
	}
	return "", nil
}

// acquire puts the instance in the lines of all keys and returns the holder of
// the first one that it has to wait for.
func (w *writer) acquire(ctx context.Context, id string, keys []engine.Hold) (by string, err error) {
	for _, h := range keys {
		if _, err := w.exec(ctx, standSQL, h.Name, h.Name, id); err != nil {
			return "", err
		}
		first, err := w.holder(ctx, h.Name)
		if err != nil {
			return "", err
		}
		if by == "" && first != id {
			by = first
		}
	}
	return by, nil
}

// release takes the instance out of the lines and reports whether another one
// became due by it.
func (w *writer) release(ctx context.Context, id string, names []string, now int64) (woken bool, err error) {
	for _, name := range names {
		left, err := w.exec(ctx, leaveSQL, id, name)
		if err != nil {
			return false, err
		}
		if left == 0 {
			continue
		}
		n, err := w.exec(ctx, promoteSQL, now, now, name)
		if err != nil {
			return false, err
		}
		woken = woken || n > 0
	}
	return woken, nil
}

// releaseAll does so for all keys of the instance.
func (w *writer) releaseAll(ctx context.Context, id string, now int64) error {
	rows, err := w.tx.QueryContext(ctx, heldSQL, id)
	if err != nil {
		return err
	}
	defer func() { _ = rows.Close() }()
	var names []string
	for rows.Next() {
		var name string
		if err := rows.Scan(&name); err != nil {
			return err
		}
		names = append(names, name)
	}
	if err := rows.Err(); err != nil {
		return err
	}
	_, err = w.release(ctx, id, names, now)
	return err
}
