package engine

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/pawl-dev/pawl/engine/definition"
)

// maxSituations bounds a model check. A definition with more of them is
// checked in part.
const maxSituations = 20_000

// Exploration is what [Explore] found.
type Exploration struct {
	// Findings are the faults, each with the shortest way there, in the order
	// of the file. Their rules begin with "model-".
	Findings definition.Diagnostics
	// Situations is how many different ones were gone through.
	Situations int
	// Complete is false if there are more than that. Findings says so then.
	Complete bool
}

// Explore takes the definition for a finite machine and goes through every
// situation that an instance of it can be in: from each state by every outcome
// that a step can have (success, each code, attempts used up, a timeout, an
// unknown outcome), by waits, signals, the deadline, a cancel and an operator's
// retry, with every answer of every guard. What follows from an outcome is
// decided by the code that the engine runs, so this needs no handler and no
// store. It reports
//
//   - model-stuck: an outcome after which an instance is parked or sleeps for
//     ever,
//   - model-twice: an irreversible step that can run twice,
//   - model-undo-left: a completed step that a failure leaves without its undo,
//   - model-undo-data: an undo that needs what may not exist,
//   - model-size: that there are too many situations to go through them all.
func Explore(def *definition.Definition) Exploration {
	return explore(def, maxSituations)
}

func explore(def *definition.Definition, limit int) Exploration {
	x := &explorer{
		def: def, limit: limit, outbox: modelOutbox(), seen: make(map[string]bool), found: make(map[string]bool),
	}
	x.out.Complete = true
	x.start()
	for len(x.queue) > 0 {
		at := x.queue[0]
		x.queue = x.queue[1:]
		for _, ev := range x.events(at) {
			x.each(at, ev)
		}
	}
	x.out.Situations = len(x.seen)
	if !x.out.Complete {
		f := def.Finding("", "states", ruleSize, fmt.Sprintf(
			"the model check stopped after %d situations, what follows is not checked; split the workflow", limit))
		f.Warning = true
		x.out.Findings = append(x.out.Findings, f)
	}
	x.out.Findings.Locate(def.Source)
	return x.out
}

// explorer walks breadth first, so the first way to a situation is a shortest.
type explorer struct {
	def    *definition.Definition
	limit  int
	outbox *definition.Definition
	seen   map[string]bool
	queue  []*situation
	found  map[string]bool
	out    Exploration
}

// situation is where an instance can be, as far as it matters for what can
// follow.
type situation struct {
	snap   *snapshot
	world  outside
	before *situation
	event  string // that led here
}

// outside is what the world outside of the engine has seen. It is kept apart
// from the engine's own books, which it is held against.
type outside struct {
	final []string // irreversible states that ran or may have
	open  []effect // what compensations would undo
}

// effect is what a visit of a state has done, or may have.
type effect struct {
	state string
	visit int
	late  bool // the pivot was passed before
}

// begun is the time at which every instance of a model starts.
func begun() time.Time { return time.Unix(0, 0).UTC() }

// moment is that of a model: nobody goes on with the next state at once.
func (x *explorer) moment(o *oracle) moment {
	return moment{
		now: begun(), worker: "model", oracle: o, outbox: x.outbox,
		runs: func(string) bool { return false },
	}
}

// modelOutbox takes every event.
func modelOutbox() *definition.Definition {
	def, _ := definition.Parse("outbox", []byte(modelOutboxSource))
	return def
}

const modelOutboxSource = `pawl: 1
workflow: outbox
version: 1
input: {event_id: any, event_type: any, key: any, payload: any}
on_failure: {policy: mark_failed, to: FAILED}
start: PENDING
states:
  PENDING: {step: publish, next: PUBLISHED}
  PUBLISHED: {end: succeeded}
  FAILED: {end: failed}
`

// start explores from the start of an instance.
func (x *explorer) start() {
	x.answers(func(o *oracle) {
		in := Instance{ID: "model", Workflow: x.def.Workflow, StartedAt: begun(), Input: json.RawMessage("{}")}
		if x.def.Deadline > 0 {
			in.DeadlineAt = begun().Add(x.def.Deadline)
		}
		d, err := enterStart(x.def, in, map[string]any{}, x.moment(o))
		if err == nil { // else the start is refused, and there is no instance
			x.visit(&situation{snap: &d.snapshot})
		}
	})
}

// visit queues a situation that is new.
func (x *explorer) visit(s *situation) {
	s.normalise()
	key := s.key()
	if x.seen[key] {
		return
	}
	if len(x.seen) >= x.limit {
		x.out.Complete = false
		return
	}
	x.seen[key] = true
	x.queue = append(x.queue, s)
}

// answers calls f with an oracle for every combination of answers that f asks
// for.
func (x *explorer) answers(f func(*oracle)) {
	var script, widths []int
	for {
		asked := 0
		widths = widths[:0]
		f(&oracle{answer: func(n int) int {
			if asked == len(script) {
				script = append(script, 0)
			}
			widths = append(widths, n)
			asked++
			return script[asked-1]
		}})
		script = script[:asked]
		for len(script) > 0 && script[len(script)-1]+1 >= widths[len(script)-1] {
			script = script[:len(script)-1]
		}
		if len(script) == 0 {
			return
		}
		script[len(script)-1]++
	}
}

// normalise drops what only counts: a cycle must lead back to a situation that
// was seen. Two visits of a state are enough to see the order of their undo.
func (s *situation) normalise() {
	p := &s.snap.progress
	p.Moves = 0
	if len(s.world.open) == 0 {
		return
	}
	last := s.world.open[len(s.world.open)-1].state
	var same []int
	for _, e := range s.world.open {
		if e.state == last {
			same = append(same, e.visit)
		}
	}
	if len(same) > 2 {
		s.world.open = slices.DeleteFunc(s.world.open, func(e effect) bool { return e.state == last && e.visit == same[0] })
		p.Done = slices.DeleteFunc(p.Done, func(v doneVisit) bool { return v.State == last && v.Visit == same[0] })
	}
}

// key tells situations apart.
func (s *situation) key() string {
	p := &s.snap.progress
	var b strings.Builder
	word := func(text string, flags ...bool) {
		b.WriteString(text)
		for _, f := range flags {
			b.WriteString(strconv.FormatBool(f))
		}
		b.WriteByte(' ')
	}
	word(s.snap.State, s.snap.Doubt, p.Pivot, p.Undone, p.WithOf == s.snap.State)
	word(string(s.snap.Status))
	word(p.UndoTo)
	if p.Error != nil && p.UndoTo == "" && !p.Undone { // what is undone cannot be retried
		word(p.Error.State)
	}
	b.WriteByte('|')
	for i := range p.Done {
		word(p.Done[i].State, p.Done[i].Out == nil)
	}
	b.WriteByte('|')
	for _, name := range s.world.final {
		word(name)
	}
	b.WriteByte('|')
	for i := range s.world.open {
		word(s.world.open[i].state, s.world.open[i].late)
	}
	return b.String()
}

// way tells how an instance gets to s.
func (s *situation) way() string {
	var list []string
	for at := s; at.before != nil; at = at.before {
		list = append(list, at.event)
	}
	slices.Reverse(list)
	return strings.Join(list, ", ")
}
