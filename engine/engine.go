package engine

import (
	"context"
	"encoding/json"
	"log/slog"
	"time"

	"github.com/pawl-dev/pawl/engine/definition"
)

// Config holds what an [Engine] needs. Store and Handlers are required; every
// other zero field means the default named in its comment.
type Config struct {
	Store    Store
	Handlers *Registry

	// Definitions are the workflows that this engine starts. Instances on
	// other versions go on by the text that the store keeps. Of one workflow
	// the highest version is started.
	Definitions []*definition.Definition

	// Outbox is the workflow that emitted events become instances of. Its
	// input must be event_id, event_type, key and payload.
	// Default: "outbox-delivery".
	Outbox string

	// Lease is how long a claim lasts without renewal. A worker that dies
	// blocks its instances for so long. Default: 20 seconds.
	Lease time.Duration

	// Concurrency is how many instances one tick runs at once. Default: 128.
	Concurrency int

	// Grace is how long running handlers may go on after the context of a
	// tick has ended, before their own context is cancelled.
	// Default: 5 seconds.
	Grace time.Duration

	// Worker names this process in leases and history. It must be unique.
	// Default: made of the host name, the process id and a random part.
	Worker string

	// Logger gets one record per transition. Default: slog.Default().
	Logger *slog.Logger

	// Clock tells the time that is stored. Timeouts of handlers run on the
	// real clock. Default: time.Now.
	Clock func() time.Time
}

// StartRequest asks for an instance.
type StartRequest struct {
	Workflow string
	Input    json.RawMessage // a JSON object; nil is an empty one
	// Key is the instance key, for workflows without instance_key:. Where the
	// workflow has one it must be empty or equal to it.
	Key string
}

// Report says what a tick did.
type Report struct {
	Claimed   int // instances leased
	Steps     int // handler calls, an item of a batch counts as one
	Committed int // transitions stored
	Succeeded int // instances that ended so
	Failed    int // instances that ended so
	Retried   int // attempts that failed and will be made again
	Queued    int // instances that now wait for a concurrency key
	Parked    int
	Lost      int // late results that were ignored
	Returned  int // attempts given back at shutdown or at the end of the budget
	Purged    int
	// Down are the steps whose target was down, with the error.
	Down map[string]string
}

// Operator says who asks for a change of an instance, and on what condition.
type Operator struct {
	Actor  string // who; required
	Reason string // why
	// ExpectVersion refuses the change unless the instance has this version.
	// Zero means any.
	ExpectVersion int64
	// DryRun checks everything and changes nothing.
	DryRun bool
}

// Retried tells what a retry will do.
type Retried struct {
	ID      string
	State   string // the state that is entered again
	Step    string // the step that will run
	Version int64  // of the instance after the retry
	// QueuedBehind is the holder of the concurrency key that it waits for.
	QueuedBehind string
}

// Engine advances instances. It is safe for concurrent use.
type Engine struct{}

// Open checks cfg, stores the definitions and measures the store's clock.
// It reports all mistakes of the set-up at once.
func Open(ctx context.Context, cfg Config) (*Engine, error) { panic("not yet") }

// Start starts an instance, or finds the one that holds its key: the same
// input returns it with Created false, another input is [ErrConflict].
func (e *Engine) Start(ctx context.Context, req StartRequest) (Started, error) { panic("not yet") }

// StartBatch starts many instances in one transaction. Nothing is started if
// one of the requests is invalid.
func (e *Engine) StartBatch(ctx context.Context, reqs []StartRequest) ([]Started, error) {
	panic("not yet")
}

// NewInstance checks req and makes the instance without storing it. Hand it to
// the StartTx function of a store package to start it in a transaction of your
// own.
func (e *Engine) NewInstance(req StartRequest) (New, error) { panic("not yet") }

// Tick runs what is due, and what becomes due by it, until nothing is left or
// the budget is used up. No step begins after the budget; those that run are
// let finish, so Tick may take the longest step's timeout more.
func (e *Engine) Tick(ctx context.Context, budget time.Duration) (Report, error) { panic("not yet") }

// Run ticks every so often until ctx ends, and returns nil then.
func (e *Engine) Run(ctx context.Context, every time.Duration) error { panic("not yet") }

// Retry makes a failed or parked instance run again, at its failed state, with
// the stored input, fresh attempts and a fresh deadline. Nothing before that
// state runs again. Any other instance is [ErrConflict], naming its state.
func (e *Engine) Retry(ctx context.Context, id string, op Operator) (Retried, error) {
	panic("not yet")
}

// Load returns the instance or [ErrNotFound].
func (e *Engine) Load(ctx context.Context, id string) (Instance, error) { panic("not yet") }

// List returns a page of instances, newest first.
func (e *Engine) List(ctx context.Context, f Filter) (Page, error) { panic("not yet") }

// History returns up to limit lines of the instance's story with a Seq above
// after; a limit of 0 means 1000.
func (e *Engine) History(ctx context.Context, id string, after int64, limit int) ([]History, error) {
	panic("not yet")
}

// Close waits until abandoned handlers have returned, or ctx ends; then its
// error names the steps that still run. The store is not closed.
func (e *Engine) Close(ctx context.Context) error { panic("not yet") }
