package sqlitestore

import (
	"context"
	"fmt"
	"time"

	"github.com/pawl-dev/pawl/engine"
)

const (
	expiredSQL = `
SELECT n, id FROM instance WHERE expire_at > 0 AND expire_at <= ? ORDER BY expire_at LIMIT ?`
	deleteHistorySQL  = `DELETE FROM history WHERE id = ?`
	deleteInstanceSQL = `DELETE FROM instance WHERE n = ?`
)

// Purge implements engine.Store.
func (s *Store) Purge(ctx context.Context, now time.Time, limit int) (int, error) {
	if limit < 1 {
		return 0, fmt.Errorf("purge: %w: limit is %d, want at least 1", engine.ErrInvalid, limit)
	}
	var purged int
	at := toMicro(now)
	err := s.write(ctx, "purge", func(ctx context.Context, w *writer) error {
		rows, err := w.expired(ctx, at, limit)
		if err != nil {
			return err
		}
		for _, r := range rows {
			if err := w.purge(ctx, r, at); err != nil {
				return err
			}
		}
		purged = len(rows)
		return nil
	})
	if err != nil {
		return 0, err
	}
	return purged, nil
}

func (w *writer) expired(ctx context.Context, now int64, limit int) ([]row, error) {
	rows, err := w.tx.QueryContext(ctx, expiredSQL, now, limit)
	if err != nil {
		return nil, err
	}
	defer func() { _ = rows.Close() }() // its error is that of Err
	var out []row
	for rows.Next() {
		var r row
		if err := rows.Scan(&r.n, &r.in.ID); err != nil {
			return nil, err
		}
		out = append(out, r)
	}
	return out, rows.Err()
}

// purge deletes an instance and all that belongs to it.
func (w *writer) purge(ctx context.Context, r row, now int64) error {
	if err := w.releaseAll(ctx, r.in.ID, now); err != nil {
		return err
	}
	if _, err := w.exec(ctx, deleteHistorySQL, r.in.ID); err != nil {
		return err
	}
	_, err := w.exec(ctx, deleteInstanceSQL, r.n)
	return err
}
