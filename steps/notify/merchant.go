package notify

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"github.com/pawl-dev/pawl/engine"
)

// MerchantStep is the name under which [RegisterMerchant] registers the step.
const MerchantStep = "merchant.notify"

// MerchantInput is the input of merchant.notify.
type MerchantInput struct {
	MerchantID   string `json:"merchant_id"`
	PaymentID    string `json:"payment_id"`
	WithdrawalID string `json:"withdrawal_id"`
}

// MerchantNotice says that a payment to a merchant was made.
type MerchantNotice struct {
	// Key is the idempotency key of the step, equal on every attempt.
	Key string
	MerchantInput
}

// MerchantNotifier sends notices to merchants. Implementations are safe for
// concurrent use.
type MerchantNotifier interface {
	// NotifyMerchant sends n, or does nothing if a notice with that key was
	// sent before. It may wrap its error with a verdict of package engine;
	// plain, the notice may have been sent.
	NotifyMerchant(ctx context.Context, n MerchantNotice) error
}

// RegisterMerchant registers [Merchant] as [MerchantStep].
func RegisterMerchant(reg *engine.Registry, to MerchantNotifier) {
	engine.Register(reg, MerchantStep, Merchant(to), engine.Handler{})
}

// Merchant returns the handler of merchant.notify. It has no output.
func Merchant(to MerchantNotifier) engine.HandlerFunc[MerchantInput, struct{}] {
	return func(ctx context.Context, call engine.Call[MerchantInput]) (struct{}, error) {
		if err := to.NotifyMerchant(ctx, MerchantNotice{Key: call.Key, MerchantInput: call.In}); err != nil {
			return struct{}{}, fmt.Errorf("notify merchant %q of payment %q: %w", call.In.MerchantID, call.In.PaymentID, err)
		}
		return struct{}{}, nil
	}
}

// NotifyMerchant implements [MerchantNotifier].
func (l Log) NotifyMerchant(ctx context.Context, n MerchantNotice) error {
	l.logger().LogAttrs(ctx, slog.LevelInfo, "payment made",
		slog.String(keyMerchant, n.MerchantID),
		slog.String(keyPayment, n.PaymentID),
		slog.String(keyWithdrawal, n.WithdrawalID),
		slog.String(keyKey, n.Key),
	)
	return nil
}

const merchantTableSQL = `
CREATE TABLE IF NOT EXISTS merchant_notice (
	key           TEXT    NOT NULL PRIMARY KEY,
	merchant_id   TEXT    NOT NULL,
	payment_id    TEXT    NOT NULL,
	withdrawal_id TEXT    NOT NULL,
	at            INTEGER NOT NULL
)`

const merchantIndexSQL = `CREATE INDEX IF NOT EXISTS merchant_notice_merchant ON merchant_notice (merchant_id, at)`

const merchantInsertSQL = `
INSERT INTO merchant_notice (key, merchant_id, payment_id, withdrawal_id, at)
VALUES (?, ?, ?, ?, ?) ON CONFLICT (key) DO NOTHING`

const merchantListSQL = `
SELECT key, merchant_id, payment_id, withdrawal_id, at FROM merchant_notice
WHERE merchant_id = ? ORDER BY at, key LIMIT ?`

// NotifyMerchant implements [MerchantNotifier]. The record in the log comes
// after the row, so a crash between the two loses the record, never the row.
func (r *Recorder) NotifyMerchant(ctx context.Context, n MerchantNotice) error {
	added, err := r.record(ctx, merchantInsertSQL,
		n.Key, n.MerchantID, n.PaymentID, n.WithdrawalID, r.clock().UnixMicro())
	if err != nil || !added {
		return err
	}
	return r.log.NotifyMerchant(ctx, n)
}

// RecordedMerchant is a notice to a merchant that a [Recorder] has kept.
type RecordedMerchant struct {
	MerchantNotice
	At time.Time
}

// ListMerchant returns up to limit notices to a merchant, oldest first.
func (r *Recorder) ListMerchant(ctx context.Context, merchantID string, limit int) ([]RecordedMerchant, error) {
	list, err := r.listMerchant(ctx, merchantID, limit)
	if err != nil {
		return nil, fmt.Errorf("list the notices to merchant %q: %w", merchantID, err)
	}
	return list, nil
}

func (r *Recorder) listMerchant(ctx context.Context, merchantID string, limit int) ([]RecordedMerchant, error) {
	rows, err := r.db.QueryContext(ctx, merchantListSQL, merchantID, limit)
	if err != nil {
		return nil, err
	}
	defer func() { _ = rows.Close() }()
	var list []RecordedMerchant
	for rows.Next() {
		var n RecordedMerchant
		var at int64
		if err := rows.Scan(&n.Key, &n.MerchantID, &n.PaymentID, &n.WithdrawalID, &at); err != nil {
			return nil, err
		}
		n.At = time.UnixMicro(at).UTC()
		list = append(list, n)
	}
	return list, rows.Err()
}
