package sqlitestore

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/pawl-dev/pawl/engine"
)

// A new row is usually fresh: nothing was attempted yet. What such a row has
// nothing to say about is a constant in the short statements, since to bind a
// value costs as much as to store it.
const (
	insertColumns = `
INSERT INTO instance (id, workflow, def_version, def_hash, ikey, run, state, status, step, due_at,
	started_at, entered_at, updated_at, deadline_at, labels, with_input, data, input, version, key_freed, was_due,
	attempt, failures, doubt, lease_owner, lease_until, code, message, failed_state, note, ended_at, expire_at, output)`
	someValues  = `?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 1, 0, 0, `
	freshValues = someValues + `0, 0, 0, '', 0, '', '', '', '', 0, 0, x''`
)

const (
	// insertPlainSQL leaves the row alone that has the id already.
	insertPlainSQL = insertColumns + ` VALUES (` + freshValues + `) ON CONFLICT (id) DO NOTHING`

	// insertKeyedSQL inserts the first instance of a key: it does nothing if
	// the key had one before, whether that still holds it or not.
	insertKeyedSQL = insertColumns + ` SELECT ` + freshValues + `
WHERE NOT EXISTS (SELECT 1 FROM instance WHERE ikey = ? AND workflow = ? AND ikey <> '')
ON CONFLICT (id) DO NOTHING`

	insertFullSQL = insertColumns + ` VALUES (` + someValues + `?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`

	// lastOfKeySQL finds the holder of a key or, if it is free, its last run.
	lastOfKeySQL = `
SELECT id, run, key_freed FROM instance WHERE ikey = ? AND workflow = ? AND ikey <> ''
ORDER BY key_freed, run DESC LIMIT 1`

	loadSQL = `SELECT ` + rowColumns + ` FROM instance WHERE id = ?`
)

