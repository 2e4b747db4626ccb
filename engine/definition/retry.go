package definition

import (
	"time"

	"gopkg.in/yaml.v3"

	"github.com/pawl-dev/pawl/engine/expression"
)

const (
	maxAttempts = 1000
	maxBackoff  = 10
)

// draftRetry is a retry: block: only what it says is applied.
type draftRetry struct {
	apply  []func(r *Retry)
	at     position
	given  bool
	from   map[string]position // of the values of the fields that it says
	except []position          // of the codes
}

func (d *draftRetry) set(f func(r *Retry)) { d.apply = append(d.apply, f) }

// retryFields is the table of retry:.
func retryFields() []field[draftRetry] {
	std := stepRetry()
	return []field[draftRetry]{
		{
			name: "max_attempts", shape: whole(1, maxAttempts).or(std.MaxAttempts),
			doc:  "How often the step is tried, the first time included: 1 means no retries. Compensations have 20.",
			read: (*parser).maxAttempts,
		},
		{
			name: "initial_delay", shape: like("duration").or(std.InitialDelay),
			doc: "Delay between the first attempt and the second.",
			read: func(p *parser, d *draftRetry, n *yaml.Node) {
				v := p.duration("initial_delay", n)
				d.set(func(r *Retry) { r.InitialDelay = v })
			},
		},
		{
			name: "backoff", shape: between(1, maxBackoff).or(std.Backoff),
			doc: "Factor by which the delay grows with every attempt.",
			read: func(p *parser, d *draftRetry, n *yaml.Node) {
				v := p.decimal("backoff", n, 1, maxBackoff)
				d.set(func(r *Retry) { r.Backoff = v })
			},
		},
		{
			name: "max_delay", shape: like("duration").or(std.MaxDelay),
			doc: "Longest delay between two attempts. Compensations have 10m.",
			read: func(p *parser, d *draftRetry, n *yaml.Node) {
				v := p.duration("max_delay", n)
				d.set(func(r *Retry) { r.MaxDelay = v })
			},
		},
		{
			name: "jitter", shape: between(0, 1).or(std.Jitter),
			doc: "Largest share of a delay that chance takes away, so that instances do not all come back at once.",
			read: func(p *parser, d *draftRetry, n *yaml.Node) {
				v := p.decimal("jitter", n, 0, 1)
				d.set(func(r *Retry) { r.Jitter = v })
			},
		},
		{
			name: "except", shape: like("codes"),
			doc:  "Codes of errors that are not worth another attempt.",
			read: (*parser).except,
		},
		{
			name: "outage", shape: only("wait", "count").or("wait"),
			doc: "What an attempt counts that found the whole target down. wait: nothing, the step waits for the target. " +
				"count: as much as any other.",
			read: func(p *parser, d *draftRetry, n *yaml.Node) {
				s, _ := p.oneOf("outage", n, "wait", "count")
				d.set(func(r *Retry) { r.CountOutage = s == "count" })
			},
		},
	}
}

func (p *parser) retry(n *yaml.Node) draftRetry {
	d := draftRetry{at: place(n), given: true, from: valuePlaces(n)}
	readFields(p, block{node: n, name: "retry", at: place(n)}, retryFields(), &d)
	return d
}

func (p *parser) maxAttempts(d *draftRetry, n *yaml.Node) {
	v, ok := p.whole("max_attempts", n)
	switch {
	case !ok:
	case v == 0:
		p.errorf(place(n), "retry",
			"max_attempts counts the first try, so 0 would never run the step; write 1 for no retries")
	case v < 0:
		p.errorf(place(n), "retry", "max_attempts cannot be unlimited (%d); write a number up to %d", v, maxAttempts)
	case v > maxAttempts:
		p.errorf(place(n), "range", "max_attempts must be from 1 to %d, not %d", maxAttempts, v)
	}
	d.set(func(r *Retry) { r.MaxAttempts = v })
}

func (p *parser) except(d *draftRetry, n *yaml.Node) {
	if n.Kind != yaml.SequenceNode {
		p.errorf(place(n), "type", "except must be a list of codes, not %s", describe(n))
		return
	}
	list := make([]string, 0, len(n.Content))
	for _, item := range n.Content {
		if s, ok := p.word("except", item); ok {
			list = append(list, s)
			d.except = append(d.except, place(item))
			p.codes = append(p.codes, code{s, place(item)})
		}
	}
	d.set(func(r *Retry) { r.Except = list })
}

// stepRetry is the rule of steps for which the file says nothing.
func stepRetry() Retry {
	return Retry{MaxAttempts: 5, InitialDelay: 5 * time.Second, Backoff: 2, MaxDelay: 5 * time.Minute, Jitter: 0.2}
}

// undoRetry is the rule of compensations. It is more patient: an undo that is
// given up leaves something half done.
func undoRetry() Retry {
	r := stepRetry()
	r.MaxAttempts, r.MaxDelay = 20, 10*time.Minute
	return r
}

// effective returns the rule r, overridden field by field by the drafts, the
// last of which is the state's own.
func (p *parser) effective(r Retry, drafts ...draftRetry) Retry {
	var at position
	for _, d := range drafts {
		for _, f := range d.apply {
			f(&r)
		}
		if d.given {
			at = d.at
		}
	}
	own := drafts[len(drafts)-1]
	if r.InitialDelay > r.MaxDelay && r.MaxDelay > 0 && own.given {
		p.errorf(at, "retry", "initial_delay %s is longer than max_delay %s; raise max_delay",
			expression.FormatDuration(r.InitialDelay), expression.FormatDuration(r.MaxDelay))
	}
	return r
}
