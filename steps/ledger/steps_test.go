package ledger_test

import (
	"context"
	"fmt"
	"math"
	"strings"
	"sync"
	"testing"

	"github.com/pawl-dev/pawl/engine"
	"github.com/pawl-dev/pawl/steps/ledger"
)

func TestPaymentsMoveMoney(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name                          string
		acts                          []act
		available, reserved, clearing int64
	}{
		{"Reserve", []act{reserve("r", 300)}, 700, 300, 0},
		{"ReserveAll", []act{reserve("r", 1000)}, 0, 1000, 0},
		{"Withdraw", []act{reserve("r", 300), withdraw("w", "r")}, 700, 0, 300},
		{"Release", []act{reserve("r", 300), release("r")}, 1000, 0, 0},
		{"Refund", []act{reserve("r", 300), withdraw("w", "r"), refund("w")}, 1000, 0, 0},
		{"RefundThenRelease", []act{reserve("r", 300), withdraw("w", "r"), refund("w"), release("r")}, 1000, 0, 0},
		{"TwoPayments", []act{reserve("r", 300), reserve("q", 200), withdraw("w", "q"), release("r")}, 800, 0, 200},
		{"OneIsUndone", []act{
			reserve("r", 300), reserve("q", 200), withdraw("v", "r"), withdraw("w", "q"), refund("w"), release("q"),
		}, 700, 0, 300},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			for i, a := range tt.acts {
				for range 3 { // two are repeats
					if err := a(t.Context(), w); err != nil {
						t.Fatalf("act %d = %v", i+1, err)
					}
				}
			}
			w.wantBalances(t, tt.available, tt.reserved, tt.clearing)
		})
	}
}

func TestALateRepeatChangesNothing(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for i, a := range []act{
		reserve("r", 300), withdraw("w", "r"),
		reserve("r", 300), withdraw("w", "r"), // the commit of both outcomes was lost
		refund("w"), release("r"), refund("w"), release("r"),
	} {
		if err := a(t.Context(), w); err != nil {
			t.Fatalf("act %d = %v", i+1, err)
		}
	}
	w.wantBalances(t, 1000, 0, 0)
}

