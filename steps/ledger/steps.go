package ledger

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/pawl-dev/pawl/engine"
)

// Names under which [Register] registers the steps and their compensations.
const (
	ReserveStep  = "ledger.reserve"
	ReleaseStep  = "ledger.release_reserve"
	WithdrawStep = "ledger.withdraw"
	RefundStep   = "ledger.refund_withdraw"
)

// CodeInsufficientFunds is what ledger.reserve fails with if less is available
// than is to be reserved.
const CodeInsufficientFunds = "insufficient_funds"

// ReserveInput is the input of ledger.reserve.
type ReserveInput struct {
	AccountID   string `json:"account_id"`
	AmountMinor int64  `json:"amount_minor"`
	Currency    string `json:"currency"`
}

// ReserveOutput is the output of ledger.reserve.
type ReserveOutput struct {
	ReserveID string `json:"reserve_id"`
}

// WithdrawInput is the input of ledger.withdraw.
type WithdrawInput struct {
	ReserveID string `json:"reserve_id"`
}

// WithdrawOutput is the output of ledger.withdraw.
type WithdrawOutput struct {
	WithdrawalID string `json:"withdrawal_id"`
}

// Register registers the steps and their compensations.
func Register(reg *engine.Registry, l *Ledger) {
	engine.Register(reg, ReserveStep, l.Reserve, engine.Handler{Codes: []string{CodeInsufficientFunds}})
	engine.RegisterCompensation(reg, ReleaseStep, ReserveStep, l.Release, engine.Handler{})
	engine.Register(reg, WithdrawStep, l.Withdraw, engine.Handler{})
	engine.RegisterCompensation(reg, RefundStep, WithdrawStep, l.Refund, engine.Handler{})
}

// Reserve is the handler of ledger.reserve.
func (l *Ledger) Reserve(ctx context.Context, call engine.Call[ReserveInput]) (ReserveOutput, error) {
	in := call.In
	m := movement{
		id: call.Key, kind: reserve, source: available(in.AccountID), target: reserved(in.AccountID),
		Money: Money{Amount: in.AmountMinor, Currency: in.Currency},
	}
	err := l.write(ctx, func(tx *sql.Tx) error {
		done, err := l.begin(ctx, tx, m)
		if done || err != nil {
			return err
		}
		has, err := balance(ctx, tx, in.AccountID, in.Currency)
		if err != nil {
			return err
		}
		if has < m.Amount {
			return engine.Fail(CodeInsufficientFunds, fmt.Errorf("%s are available", Money{has, in.Currency}))
		}
		return l.move(ctx, tx, m)
	})
	if err != nil {
		return ReserveOutput{}, fmt.Errorf("reserve %s on account %q: %w", m.Money, in.AccountID, err)
	}
	return ReserveOutput{ReserveID: m.id}, nil
}

// Withdraw is the handler of ledger.withdraw. It takes the whole reserve.
func (l *Ledger) Withdraw(ctx context.Context, call engine.Call[WithdrawInput]) (WithdrawOutput, error) {
	err := l.write(ctx, func(tx *sql.Tx) error {
		r, found, err := find(ctx, tx, call.In.ReserveID)
		if err != nil {
			return err
		}
		if !found || r.kind != reserve {
			return engine.Permanent(errors.New("no such reserve"))
		}
		m := movement{
			id: call.Key, kind: withdraw, source: r.target, target: clearing(r.Currency),
			Money: r.Money, empties: r.id,
		}
		done, err := l.begin(ctx, tx, m)
		if done || err != nil {
			return err
		}
		if err := full(ctx, tx, r); err != nil {
			return err
		}
		return l.move(ctx, tx, m)
	})
	if err != nil {
		return WithdrawOutput{}, fmt.Errorf("withdraw the reserve %q: %w", call.In.ReserveID, err)
	}
	return WithdrawOutput{WithdrawalID: call.Key}, nil
}

// full refuses a reserve that was emptied before.
func full(ctx context.Context, tx *sql.Tx, r movement) error {
	by, found, err := emptied(ctx, tx, r.id)
	if err != nil || !found {
		return err
	}
	return engine.Permanent(fmt.Errorf("it was released or withdrawn before, by %q", by))
}
