package sqlitestore

import (
	"cmp"
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"math/bits"
	"slices"
	"strings"
	"sync"
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

	// extendSQL takes the leases as a JSON list of [id, version] and returns
	// the ids of those that are still held.
	extendSQL = `
UPDATE instance SET lease_until = ?, due_at = ?
FROM (SELECT value ->> 0 AS id, value ->> 1 AS version FROM json_each(?)) AS held
WHERE instance.id = held.id AND instance.version = held.version AND lease_until > 0
RETURNING instance.id`
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
	// The transaction cannot prepare it: it has the only connection.
	for steps := range slices.Chunk(req.Steps, maxArms) {
		if err := s.claims.prepare(ctx, s.writer, padded(len(steps)), claimSQL); err != nil {
			return engine.Claimed{}, fmt.Errorf("claim: %w", fail(ctx, err))
		}
	}
	var rows []*row
	err = s.write(ctx, "claim", func(ctx context.Context, w *writer) error {
		for steps := range slices.Chunk(req.Steps, maxArms) {
			if rows, err = s.lease(ctx, w, req, steps, rows); err != nil {
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
	if err := s.looks.prepare(ctx, s.reader, n, lookSQL); err != nil {
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
	err = s.looks.of(n).QueryRowContext(ctx, args...).Scan(&due, &expired)
	return due, expired, err
}

// lease claims instances of the steps and appends their rows.
func (s *Store) lease(
	ctx context.Context, w *writer, req engine.ClaimRequest, steps []engine.StepLimit, rows []*row,
) ([]*row, error) {
	until, now, arms := toMicro(req.Until), toMicro(req.Now), padded(len(steps))
	args := append(make([]any, 0, 4+3*arms), until, req.Owner, until)
	for i := range arms {
		if i < len(steps) {
			args = append(args, steps[i].Step, now, int64(max(steps[i].Limit, 0)))
		} else {
			args = append(args, "", now, int64(0))
		}
	}
	args = append(args, int64(req.Limit-len(rows)))
	st := kept{w.tx.StmtContext(ctx, s.claims.of(arms).Stmt)}
	found, err := st.QueryContext(ctx, args...)
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

// sized are statements of one kind that differ by how many steps they name.
// They stay prepared until the store is closed.
type sized struct {
	mu    sync.Mutex
	stmts map[int]kept
}

// prepare makes the statement for n steps ready. If two calls do so at once
// both statements are good, and one is kept.
func (z *sized) prepare(ctx context.Context, db *sql.DB, n int, text func(n int) string) error {
	if z.of(n).Stmt != nil {
		return nil
	}
	st, err := keep(ctx, db, text(n))
	if err != nil {
		return err
	}
	z.mu.Lock()
	defer z.mu.Unlock()
	if z.stmts == nil {
		z.stmts = map[int]kept{}
	}
	z.stmts[n] = st
	return nil
}

func (z *sized) of(n int) kept {
	z.mu.Lock()
	defer z.mu.Unlock()
	return z.stmts[n]
}

// Extend implements engine.Store.
func (s *Store) Extend(ctx context.Context, until time.Time, leases []engine.Lease) ([]bool, error) {
	if len(leases) == 0 {
		return nil, nil
	}
	list := make([][2]any, len(leases))
	at := make(map[string]int, len(leases))
	for i, l := range leases {
		list[i], at[l.ID] = [2]any{l.ID, l.Version}, i
	}
	text, err := json.Marshal(list)
	if err != nil {
		return nil, fmt.Errorf("extend: %w", err)
	}
	held := make([]bool, len(leases))
	end := toMicro(until)
	err = s.write(ctx, "extend", func(ctx context.Context, w *writer) error {
		found, err := w.tx.QueryContext(ctx, extendSQL, end, end, string(text))
		if err != nil {
			return err
		}
		defer func() { _ = found.Close() }() // its error is that of Err
		for found.Next() {
			var id string
			if err := found.Scan(&id); err != nil {
				return err
			}
			held[at[id]] = true
		}
		return found.Err()
	})
	if err != nil {
		return nil, err
	}
	return held, nil
}