func TestRefusals(t *testing.T) {
	t.Parallel()
	permanent := engine.Verdict{Definite: true, Permanent: true}
	poor := engine.Verdict{Definite: true, Code: ledger.CodeInsufficientFunds}
	in := func(account string, amount int64, currency string) act {
		return reserveIn("r", ledger.ReserveInput{AccountID: account, AmountMinor: amount, Currency: currency})
	}
	tests := []struct {
		name     string
		before   []act
		act      act
		text     string
		verdict  engine.Verdict
		balances [3]int64
	}{
		{"NotEnough", nil, reserve("r", 1001), `reserve 1001 RUB on account "ann": 1000 RUB are available`, poor, [3]int64{1000}},
		{"NotEnoughLeft", []act{reserve("q", 800)}, reserve("r", 201), "200 RUB are available", poor, [3]int64{200, 800}},
		{"UnknownAccount", nil, in("bob", 1, "RUB"), `reserve 1 RUB on account "bob": no such account`, permanent, [3]int64{1000}},
		{"HouseAccount", nil, in("RUB", 1, "RUB"), "no such account", permanent, [3]int64{1000}},
		{"OtherCurrency", nil, in("ann", 1, "USD"), "the account is in RUB, not in USD", permanent, [3]int64{1000}},
		{"Zero", nil, in("ann", 0, "RUB"), "the amount is 0, want 1 to 9007199254740991", permanent, [3]int64{1000}},
		{"Negative", nil, in("ann", -5, "RUB"), "the amount is -5", permanent, [3]int64{1000}},
		{"TooMuch", nil, in("ann", ledger.MaxAmount+1, "RUB"), "the amount is 9007199254740992", permanent, [3]int64{1000}},
		{"Overflow", nil, in("ann", math.MaxInt64, "RUB"), "the amount is 9223372036854775807", permanent, [3]int64{1000}},
		{"Underflow", nil, in("ann", math.MinInt64, "RUB"), "the amount is -9223372036854775808", permanent, [3]int64{1000}},
		{"NoKey", nil, reserve("", 1), "the idempotency key is empty", permanent, [3]int64{1000}},
		{"KeyOfAnotherReserve", []act{reserve("r", 300)}, reserve("r", 200), `"r" was used before, for reserve of 300 RUB`, permanent, [3]int64{700, 300}},
		{"KeyOfADeposit", nil, reserve("seed", 1000), `"seed" was used before, for deposit`, permanent, [3]int64{1000}},
		{"NoSuchReserve", nil, withdraw("w", "r"), `withdraw the reserve "r": no such reserve`, permanent, [3]int64{1000}},
		{"NotAReserve", nil, withdraw("w", "seed"), "no such reserve", permanent, [3]int64{1000}},
		{"WithdrawnTwice", []act{reserve("r", 300), withdraw("v", "r")}, withdraw("w", "r"), `before, by "v"`, permanent, [3]int64{700, 0, 300}},
		{"WithdrawReleased", []act{reserve("r", 300), release("r")}, withdraw("w", "r"), `before, by "r/undo"`, permanent, [3]int64{1000}},
		{"WithdrawRefunded", []act{reserve("r", 300), withdraw("v", "r"), refund("v")}, withdraw("w", "r"), `before, by "v"`, permanent, [3]int64{1000}},
		{"ReleaseWithdrawn", []act{reserve("r", 300), withdraw("v", "r")}, release("r"), `release the reserve "r": it was withdrawn by "v"; undo that first`, permanent, [3]int64{700, 0, 300}},
		{"ReleaseUnknown", nil, release("r"), "is not in this ledger", permanent, [3]int64{1000}},
		{"RefundUnknown", nil, refund("w"), "is not in this ledger", permanent, [3]int64{1000}},
		{"ReserveUndone", []act{releaseLost("r")}, reserve("r", 300), "was undone before this attempt came", permanent, [3]int64{1000}},
		{"ReserveReleased", []act{reserve("r", 300), release("r")}, reserve("r", 300), "was undone", permanent, [3]int64{1000}},
		{"WithdrawUndone", []act{reserve("r", 300), refundLost("v")}, withdraw("v", "r"), "was undone", permanent, [3]int64{700, 300}},
		{"WithdrawUndoneAndReleased", []act{reserve("r", 300), refundLost("w"), release("r")}, withdraw("w", "r"), "was undone", permanent, [3]int64{1000}},
		{"WithdrawOfUndone", []act{releaseLost("r")}, withdraw("w", "r"), "no such reserve", permanent, [3]int64{1000}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			for i, a := range tt.before {
				if err := a(t.Context(), w); err != nil {
					t.Fatalf("act %d = %v", i+1, err)
				}
			}
			for range 2 { // it stays refused
				err := tt.act(t.Context(), w)
				if err == nil || !strings.Contains(err.Error(), tt.text) {
					t.Errorf("got %v, want %q", err, tt.text)
				}
				if got := engine.VerdictOf(err); got != tt.verdict {
					t.Errorf("verdict = %+v, want %+v", got, tt.verdict)
				}
			}
			w.wantBalances(t, tt.balances[0], tt.balances[1], tt.balances[2])
		})
	}
}

func TestUndoOfALostOutcome(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	// The effect is there, its output is not known.
	for i, a := range []act{
		reserve("r", 300), withdraw("w", "r"),
		refundLost("w"), releaseLost("r"), refundLost("w"), releaseLost("r"),
	} {
		if err := a(t.Context(), w); err != nil {
			t.Fatalf("act %d = %v", i+1, err)
		}
	}
	w.wantBalances(t, 1000, 0, 0)
}

