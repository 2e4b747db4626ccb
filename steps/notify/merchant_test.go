package notify_test

import (
	"context"
	"errors"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-dev/pawl/engine"
	"github.com/pawl-dev/pawl/steps/notify"
)

func merchantCall(key string) engine.Call[notify.MerchantInput] {
	return engine.Call[notify.MerchantInput]{
		Key: key, In: notify.MerchantInput{MerchantID: "shop ё", PaymentID: "p", WithdrawalID: "w"},
	}
}

func TestMerchantIsNotifiedOncePerKey(t *testing.T) {
	t.Parallel()
	db := mustOpen(t, filepath.Join(t.TempDir(), "n.db"))
	buf := &lockedBuffer{}
	var wg sync.WaitGroup
	for range 4 { // attempts that overlap, in several processes
		r := mustRecorder(t, db, textLogger(buf))
		wg.Go(func() {
			if _, err := notify.Merchant(r)(t.Context(), merchantCall("k")); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	want := "level=INFO msg=\"payment made\" merchant_id=\"shop ё\" payment_id=p withdrawal_id=w key=k\n"
	if diff := cmp.Diff(want, buf.String()); diff != "" {
		t.Errorf("log (-want +got):\n%s", diff)
	}
	r := mustRecorder(t, db, textLogger(buf))
	if _, err := notify.Merchant(r)(t.Context(), merchantCall("other")); err != nil {
		t.Fatal(err)
	}
	got, err := r.ListMerchant(t.Context(), "shop ё", 10)
	if err != nil {
		t.Fatal(err)
	}
	var list []notify.RecordedMerchant
	for _, key := range []string{"k", "other"} {
		list = append(list, notify.RecordedMerchant{
			MerchantNotice: notify.MerchantNotice{Key: key, MerchantInput: merchantCall(key).In}, At: noon,
		})
	}
	if diff := cmp.Diff(list, got); diff != "" {
		t.Errorf("notices (-want +got):\n%s", diff)
	}
	if got, err := r.ListMerchant(t.Context(), "shop ё", 1); err != nil || len(got) != 1 {
		t.Errorf("ListMerchant of one = %v, %v", got, err)
	}
	if got, err := r.ListMerchant(t.Context(), "shop", 10); err != nil || got != nil {
		t.Errorf("ListMerchant of another = %v, %v, want none", got, err)
	}
}

// failing is a MerchantNotifier that is out of order.
type failing struct{ err error }

func (f failing) NotifyMerchant(context.Context, notify.MerchantNotice) error { return f.err }

func TestMerchantErrors(t *testing.T) {
	t.Parallel()
	broken := errors.New("broken")
	for _, err := range []error{broken, engine.Permanent(broken)} {
		_, got := notify.Merchant(failing{err})(t.Context(), merchantCall("k"))
		if !errors.Is(got, broken) || got.Error() != `notify merchant "shop ё" of payment "p": broken` {
			t.Errorf("Merchant = %v, want it to name the merchant", got)
		}
		if v, want := engine.VerdictOf(got), engine.VerdictOf(err); v != want {
			t.Errorf("verdict = %+v, want %+v", v, want)
		}
	}
	db := mustOpen(t, filepath.Join(t.TempDir(), "n.db"))
	buf := &lockedBuffer{}
	r := mustRecorder(t, db, textLogger(buf))
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	if err := r.NotifyMerchant(t.Context(), notify.MerchantNotice{Key: "k"}); err == nil || buf.Len() > 0 {
		t.Errorf("NotifyMerchant = %v, logged %q, want an error and nothing logged", err, buf.String())
	}
	if _, err := r.ListMerchant(t.Context(), "x", 1); err == nil || !strings.HasPrefix(err.Error(), `list the notices to merchant "x": `) {
		t.Errorf("ListMerchant = %v, want an error", err)
	}
}

func TestRegisterMerchant(t *testing.T) {
	t.Parallel()
	var reg engine.Registry
	notify.RegisterMerchant(&reg, notify.Log{})
	info, ok := reg.Manifest()[notify.MerchantStep]
	if !ok || len(info.Input) != 3 || info.Output == nil || len(info.Output) != 0 {
		t.Errorf("manifest of %s = %+v, %v", notify.MerchantStep, info, ok)
	}
}
