package pawlcmd_test

import (
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-dev/pawl/steps/ledger"
	"github.com/pawl-dev/pawl/store/sqlitestore"
)

const paymentInput = `{"payment_id":"p-ID","account_id":"ann","merchant_id":"shop","amount_minor":AMOUNT,"currency":"EUR"}`

// The shipped payment saga on a real ledger: it pays; it refuses what is not
// there; and if the merchant cannot be told it undoes the withdrawal, then the
// reserve.
func TestPayment(t *testing.T) {
	t.Parallel()
	c := newCLI(t)
	now := noon()
	c.opts.Clock = func() time.Time { return now }
	ctx := t.Context()
	st, err := sqlitestore.Open(ctx, filepath.Join(c.dir, "pawl.db"), sqlitestore.Options{Clock: noon})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := st.Close(); err != nil {
			t.Error(err)
		}
	})
	l, err := ledger.New(ctx, st.DB(), ledger.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := l.OpenAccount(ctx, "ann", "EUR"); err != nil {
		t.Fatal(err)
	}
	if err := l.Deposit(ctx, "gift", "ann", ledger.Money{Amount: 1000, Currency: "EUR"}); err != nil {
		t.Fatal(err)
	}
	pay := func(id, amount string) {
		t.Helper()
		c.must(t, "start", "payment", "--input", strings.NewReplacer("ID", id, "AMOUNT", amount).Replace(paymentInput))
		for range 6 {
			c.must(t, "tick")
			now = now.Add(time.Minute)
		}
	}
	wantBalance := func(available int64) {
		t.Helper()
		got, err := l.Balance(ctx, "ann")
		if err != nil {
			t.Fatal(err)
		}
		if got.Available != available || got.Reserved != 0 {
			t.Errorf("balance = %+v, want %d and nothing reserved", got, available)
		}
	}
	state := func(id string) string {
		t.Helper()
		in := decode[struct {
			State, Status string
			Error         struct{ Code string }
		}](t, c.must(t, "show", "payment/p-"+id, "-o", "json"))
		return strings.TrimSpace(in.State + " " + in.Error.Code)
	}

	pay("1", "300")
	if got := state("1"); got != "PAID" {
		t.Errorf("payment 1 is %s", got)
	}
	wantBalance(700)
	pay("2", "800")
	if got := state("2"); got != "PAYMENT_FAILED insufficient_funds" {
		t.Errorf("payment 2 is %s", got)
	}
	wantBalance(700)
	if _, err := st.DB().ExecContext(ctx, `CREATE TRIGGER deaf BEFORE INSERT ON merchant_notice
		BEGIN SELECT RAISE(ABORT, 'the merchant does not answer'); END`); err != nil {
		t.Fatal(err)
	}
	pay("3", "500")
	if got := state("3"); got != "PAYMENT_FAILED unknown" {
		t.Errorf("payment 3 is %s", got)
	}
	wantBalance(700)
	var story []string
	for _, h := range decode[struct {
		Transitions []struct{ From, To, Reason string }
	}](t, c.must(t, "history", "payment/p-3", "-o", "json")).Transitions {
		story = append(story, h.From+">"+h.To+" "+h.Reason)
	}
	want := []string{
		"RESERVING>WITHDRAWING done", "WITHDRAWING>NOTIFYING done",
		"NOTIFYING>NOTIFYING retry", "NOTIFYING>NOTIFYING retry", "NOTIFYING>NOTIFYING retry",
		"NOTIFYING>WITHDRAWING undo", "WITHDRAWING>RESERVING undone", "RESERVING>PAYMENT_FAILED undone",
	}
	if diff := cmp.Diff(want, story); diff != "" {
		t.Errorf("history (-want +got):\n%s", diff)
	}
	if a := c.run(t, "retry", "payment/p-3"); a.code != 3 || !strings.Contains(a.err, "undone") {
		t.Errorf("retry of what was undone = %+v, want a conflict", a)
	}
}