// A reserve that was not undone for good can still be undone later.
func TestARefusedUndoLeavesNoMark(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for i, a := range []act{reserve("r", 300), withdraw("w", "r")} {
		if err := a(t.Context(), w); err != nil {
			t.Fatalf("act %d = %v", i+1, err)
		}
	}
	if err := release("r")(t.Context(), w); err == nil {
		t.Fatal("release of a withdrawn reserve succeeded")
	}
	for i, a := range []act{refund("w"), release("r")} {
		if err := a(t.Context(), w); err != nil {
			t.Fatalf("undo %d = %v", i+1, err)
		}
	}
	w.wantBalances(t, 1000, 0, 0)
}

func TestConcurrentReservesNeverOverdraw(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	const workers, amount = 20, 70 // 14 fit
	var mu sync.Mutex
	var made, refused int
	var wg sync.WaitGroup
	for i := range workers {
		for range 2 { // two attempts of the same step at once
			wg.Go(func() {
				err := reserve(fmt.Sprint("r", i), amount)(t.Context(), w)
				mu.Lock()
				defer mu.Unlock()
				switch {
				case err == nil:
					made++
				case engine.VerdictOf(err).Code == ledger.CodeInsufficientFunds:
					refused++
				default:
					t.Error(err)
				}
			})
		}
	}
	wg.Wait()
	if made != 2*14 || refused != 2*6 {
		t.Errorf("%d attempts succeeded and %d were refused, want 28 and 12", made, refused)
	}
	w.wantBalances(t, 1000-14*amount, 14*amount, 0)
}

// Whichever of the two comes first, nothing stays reserved.
func TestUndoRacesWithALateAttempt(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	var wg sync.WaitGroup
	for i := range 20 {
		key := fmt.Sprint("r", i)
		wg.Go(func() {
			if err := reserve(key, 10)(t.Context(), w); err != nil && !strings.Contains(err.Error(), "was undone") {
				t.Error(err)
			}
		})
		wg.Go(func() {
			if err := releaseLost(key)(t.Context(), w); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	w.wantBalances(t, 1000, 0, 0)
}

func TestNothingHappensInABrokenDatabase(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := reserve("r", 300)(ctx, w); !engine.VerdictOf(err).Definite || engine.VerdictOf(err).Permanent {
		t.Errorf("reserve = %v, want a definite failure that may pass", err)
	}
	w.wantBalances(t, 1000, 0, 0)
	if err := w.db.Close(); err != nil {
		t.Fatal(err)
	}
	for _, a := range []act{reserve("r", 300), withdraw("w", "r"), release("r"), refund("w")} {
		if err := a(t.Context(), w); !engine.VerdictOf(err).Definite || engine.VerdictOf(err).Permanent {
			t.Errorf("got %v, want a definite failure that may pass", err)
		}
	}
	if _, err := w.Balance(t.Context(), "ann"); err == nil {
		t.Error("Balance of a closed database succeeded")
	}
	if _, err := ledger.New(t.Context(), w.db, ledger.Options{}); err == nil {
		t.Error("New on a closed database succeeded")
	}
}

func TestFailuresInATransaction(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, breaks string
		want         engine.Verdict
	}{
		{"BeforeTheCommit", `ALTER TABLE ledger_movement RENAME TO gone`, engine.Verdict{Definite: true}},
		{"InTheCommit", `
			PRAGMA foreign_keys = ON;
			CREATE TABLE parent (id INTEGER PRIMARY KEY);
			CREATE TABLE child (id INTEGER REFERENCES parent DEFERRABLE INITIALLY DEFERRED);
			CREATE TRIGGER orphan AFTER INSERT ON ledger_movement BEGIN INSERT INTO child VALUES (1); END`, engine.Verdict{}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.db.SetMaxOpenConns(1)
			if _, err := w.db.ExecContext(t.Context(), tt.breaks); err != nil {
				t.Fatal(err)
			}
			err := reserve("r", 300)(t.Context(), w)
			if got := engine.VerdictOf(err); err == nil || got != tt.want {
				t.Errorf("reserve = %v with the verdict %+v, want %+v", err, got, tt.want)
			}
		})
	}
}
