package sqlitestore_test

import (
	"database/sql"
	"fmt"
	"testing"

	"github.com/pawl-dev/pawl/store/sqlitestore"
)

// BenchmarkFloor is what BenchmarkSaga is measured by: a hand-written loop that
// writes about the same bytes to tables of its own, an insert and four
// conditional updates with a line of history each, in group commits of 100.
func BenchmarkFloor(b *testing.B) {
	for _, mode := range []string{"FULL", "NORMAL"} {
		b.Run(mode, func(b *testing.B) {
			db := mustOpen(b, sqlitestore.Options{Synchronous: mode}).DB()
			f := newFloor(b, db)
			for i := 0; b.Loop(); i++ {
				f.sagas(b, i*batch)
			}
			perRow(b)
		})
	}
}

type floor struct {
	db                      *sql.DB
	insert, update, history *sql.Stmt
}

func newFloor(b *testing.B, db *sql.DB) *floor {
	b.Helper()
	for _, text := range []string{
		`CREATE TABLE job (id TEXT PRIMARY KEY, state TEXT NOT NULL, version INTEGER NOT NULL, due_at INTEGER NOT NULL,
			attempt INTEGER NOT NULL, updated_at INTEGER NOT NULL, input BLOB NOT NULL, data BLOB NOT NULL)`,
		`CREATE INDEX job_due ON job (due_at) WHERE state <> 'done'`,
		`CREATE TABLE job_history (id TEXT NOT NULL, seq INTEGER NOT NULL, at INTEGER NOT NULL, from_state TEXT NOT NULL,
			to_state TEXT NOT NULL, actor TEXT NOT NULL, PRIMARY KEY (id, seq)) WITHOUT ROWID`,
	} {
		if _, err := db.ExecContext(b.Context(), text); err != nil {
			b.Fatal(err)
		}
	}
	prepare := func(text string) *sql.Stmt {
		st, err := db.PrepareContext(b.Context(), text)
		if err != nil {
			b.Fatal(err)
		}
		return st
	}
	return &floor{
		db:     db,
		insert: prepare(`INSERT INTO job VALUES (?, ?, 1, ?, 0, ?, ?, ?)`),
		update: prepare(`UPDATE job SET state = ?, version = version + 1, due_at = ?, attempt = ?, updated_at = ?, data = ?
			WHERE id = ? AND version = ?`),
		history: prepare(`INSERT INTO job_history VALUES (?, ?, ?, ?, ?, ?)`),
	}
}

func (f *floor) sagas(b *testing.B, from int) {
	b.Helper()
	now := epoch.UnixMicro()
	ids := make([]string, batch)
	f.commit(b, func(exec func(st *sql.Stmt, args ...any)) {
		for i := range ids {
			ids[i] = fmt.Sprintf("pr-merge/pr-%09d", from+i)
			exec(f.insert, ids[i], "step0", now, now,
				[]byte(`{"repo_id":"org/repo","number":42,"head_sha":"0123456789012345678901234567890123456789"}`), []byte(`{}`))
		}
	})
	for step := range 4 {
		f.commit(b, func(exec func(st *sql.Stmt, args ...any)) {
			to := [...]string{"step1", "step2", "step3", "done"}[step]
			for _, id := range ids {
				exec(f.update, to, now+int64(step), 1, now,
					[]byte(`{"validate":{"ok":true},"merge":{"sha":"0123456789012345678901234567890123456789"}}`), id, step+1)
				exec(f.history, id, step+1, now, "step0", to, "worker-1")
			}
		})
	}
}

func (f *floor) commit(b *testing.B, write func(exec func(st *sql.Stmt, args ...any))) {
	b.Helper()
	tx, err := f.db.BeginTx(b.Context(), nil)
	if err != nil {
		b.Fatal(err)
	}
	bound := map[*sql.Stmt]*sql.Stmt{}
	write(func(st *sql.Stmt, args ...any) {
		if bound[st] == nil {
			bound[st] = tx.StmtContext(b.Context(), st)
		}
		if _, err := bound[st].Exec(args...); err != nil {
			b.Fatal(err)
		}
	})
	if err := tx.Commit(); err != nil {
		b.Fatal(err)
	}
}
