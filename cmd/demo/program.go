package demo

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"time"

	"github.com/pawl-dev/pawl/engine"
	"github.com/pawl-dev/pawl/engine/definition"
	"github.com/pawl-dev/pawl/steps/ci"
	gitstep "github.com/pawl-dev/pawl/steps/git"
	"github.com/pawl-dev/pawl/steps/notify"
	"github.com/pawl-dev/pawl/steps/queue"
	"github.com/pawl-dev/pawl/steps/queue/storequeue"
	"github.com/pawl-dev/pawl/steps/search"
	"github.com/pawl-dev/pawl/store/sqlitestore"
	"github.com/pawl-dev/pawl/workflows"
)

// workflow is the one that a pull request is an instance of.
const workflow = "pr-merge"

// program is what a user would write: a store, the steps and an engine.
type program struct {
	store  *sqlitestore.Store
	queue  *storequeue.Queue
	engine *engine.Engine
}

func openProgram(ctx context.Context, s *stage, ciURL string) (*program, error) {
	defs, err := definitions()
	if err != nil {
		return nil, err
	}
	st, err := sqlitestore.Open(ctx, s.path(storeName), sqlitestore.Options{Clock: s.clock.time})
	if err != nil {
		return nil, err
	}
	p := &program{store: st}
	var reg engine.Registry
	err = p.register(ctx, &reg, s, ciURL)
	if err == nil {
		p.engine, err = engine.Open(ctx, engine.Config{
			Store: st, Handlers: &reg, Definitions: defs,
			Worker: "demo", Clock: s.clock.time, Logger: slog.New(slog.DiscardHandler),
		})
	}
	if err != nil {
		return nil, errors.Join(err, st.Close())
	}
	return p, nil
}

// register binds the steps of the workflows.
func (p *program) register(ctx context.Context, reg *engine.Registry, s *stage, ciURL string) error {
	db, quiet := p.store.DB(), slog.New(slog.DiscardHandler)
	repo := func(context.Context, string) (string, error) { return s.path(repoName), nil }
	merger, err := gitstep.New(ctx, gitstep.Config{Repositories: repo})
	if err != nil {
		return err
	}
	index, err := search.New(search.Config{Dir: s.path(indexName), Source: search.GitSource{Dir: repo}})
	if err != nil {
		return err
	}
	notices, err := notify.NewRecorder(ctx, db, notify.RecorderOptions{Logger: quiet, Clock: s.clock.time})
	if err != nil {
		return err
	}
	if p.queue, err = storequeue.New(ctx, db, s.cfg.Queue, storequeue.Options{Clock: s.clock.time}); err != nil {
		return err
	}
	gitstep.Register(reg, merger)
	search.Register(reg, index)
	notify.Register(reg, notify.Config{Notifier: notices})
	queue.Register(reg, p.queue)
	return ci.Register(reg, ci.Config{BaseURL: ciURL, Clock: s.clock.time})
}

// definitions reads the shipped workflows that pull requests need.
func definitions() ([]*definition.Definition, error) {
	var defs []*definition.Definition
	for _, file := range []string{workflow + ".yaml", "outbox-delivery.yaml"} {
		src, err := fs.ReadFile(workflows.FS, file)
		if err != nil {
			return nil, err
		}
		def, diags := definition.Parse(file, src)
		if err := diags.Err(); err != nil {
			return nil, err
		}
		defs = append(defs, def)
	}
	return defs, nil
}

func (p *program) close(ctx context.Context) error {
	return errors.Join(p.engine.Close(ctx), p.store.Close())
}

// instance is the id of the pull request's instance.
func (p *pull) instance() string { return engine.InstanceID(workflow, p.id, 1) }

func (p *program) start(ctx context.Context, pr *pull) error {
	input, err := json.Marshal(map[string]string{
		"pr_id": pr.id, "repo_id": repoID, "base": "main", "head_sha": pr.head, "requested_by": "demo",
	})
	if err != nil {
		return err
	}
	_, err = p.engine.Start(ctx, engine.StartRequest{Workflow: workflow, Input: input})
	return err
}

// nextDue returns when the next instance is due, the zero time if none is.
func (p *program) nextDue(ctx context.Context) (time.Time, error) {
	var next time.Time
	for _, status := range []engine.Status{engine.Running, engine.Queued, engine.Parked} {
		page, err := p.engine.List(ctx, engine.Filter{Status: status})
		if err != nil {
			return next, err
		}
		for _, in := range page.Instances {
			switch {
			case status == engine.Parked:
				return next, fmt.Errorf("%s is parked: %s", in.ID, in.Note)
			case next.IsZero() || in.DueAt.Before(next):
				next = in.DueAt
			}
		}
	}
	return next, nil
}
