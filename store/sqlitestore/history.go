package sqlitestore

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/pawl-dev/pawl/engine"
)

// The lines of an instance are in the order of (version, sub), and a line is
// only ever added at the end of it. So the number of a line is its place.
const (
	insertLineHead = `
INSERT INTO history (id, version, sub, in_line, token, at, from_state, to_state, reason, attempt, duration, actor,
	code, message, failed_state)`
	insertLineSQL = insertLineHead + ` VALUES (?, ?, 0, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`

	historySQL = `
SELECT at, from_state, to_state, reason, attempt, code, message, failed_state, duration, actor
FROM history WHERE id = ? ORDER BY version, sub LIMIT ? OFFSET ?`
)

const (
	linesAtOnce = 16 // lines that insertLinesSQL writes
	lineArgs    = 11 // arguments of one of them
)

// insertLinesSQL writes lines without an error, many at once: that saves a
// third of their cost.
func insertLinesSQL() string {
	const line = `(?, ?, 0, ?, ?, ?, ?, ?, ?, ?, ?, ?, '', '', '')`
	return insertLineHead + " VALUES " + line + strings.Repeat(", "+line, linesAtOnce-1)
}

// note writes the line of tr, now or with the next ones.
func (w *writer) note(ctx context.Context, tr *engine.Transition, inLine bool) error {
	h := tr.History
	w.lines = append(w.lines, tr.Instance.ID, tr.Instance.Version+1, toInt(inLine), tr.Token,
		toMicro(h.At), h.From, h.To, h.Reason, int64(h.Attempt), h.Duration.Microseconds(), h.Actor)
	switch {
	case h.Code != "" || h.Message != "" || h.FailedState != "":
		last := len(w.lines) - lineArgs
		w.args = append(append(w.args[:0], w.lines[last:]...), h.Code, h.Message, h.FailedState)
		w.lines = w.lines[:last]
		_, err := w.run(ctx, insertLine, w.args)
		return err
	case len(w.lines) == linesAtOnce*lineArgs:
		_, err := w.run(ctx, insertLines, w.lines)
		w.lines = w.lines[:0]
		return err
	default:
		return nil
	}
}

// flush writes the lines that note has put off.
func (w *writer) flush(ctx context.Context) error {
	for lines := w.lines; len(lines) > 0; lines = lines[lineArgs:] {
		w.args = append(append(w.args[:0], lines[:lineArgs]...), "", "", "")
		if _, err := w.run(ctx, insertLine, w.args); err != nil {
			return err
		}
	}
	w.lines = w.lines[:0]
	return nil
}

// History implements engine.Store.
func (s *Store) History(ctx context.Context, id string, after int64, limit int) ([]engine.History, error) {
	if limit < 1 || after < 0 {
		return nil, fmt.Errorf("history of %q: %w: after is %d and limit is %d, want at least 0 and 1",
			id, engine.ErrInvalid, after, limit)
	}
	lines, err := s.lines(ctx, id, after, limit)
	if err == nil && len(lines) == 0 {
		var one int
		err = missing(s.reader.QueryRowContext(ctx, existsSQL, id).Scan(&one), "instance")
	}
	if err != nil {
		return nil, fmt.Errorf("history of %q: %w", id, fail(ctx, err))
	}
	return lines, nil
}

func (s *Store) lines(ctx context.Context, id string, after int64, limit int) ([]engine.History, error) {
	rows, err := s.reader.QueryContext(ctx, historySQL, id, limit, after)
	if err != nil {
		return nil, err
	}
	defer func() { _ = rows.Close() }() // its error is that of Err
	var out []engine.History
	for rows.Next() {
		var h engine.History
		var at, duration int64
		if err := rows.Scan(&at, &h.From, &h.To, &h.Reason, &h.Attempt, &h.Code, &h.Message,
			&h.FailedState, &duration, &h.Actor); err != nil {
			return nil, err
		}
		after++
		h.Seq, h.At, h.Duration = after, fromMicro(at), time.Duration(duration)*time.Microsecond
		out = append(out, h)
	}
	return out, rows.Err()
}
