package engine

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/base32"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/pawl-dev/pawl/engine/definition"
)

// StartRequest asks for an instance.
type StartRequest struct {
	Workflow string
	Input    json.RawMessage // a JSON object; nil is an empty one
	// Key is the instance key, for workflows without instance_key:. Where the
	// workflow has one it must be empty or equal to it.
	Key string
}

// Start starts an instance, or finds the one that holds its key: the same
// input returns it with Created false, another input is [ErrConflict]. A
// wrong input is [ErrInvalid], one over the limits [ErrTooLarge].
func (e *Engine) Start(ctx context.Context, req StartRequest) (Started, error) {
	started, err := e.StartBatch(ctx, []StartRequest{req})
	if err != nil {
		return Started{}, err
	}
	return started[0], nil
}

// StartBatch starts many instances in one transaction. Nothing is started if
// one of the requests is invalid. If the key of one is held by an instance
// with another input, the others are started all the same, and the error,
// an [ErrConflict], names all of those.
func (e *Engine) StartBatch(ctx context.Context, reqs []StartRequest) ([]Started, error) {
	news := make([]New, len(reqs))
	var errs []error
	for i, req := range reqs {
		var err error
		if news[i], err = e.NewInstance(req); err != nil {
			errs = append(errs, err)
		}
	}
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	started, err := e.cfg.Store.Insert(ctx, e.now(), news)
	if err != nil {
		return nil, fmt.Errorf("start: %w", err)
	}
	for i := range started {
		if err := agrees(started[i], news[i]); err != nil {
			errs = append(errs, err)
		}
	}
	e.nudge()
	return started, errors.Join(errs...)
}

// NewInstance checks req and makes the instance without storing it. Hand it to
// the StartTx function of a store package to start it in a transaction of your
// own.
func (e *Engine) NewInstance(req StartRequest) (New, error) {
	def := e.defs.newest(req.Workflow)
	if def == nil {
		return New{}, fmt.Errorf("%w: there is no workflow %q; known: %s",
			ErrInvalid, req.Workflow, strings.Join(e.defs.names(), ", "))
	}
	return newInstance(def, req, moment{now: e.now(), outbox: e.outbox})
}

// agrees reports whether an instance that was there before is what the caller
// asked for.
func agrees(got Started, want New) error {
	if got.Refused != "" {
		return fmt.Errorf("%w: the concurrency key of %s is held by %s", ErrConflict, want.Instance.ID, got.Refused)
	}
	if got.Created || sameJSON(got.Instance.Input, want.Instance.Input) {
		return nil
	}
	return fmt.Errorf("%w: %s exists with another input (state %s); start under another key, or look at it first",
		ErrConflict, got.Instance.ID, got.Instance.State)
}

func sameJSON(a, b json.RawMessage) bool {
	if bytes.Equal(a, b) {
		return true
	}
	x, errX := definition.ReadJSON(a)
	y, errY := definition.ReadJSON(b)
	return errX == nil && errY == nil && reflect.DeepEqual(x, y)
}

// newInstance makes an instance of def. It is pure but for the id of an
// instance without a key.
func newInstance(def *definition.Definition, req StartRequest, m moment) (New, error) {
	raw := bytes.TrimSpace(req.Input)
	if len(raw) == 0 {
		raw = []byte("{}")
	}
	if len(raw) > MaxPayload {
		return New{}, fmt.Errorf("start %s: %w: the input has %d bytes, the limit is %d", def.Workflow, ErrTooLarge, len(raw), MaxPayload)
	}
	if !utf8.Valid(raw) {
		return New{}, fmt.Errorf("start %s: %w: the input is not valid UTF-8", def.Workflow, ErrInvalid)
	}
	input, err := def.ReadInput(raw)
	if err != nil {
		return New{}, fmt.Errorf("start %s: %w: %w", def.Workflow, ErrInvalid, err)
	}
	key := req.Key
	vars := &definition.Vars{Input: input, Now: m.now, Instance: definition.InstanceVars{
		Workflow: def.Workflow, Version: def.Version, StartedAt: m.now,
	}}
	if def.InstanceKey != nil {
		if key, err = m.oracle.text(def.InstanceKey, vars); err != nil {
			return New{}, fmt.Errorf("start %s: %w: instance_key: %w", def.Workflow, ErrInvalid, err)
		}
		if req.Key != "" && req.Key != key {
			return New{}, fmt.Errorf("start %s: %w: the key is %q by instance_key:, not %q; leave the key out", def.Workflow, ErrInvalid, key, req.Key)
		}
	}
	if key != "" || def.InstanceKey != nil {
		if err := checkKey("instance key", key); err != nil {
			return New{}, fmt.Errorf("start %s: %w", def.Workflow, err)
		}
	}
	in := Instance{
		Workflow: def.Workflow, DefVersion: def.Version, DefHash: def.Hash,
		Key: key, Run: 1, StartedAt: m.now, UpdatedAt: m.now, Input: json.RawMessage(raw),
	}
	if def.Deadline > 0 {
		in.DeadlineAt = m.now.Add(def.Deadline)
	}
	if key == "" {
		in.ID = def.Workflow + "/" + newID(m.now)
		return begin(def, in, input, m)
	}
	return startRun(def, in, input, m, 1)
}

