package chat

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/pawl-dev/pawl/engine"
)

// StoreInput is the input of messages.store.
type StoreInput struct {
	MessageID string `json:"message_id"`
	ChatID    string `json:"chat_id"`
	Text      string `json:"text"`
}

// StoreOutput is the output of messages.store.
type StoreOutput struct {
	StoredAt time.Time `json:"stored_at"`
}

// row is a message as it is stored.
type row struct {
	StoreInput
	storedAt, retractedAt int64
}

// Store is the handler of messages.store.
func (m *Messages) Store(ctx context.Context, call engine.Call[StoreInput]) (StoreOutput, error) {
	in, at := call.In, m.now()
	err := m.write(ctx, func(tx *sql.Tx) error {
		old, found, err := find(ctx, tx, call.Key)
		if err != nil {
			return err
		}
		if found {
			at = time.UnixMicro(old.storedAt).UTC()
			return old.repeats(in)
		}
		if err := free(ctx, tx, call.Key, in.MessageID); err != nil {
			return err
		}
		_, err = tx.ExecContext(ctx, storeSQL, call.Key, in.MessageID, in.ChatID, in.Text, at.UnixMicro())
		return err
	})
	if err != nil {
		return StoreOutput{}, fmt.Errorf("store message %q: %w", in.MessageID, err)
	}
	return StoreOutput{StoredAt: at}, nil
}

// repeats refuses a call that cannot be one more attempt of what stored r.
func (r row) repeats(in StoreInput) error {
	switch {
	case r.retractedAt != 0:
		return errRetracted
	case r.StoreInput != in:
		return errOtherUse
	}
	return nil
}

// free refuses an id that is another message's.
func free(ctx context.Context, tx *sql.Tx, key, id string) error {
	if key == "" {
		return errNoKey
	}
	other, found, err := stored(ctx, tx, id)
	if err != nil || !found {
		return err
	}
	return engine.Permanent(fmt.Errorf("there is such a message, stored by %q", other))
}

// Retract is the compensation of messages.store. It refuses a message that was
// delivered.
func (m *Messages) Retract(ctx context.Context, call engine.Call[engine.Undone[StoreInput, StoreOutput]]) error {
	in, key, at := call.In.In, call.StepKey(), m.now().UnixMicro()
	err := m.write(ctx, func(tx *sql.Tx) error {
		var delivered bool
		if err := tx.QueryRowContext(ctx, deliveredSQL, key).Scan(&delivered); err != nil {
			return err
		}
		if delivered {
			return errDelivered
		}
		_, err := tx.ExecContext(ctx, retractSQL, key, in.MessageID, in.ChatID, at, at)
		return err
	})
	if err != nil {
		return fmt.Errorf("retract message %q: %w", in.MessageID, err)
	}
	return nil
}

// find returns the message that a key has stored.
func find(ctx context.Context, tx *sql.Tx, key string) (r row, found bool, err error) {
	err = tx.QueryRowContext(ctx, byKeySQL, key).
		Scan(&r.MessageID, &r.ChatID, &r.Text, &r.storedAt, &r.retractedAt)
	if errors.Is(err, sql.ErrNoRows) {
		return r, false, nil
	}
	return r, err == nil, err
}

// stored returns the key that has stored the message of that id.
func stored(ctx context.Context, tx *sql.Tx, id string) (key string, found bool, err error) {
	err = tx.QueryRowContext(ctx, byIDSQL, id).Scan(&key)
	if errors.Is(err, sql.ErrNoRows) {
		return "", false, nil
	}
	return key, err == nil, err
}