// Insert implements engine.Store.
func (s *Store) Insert(ctx context.Context, _ time.Time, in []engine.New) ([]engine.Started, error) {
	if len(in) == 0 {
		return nil, nil
	}
	out := make([]engine.Started, len(in))
	err := s.write(ctx, "insert", func(ctx context.Context, w *writer) (err error) {
		for i := range in {
			if out[i], err = w.start(ctx, in[i]); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}

// StartTx starts an instance as a part of tx, a transaction on the file of a
// [Store], opened by whatever handle: no tick sees the instance unless tx
// commits. It is the outbox of an application that keeps its tables in the
// same file. Let tx begin immediate; one that has read before it writes is
// refused by SQLite if another process has written since.
//
// If StartTx fails it rolls tx back, so that what the caller changed cannot be
// committed without the instance.
func StartTx(ctx context.Context, tx *sql.Tx, in engine.New) (engine.Started, error) {
	w := writer{tx: tx}
	out, err := w.start(ctx, in)
	if err != nil {
		return engine.Started{}, errors.Join(fmt.Errorf("start %q: %w", in.Instance.ID, fail(ctx, err)), w.spoil())
	}
	return out, nil
}

// spoil makes the commit of the caller's transaction fail.
func (w *writer) spoil() error {
	if err := w.tx.Rollback(); err != nil && !errors.Is(err, sql.ErrTxDone) {
		return fmt.Errorf("roll back: %v", err)
	}
	return nil
}

// start inserts n, unless its key or id is taken, and what begins with it.
func (w *writer) start(ctx context.Context, n engine.New) (engine.Started, error) {
	if len(n.Acquire) == 0 && fresh(&n.Instance) {
		out, err := w.create(ctx, n, firstOf(n))
		if err != nil || out.Created {
			return out, err
		}
	}
	n, holder, err := w.resolve(ctx, n)
	if err != nil || holder.ID != "" {
		return engine.Started{Instance: holder}, err
	}
	if refused, err := w.refused(ctx, n); err != nil || refused != "" {
		return engine.Started{Refused: refused}, err
	}
	by, err := w.acquire(ctx, n.Instance.ID, n.Acquire)
	if err != nil {
		return engine.Started{}, err
	}
	if by != "" {
		queue(&n.Instance)
	}
	return w.create(ctx, n, insertFull)
}

// fresh reports whether in has nothing to say about attempts, errors and its
// end.
func fresh(in *engine.Instance) bool {
	return in.Attempt == 0 && in.Failures == 0 && !in.Doubt && in.LeaseUntil.IsZero() &&
		in.Code == "" && in.Message == "" && in.FailedState == "" && in.Note == "" &&
		in.EndedAt.IsZero() && in.ExpireAt.IsZero() && len(in.Output) == 0
}

// firstOf returns the statement that inserts n only if nothing is in its way.
func firstOf(n engine.New) kind {
	if n.Instance.Key != "" {
		return insertKeyed
	}
	return insertPlain
}

// resolve finds the instance that is in the way of n or, if there is none, the
// run of its key that n has to be.
func (w *writer) resolve(ctx context.Context, n engine.New) (engine.New, engine.Instance, error) {
	in := &n.Instance
	if in.Key != "" {
		var id string
		var run, freed int64
		err := w.tx.QueryRowContext(ctx, lastOfKeySQL, in.Key, in.Workflow).Scan(&id, &run, &freed)
		switch {
		case errors.Is(err, sql.ErrNoRows):
		case err != nil:
			return n, engine.Instance{}, err
		case freed == 0:
			holder, err := w.load(ctx, id)
			return n, holder, err
		default:
			next, err := asRun(n, int(run)+1)
			if err != nil {
				return n, engine.Instance{}, err
			}
			n, in = next, &next.Instance
		}
	}
	there, err := w.load(ctx, in.ID)
	if errors.Is(err, engine.ErrNotFound) {
		err = nil
	}
	return n, there, err
}

// asRun returns n as the run-th instance of its key. A New that cannot rebuild
// itself gets the id and the number here.
func asRun(n engine.New, run int) (engine.New, error) {
	workflow, key := n.Instance.Workflow, n.Instance.Key
	n, err := n.AsRun(run)
	if err != nil {
		return n, fmt.Errorf("%w: start run %d of key %q: %w", engine.ErrInvalid, run, key, err)
	}
	if n.Instance.Run != run {
		n.Instance.Run = run
		n.Instance.ID = engine.InstanceID(workflow, key, run)
	}
	return n, nil
}

// create inserts n by the statement k, and what begins with it. It reports
// Created false, and nothing else, if k found something in the way.
func (w *writer) create(ctx context.Context, n engine.New, k kind) (engine.Started, error) {
	in := &n.Instance
	settle(in)
	labels, err := toLabels(in.Labels)
	if err != nil {
		return engine.Started{}, err
	}
	w.args = append(w.args[:0], in.ID, in.Workflow, int64(in.DefVersion), in.DefHash, in.Key, int64(in.Run),
		in.State, string(in.Status), in.Step, toDue(in.DueAt),
		toMicro(in.StartedAt), toMicro(in.EnteredAt), toMicro(in.UpdatedAt), toMicro(in.DeadlineAt), labels,
		toBlob(in.With), toBlob(in.Data), toBlob(in.Input))
	if k == insertKeyed {
		w.args = append(w.args, in.Key, in.Workflow)
	}
	if k == insertFull {
		w.args = append(w.args, int64(in.Attempt), int64(in.Failures), toInt(in.Doubt),
			in.LeaseOwner, toMicro(in.LeaseUntil), in.Code, in.Message, in.FailedState, in.Note,
			toMicro(in.EndedAt), toMicro(in.ExpireAt), toBlob(in.Output))
	}
	made, err := w.run(ctx, k, w.args)
	if err != nil || made == 0 {
		return engine.Started{}, err
	}
	in.Version = 1
	for _, next := range n.Start {
		if _, err := w.start(ctx, next); err != nil {
			return engine.Started{}, err
		}
	}
	return engine.Started{Instance: stored(*in), Created: true}, nil
}

// load reads a row as the transaction sees it.
func (w *writer) load(ctx context.Context, id string) (engine.Instance, error) {
	var r row
	if err := w.tx.QueryRowContext(ctx, loadSQL, id).Scan(r.all()...); err != nil {
		return engine.Instance{}, missing(err, fmt.Sprintf("instance %q", id))
	}
	return r.instance()
}
