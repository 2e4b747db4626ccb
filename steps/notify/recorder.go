package notify

import (
	"context"
	"database/sql"
	"fmt"
	"log/slog"
	"time"
)

// Recorder keeps notices in the tables notice and merchant_notice of an SQL
// database, each once, and logs each when it is kept. The statements are those of SQLite; times are
// integer UTC microseconds. It is safe for concurrent use, by any number of
// processes.
type Recorder struct {
	db    *sql.DB
	log   Log
	clock func() time.Time
}

var (
	_ Notifier         = (*Recorder)(nil)
	_ MerchantNotifier = (*Recorder)(nil)
)

// RecorderOptions are the settings of a [Recorder]. The zero value is good.
type RecorderOptions struct {
	// Logger gets a record per notice. Default: slog.Default().
	Logger *slog.Logger

	// Clock tells the time that is kept. Default: time.Now.
	Clock func() time.Time
}

// Recorded is a notice that a [Recorder] has kept.
type Recorded struct {
	Notice
	At time.Time
}

const tableSQL = `
CREATE TABLE IF NOT EXISTS notice (
	key       TEXT    NOT NULL,
	watcher   TEXT    NOT NULL,
	pr_id     TEXT    NOT NULL,
	merge_sha TEXT    NOT NULL,
	at        INTEGER NOT NULL,
	PRIMARY KEY (key, watcher)
)`

const indexSQL = `CREATE INDEX IF NOT EXISTS notice_pr ON notice (pr_id, at)`

const insertSQL = `
INSERT INTO notice (key, watcher, pr_id, merge_sha, at)
VALUES (?, ?, ?, ?, ?) ON CONFLICT (key, watcher) DO NOTHING`

const listSQL = `
SELECT key, watcher, pr_id, merge_sha, at FROM notice
WHERE pr_id = ? ORDER BY at, key, watcher LIMIT ?`

// NewRecorder returns a recorder on db, and creates its tables if they are not
// there. db stays the caller's.
func NewRecorder(ctx context.Context, db *sql.DB, opts RecorderOptions) (*Recorder, error) {
	for _, statement := range []string{tableSQL, indexSQL, merchantTableSQL, merchantIndexSQL} {
		if _, err := db.ExecContext(ctx, statement); err != nil {
			return nil, fmt.Errorf("create the tables of notices: %w", err)
		}
	}
	if opts.Clock == nil {
		opts.Clock = time.Now
	}
	return &Recorder{db: db, log: Log{Logger: opts.Logger}, clock: opts.Clock}, nil
}

// Notify implements [Notifier]. The record in the log comes after the row, so
// a crash between the two loses the record, never the row.
func (r *Recorder) Notify(ctx context.Context, n Notice) error {
	added, err := r.record(ctx, insertSQL, n.Key, n.Watcher, n.PRID, n.MergeSHA, r.clock().UnixMicro())
	if err != nil || !added {
		return err
	}
	return r.log.Notify(ctx, n)
}

// record inserts a notice, and reports whether it was not there before.
func (r *Recorder) record(ctx context.Context, statement string, args ...any) (added bool, err error) {
	res, err := r.db.ExecContext(ctx, statement, args...)
	if err != nil {
		return false, fmt.Errorf("record the notice: %w", err)
	}
	n, err := res.RowsAffected()
	if err != nil {
		return false, fmt.Errorf("record the notice: %w", err)
	}
	return n > 0, nil
}

// List returns up to limit notices about a pull request, oldest first.
func (r *Recorder) List(ctx context.Context, prID string, limit int) ([]Recorded, error) {
	list, err := r.list(ctx, prID, limit)
	if err != nil {
		return nil, fmt.Errorf("list the notices about %q: %w", prID, err)
	}
	return list, nil
}

func (r *Recorder) list(ctx context.Context, prID string, limit int) ([]Recorded, error) {
	rows, err := r.db.QueryContext(ctx, listSQL, prID, limit)
	if err != nil {
		return nil, err
	}
	defer func() { _ = rows.Close() }()
	var list []Recorded
	for rows.Next() {
		var n Recorded
		var at int64
		if err := rows.Scan(&n.Key, &n.Watcher, &n.PRID, &n.MergeSHA, &at); err != nil {
			return nil, err
		}
		n.At = time.UnixMicro(at).UTC()
		list = append(list, n)
	}
	return list, rows.Err()
}
