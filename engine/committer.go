package engine

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"time"
)

const (
	commitBatch   = 256              // transitions in one transaction at most
	commitTimeout = 10 * time.Second // of one commit with its repeats
)

// commitRequest is a transition on its way to the store.
type commitRequest struct {
	tr  Transition
	out Outcome
	err error
	end chan struct{} // closed when out or err is set
}

// commit stores a transition and counts and logs it. ok is false if the store
// could not be brought to store it: the lease then runs out.
func (s *session) commit(r *run, tr Transition) (Outcome, bool) {
	s.mu.Lock()
	r.committed = true
	s.mu.Unlock()
	req := &commitRequest{tr: tr, end: make(chan struct{})}
	s.commits <- req
	<-req.end
	s.mu.Lock()
	r.committed = false
	s.mu.Unlock()
	if req.err != nil {
		s.fault(fmt.Errorf("commit %s: %w", tr.Instance.ID, req.err))
		return Outcome{}, false
	}
	s.committed(tr, req.out)
	return req.out, true
}

// commitLoop is the natural group commit: whatever waits is committed
// together, without a timer. Alone, a transition is committed at once; under
// load the batch grows by what arrives during the commit before.
func (s *session) commitLoop() {
	for first := range s.commits {
		batch := s.gather([]*commitRequest{first})
		// The commit before has just woken the instances that it was for. If
		// less than half of all wait here, let those go first that need no
		// more than the processor; else they run while this batch is written.
		running, _ := s.load()
		for n := 0; n < len(batch) && len(batch) < min(running/2, commitBatch); {
			n = len(batch)
			runtime.Gosched()
			batch = s.gather(batch)
		}
		s.commitAll(batch)
		for _, req := range batch {
			close(req.end)
		}
	}
}

// gather adds what waits to the batch.
func (s *session) gather(batch []*commitRequest) []*commitRequest {
	for len(batch) < commitBatch {
		select {
		case next, ok := <-s.commits:
			if !ok {
				return batch
			}
			batch = append(batch, next)
		default:
			return batch
		}
	}
	return batch
}

// commitAll commits a batch. It goes on when the context of the tick is done:
// to lose an outcome now would mean to do the work twice. A batch that the
// store refuses for one of its rows is committed row by row.
func (s *session) commitAll(batch []*commitRequest) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(s.ctx), commitTimeout)
	defer cancel()
	trs := make([]Transition, len(batch))
	for i, req := range batch {
		trs[i] = req.tr
	}
	outs, err := commitRepeated(ctx, s.e, trs)
	switch {
	case err == nil:
		for i, req := range batch {
			req.out = outs[i]
		}
	case len(batch) > 1 && !repeatable(err):
		for _, req := range batch {
			s.commitAll([]*commitRequest{req})
		}
	default:
		for _, req := range batch {
			req.err = err
		}
	}
}

// commitRepeated repeats a commit whose outcome is unknown or that found the
// store unavailable. Commits are safe to repeat, so this settles the unknown.
func commitRepeated(ctx context.Context, e *Engine, trs []Transition) ([]Outcome, error) {
	pause := 20 * time.Millisecond
	for {
		outs, err := e.cfg.Store.Commit(ctx, e.now(), trs)
		if err == nil || !repeatable(err) {
			return outs, err
		}
		timer := time.NewTimer(pause)
		select {
		case <-ctx.Done():
			timer.Stop()
			return nil, err
		case <-timer.C:
		}
		pause = min(2*pause, time.Second)
	}
}

func repeatable(err error) bool {
	return errors.Is(err, ErrUnknown) || errors.Is(err, ErrUnavailable)
}

// committed counts a stored transition and logs it.
func (s *session) committed(tr Transition, out Outcome) {
	if out.Woken || len(tr.Start) > 0 {
		s.more()
	}
	in := tr.Instance
	s.count(func(r *Report) {
		switch {
		case out.Result == Lost:
			r.Lost++
			return
		case out.Result == InLine:
			r.Queued++
		case out.Result != Done:
			return
		case tr.History == nil:
		case tr.History.Reason == ReasonRetry || tr.History.Reason == ReasonDown || tr.History.Reason == ReasonStuck:
			r.Retried++
		}
		r.Committed++
		switch in.Status {
		case Succeeded:
			r.Succeeded++
		case Failed:
			r.Failed++
		case Parked:
			r.Parked++
		case CompensationFailed:
			r.UndoFailed++
		case Running, Queued, Waiting, Stuck, Compensating:
		}
	})
	s.e.logCommit(s.ctx, tr, out)
}
