package engine

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"os"
	"slices"
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
	// UndoFailed are instances that could not undo what they did.
	UndoFailed int
	Lost       int // late results that were ignored
	Returned   int // attempts given back at shutdown or at the end of the budget
	Purged     int
	// Down are the steps whose target was down, with the error.
	Down map[string]string
}

// Engine advances instances. It is safe for concurrent use.
type Engine struct {
	cfg      Config
	defs     *definitions
	outbox   *definition.Definition // nil if this program does not have it
	clock    *clock
	token    string              // marks this engine's commits
	handlers map[string]*handler // those of the registry, and our own
	steps    []string            // names of the handlers, in order, and of the waits
	woken    chan struct{}       // has an element after a start, for Run
	late     lateHandlers
}

// Open checks cfg, stores the definitions and measures the store's clock.
// It reports all mistakes of the set-up at once.
func Open(ctx context.Context, cfg Config) (*Engine, error) {
	cfg = cfg.withDefaults()
	if err := cfg.validate(); err != nil {
		return nil, err
	}
	e := &Engine{
		cfg:      cfg,
		defs:     newDefinitions(cfg.Store, cfg.Definitions),
		clock:    newClock(cfg.Clock, cfg.Lease/3),
		token:    newToken(),
		handlers: maps.Clone(cfg.Handlers.handlers),
		woken:    make(chan struct{}, 1),
	}
	if e.handlers == nil {
		e.handlers = make(map[string]*handler)
	}
	maps.Copy(e.handlers, builtIn())
	e.steps = append(slices.Sorted(maps.Keys(e.handlers)), waitSteps()...)
	e.outbox = e.defs.newest(cfg.Outbox)
	now, err := cfg.Store.Now(ctx)
	if err != nil {
		return nil, fmt.Errorf("read the clock of the store: %w", err)
	}
	e.clock.set(now)
	if err := e.storeDefinitions(ctx); err != nil {
		return nil, err
	}
	return e, nil
}

func (c Config) withDefaults() Config {
	if c.Outbox == "" {
		c.Outbox = "outbox-delivery"
	}
	if c.Lease == 0 {
		c.Lease = 20 * time.Second
	}
	if c.Concurrency == 0 {
		c.Concurrency = 128
	}
	if c.Grace == 0 {
		c.Grace = 5 * time.Second
	}
	if c.Worker == "" {
		c.Worker = workerName()
	}
	if c.Logger == nil {
		c.Logger = slog.Default()
	}
	if c.Clock == nil {
		c.Clock = time.Now
	}
	return c
}

// validate reports all mistakes at once, so that one run shows them all.
func (c Config) validate() error {
	var errs []error
	if c.Store == nil {
		errs = append(errs, errors.New("config: Store is nil"))
	}
	if c.Lease < time.Second {
		errs = append(errs, fmt.Errorf("config: Lease is %s, want at least 1s", c.Lease))
	}
	if c.Concurrency < 1 {
		errs = append(errs, fmt.Errorf("config: Concurrency is %d, want at least 1", c.Concurrency))
	}
	if c.Handlers == nil {
		return errors.Join(append(errs, errors.New("config: Handlers is nil"))...)
	}
	errs = append(errs, c.Handlers.check())
	manifest := c.Handlers.Manifest()
	versions := make(map[string]*definition.Definition)
	for _, d := range c.Definitions {
		errs = append(errs, definition.Check(d, manifest).Err())
		id := fmt.Sprintf("version %d of %s", d.Version, d.Workflow)
		if other := versions[id]; other != nil && other.Hash != d.Hash {
			errs = append(errs, fmt.Errorf("config: %s is given twice, by %s and %s", id, other.File, d.File))
		}
		versions[id] = d
	}
	return errors.Join(append(errs, c.validateOutbox())...)
}

func (c Config) validateOutbox() error {
	if !slices.ContainsFunc(c.Definitions, emits) {
		return nil
	}
	outbox := newDefinitions(nil, c.Definitions).newest(c.Outbox)
	if outbox == nil {
		return fmt.Errorf("config: workflows emit events, but the outbox workflow %q is not among the definitions", c.Outbox)
	}
	for _, name := range []string{"event_id", "event_type", "key", "payload"} {
		if !slices.ContainsFunc(outbox.Input, func(f definition.Field) bool { return f.Name == name }) {
			return fmt.Errorf("config: the outbox workflow %q has no input %q", c.Outbox, name)
		}
	}
	return nil
}

func emits(d *definition.Definition) bool {
	return slices.ContainsFunc(d.States, func(s *definition.State) bool { return len(s.Emit) > 0 })
}

// workerName returns a name that no other process has.
func workerName() string {
	host, err := os.Hostname()
	if err != nil {
		host = "unknown"
	}
	return fmt.Sprintf("%s:%d:%s", host, os.Getpid(), rand.Text()[:6])
}

// newToken returns a mark that no other caller's transition of the same version
// has.
func newToken() string { return rand.Text()[:8] }

// now is the time that is stored: the local clock corrected by the store's.
func (e *Engine) now() time.Time { return e.clock.now() }

// nudge wakes a resident engine of this process, so that what was started does
// not wait for the next tick.
func (e *Engine) nudge() {
	select {
	case e.woken <- struct{}{}:
	default:
	}
}

// Definition returns the definition that the instance is pinned to, from this
// program or from the store. An error says why it cannot be had.
func (e *Engine) Definition(ctx context.Context, in Instance) (*definition.Definition, error) {
	return e.defs.pinned(ctx, in.Workflow, in.DefVersion, in.DefHash)
}

// Load returns the instance or [ErrNotFound].
func (e *Engine) Load(ctx context.Context, id string) (Instance, error) {
	return e.cfg.Store.Load(ctx, id)
}

// List returns a page of instances, newest first.
func (e *Engine) List(ctx context.Context, f Filter) (Page, error) {
	return e.cfg.Store.List(ctx, f)
}

// History returns up to limit lines of the instance's story with a Seq above
// after; a limit of 0 means 1000.
func (e *Engine) History(ctx context.Context, id string, after int64, limit int) ([]History, error) {
	if limit == 0 {
		limit = 1000
	}
	return e.cfg.Store.History(ctx, id, after, limit)
}

// Close waits until abandoned handlers have returned, or ctx ends; then its
// error names the steps that still run. The store is not closed.
func (e *Engine) Close(ctx context.Context) error { return e.late.wait(ctx) }
