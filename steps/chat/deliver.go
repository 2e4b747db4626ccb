package chat

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/pawl-dev/pawl/engine"
)

// DeliverInput is the input of push.deliver.
type DeliverInput struct {
	MessageID   string `json:"message_id"`
	RecipientID string `json:"recipient_id"`
	Sound       string `json:"sound"` // "none", or what the devices know
}

// DeliverOutput is the output of push.deliver.
type DeliverOutput struct {
	DeliveredAt time.Time `json:"delivered_at"`
}

var errNotStored = engine.Permanent(errors.New("there is no such message, or it was retracted"))

// Deliver is the handler of push.deliver. It refuses a message that is not
// there, or not any more.
func (m *Messages) Deliver(ctx context.Context, call engine.Call[DeliverInput]) (DeliverOutput, error) {
	in, at := call.In, m.now()
	err := m.write(ctx, func(tx *sql.Tx) error {
		if call.Key == "" {
			return errNoKey
		}
		var old DeliverInput
		var first int64
		err := tx.QueryRowContext(ctx, pushSQL, call.Key).
			Scan(&old.MessageID, &old.RecipientID, &old.Sound, &first)
		switch {
		case errors.Is(err, sql.ErrNoRows):
			return deliver(ctx, tx, call, at)
		case err != nil:
			return err
		case old != in:
			return errOtherUse
		}
		at = time.UnixMicro(first).UTC()
		return nil
	})
	if err != nil {
		return DeliverOutput{}, fmt.Errorf("deliver message %q to %q: %w", in.MessageID, in.RecipientID, err)
	}
	return DeliverOutput{DeliveredAt: at}, nil
}

func deliver(ctx context.Context, tx *sql.Tx, call engine.Call[DeliverInput], at time.Time) error {
	in := call.In
	message, found, err := stored(ctx, tx, in.MessageID)
	if err != nil {
		return err
	}
	if !found {
		return errNotStored
	}
	_, err = tx.ExecContext(ctx, deliverSQL, call.Key, message, in.MessageID, in.RecipientID, in.Sound, at.UnixMicro())
	return err
}
