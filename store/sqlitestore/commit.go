package sqlitestore

import (
	"context"
	"database/sql"
	"errors"
	"time"

	"github.com/pawl-dev/pawl/engine"
)

// updateSQL is the part that both updates have. What is not in them is never
// changed.
const updateSQL = `
UPDATE instance SET version = version + 1, state = ?, step = ?, attempt = ?,
	due_at = ?, lease_owner = ?, lease_until = ?,
	entered_at = ?, updated_at = ?, deadline_at = ?, with_input = ?, data = ?, `

const (
	// updateHotSQL moves a running instance on after a success. It names none
	// of the columns by which lists and purges search, so their indexes are
	// left alone, and binds nothing that is empty.
	updateHotSQL = updateSQL + `failures = 0, doubt = 0, code = '', message = '', failed_state = '', note = '',
	ended_at = 0, output = x''
WHERE id = ? AND version = ? AND status = 'running' AND expire_at = 0`

	updateFullSQL = updateSQL + `failures = ?, doubt = ?, code = ?, message = ?, failed_state = ?, note = ?,
	ended_at = ?, output = ?, status = ?, expire_at = ?
WHERE id = ? AND version = ?`

	// waitSQL turns what was just written into a place in line.
	waitSQL = `
UPDATE instance SET status = 'queued', attempt = 0, failures = 0, lease_owner = '', lease_until = 0,
	due_at = CASE deadline_at WHEN 0 THEN 9223372036854775807 ELSE deadline_at END
WHERE id = ?`

	freeSQL = `UPDATE instance SET key_freed = ? WHERE id = ? AND ikey <> ''`

	// takenSQL finds who else holds the key of an instance. It finds nothing
	// if the version is not right, which the update will see.
	takenSQL = `
SELECT other.id FROM instance AS own JOIN instance AS other
ON other.ikey = own.ikey AND other.workflow = own.workflow AND other.key_freed = 0 AND other.id <> own.id
WHERE own.id = ? AND own.version = ? AND own.ikey <> '' AND other.ikey <> ''`
)

// Commit implements engine.Store.
func (s *Store) Commit(ctx context.Context, now time.Time, tr []engine.Transition) ([]engine.Outcome, error) {
	if len(tr) == 0 {
		return nil, nil
	}
	out := make([]engine.Outcome, len(tr))
	err := s.write(ctx, "commit", func(ctx context.Context, w *writer) (err error) {
		for i := range tr {
			if out[i], err = w.apply(ctx, toMicro(now), &tr[i]); err != nil {
				return err
			}
		}
		return w.flush(ctx)
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}

// apply stores one transition. On the usual way that is an update and a line
// of history.
func (w *writer) apply(ctx context.Context, now int64, tr *engine.Transition) (engine.Outcome, error) {
	id, version := tr.Instance.ID, tr.Instance.Version
	if tr.Reclaim {
		by, err := w.taken(ctx, id, version)
		if err != nil || by != "" {
			return engine.Outcome{Result: engine.Taken, Version: version, By: by}, err
		}
	}
	done, err := w.update(ctx, tr)
	if err != nil {
		return engine.Outcome{}, err
	}
	if !done {
		return w.late(ctx, tr)
	}
	if tr.Free || tr.Reclaim {
		if _, err := w.exec(ctx, freeSQL, toInt(tr.Free), id); err != nil {
			return engine.Outcome{}, err
		}
	}
	out := engine.Outcome{Result: engine.Done, Version: version + 1}
	if out.Woken, err = w.release(ctx, id, tr.Release, now); err != nil {
		return engine.Outcome{}, err
	}
	if len(tr.Acquire) > 0 {
		if err := w.standInLine(ctx, tr, &out); err != nil {
			return engine.Outcome{}, err
		}
	}
	if tr.History != nil {
		if err := w.note(ctx, tr, out.Result == engine.InLine); err != nil {
			return engine.Outcome{}, err
		}
	}
	for _, n := range tr.Start {
		if _, err := w.start(ctx, n); err != nil {
			return engine.Outcome{}, err
		}
	}
	return out, nil
}

// update writes the row if it still has the version of tr.
func (w *writer) update(ctx context.Context, tr *engine.Transition) (bool, error) {
	in := tr.Instance
	settle(&in)
	w.args = append(w.args[:0], in.State, in.Step, int64(in.Attempt),
		toDue(in.DueAt), in.LeaseOwner, toMicro(in.LeaseUntil),
		toMicro(in.EnteredAt), toMicro(in.UpdatedAt), toMicro(in.DeadlineAt), toBlob(in.With), toBlob(in.Data))
	common := len(w.args)
	if moves(&in) {
		w.args = append(w.args, in.ID, in.Version)
		if n, err := w.run(ctx, updateHot, w.args); err != nil || n > 0 {
			return n > 0, err
		}
	}
	w.args = append(w.args[:common], int64(in.Failures), toInt(in.Doubt), in.Code, in.Message, in.FailedState, in.Note,
		toMicro(in.EndedAt), toBlob(in.Output), string(in.Status), toMicro(in.ExpireAt), in.ID, in.Version)
	n, err := w.run(ctx, updateFull, w.args)
	return n > 0, err
}

// moves reports whether updateHotSQL says all about in.
func moves(in *engine.Instance) bool {
	return in.Status == engine.Running && in.Failures == 0 && !in.Doubt &&
		in.Code == "" && in.Message == "" && in.FailedState == "" && in.Note == "" &&
		in.EndedAt.IsZero() && in.ExpireAt.IsZero() && len(in.Output) == 0
}

// standInLine takes the keys that the state needs, or leaves the instance in
// line for them.
func (w *writer) standInLine(ctx context.Context, tr *engine.Transition, out *engine.Outcome) error {
	by, err := w.acquire(ctx, tr.Instance.ID, tr.Acquire)
	if err != nil || by == "" {
		return err
	}
	out.Result, out.By = engine.InLine, by
	_, err = w.exec(ctx, waitSQL, tr.Instance.ID)
	return err
}

// taken returns who else holds the key of the instance.
func (w *writer) taken(ctx context.Context, id string, version int64) (by string, err error) {
	err = w.tx.QueryRowContext(ctx, takenSQL, id, version).Scan(&by)
	if errors.Is(err, sql.ErrNoRows) {
		err = nil
	}
	return by, err
}
