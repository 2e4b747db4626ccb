package queue

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/pawl-dev/pawl/engine"
)

// PublishInput is the input of queue.publish.
type PublishInput struct {
	MessageID string          `json:"message_id"`
	Type      string          `json:"type"`
	Group     string          `json:"group,omitempty"`
	Body      json.RawMessage `json:"body"`
}

// Receipt is the output of queue.publish.
type Receipt struct {
	MessageID string `json:"message_id"`
	QueueID   string `json:"queue_id,omitempty"` // the queue's own id, if it has one
}

// errNoAnswer is the outcome of a message that the answer does not mention.
var errNoAnswer = errors.New("the queue gave no answer for this message")

// Publish returns the handler, which sends the messages of all its calls in
// one [Queue.Send]. Only what the queue surely accepted counts as published.
// A message that the answer does not mention has an unknown outcome and is
// sent again, with the same id.
//
// An error of the whole queue, or a queue that has not answered when the step
// times out, is [engine.TargetDown]: an outage costs no message its attempts.
// Some messages may be in the queue all the same and will come twice, which
// at-least-once delivery allows.
func Publish(q Queue) engine.BatchFunc[PublishInput, Receipt] {
	return func(ctx context.Context, calls []engine.Call[PublishInput]) []engine.Result[Receipt] {
		results := make([]engine.Result[Receipt], len(calls))
		batch := make([]Message, 0, len(calls))
		at := make([]int, 0, len(calls)) // message -> call
		for i, call := range calls {
			if err := check(call.In); err != nil {
				results[i].Err = engine.Permanent(err)
				continue
			}
			in := call.In
			batch = append(batch, Message{ID: in.MessageID, Type: in.Type, Group: in.Group, Body: in.Body})
			at = append(at, i)
		}
		if len(batch) == 0 {
			return results
		}
		sent, err := q.Send(ctx, batch)
		for i, to := range at {
			var res Result
			if i < len(sent) {
				res = sent[i]
			}
			results[to] = outcome(batch[i], res, err)
		}
		return results
	}
}

// check refuses what no queue can take.
func check(in PublishInput) error {
	switch {
	case in.MessageID == "":
		return errors.New("publish: message_id is empty")
	case !json.Valid(in.Body):
		return fmt.Errorf("publish message %q: the body is not a JSON value", in.MessageID)
	default:
		return nil
	}
}

// outcome translates the answer for one message; down is the error of the
// whole queue.
func outcome(m Message, res Result, down error) engine.Result[Receipt] {
	err := res.Err
	switch {
	case err == nil && res.Accepted:
		return engine.Result[Receipt]{Out: Receipt{MessageID: m.ID, QueueID: res.QueueID}}
	case err == nil && down != nil:
		err = engine.TargetDown(down)
	case err == nil:
		err = errNoAnswer
	}
	return engine.Result[Receipt]{Err: fmt.Errorf("publish message %q: %w", m.ID, err)}
}
