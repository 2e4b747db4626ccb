package ledger_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-dev/pawl/engine"
	"github.com/pawl-dev/pawl/engine/definition"
	"github.com/pawl-dev/pawl/steps/ledger"
)

// The database refuses what no code of this package does.
func TestTheDatabaseKeepsTheRules(t *testing.T) {
	t.Parallel()
	const move = `INSERT INTO ledger_movement (id, kind, source, target, currency, amount, empties, at) VALUES `
	tests := []struct {
		name, statement, text string
	}{
		{"Overdraw", move + `('x', 'reserve', 'available/ann', 'reserved/ann', 'RUB', 601, NULL, 0)`, "ledger_not_negative"},
		{"TakeMoreThanReserved", move + `('x', 'withdraw', 'reserved/ann', 'clearing/RUB', 'RUB', 401, 'y', 0)`, "ledger_not_negative"},
		{"Nothing", move + `('x', 'reserve', 'available/ann', 'reserved/ann', 'RUB', 0, NULL, 0)`, "ledger_amount"},
		{"Backwards", move + `('x', 'reserve', 'available/ann', 'reserved/ann', 'RUB', -1, NULL, 0)`, "ledger_amount"},
		{"InACircle", move + `('x', 'reserve', 'available/ann', 'available/ann', 'RUB', 1, NULL, 0)`, "both accounts"},
		{"FromNowhere", move + `('x', 'deposit', 'nowhere', 'available/ann', 'RUB', 1, NULL, 0)`, "both accounts"},
		{"OtherCurrency", move + `('x', 'deposit', 'outside/RUB', 'available/ann', 'USD', 1, NULL, 0)`, "both accounts"},
		{"SameKey", move + `('seed', 'deposit', 'outside/RUB', 'available/ann', 'RUB', 1, NULL, 0)`, "UNIQUE"},
		{"EmptyTwice", move + `('x', 'release', 'reserved/ann', 'available/ann', 'RUB', 1, 'q', 0)`, "UNIQUE"},
		{"EmptyNothing", move + `('x', 'release', 'reserved/ann', 'available/ann', 'RUB', 1, NULL, 0)`, "ledger_empties"},
		{"OtherKind", move + `('x', 'gift', 'outside/RUB', 'available/ann', 'RUB', 1, NULL, 0)`, "CHECK"},
		{"Change", `UPDATE ledger_movement SET amount = 1 WHERE id = 'seed'`, "never changed"},
		{"Delete", `DELETE FROM ledger_movement WHERE id = 'seed'`, "never deleted"},
		{"PostAlone", `INSERT INTO ledger_posting (movement, account, currency, amount) VALUES ('seed', 'available/ann', 'RUB', 1)`, "view"},
	}
	w := newWorld(t)
	for _, a := range []act{reserve("r", 400), reserve("q", 100), release("q")} {
		if err := a(t.Context(), w); err != nil {
			t.Fatal(err)
		}
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := w.db.ExecContext(t.Context(), tt.statement)
			if err == nil || !strings.Contains(err.Error(), tt.text) {
				t.Errorf("got %v, want %q", err, tt.text)
			}
			w.wantBalances(t, 600, 400, 0)
		})
	}
}

func TestBalancesHaveBounds(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	const full = 1 << 62
	if _, err := w.db.ExecContext(t.Context(),
		`UPDATE ledger_account SET balance = ? WHERE id = 'available/ann'`, int64(full-5)); err != nil {
		t.Fatal(err)
	}
	put := func(key string, amount int64) error {
		return w.Deposit(t.Context(), key, "ann", ledger.Money{Amount: amount, Currency: "RUB"})
	}
	if err := put("d1", 6); err == nil || !strings.Contains(err.Error(), "ledger_bounds") {
		t.Errorf("Deposit = %v, want it refused", err)
	}
	if err := put("d2", 5); err != nil {
		t.Error(err)
	}
	got, err := w.Balance(t.Context(), "ann")
	want := ledger.Balance{Currency: "RUB", Available: full}
	if err != nil || got != want {
		t.Errorf("Balance = %+v, %v, want %+v", got, err, want)
	}
}

func TestAccounts(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	if err := w.OpenAccount(t.Context(), "ann", "USD"); err == nil || !strings.Contains(err.Error(), `open account "ann": the account is in RUB, not in USD`) {
		t.Errorf("OpenAccount in another currency = %v", err)
	}
	for _, bad := range [][2]string{{"", "RUB"}, {"bob", ""}} {
		if err := w.OpenAccount(t.Context(), bad[0], bad[1]); err == nil {
			t.Errorf("OpenAccount(%q, %q) succeeded", bad[0], bad[1])
		}
	}
	if _, err := w.Balance(t.Context(), "bob"); err == nil || err.Error() != `balance of account "bob": no such account` {
		t.Errorf("Balance of an unknown account = %v", err)
	}
	if err := w.Deposit(t.Context(), "d", "bob", ledger.Money{Amount: 1, Currency: "RUB"}); err == nil {
		t.Error("Deposit to an unknown account succeeded")
	}
	if err := w.Deposit(t.Context(), "seed", "ann", ledger.Money{Amount: 2, Currency: "RUB"}); err == nil {
		t.Error("another Deposit with a used key succeeded")
	}
	if err := w.OpenAccount(t.Context(), "eve", "USD"); err != nil {
		t.Fatal(err)
	}
	if err := w.Deposit(t.Context(), "e", "eve", ledger.Money{Amount: 7, Currency: "USD"}); err != nil {
		t.Fatal(err)
	}
	got := w.sums(t, `SELECT id || ' ' || at, amount FROM ledger_movement`)
	want := map[string]int64{"seed 1774785600000001": 1000, "e 1774785600000001": 7}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("movements (-want +got):\n%s", diff)
	}
	w.audit(t)
}

func TestRegister(t *testing.T) {
	t.Parallel()
	var reg engine.Registry
	ledger.Register(&reg, &ledger.Ledger{})
	text := definition.Type{Kind: definition.String}
	got := reg.Manifest()
	reserve := definition.HandlerInfo{
		Codes: []string{"insufficient_funds"},
		Input: []definition.Field{
			{Name: "account_id", Type: text},
			{Name: "amount_minor", Type: definition.Type{Kind: definition.Integer}},
			{Name: "currency", Type: text},
		},
		Output: []definition.Field{{Name: "reserve_id", Type: text}},
	}
	withdraw := definition.HandlerInfo{
		Input:  []definition.Field{{Name: "reserve_id", Type: text}},
		Output: []definition.Field{{Name: "withdrawal_id", Type: text}},
	}
	release, refund := reserve, withdraw
	release.Codes, release.Compensates = nil, "ledger.reserve"
	refund.Compensates = "ledger.withdraw"
	want := definition.Manifest{
		"ledger.reserve": reserve, "ledger.release_reserve": release,
		"ledger.withdraw": withdraw, "ledger.refund_withdraw": refund,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("manifest (-want +got):\n%s", diff)
	}
}
