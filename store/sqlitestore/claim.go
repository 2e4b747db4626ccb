package sqlitestore

import (
	"cmp"
	"context"
	"database/sql"
	"fmt"
	"math/bits"
	"slices"
	"strings"
	"time"

	"github.com/pawl-dev/pawl/engine"
)

// maxArms is how many steps one statement claims; SQLite allows 500 terms in a
// compound select.
const maxArms = 256

const (
	// lookHeadSQL and lookTailSQL ask, around a list of steps, whether a claim
	// and a purge have something to do. Both stop at the first row of an index.
	lookHeadSQL = `SELECT EXISTS (SELECT 1 FROM instance WHERE step IN (`
	lookTailSQL = `) AND step <> '' AND due_at <= ?),
	EXISTS (SELECT 1 FROM instance WHERE expire_at > 0 AND expire_at <= ?)`

	// claimHeadSQL and claimTailSQL lease, around an arm for each step, the
	// rows that are due the longest. They are selected and leased in one
	// statement under the lock, so no row goes to two owners. A lease that
	// runs out counts as a failure of unknown outcome.
	claimHeadSQL = `
UPDATE instance SET version = version + 1, attempt = attempt + 1,
	failures = failures + (lease_until > 0), doubt = doubt OR lease_until > 0,
	was_due = due_at, due_at = ?, lease_owner = ?, lease_until = ?
WHERE n IN (SELECT n FROM (`
	claimTailSQL = `) ORDER BY due_at LIMIT ?) RETURNING ` + rowColumns

	// armSQL walks the index instance_due from the oldest row of a step.
	armSQL = `SELECT * FROM (SELECT n, due_at FROM instance
	WHERE step = ? AND step <> '' AND due_at <= ? ORDER BY due_at LIMIT ?)`

	extendSQL = `
UPDATE instance SET lease_until = ?, due_at = ?
WHERE id = ? AND version = ? AND lease_until > 0`
)

func lookSQL(n int) string {
	return lookHeadSQL + "?" + strings.Repeat(",?", n-1) + lookTailSQL
}

func claimSQL(n int) string {
	return claimHeadSQL + armSQL + strings.Repeat("\nUNION ALL "+armSQL, n-1) + claimTailSQL
}

// padded rounds n up to a power of two, so that few texts are in use. The
// steps that fill up have no name and match no row.
func padded(n int) int { return 1 << bits.Len(uint(max(n, 1)-1)) }

// Claim implements engine.Store.
func (s *Store) Claim(ctx context.Context, req engine.ClaimRequest) (engine.Claimed, error) {
	due, expired, err := s.look(ctx, req)
	if err != nil {
		return engine.Claimed{}, fmt.Errorf("claim: %w", fail(ctx, err))
	}
	out := engine.Claimed{Now: whole(s.clock()), Expired: expired}
	if !due || req.Limit <= 0 {
		return out, nil
	}
	stmts, err := s.claimStmts(ctx, len(req.Steps))
	if err != nil {
		return engine.Claimed{}, fmt.Errorf("claim: %w", fail(ctx, err))
	}
	var rows []*row
	err = s.write(ctx, "claim", func(ctx context.Context, w *writer) error {
		for steps := range slices.Chunk(req.Steps, maxArms) {
			st := w.tx.StmtContext(ctx, stmts[padded(len(steps))])
			if rows, err = lease(ctx, st, req, steps, rows); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return engine.Claimed{}, err
	}
	slices.SortFunc(rows, func(a, b *row) int {
		return cmp.Or(cmp.Compare(a.wasDue, b.wasDue), cmp.Compare(a.n, b.n))
	})
	out.Instances = make([]engine.Instance, len(rows))
	for i := range rows {
		if out.Instances[i], err = rows[i].instance(); err != nil {
			return engine.Claimed{}, fmt.Errorf("claim: %w: %v", engine.ErrUnknown, err)
		}
	}
	return out, nil
}

// look reports, by one read, whether a claim and a purge have something to do.
func (s *Store) look(ctx context.Context, req engine.ClaimRequest) (due, expired bool, err error) {
	n := padded(len(req.Steps))
	st, err := s.looks.of(ctx, s.reader, n, lookSQL)
	if err != nil {
		return false, false, err
	}
	args := make([]any, n+2)
	for i := range n {
		args[i] = ""
		if i < len(req.Steps) && req.Steps[i].Limit > 0 {
			args[i] = req.Steps[i].Step
		}
	}
	now := toMicro(req.Now)
	args[n], args[n+1] = now, now
	err = st.QueryRowContext(ctx, args...).Scan(&due, &expired)
	return due, expired, err
}

// claimStmts prepares what a claim of that many steps needs: the transaction
// itself cannot, since it has the only connection.
func (s *Store) claimStmts(ctx context.Context, steps int) (map[int]*sql.Stmt, error) {
	out := map[int]*sql.Stmt{}
	for ; steps > 0; steps -= maxArms {
		n := padded(min(steps, maxArms))
		st, err := s.claims.of(ctx, s.writer, n, claimSQL)
		if err != nil {
			return nil, err
		}
		out[n] = st
	}
	return out, nil
}

// lease claims instances of the steps and appends their rows.
func lease(
	ctx context.Context, st *sql.Stmt, req engine.ClaimRequest, steps []engine.StepLimit, rows []*row,
) ([]*row, error) {
	until, now := toMicro(req.Until), toMicro(req.Now)
	args := append(make([]any, 0, 4+3*padded(len(steps))), until, req.Owner, until)
	for i := range padded(len(steps)) {
		if i < len(steps) {
			args = append(args, steps[i].Step, now, int64(max(steps[i].Limit, 0)))
		} else {
			args = append(args, "", now, int64(0))
		}
	}
	found, err := st.QueryContext(ctx, append(args, int64(req.Limit-len(rows)))...)
	if err != nil {
		return nil, err
	}
	defer func() { _ = found.Close() }() // its error is that of Err
	for found.Next() {
		r := new(row)
		if err := found.Scan(r.all()...); err != nil {
			return nil, err
		}
		rows = append(rows, r)
	}
	return rows, found.Err()
}

// Extend implements engine.Store.
func (s *Store) Extend(ctx context.Context, until time.Time, leases []engine.Lease) ([]bool, error) {
	if len(leases) == 0 {
		return nil, nil
	}
	held := make([]bool, len(leases))
	end := toMicro(until)
	err := s.write(ctx, "extend", func(ctx context.Context, w *writer) error {
		st, err := w.tx.PrepareContext(ctx, extendSQL)
		if err != nil {
			return err
		}
		defer func() { _ = st.Close() }()
		for i, l := range leases {
			res, err := st.ExecContext(ctx, end, end, l.ID, l.Version)
			if err != nil {
				return err
			}
			n, err := res.RowsAffected()
			if err != nil {
				return err
			}
			held[i] = n > 0
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return held, nil
}
