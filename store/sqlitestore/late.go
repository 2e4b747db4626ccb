package sqlitestore

import (
	"context"
	"database/sql"
	"errors"

	"github.com/pawl-dev/pawl/engine"
)

const (
	versionOfSQL = `SELECT version FROM instance WHERE id = ?`

	// beforeSQL finds the line of a transition that was applied by a call
	// whose outcome did not arrive.
	beforeSQL = `
SELECT in_line FROM history WHERE id = ? AND version = ? AND sub = 0 AND token = ? AND actor = ?`

	// noteLateSQL adds a line and leaves the row as it is. A repeat adds none.
	noteLateSQL = `
INSERT INTO history (id, version, sub, in_line, token, at, from_state, to_state, reason,
	attempt, code, message, failed_state, duration, actor)
SELECT id, version, 1 + (SELECT coalesce(max(sub), 0) FROM history AS h WHERE h.id = i.id AND h.version = i.version),
	0, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?
FROM instance AS i WHERE id = ? AND NOT EXISTS (
	SELECT 1 FROM history AS h WHERE h.id = i.id AND h.sub > 0 AND h.token = ? AND h.at = ? AND h.actor = ?)`
)

// late finds out why a transition did not find its version.
func (w *writer) late(ctx context.Context, tr *engine.Transition) (engine.Outcome, error) {
	if err := w.flush(ctx); err != nil {
		return engine.Outcome{}, err
	}
	in := &tr.Instance
	var version int64
	err := w.tx.QueryRowContext(ctx, versionOfSQL, in.ID).Scan(&version)
	if errors.Is(err, sql.ErrNoRows) {
		return engine.Outcome{Result: engine.Absent}, nil
	}
	lost := engine.Outcome{Result: engine.Lost, Version: version}
	if err != nil || tr.History == nil {
		return lost, err
	}
	var inLine bool
	err = w.tx.QueryRowContext(ctx, beforeSQL, in.ID, in.Version+1, tr.Token, tr.History.Actor).Scan(&inLine)
	switch {
	case err == nil:
		return w.again(ctx, tr, inLine)
	case errors.Is(err, sql.ErrNoRows) && tr.LateNote:
		return lost, w.noteLate(ctx, tr)
	case errors.Is(err, sql.ErrNoRows):
		return lost, nil
	default:
		return lost, err
	}
}

// again returns the outcome that tr had when it was applied.
func (w *writer) again(ctx context.Context, tr *engine.Transition, inLine bool) (engine.Outcome, error) {
	out := engine.Outcome{Result: engine.Done, Version: tr.Instance.Version + 1, Woken: len(tr.Release) > 0}
	if !inLine {
		return out, nil
	}
	out.Result = engine.InLine
	for _, h := range tr.Acquire {
		first, err := w.holder(ctx, h.Name)
		if err != nil {
			return out, err
		}
		if first != tr.Instance.ID {
			out.By = first
			break
		}
	}
	return out, nil
}

// noteLate writes that the result of tr came too late to change anything.
func (w *writer) noteLate(ctx context.Context, tr *engine.Transition) error {
	h, id := tr.History, tr.Instance.ID
	at := toMicro(h.At)
	_, err := w.exec(ctx, noteLateSQL, tr.Token, at, h.From, h.From, engine.ReasonLate, int64(h.Attempt),
		h.Code, h.Message, h.FailedState, h.Duration.Microseconds(), h.Actor, id, tr.Token, at, h.Actor)
	return err
}
