package engine

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/pawl-dev/pawl/engine/definition"
)

// Call is what a handler gets to know about the attempt that it makes.
type Call[In any] struct {
	In In

	Instance  string
	Workflow  string
	State     string
	Attempt   int       // 1 for the first attempt of this visit of the state
	Key       string    // idempotency key, equal on every attempt of this step
	StartedAt time.Time // when the instance was started; equal on every attempt
	Labels    map[string]string
}

// HandlerFunc does the work of one step. It may run again with an equal
// call.Key, also after it has succeeded, if the commit of its outcome was
// lost. ctx ends at the timeout of the step, when the lease is lost and at
// shutdown; a result that comes later is ignored.
type HandlerFunc[In, Out any] func(ctx context.Context, call Call[In]) (Out, error)

// VerifyFunc finds out whether an attempt with an unknown outcome has done its
// work. With done true, out is taken as the result of the step; with done
// false the step is run again; an error leaves the outcome unknown.
type VerifyFunc[In, Out any] func(ctx context.Context, call Call[In]) (out Out, done bool, err error)

// BatchFunc does the work of many instances of one step at once. It returns
// one result per call, in the same order; a missing one is an unknown outcome
// of that call alone.
type BatchFunc[In, Out any] func(ctx context.Context, calls []Call[In]) []Result[Out]

// Result is the outcome of one item of a batch.
type Result[Out any] struct {
	Out Out
	Err error
}

// Handler describes a registered handler.
type Handler struct {
	// Codes are what the handler may fail with, by [Fail]. A catch: that names
	// another code is refused when the workflow is loaded.
	Codes []string
	// NotIdempotent says that a second attempt could repeat the effect, so
	// states that use the handler must be at_most_once.
	NotIdempotent bool
}

// Registry binds names of steps to handlers. The zero value is ready to use.
// It is not safe for concurrent use until [Open] has taken it.
type Registry struct {
	handlers map[string]*handler
	errs     []error
}

// handler is a registered handler with its types erased.
type handler struct {
	Handler
	undoes  string // the step that a compensation undoes
	in, out reflect.Type
	run     func(ctx context.Context, call Call[json.RawMessage]) (json.RawMessage, error)
	batch   func(ctx context.Context, calls []Call[json.RawMessage]) []Result[json.RawMessage]
	verify  func(ctx context.Context, call Call[json.RawMessage]) (json.RawMessage, bool, error)
}

// Register binds name to f. A taken or empty name is not a panic: [Open]
// reports it, together with every other mistake in the set-up.
func Register[In, Out any](r *Registry, name string, f HandlerFunc[In, Out], h Handler) {
	if f == nil {
		r.fail("register %q: the handler is nil", name)
		return
	}
	r.add(name, &handler{
		Handler: h,
		in:      reflect.TypeFor[In](),
		out:     reflect.TypeFor[Out](),
		run: func(ctx context.Context, raw Call[json.RawMessage]) (json.RawMessage, error) {
			call, err := typed[In](raw)
			if err != nil {
				return nil, err
			}
			out, err := f(ctx, call)
			if err != nil {
				return nil, err
			}
			return encode(out)
		},
	})
}

// RegisterBatch binds name to f, which states with batch: call for many
// instances at once.
func RegisterBatch[In, Out any](r *Registry, name string, f BatchFunc[In, Out], h Handler) {
	if f == nil {
		r.fail("register %q: the handler is nil", name)
		return
	}
	r.add(name, &handler{
		Handler: h,
		in:      reflect.TypeFor[In](),
		out:     reflect.TypeFor[Out](),
		batch: func(ctx context.Context, raws []Call[json.RawMessage]) []Result[json.RawMessage] {
			results := make([]Result[json.RawMessage], len(raws))
			calls := make([]Call[In], 0, len(raws))
			at := make([]int, 0, len(raws)) // call -> raw
			for i, raw := range raws {
				call, err := typed[In](raw)
				if err != nil {
					results[i].Err = err
					continue
				}
				calls, at = append(calls, call), append(at, i)
			}
			if len(calls) == 0 {
				return results
			}
			outs := f(ctx, calls)
			for i, to := range at {
				switch {
				case i >= len(outs):
					results[to].Err = errors.New("the handler gave no result for this item")
				case outs[i].Err != nil:
					results[to].Err = outs[i].Err
				default:
					results[to].Out, results[to].Err = encode(outs[i].Out)
				}
			}
			return results
		},
	})
}

