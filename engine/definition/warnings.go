package definition

import (
	"fmt"
	"math"
	"time"

	"github.com/pawl-dev/pawl/engine/expression"
)

// enoughRetention is how long a failed instance should be kept at least: until
// an operator is at work again.
const enoughRetention = 24 * time.Hour

// tightCycles warns of cycles that an instance could run through as fast as
// the handlers answer.
func (p *parser) tightCycles(g *graph, all [][]int) {
	steps := g.mark(func(_ int, s *State) bool { return s.Kind == StepState })
	for _, part := range parts(all, steps) {
		if s := g.states[part.nodes[0]]; part.cycle {
			p.warnf(s.at, "tight-cycle", "state %s is on a cycle with no wait or await; put a wait in it", s.Name)
		}
	}
}

// worstCases warns of states that can outlast the deadline by themselves.
func (p *parser) worstCases() {
	limit := p.def.Deadline
	if limit == 0 {
		return
	}
	for _, s := range p.def.States {
		if long, does, mend := slowest(s); long > limit {
			p.warnf(s.at, "deadline", "state %s %s, longer than the deadline %s; raise the deadline%s",
				s.Name, does, expression.FormatDuration(limit), mend)
		}
	}
}

// slowest returns how long an instance can be in a state, as far as the file
// tells, and for a message what takes so long and how to shorten it.
func slowest(s *State) (long time.Duration, does, mend string) {
	switch s.Kind {
	case StepState:
		long = worstCase(s.Retry, s.Timeout)
		does = fmt.Sprintf("can take %s (%d attempts)", expression.FormatDuration(long), s.Retry.MaxAttempts)
		mend = " or lower max_attempts"
		switch {
		case s.Retry.MaxAttempts == 1:
			does = fmt.Sprintf("can take %s (1 attempt)", expression.FormatDuration(long))
			mend = " or lower the timeout"
		case s.OnFailure.Policy == Forward: // it goes on beyond max_attempts
			mend = ""
		}
	case WaitState:
		if s.Wait.For == nil || s.Wait.For.expr != nil {
			return 0, "", ""
		}
		long, _ = s.Wait.For.Duration(nil) // a literal was read before
		does, mend = "waits "+expression.FormatDuration(long), " or wait shorter"
	case AwaitState:
		long = s.Timeout
		does, mend = "can wait "+expression.FormatDuration(long), " or lower the timeout"
	case EndState:
	}
	return long, does, mend
}

// worstCase returns how long the attempts of a step can take: each until its
// timeout, and the delays between them without jitter, which only shortens
// them.
func worstCase(r Retry, timeout time.Duration) time.Duration {
	total := timeout
	for n := 1; n < r.MaxAttempts; n++ {
		pause := r.MaxDelay
		if d := float64(r.InitialDelay) * math.Pow(r.Backoff, float64(n-1)); d < float64(r.MaxDelay) {
			pause = time.Duration(d)
		}
		total = plus(total, plus(pause, timeout))
	}
	return total
}

// plus adds durations above zero; a sum that is too large stays at the limit.
func plus(a, b time.Duration) time.Duration {
	if a > math.MaxInt64-b {
		return math.MaxInt64
	}
	return a + b
}

// shortRetention warns if failed instances, which an operator is to retry, are
// gone before one has looked.
func (p *parser) shortRetention() {
	keep := p.def.Retention.Failed
	if keep == 0 || keep >= enoughRetention || !p.policyInForce(MarkFailed) {
		return
	}
	p.warnf(p.keeps, "retention",
		"failed instances are deleted after %s, too soon for an operator to retry them; raise retention.failed",
		expression.FormatDuration(keep))
}
