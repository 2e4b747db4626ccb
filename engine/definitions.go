package engine

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
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
