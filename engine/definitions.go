package engine

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/pawl-dev/pawl/engine/definition"
)

// definitions finds the definition that an instance is pinned to: among those
// of the program, else in the store.
type definitions struct {
	store DefinitionStore
	start map[string]*definition.Definition // newest of the program, by workflow

	mu     sync.Mutex
	byHash map[string]*definition.Definition
}

func newDefinitions(store DefinitionStore, list []*definition.Definition) *definitions {
	d := &definitions{
		store:  store,
		start:  make(map[string]*definition.Definition),
		byHash: make(map[string]*definition.Definition),
	}
	for _, def := range list {
		d.byHash[def.Hash] = def
		if old := d.start[def.Workflow]; old == nil || old.Version < def.Version {
			d.start[def.Workflow] = def
		}
	}
	return d
}

// newest returns the definition that new instances of the workflow run on, or
// nil.
func (d *definitions) newest(workflow string) *definition.Definition { return d.start[workflow] }

// names returns the workflows that can be started, in order.
func (d *definitions) names() []string { return slices.Sorted(maps.Keys(d.start)) }

// errDefinition means that the definition of an instance cannot be had by
// trying again: it is missing or cannot be read.
var errDefinition = errors.New("definition missing")

// pinned returns the definition with that hash. The error wraps errDefinition
// if the instance has to be parked.
func (d *definitions) pinned(ctx context.Context, workflow string, version int, hash string) (*definition.Definition, error) {
	d.mu.Lock()
	def := d.byHash[hash]
	d.mu.Unlock()
	if def != nil {
		return def, nil
	}
	stored, err := d.store.Definition(ctx, workflow, hash)
	if errors.Is(err, ErrNotFound) {
		return nil, fmt.Errorf("%w: version %d of %s (hash %s) is neither in this program nor in the store", errDefinition, version, workflow, hash)
	}
	if err != nil {
		return nil, err
	}
	def, diags := definition.ParseStored(workflow+".yaml", stored.Source)
	if err := diags.Err(); err != nil {
		return nil, fmt.Errorf("%w: version %d of %s cannot be read: %w", errDefinition, version, workflow, err)
	}
	d.mu.Lock()
	d.byHash[hash] = def
	d.mu.Unlock()
	return def, nil
}

// storeDefinitions stores those of the program, and makes sure that it can go
// on with the instances of their older versions.
func (e *Engine) storeDefinitions(ctx context.Context) error {
	var errs []error
	for _, d := range e.cfg.Definitions {
		err := e.cfg.Store.PutDefinition(ctx, e.now(), StoredDefinition{
			Workflow: d.Workflow, Version: d.Version, Hash: d.Hash, Source: d.Source,
		})
		switch {
		case errors.Is(err, ErrConflict):
			errs = append(errs, e.versionReused(ctx, d, err))
		case err != nil:
			return fmt.Errorf("store the definition of %s: %w", d.Workflow, err)
		}
	}
	for _, name := range e.defs.names() {
		errs = append(errs, e.checkOldVersions(ctx, e.defs.newest(name)))
	}
	return errors.Join(errs...)
}

// versionReused says which version the changed text of d can have.
func (e *Engine) versionReused(ctx context.Context, d *definition.Definition, cause error) error {
	free := d.Version + 1
	if stored, err := e.cfg.Store.Versions(ctx, d.Workflow); err == nil && len(stored) > 0 {
		free = max(free, stored[0].Version+1)
	}
	text := fmt.Sprintf("version %d of %s is already stored with other content; write version: %d", d.Version, d.Workflow, free)
	return fmt.Errorf("%w (%w)", d.Finding("", "version", "version-reused", text), cause)
}

// checkOldVersions refuses to open if instances of an older version need a step
// that this program lacks: nobody would notice that they do not go on. Newer
// versions are not asked for, so that a release can be taken back.
func (e *Engine) checkOldVersions(ctx context.Context, d *definition.Definition) error {
	stored, err := e.cfg.Store.Versions(ctx, d.Workflow)
	if err != nil {
		return fmt.Errorf("read the versions of %s: %w", d.Workflow, err)
	}
	var errs []error
	for _, s := range stored {
		if s.Version >= d.Version {
			continue
		}
		old, _ := definition.ParseStored(d.File, s.Source)
		if old == nil {
			continue // its instances are parked, with the reason
		}
		missing := e.missingSteps(old)
		if len(missing) == 0 {
			continue
		}
		n, err := e.unfinished(ctx, s)
		if err != nil {
			return fmt.Errorf("count the instances of %s version %d: %w", d.Workflow, s.Version, err)
		}
		if n > 0 {
			errs = append(errs, d.Finding("", "version", "old-version-step", oldVersionText(d.Workflow, s.Version, n, missing)))
		}
	}
	return errors.Join(errs...)
}

// missingSteps returns the steps that d needs and that have no handler here.
func (e *Engine) missingSteps(d *definition.Definition) []string {
	var missing []string
	add := func(step string) {
		if e.handlers[step] == nil && !slices.Contains(missing, step) {
			missing = append(missing, step)
		}
	}
	for _, st := range d.States {
		if st.Kind == definition.StepState {
			add(st.Step)
		}
		if st.Undoes() {
			add(st.Compensate.Step)
		}
	}
	return missing
}

// unfinished counts the instances on a definition that have not ended, up to
// the size of a page.
func (e *Engine) unfinished(ctx context.Context, d StoredDefinition) (int, error) {
	count := 0
	for _, status := range Unfinished() {
		page, err := e.cfg.Store.List(ctx, Filter{Workflow: d.Workflow, DefHash: d.Hash, Status: status, Limit: countLimit})
		if err != nil {
			return 0, err
		}
		count += len(page.Instances)
	}
	return count, nil
}

// countLimit bounds a count that only has to tell few from many.
const countLimit = 1000

func oldVersionText(workflow string, version, n int, steps []string) string {
	count, verb := fmt.Sprint(n), "need"
	if n >= countLimit {
		count = fmt.Sprint(countLimit, " or more")
	}
	instances := "instances"
	if n == 1 {
		instances, verb = "instance", "needs"
	}
	return fmt.Sprintf("%s running %s of %s version %d %s the step %s, which is not registered; register it or finish them first",
		count, instances, workflow, version, verb, strings.Join(steps, ", "))
}
