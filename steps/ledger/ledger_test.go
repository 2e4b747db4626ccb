package ledger_test

import (
	"context"
	"database/sql"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	_ "modernc.org/sqlite"

	"github.com/pawl-dev/pawl/engine"
	"github.com/pawl-dev/pawl/steps/ledger"
)

const noonMicro = 1774785600000001

// world is a ledger in which ann has 1000 RUB.
type world struct {
	*ledger.Ledger
	db *sql.DB
}

func newWorld(t *testing.T) world {
	t.Helper()
	db, err := sql.Open("sqlite", "file:"+filepath.Join(t.TempDir(), "l.db")+
		"?_txlock=immediate&_pragma=busy_timeout(30000)&_pragma=journal_mode(WAL)")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	w := world{db: db}
	for range 2 { // the tables may be there
		w.Ledger, err = ledger.New(t.Context(), db, ledger.Options{
			Clock: func() time.Time { return time.UnixMicro(noonMicro) },
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	for range 2 { // a repeat changes nothing
		if err := w.OpenAccount(t.Context(), "ann", "RUB"); err != nil {
			t.Fatal(err)
		}
		if err := w.Deposit(t.Context(), "seed", "ann", ledger.Money{Amount: 1000, Currency: "RUB"}); err != nil {
			t.Fatal(err)
		}
	}
	return w
}

// balances returns every account that has something on it.
func (w world) balances(t *testing.T) map[string]int64 {
	t.Helper()
	return w.sums(t, `SELECT id, balance FROM ledger_account WHERE balance <> 0`)
}

func (w world) sums(t *testing.T, query string) map[string]int64 {
	t.Helper()
	rows, err := w.db.QueryContext(t.Context(), query)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	got := map[string]int64{}
	for rows.Next() {
		var id string
		var sum int64
		if err := rows.Scan(&id, &sum); err != nil {
			t.Fatal(err)
		}
		got[id] = sum
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return got
}

// audit holds the balances against the postings.
func (w world) audit(t *testing.T) {
	t.Helper()
	posted := w.sums(t, `SELECT account, sum(amount) FROM ledger_posting GROUP BY account HAVING sum(amount) <> 0`)
	if diff := cmp.Diff(posted, w.balances(t)); diff != "" {
		t.Errorf("balances are not the sums of the postings (-postings +balances):\n%s", diff)
	}
	for movement, sum := range w.sums(t, `SELECT movement, sum(amount) FROM ledger_posting GROUP BY movement`) {
		if sum != 0 {
			t.Errorf("the postings of movement %q sum to %d", movement, sum)
		}
	}
	var total int64
	for _, b := range w.balances(t) {
		total += b
	}
	if total != 0 {
		t.Errorf("all balances sum to %d, want 0", total)
	}
}

func (w world) wantBalances(t *testing.T, available, reserved, clearing int64) {
	t.Helper()
	want := map[string]int64{"outside/RUB": -1000}
	for id, b := range map[string]int64{"available/ann": available, "reserved/ann": reserved, "clearing/RUB": clearing} {
		if b != 0 {
			want[id] = b
		}
	}
	if diff := cmp.Diff(want, w.balances(t)); diff != "" {
		t.Errorf("balances (-want +got):\n%s", diff)
	}
	w.audit(t)
}

// Each act is one call of a step or of a compensation.
type act func(ctx context.Context, w world) error

func reserveIn(key string, in ledger.ReserveInput) act {
	return func(ctx context.Context, w world) error {
		out, err := w.Reserve(ctx, engine.Call[ledger.ReserveInput]{Key: key, In: in})
		return outcome(key, out.ReserveID, err)
	}
}

func reserve(key string, amount int64) act {
	return reserveIn(key, ledger.ReserveInput{AccountID: "ann", AmountMinor: amount, Currency: "RUB"})
}

func withdraw(key, reserve string) act {
	return func(ctx context.Context, w world) error {
		out, err := w.Withdraw(ctx, engine.Call[ledger.WithdrawInput]{
			Key: key, In: ledger.WithdrawInput{ReserveID: reserve},
		})
		return outcome(key, out.WithdrawalID, err)
	}
}

// outcome checks that there is an output exactly if there is no error, and
// that it is always the same.
func outcome(key, got string, err error) error {
	want := key
	if err != nil {
		want = ""
	}
	if got != want {
		panic("the output is " + got + ", want " + want)
	}
	return err
}

// release undoes a reserve whose output is known; releaseLost one whose
// outcome is not.
func release(key string) act     { return releaseOut(key, &ledger.ReserveOutput{ReserveID: key}) }
func releaseLost(key string) act { return releaseOut(key, nil) }

func releaseOut(key string, out *ledger.ReserveOutput) act {
	return func(ctx context.Context, w world) error {
		return w.Release(ctx, engine.Call[engine.Undone[ledger.ReserveInput, ledger.ReserveOutput]]{
			Key: key + "/undo", In: engine.Undone[ledger.ReserveInput, ledger.ReserveOutput]{Out: out},
		})
	}
}

func refund(key string) act     { return refundOut(key, &ledger.WithdrawOutput{WithdrawalID: key}) }
func refundLost(key string) act { return refundOut(key, nil) }

func refundOut(key string, out *ledger.WithdrawOutput) act {
	return func(ctx context.Context, w world) error {
		return w.Refund(ctx, engine.Call[engine.Undone[ledger.WithdrawInput, ledger.WithdrawOutput]]{
			Key: key + "/undo", In: engine.Undone[ledger.WithdrawInput, ledger.WithdrawOutput]{Out: out},
		})
	}
}
