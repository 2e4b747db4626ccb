package engine

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"strings"
)

// Undone is what a compensation gets to know about the visit that it undoes.
type Undone[In, Out any] struct {
	In  In   `json:"input"`
	Out *Out `json:"output"` // nil if the outcome of the step is unknown
}

// StepKey is, in a compensation, the Key that every attempt of the step had
// which it undoes. In a step it is Key.
func (c Call[In]) StepKey() string { return strings.TrimSuffix(c.Key, undoSuffix) }

// CompensationFunc undoes the effect of a step. The step may not have happened
// at all, if its outcome is unknown, and the compensation may run again with
// an equal call.Key; both must be no error.
//
// What the step did it finds by [Call.StepKey]. If it finds nothing, an attempt
// that was given up may still be on its way: the compensation must leave a mark
// by which the step refuses that key from then on.
type CompensationFunc[In, Out any] func(ctx context.Context, call Call[Undone[In, Out]]) error

// RegisterCompensation binds name to f, which undoes the step of the given
// name by its recorded input and output. A state of that step can then say
// compensate: name.
func RegisterCompensation[In, Out any](r *Registry, name, step string, f CompensationFunc[In, Out], h Handler) {
	if f == nil {
		r.fail("register %q: the compensation is nil", name)
		return
	}
	run := func(ctx context.Context, call Call[Undone[In, Out]]) (struct{}, error) {
		return struct{}{}, f(ctx, call)
	}
	before := len(r.errs)
	Register(r, name, run, h)
	if len(r.errs) > before {
		return
	}
	added := r.handlers[name]
	added.in, added.out, added.undoes = reflect.TypeFor[In](), reflect.TypeFor[Out](), step
}

// check returns every mistake in the registry.
func (r *Registry) check() error {
	errs := append([]error(nil), r.errs...)
	for _, name := range r.names() {
		h := r.handlers[name]
		for _, err := range append(schema{}.checkTags(h.in), schema{}.checkTags(h.out)...) {
			errs = append(errs, fmt.Errorf("register %q: %w", name, err))
		}
		if h.undoes == "" {
			continue
		}
		switch step := r.handlers[h.undoes]; {
		case step == nil:
			errs = append(errs, fmt.Errorf("register %q: it undoes the step %q, which is not registered", name, h.undoes))
		case step.in != h.in || step.out != h.out:
			errs = append(errs, fmt.Errorf("register %q: it undoes %s, which takes %v and gives %v, not %v and %v",
				name, h.undoes, step.in, step.out, h.in, h.out))
		}
	}
	return errors.Join(errs...)
}
