package engine_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/pawl-dev/pawl/engine"
	"github.com/pawl-dev/pawl/engine/definition"
	"github.com/pawl-dev/pawl/store/sqlitestore"
)

// clock is a clock that only the test moves.
type clock struct {
	mu sync.Mutex
	t  time.Time
}

func newClock() *clock { return &clock{t: time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)} }

func (c *clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.t
}

func (c *clock) Advance(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.t = c.t.Add(d)
}

// world is an engine on an embedded store, with a clock of its own.
type world struct {
	t     testing.TB
	clock *clock
	store engine.Store
	reg   engine.Registry
	cfg   engine.Config
	eng   *engine.Engine
	path  string
	log   bytes.Buffer
}

// demo is a workflow of two steps, the second of which cannot be undone.
const demo = `pawl: 1
workflow: demo
version: 1
input: {id: string}
instance_key: ${{ input.id }}
on_failure: {policy: mark_failed, to: FAILED}
defaults:
  timeout: 2s
  retry: {max_attempts: 3, initial_delay: 1s, backoff: 2, max_delay: 1m, jitter: 0}
start: A
states:
  A: {step: h.a, next: B}
  B: {step: h.b, irreversible: true, next: DONE}
  DONE: {end: succeeded}
  FAILED: {end: failed}
`

// newWorld opens an empty store. Register handlers, then call open.
func newWorld(tb testing.TB) *world {
	tb.Helper()
	w := &world{t: tb, clock: newClock(), path: filepath.Join(tb.TempDir(), "pawl.db")}
	w.store = w.openStore(sqlitestore.Options{Clock: w.clock.Now, Synchronous: "NORMAL"})
	w.cfg = engine.Config{Clock: w.clock.Now, Worker: "w1", Logger: slog.New(slog.DiscardHandler)}
	return w
}

func (w *world) openStore(o sqlitestore.Options) *sqlitestore.Store {
	w.t.Helper()
	s, err := sqlitestore.Open(context.Background(), w.path, o)
	if err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(func() {
		if err := s.Close(); err != nil {
			w.t.Errorf("close the store: %v", err)
		}
	})
	return s
}

// logTo makes the engine log to w.log, without times and durations.
func (w *world) logTo() {
	w.cfg.Logger = slog.New(slog.NewTextHandler(&w.log, &slog.HandlerOptions{
		ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
			if a.Key == slog.TimeKey || a.Key == "duration" {
				return slog.Attr{}
			}
			return a
		},
	}))
}

// open opens the engine on the given workflows.
func (w *world) open(sources ...string) {
	w.t.Helper()
	w.eng = w.openAs(w.cfg, sources...)
}

func (w *world) openAs(cfg engine.Config, sources ...string) *engine.Engine {
	w.t.Helper()
	e, err := w.tryOpen(cfg, sources...)
	if err != nil {
		w.t.Fatal(err)
	}
	return e
}

func (w *world) tryOpen(cfg engine.Config, sources ...string) (*engine.Engine, error) {
	w.t.Helper()
	if cfg.Store == nil {
		cfg.Store = w.store
	}
	if cfg.Handlers == nil {
		cfg.Handlers = &w.reg
	}
	for _, src := range sources {
		cfg.Definitions = append(cfg.Definitions, mustParse(w.t, src))
	}
	return engine.Open(context.Background(), cfg)
}

func mustParse(tb testing.TB, src string) *definition.Definition {
	tb.Helper()
	name := "x"
	if _, rest, ok := strings.Cut(src, "workflow: "); ok {
		name, _, _ = strings.Cut(rest, "\n")
	}
	def, diags := definition.Parse(strings.TrimSpace(name)+".yaml", []byte(src))
	if err := diags.Err(); err != nil {
		tb.Fatal(err)
	}
	return def
}

// handle registers a handler without input and output.
func (w *world) handle(name string, f func(ctx context.Context, c engine.Call[json.RawMessage]) error, codes ...string) {
	engine.Register(&w.reg, name, func(ctx context.Context, c engine.Call[json.RawMessage]) (struct{}, error) {
		return struct{}{}, f(ctx, c)
	}, engine.Handler{Codes: codes})
}

// ok is a handler that succeeds.
func ok(context.Context, engine.Call[json.RawMessage]) error { return nil }

// script is a handler that gives the listed results in turn, the last one for
// ever, and counts its calls.
type script struct {
	mu    sync.Mutex
	steps []error
	calls []engine.Call[json.RawMessage]
}

func scripted(steps ...error) *script { return &script{steps: steps} }

func (s *script) run(_ context.Context, c engine.Call[json.RawMessage]) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.calls = append(s.calls, c)
	if len(s.steps) == 0 {
		return nil
	}
	return s.steps[min(len(s.calls), len(s.steps))-1]
}

func (s *script) count() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.calls)
}

func (w *world) start(workflow, id string) string {
	w.t.Helper()
	got, err := w.eng.Start(context.Background(), engine.StartRequest{
		Workflow: workflow, Input: json.RawMessage(fmt.Sprintf(`{"id": %q}`, id)),
	})
	if err != nil {
		w.t.Fatal(err)
	}
	return got.Instance.ID
}

// tick ticks once.
func (w *world) tick() engine.Report {
	w.t.Helper()
	r, err := w.eng.Tick(context.Background(), 10*time.Minute)
	if err != nil {
		w.t.Fatal(err)
	}
	return r
}

// settle ticks and moves the clock to the next due time until the instance has
// ended or is parked, and returns it.
func (w *world) settle(id string) engine.Instance {
	w.t.Helper()
	for range 1000 {
		w.tick()
		in := w.load(id)
		if in.Status.Ended() || in.Status == engine.Parked {
			return in
		}
		if in.DueAt.IsZero() {
			w.t.Fatalf("%s will never be looked at again: %+v", id, in)
		}
		if d := in.DueAt.Sub(w.clock.Now()); d > 0 {
			w.clock.Advance(d)
		}
	}
	w.t.Fatalf("%s does not end: %+v", id, w.load(id))
	return engine.Instance{}
}

func (w *world) load(id string) engine.Instance {
	w.t.Helper()
	in, err := w.eng.Load(context.Background(), id)
	if err != nil {
		w.t.Fatal(err)
	}
	return in
}

// story returns the history as lines "FROM>TO reason attempt code".
func (w *world) story(id string) []string {
	w.t.Helper()
	lines, err := w.eng.History(context.Background(), id, 0, 0)
	if err != nil {
		w.t.Fatal(err)
	}
	out := make([]string, len(lines))
	for i, h := range lines {
		out[i] = strings.TrimSpace(fmt.Sprintf("%s>%s %s %d %s", h.From, h.To, h.Reason, h.Attempt, h.Code))
		if h.Seq != int64(i+1) {
			w.t.Errorf("history of %s: line %d has the number %d; the history has a gap", id, i+1, h.Seq)
		}
	}
	return out
}

func must[T any](tb testing.TB) func(v T, err error) T {
	tb.Helper()
	return func(v T, err error) T {
		tb.Helper()
		if err != nil {
			tb.Fatal(err)
		}
		return v
	}
}