// Verify adds f to the handler of that name, which must be registered with the
// same types.
func Verify[In, Out any](r *Registry, name string, f VerifyFunc[In, Out]) {
	h := r.handlers[name]
	if h == nil {
		r.fail("verify %q: register the step first", name)
		return
	}
	if f == nil {
		r.fail("verify %q: the function is nil", name)
		return
	}
	if h.in != reflect.TypeFor[In]() || h.out != reflect.TypeFor[Out]() {
		r.fail("verify %q: it takes %v and gives %v, the step %v and %v",
			name, reflect.TypeFor[In](), reflect.TypeFor[Out](), h.in, h.out)
		return
	}
	h.verify = func(ctx context.Context, raw Call[json.RawMessage]) (json.RawMessage, bool, error) {
		call, err := typed[In](raw)
		if err != nil {
			return nil, false, err
		}
		out, done, err := f(ctx, call)
		if err != nil || !done {
			return nil, false, err
		}
		b, err := encode(out)
		return b, true, err
	}
}

// Manifest describes the registered handlers as data, for the checks of
// package definition.
func (r *Registry) Manifest() definition.Manifest {
	m := make(definition.Manifest, len(r.handlers))
	for name, h := range r.handlers {
		m[name] = definition.HandlerInfo{
			Codes:         h.Codes,
			Batch:         h.batch != nil,
			NotIdempotent: h.NotIdempotent,
			Compensates:   h.undoes,
			Input:         fields(h.in),
			Output:        fields(h.out),
		}
	}
	return m
}

func (r *Registry) add(name string, h *handler) {
	switch {
	case name == "":
		r.fail("register: a step needs a name")
	case strings.HasPrefix(name, ownSteps):
		r.fail("register %q: names that begin with %s are the engine's own", name, ownSteps)
	case r.handlers[name] != nil:
		r.fail("register %q: the name is taken", name)
	default:
		if r.handlers == nil {
			r.handlers = make(map[string]*handler)
		}
		r.handlers[name] = h
	}
}

// ownSteps begins the names of the steps that the engine has itself.
const ownSteps = "pawl."

// builtIn returns the steps that every program has: pawl.noop does nothing, for
// states that only decide.
func builtIn() map[string]*handler {
	return map[string]*handler{definition.Noop: {
		in: reflect.TypeFor[json.RawMessage](), out: reflect.TypeFor[struct{}](),
		run: func(context.Context, Call[json.RawMessage]) (json.RawMessage, error) {
			return json.RawMessage("{}"), nil
		},
	}}
}

// fail keeps a mistake for Open to report.
func (r *Registry) fail(format string, args ...any) {
	r.errs = append(r.errs, fmt.Errorf(format, args...))
}

// names returns the registered names in order.
func (r *Registry) names() []string { return slices.Sorted(maps.Keys(r.handlers)) }

// typed decodes the input of a call. Numbers keep all their digits, also where
// In has fields of type any.
func typed[In any](raw Call[json.RawMessage]) (Call[In], error) {
	call := Call[In]{
		Instance: raw.Instance, Workflow: raw.Workflow, State: raw.State, Attempt: raw.Attempt,
		Key: raw.Key, StartedAt: raw.StartedAt, Labels: raw.Labels,
	}
	dec := json.NewDecoder(bytes.NewReader(raw.In))
	dec.UseNumber()
	if err := dec.Decode(&call.In); err != nil {
		return call, Permanent(fmt.Errorf("decode the input of %s: %w", raw.State, err))
	}
	return call, nil
}

// encode turns a handler's output into JSON. An output that cannot be encoded
// is an unknown outcome which another attempt cannot mend: the work is done.
func encode(out any) (json.RawMessage, error) {
	b, err := json.Marshal(out)
	if err != nil {
		return nil, &verdict{err: fmt.Errorf("encode the output: %w", err), final: true}
	}
	return b, nil
}
