package pawlcmd

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/pawl-dev/pawl/engine"
	"github.com/pawl-dev/pawl/steps/queue/storequeue"
	"github.com/pawl-dev/pawl/store/sqlitestore"
)

// QueueName is the name of the embedded queue that --queue store: means, see
// package storequeue.
const QueueName = "events"

// storeFile returns the file of --store.
func (e *env) storeFile() (string, error) {
	scheme, rest, _ := strings.Cut(e.store, ":")
	switch scheme {
	case "sqlite":
		if rest == "" {
			return "", usagef("--store is %q, which names no file; write sqlite:FILE", e.store)
		}
		return rest, nil
	case "grpc", "grpcs":
		return "", usagef("--store is %q, but YDB is not in this build yet; use sqlite:FILE", e.store)
	default:
		return "", usagef("--store is %q; write sqlite:FILE, for example sqlite:pawl.db", e.store)
	}
}

// checkQueue checks --queue.
func (e *env) checkQueue() error {
	switch {
	case e.queue == "store:":
		return nil
	case strings.HasPrefix(e.queue, "sqs:"):
		return usagef("--queue is %q, but SQS is not in this build yet; use store:", e.queue)
	default:
		return usagef("--queue is %q; write store:", e.queue)
	}
}

// openStore opens the store and makes or upgrades its tables.
func (e *env) openStore(ctx context.Context) (*sqlitestore.Store, error) {
	file, err := e.storeFile()
	if err != nil {
		return nil, err
	}
	return sqlitestore.Open(ctx, file, sqlitestore.Options{Clock: e.opts.Clock})
}

// openExisting opens the store as it is. To look at a store that is not there
// would make one, and a mistyped name would look like an empty store.
func (e *env) openExisting(ctx context.Context) (*sqlitestore.Store, error) {
	file, err := e.storeFile()
	if err != nil {
		return nil, err
	}
	if _, err := os.Stat(file); errors.Is(err, fs.ErrNotExist) {
		return nil, usagef("there is no store %s; check --store, or make one with: %s --store %s migrate",
			file, e.opts.Name, e.store)
	}
	st, err := sqlitestore.Open(ctx, file, sqlitestore.Options{Clock: e.opts.Clock, NoMigrate: true})
	if errors.Is(err, engine.ErrSchema) {
		return nil, fmt.Errorf("%w (%s --store %s migrate)", err, e.opts.Name, e.store)
	}
	return st, err
}

// session is an open store with an engine on it.
type session struct {
	*engine.Engine
	closers []func() error
}

// look opens the store for commands that run no steps: they need no handlers,
// no settings of handlers and no workflow files.
func (e *env) look(ctx context.Context) (*session, error) {
	st, err := e.openExisting(ctx)
	if err != nil {
		return nil, err
	}
	s := &session{closers: []func() error{st.Close}}
	s.Engine, err = engine.Open(ctx, engine.Config{
		Store: st, Handlers: &engine.Registry{}, Logger: e.logger(quiet), Clock: e.opts.Clock,
	})
	if err != nil {
		return nil, errors.Join(err, s.close())
	}
	return s, nil
}

// lookAt opens the store for f and loads the instance that f is about.
func (e *env) lookAt(ctx context.Context, id string, f func(s *session, in engine.Instance) error) error {
	s, err := e.look(ctx)
	if err != nil {
		return err
	}
	return s.with(func() error {
		in, err := s.Load(ctx, id)
		if err != nil {
			return e.explain(id, err)
		}
		return f(s, in)
	})
}

// work opens the store, registers the handlers and loads the workflows. cfg
// says the rest of the engine's configuration.
func (e *env) work(ctx context.Context, cfg engine.Config) (*session, error) {
	defs, err := e.definitions()
	if err != nil {
		return nil, err
	}
	st, err := e.openStore(ctx)
	if err != nil {
		return nil, err
	}
	s := &session{closers: []func() error{st.Close}}
	q, err := storequeue.New(ctx, st.DB(), QueueName, storequeue.Options{Clock: e.opts.Clock})
	if err != nil {
		return nil, errors.Join(err, s.close())
	}
	setup := &Setup{
		Handlers: &engine.Registry{}, DB: st.DB(), Queue: q, Getenv: e.opts.Getenv,
		Logger: cfg.Logger, Clock: e.opts.Clock,
	}
	err = e.opts.Handlers(ctx, setup)
	s.closers = append(s.closers, setup.closers...)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("set up the steps: %w", err), s.close())
	}
	cfg.Store, cfg.Handlers, cfg.Definitions, cfg.Clock = st, setup.Handlers, defs, e.opts.Clock
	if s.Engine, err = engine.Open(ctx, cfg); err != nil {
		return nil, errors.Join(err, s.close())
	}
	return s, nil
}

// close waits for handlers that were left behind, for a moment, and closes
// what is open.
func (s *session) close() error {
	const patience = 5 * time.Second
	var errs []error
	if s.Engine != nil {
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		defer cancel()
		errs = append(errs, s.Close(ctx))
	}
	for _, f := range slices.Backward(s.closers) {
		errs = append(errs, f())
	}
	return errors.Join(errs...)
}

// with runs f on s and closes it.
func (s *session) with(f func() error) error { return errors.Join(f(), s.close()) }
