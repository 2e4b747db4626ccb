package engine_test

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/pawl-dev/pawl/engine"
	"github.com/pawl-dev/pawl/store/sqlitestore"
)

// benchSagas is how many sagas one turn of the benchmark runs.
const benchSagas = 2000

// BenchmarkSaga runs the saga of four no-op steps beside a hand-written loop
// that writes as many rows and bytes in group commits of 100. The two take
// turns within one run, so "of-floor" holds where single figures drift.
func BenchmarkSaga(b *testing.B) {
	for _, mode := range []string{"FULL", "NORMAL"} {
		b.Run(mode, func(b *testing.B) {
			w := benchWorld(b, mode)
			f := newFloor(b, mode)
			var ours, floor time.Duration
			for turn := 0; b.Loop(); turn++ {
				begun := time.Now()
				f.sagas(b, turn)
				floor += time.Since(begun)
				begun = time.Now()
				startMany(b, w, fmt.Sprint("turn", turn), benchSagas)
				if r := w.tick(); r.Succeeded != benchSagas {
					b.Fatalf("%d of %d succeeded", r.Succeeded, benchSagas)
				}
				ours += time.Since(begun)
			}
			n := float64(benchSagas * b.N)
			b.ReportMetric(n/ours.Seconds(), "sagas/s")
			b.ReportMetric(n/floor.Seconds(), "floor-sagas/s")
			b.ReportMetric(floor.Seconds()/ours.Seconds(), "of-floor")
			b.ReportMetric(0, "ns/op")
		})
	}
}

// BenchmarkLatency runs one saga alone beside the loop with a commit per step.
func BenchmarkLatency(b *testing.B) {
	for _, mode := range []string{"FULL", "NORMAL"} {
		b.Run(mode, func(b *testing.B) {
			w := benchWorld(b, mode)
			f := newFloor(b, mode)
			var ours, floor time.Duration
			for turn := 0; b.Loop(); turn++ {
				begun := time.Now()
				f.commits(b, turn, 1)
				floor += time.Since(begun)
				begun = time.Now()
				startMany(b, w, fmt.Sprint("turn", turn), 1)
				if r := w.tick(); r.Succeeded != 1 {
					b.Fatalf("it did not succeed: %+v", r)
				}
				ours += time.Since(begun)
			}
			b.ReportMetric(float64(ours.Microseconds())/float64(b.N), "us/saga")
			b.ReportMetric(float64(floor.Microseconds())/float64(b.N), "floor-us/saga")
			b.ReportMetric(ours.Seconds()/floor.Seconds(), "x-floor")
			b.ReportMetric(0, "ns/op")
		})
	}
}

// BenchmarkTickWithSleepers is an idle tick with and without 200,000 sleeping
// instances.
func BenchmarkTickWithSleepers(b *testing.B) {
	for _, sleepers := range []int{0, 200_000} {
		b.Run(fmt.Sprint(sleepers), func(b *testing.B) {
			w := benchWorld(b, "NORMAL")
			w.clock.Advance(24 * time.Hour)
			for i := 0; i < sleepers; i += benchSagas {
				startMany(b, w, fmt.Sprint("asleep", i), benchSagas)
			}
			w.clock.Advance(-24 * time.Hour)
			w.tick()
			for b.Loop() {
				if r := w.tick(); r.Claimed != 0 {
					b.Fatalf("a sleeper was claimed")
				}
			}
		})
	}
}

func benchWorld(b *testing.B, mode string) *world {
	b.Helper()
	w := newWorld(b)
	w.store = w.openStore(sqlitestore.Options{Clock: w.clock.Now, Synchronous: mode})
	engine.Register(&w.reg, "noop", func(context.Context, engine.Call[json.RawMessage]) (struct{}, error) {
		return struct{}{}, nil
	}, engine.Handler{})
	w.open(four)
	w.tick()
	return w
}

// floor is the hand-written loop: it writes the same rows into the same tables
// as the engine does, with the same bytes, and nothing else: no claim, no
// decision, no handler, no dispatch.
type floor struct {
	db                             *sql.DB
	insert, update, finish, record *sql.Stmt
	data                           [][]byte // of an instance, after each of its steps
	def                            string
}

