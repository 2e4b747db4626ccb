// Package queue is the step queue.publish: it hands events to a message queue,
// many at once, and says for each whether the queue has it.
//
// Here live the message, the interface [Queue] that a driver implements, and
// the translation of a driver's answer into verdicts of package engine. No
// driver lives here: each is a package below this one, such as storequeue,
// and knows its own protocol, limits and packing.
package queue

import (
	"context"
	"encoding/json"

	"github.com/pawl-dev/pawl/engine"
)

// Step is the name under which [Register] registers the step.
const Step = "queue.publish"

// Message is an event as a queue keeps it.
type Message struct {
	// ID is the id of the event, equal on every attempt to send it. Receivers
	// drop duplicates by it.
	ID string
	// Type is the type of the event, for example "PullRequestMerged".
	Type string
	// Group names what the event is about. A queue that keeps an order keeps
	// it within a group. It may be empty.
	Group string
	// Body is one JSON value. A driver hands on its very bytes: to decode and
	// encode it again would change large numbers.
	Body json.RawMessage
}

// Queue takes messages. Implementations are safe for concurrent use.
type Queue interface {
	// Send offers messages to the queue and returns one result for each, in
	// the same order. A driver never reports a message as accepted unless the
	// queue has said so: what the queue's answer does not mention keeps the
	// zero Result, and results may be left off at the end.
	//
	// The error says that the queue as a whole did not work: unreachable,
	// throttling, expired credentials. Results that were obtained before it
	// count all the same. A failure of one message alone is not an error of
	// Send but of its Result.
	//
	// Send splits the batch as the queue's limits demand, on number and
	// bytes. A message that the queue could never take gets a permanent error
	// before any call. Send returns soon after ctx has ended, and makes no
	// more than one attempt, or very few: the engine repeats, durably.
	//
	// A message may come again after it was accepted, with the same ID.
	Send(ctx context.Context, batch []Message) ([]Result, error)
}

// Result is what became of one message. The zero value means that nobody
// knows.
type Result struct {
	// Accepted says that the queue has the message. It counts only while Err
	// is nil.
	Accepted bool
	// QueueID is the queue's own id of the message, if it gives one.
	QueueID string
	// Err says why the queue did not take the message. A driver wraps it with
	// a verdict of package engine if it knows one; plain, the message may
	// have been taken.
	Err error
}

// Register registers [Publish] as [Step].
func Register(reg *engine.Registry, q Queue) {
	engine.RegisterBatch(reg, Step, Publish(q), engine.Handler{})
}
