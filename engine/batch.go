package engine

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"
	"sync"
	"time"

	"github.com/pawl-dev/pawl/engine/definition"
)

// batcher gathers the instances of one step whose handler takes many at once.
// Like the committer it needs no timer: while a call is under way the next
// batch fills; a full batch goes at once.
type batcher struct {
	s *session
	h *handler

	mu       sync.Mutex
	expected int // claimed instances that have not arrived yet
	inflight int
	queue    []*batchItem
}

// batchItem is an instance that waits for its place in a call.
type batchItem struct {
	run     *run
	call    Call[json.RawMessage]
	group   string // only items of one state of one definition share a call
	size    int
	timeout time.Duration
	end     chan outcome
}

// batcher returns the batcher of the step.
func (s *session) batcher(step string, h *handler) *batcher {
	s.mu.Lock()
	defer s.mu.Unlock()
	b := s.batchers[step]
	if b == nil {
		b = &batcher{s: s, h: h}
		s.batchers[step] = b
	}
	return b
}

// expect tells the batcher that a claimed instance is on its way, so that ten
// instances of one claim become one call and not a call of one and one of nine.
func (s *session) expect(r *run) {
	h := s.e.handlers[r.snap.Step]
	if h == nil || h.batch == nil {
		return
	}
	r.expected = s.batcher(r.snap.Step, h)
	r.expected.mu.Lock()
	r.expected.expected++
	r.expected.mu.Unlock()
}

// skip tells the batcher that an expected instance does not come.
func (s *session) skip(r *run) {
	b := r.expected
	if b == nil {
		return
	}
	r.expected = nil
	b.mu.Lock()
	defer b.mu.Unlock()
	b.expected--
	b.next()
}

// inBatch hands the call in and waits for its outcome.
func (s *session) inBatch(r *run, w work, h *handler, call Call[json.RawMessage]) outcome {
	item := &batchItem{
		run: r, call: call, group: r.snap.DefHash + "/" + r.snap.State + "/" + w.step,
		size: max(w.batch, 1), timeout: w.timeout, end: make(chan outcome, 1),
	}
	if r.snap.Code == definition.CodePanic {
		// It shared a call that panicked. Alone it harms nobody else.
		item.size, item.group = 1, item.group+"/"+r.snap.ID
	}
	b := s.batcher(r.snap.Step, h)
	b.mu.Lock()
	if r.expected != nil {
		r.expected = nil
		b.expected--
	}
	b.queue = append(b.queue, item)
	// Goroutines arrive in any order; the oldest goes first.
	slices.SortStableFunc(b.queue, func(x, y *batchItem) int { return cmp.Compare(x.run.order, y.run.order) })
	b.next()
	b.mu.Unlock()
	return <-item.end
}

// next starts the calls that are due. The caller holds mu.
func (b *batcher) next() {
	for len(b.queue) > 0 {
		first := b.queue[0]
		take := make([]*batchItem, 0, first.size)
		var rest []*batchItem
		for _, item := range b.queue {
			if item.group == first.group && len(take) < first.size {
				take = append(take, item)
			} else {
				rest = append(rest, item)
			}
		}
		if len(take) < first.size && (b.expected > 0 || b.inflight > 0) {
			return
		}
		b.queue = rest
		b.inflight++
		b.s.wg.Go(func() { b.run(take) })
	}
}

// run makes one call.
func (b *batcher) run(items []*batchItem) {
	calls := make([]Call[json.RawMessage], len(items))
	runs := make([]*run, len(items))
	for i, item := range items {
		calls[i], runs[i] = item.call, item.run
	}
	if step := items[0].run.snap.Step; b.s.isDown(step) {
		for _, item := range items {
			item.end <- outcome{kind: outcomeReturned}
		}
	} else {
		rep := b.s.invoke(b.s.handlers, items[0].timeout, runs, func(ctx context.Context) []Result[json.RawMessage] {
			return b.h.batch(ctx, calls)
		})
		for i, item := range items {
			o := rep.outcome(i)
			if o.verdict.TargetDown {
				b.s.setDown(step, o.message)
			}
			item.end <- o
		}
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.inflight--
	b.next()
}