func newFloor(b *testing.B, mode string) *floor {
	b.Helper()
	w := benchWorld(b, mode)
	f := &floor{db: w.store.(*sqlitestore.Store).DB(), def: mustParse(b, four).Hash}
	// The bytes are those of a saga that the engine ran.
	last := w.settle(w.start("four", "turn0-0000000"))
	f.data = make([][]byte, 5)
	for i := range f.data {
		f.data[i] = last.Data[:len(last.Data)*(i+1)/5]
	}
	prepare := func(text string) *sql.Stmt { return must[*sql.Stmt](b)(f.db.Prepare(text)) }
	f.insert = prepare(`INSERT INTO instance (id, workflow, def_version, def_hash, ikey, run, key_freed, state, status, step,
		version, attempt, failures, doubt, due_at, was_due, lease_owner, lease_until, code, message, failed_state, note,
		started_at, entered_at, updated_at, ended_at, deadline_at, expire_at, labels, with_input, data, output, input)
		VALUES (?, 'four', 1, ?, ?, 1, 0, 'VALIDATING', 'running', 'noop', 1, 0, 0, 0, ?, 0, '', 0, '', '', '', '',
		?, ?, ?, 0, 0, 0, '', x'', ?, x'', ?)`)
	f.update = prepare(`UPDATE instance SET version = version + 1, state = ?, attempt = 1, due_at = ?,
		lease_owner = 'w1', lease_until = ?, entered_at = ?, updated_at = ?, data = ? WHERE id = ? AND version = ?`)
	f.finish = prepare(`UPDATE instance SET version = version + 1, state = ?, status = 'succeeded', step = '',
		due_at = ?, lease_owner = '', lease_until = 0, entered_at = ?, updated_at = ?, ended_at = ?, expire_at = ?, data = ?
		WHERE id = ? AND version = ?`)
	f.record = prepare(`INSERT INTO history (id, version, sub, in_line, token, at, from_state, to_state, reason, attempt,
		code, message, failed_state, duration, actor) VALUES (?, ?, 0, 0, 'ABCDEFGH', ?, ?, ?, 'done', 1, '', '', '', 1, 'w1')`)
	return f
}

// sagas writes benchSagas of them in group commits of 100.
func (f *floor) sagas(b *testing.B, turn int) {
	b.Helper()
	for i := range benchSagas / 100 {
		f.commits(b, turn*benchSagas/100+i, 100)
	}
}

// commits writes n sagas with one commit per step for all of them together.
func (f *floor) commits(b *testing.B, turn, n int) {
	b.Helper()
	states := []string{"VALIDATING", "MERGING", "NOTIFYING", "INDEXING", "MERGED"}
	keys, ids := make([]string, n), make([]string, n)
	now := time.Now().UnixMicro()
	f.tx(b, func(tx *sql.Tx) {
		insert := tx.Stmt(f.insert)
		for i := range ids {
			keys[i] = fmt.Sprintf("turn%d-%07d", turn+1, i)
			ids[i] = "four/" + keys[i]
			f.exec(b, insert, ids[i], f.def, keys[i], now, now, now, now, f.data[0], []byte(`{"id":"`+keys[i]+`"}`))
		}
	})
	for s, state := range states[:4] {
		f.tx(b, func(tx *sql.Tx) {
			update, finish, record := tx.Stmt(f.update), tx.Stmt(f.finish), tx.Stmt(f.record)
			for _, id := range ids {
				if s < 3 {
					f.exec(b, update, states[s+1], now, now, now, now, f.data[s+1], id, s+1)
				} else {
					f.exec(b, finish, states[s+1], now, now, now, now, now, f.data[s+1], id, s+1)
				}
				f.exec(b, record, id, s+2, now, state, states[s+1])
			}
		})
	}
}

func (f *floor) tx(b *testing.B, write func(*sql.Tx)) {
	b.Helper()
	tx, err := f.db.Begin()
	if err != nil {
		b.Fatal(err)
	}
	write(tx)
	if err := tx.Commit(); err != nil {
		b.Fatal(err)
	}
}

func (f *floor) exec(b *testing.B, st *sql.Stmt, args ...any) {
	b.Helper()
	res, err := st.Exec(args...)
	if err != nil {
		b.Fatal(err)
	}
	if n, err := res.RowsAffected(); err != nil || n != 1 {
		b.Fatalf("%d rows, %v", n, err)
	}
}