// startRun makes the run-th instance of a key.
func startRun(def *definition.Definition, in Instance, input map[string]any, m moment, run int) (New, error) {
	in.ID, in.Run = InstanceID(in.Workflow, in.Key, run), run
	if len(in.ID) > MaxID {
		return New{}, fmt.Errorf("start: %w: the id has %d bytes, the limit is %d", ErrTooLarge, len(in.ID), MaxID)
	}
	n, err := begin(def, in, input, m)
	n.rebuild = func(run int) (New, error) { return startRun(def, in, input, m, run) }
	return n, err
}

// begin enters the start state.
func begin(def *definition.Definition, in Instance, input map[string]any, m moment) (New, error) {
	d, err := enterStart(def, in, input, m)
	if err != nil {
		return New{}, err
	}
	tr, _ := d.finish()
	return New{Instance: tr.Instance, Acquire: tr.Acquire, Start: tr.Start}, nil
}

func enterStart(def *definition.Definition, in Instance, input map[string]any, m moment) (*draft, error) {
	m.lease = time.Time{}
	s := &snapshot{Instance: in, def: def, input: input}
	d := newDraft(s, m)
	vars, err := d.vars(m.now)
	if err != nil {
		return nil, err
	}
	for _, l := range def.Labels {
		text, err := m.oracle.text(l.Value, vars)
		if err != nil {
			return nil, fmt.Errorf("start %s: %w: label %s: %w", def.Workflow, ErrInvalid, l.Name, err)
		}
		if d.Labels == nil {
			d.Labels = make(map[string]string, len(def.Labels))
		}
		d.Labels[l.Name] = cleanText(text)
	}
	if c := def.Concurrency; c != nil {
		name, err := m.concurrencyKey(c, vars, def.Workflow)
		if err != nil {
			return nil, fmt.Errorf("start %s: %w", def.Workflow, err)
		}
		d.tr.Acquire = []Hold{{Name: name, Reject: c.Reject}}
		d.progress.Holds = []hold{{Name: name}}
	}
	if err := d.enter(def.State(def.Start)); err != nil {
		return nil, fmt.Errorf("start %s: %w: %w", def.Workflow, ErrInvalid, err)
	}
	return d, nil
}

// checkKey holds a key to the documented set: valid UTF-8 without control
// characters, not empty, at most MaxKey bytes.
func checkKey(what, key string) error {
	switch {
	case key == "":
		return fmt.Errorf("%w: the %s is empty", ErrInvalid, what)
	case len(key) > MaxKey:
		return fmt.Errorf("%w: the %s has %d bytes, the limit is %d", ErrInvalid, what, len(key), MaxKey)
	case !utf8.ValidString(key):
		return fmt.Errorf("%w: the %s %q is not valid UTF-8", ErrInvalid, what, key)
	case strings.ContainsFunc(key, unicode.IsControl):
		return fmt.Errorf("%w: the %s %q has a control character", ErrInvalid, what, key)
	}
	return nil
}

// newID returns an id that sorts by time and that nobody else makes.
func newID(now time.Time) string {
	var b [16]byte
	binary.BigEndian.PutUint64(b[:], uint64(now.UnixMilli())<<16)
	rand.Read(b[6:])
	return strings.ToLower(base32.HexEncoding.WithPadding(base32.NoPadding).EncodeToString(b[:]))
}
