package definition

import (
	"fmt"
	"time"

	"gopkg.in/yaml.v3"
)

// draftState is a state whose defaults are not filled in yet.
type draftState struct {
	*State
	timeout    time.Duration
	retry      draftRetry
	onFailure  *OnFailure
	keys       map[string]position // of the names of the fields
	compensate draftCompensation
}

// entered is what is known in the transition into s.
func (s *draftState) entered() availability {
	if s.Kind == EndState && s.Failed {
		return intoFailure
	}
	return onEntry
}

func (p *parser) readStates(n *yaml.Node) {
	if n.Kind != yaml.MappingNode {
		p.errorf(place(n), "type", "states must be a map, not %s", describe(n))
		return
	}
	count := len(n.Content) / 2
	if count == 0 {
		p.errorf(place(n), "empty", "states has no state; add one")
	}
	if count > p.limit {
		p.errorf(place(n), "states-limit", "there are %d states, the limit is %d; split the workflow", count, p.limit)
		return
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		if p.name(n.Content[i]) {
			p.readState(n.Content[i], n.Content[i+1])
		}
	}
}

func (p *parser) readState(key, n *yaml.Node) {
	b := block{node: n, name: "state " + key.Value, at: place(key)}
	if n.Kind != yaml.MappingNode {
		p.errorf(place(n), "type", "%s must be a map, not %s", b.name, describe(n))
		return
	}
	s := &draftState{State: &State{Name: key.Value, at: b.at, parts: valuePlaces(n)}, keys: keyPlaces(n)}
	var ok bool
	if b.kind, ok = p.kind(b); !ok {
		return
	}
	s.Kind = Kind(b.kind.String())
	if s.Kind == EndState {
		s.Failed = child(n, "end").Value == "failed" // the place of end: in the map must not matter
	}
	p.current = s.Name
	readFields(p, b, stateFields(), s)
	p.current = ""
	p.states = append(p.states, s)
}

// kind finds what kind of state b is; it is zero if a mistyped field hides it.
func (p *parser) kind(b block) (kinds, bool) {
	var found kinds
	for _, k := range kindNames() {
		at, ok := keyPlace(b.node, k.name)
		if !ok {
			continue
		}
		if found != 0 {
			p.errorf(at, "state-kind", "%s is both %s and %s; split it in two states", b.name, found, k.name)
			return 0, false
		}
		found = k.kind
	}
	if found != 0 || p.mistyped(b.node) {
		return found, true
	}
	p.errorf(b.at, "state-kind", "%s has no kind; give it one of step, wait, await or end", b.name)
	return 0, true
}

// mistyped reports whether a state has a field that will be reported anyway
// and may have been meant to give the kind.
func (p *parser) mistyped(n *yaml.Node) bool {
	for i := 0; i+1 < len(n.Content); i += 2 {
		name := n.Content[i].Value
		known := false
		for _, f := range stateFields() {
			known = known || f.name == name
		}
		if !known {
			return true
		}
	}
	return false
}

// child returns the value of a key of a map, or nil.
func child(m *yaml.Node, name string) *yaml.Node {
	for i := 0; i+1 < len(m.Content); i += 2 {
		if m.Content[i].Value == name {
			return m.Content[i+1]
		}
	}
	return nil
}

// valuePlaces returns where the values of a map stand, by key.
func valuePlaces(m *yaml.Node) map[string]position {
	places := make(map[string]position, len(m.Content)/2)
	if m.Kind == yaml.MappingNode {
		for i := 0; i+1 < len(m.Content); i += 2 {
			places[m.Content[i].Value] = place(m.Content[i+1])
		}
	}
	return places
}

// keyPlaces returns where the keys of a map stand.
func keyPlaces(m *yaml.Node) map[string]position {
	places := make(map[string]position, len(m.Content)/2)
	if m.Kind == yaml.MappingNode {
		for i := 0; i+1 < len(m.Content); i += 2 {
			places[m.Content[i].Value] = place(m.Content[i])
		}
	}
	return places
}

// keyPlace returns where a key of a map stands.
func keyPlace(m *yaml.Node, name string) (position, bool) {
	for i := 0; i+1 < len(m.Content); i += 2 {
		if m.Content[i].Value == name {
			return place(m.Content[i]), true
		}
	}
	return position{}, false
}

// resolve fills in what the state does not say itself.
func (p *parser) resolve(s *draftState) {
	s.OnFailure = p.def.OnFailure
	if s.onFailure != nil {
		s.OnFailure = *s.onFailure
	}
	switch s.Kind {
	case StepState:
		s.Timeout = firstOf(s.timeout, p.defaults.timeout, defaultTimeout)
		p.resolveRetry(s)
		p.resolveCompensation(s)
	case AwaitState:
		s.Timeout = s.timeout
	case EndState:
		s.OnFailure = OnFailure{}
	case WaitState:
	}
}

// resolveRetry merges the retry rules that are in force for a step.
func (p *parser) resolveRetry(s *draftState) {
	s.Retry = p.effective(stepRetry(), p.defaults.retry, s.retry)
	for i, at := range s.retry.except {
		s.parts[fmt.Sprintf("except.%d", i)] = at
	}
	if !s.AtMostOnce {
		return
	}
	if at, ok := s.retry.from["max_attempts"]; ok && s.Retry.MaxAttempts > 1 {
		p.errorf(at, "not-idempotent", "at_most_once means a single attempt, but max_attempts is %d; remove one of them",
			s.Retry.MaxAttempts)
	}
	s.Retry.MaxAttempts = 1
}

func firstOf(list ...time.Duration) time.Duration {
	for _, d := range list {
		if d > 0 {
			return d
		}
	}
	return 0
}

// draftEmit is an item of emit: as it is read.
type draftEmit struct {
	Emit
	place availability
}

func emitFields() []field[draftEmit] {
	return []field[draftEmit]{
		{
			name: "event", required: anyKind, shape: like("word"),
			doc:  "Name of the event.",
			read: func(p *parser, e *draftEmit, n *yaml.Node) { e.Event, _ = p.word("event", n) },
		},
		{
			name: "key", shape: like("text"),
			doc: "Text that says what the event is about, such as an id.",
			read: func(p *parser, e *draftEmit, n *yaml.Node) {
				e.Key = p.value(n, want{name: "key", place: e.place, text: true})
			},
		},
		{
			name: "payload", shape: like("value"),
			doc: "Data of the event.",
			read: func(p *parser, e *draftEmit, n *yaml.Node) {
				e.Payload = p.value(n, want{name: "payload", place: e.place})
			},
		},
	}
}

func (p *parser) emit(s *draftState, n *yaml.Node) {
	if n.Kind != yaml.SequenceNode {
		p.errorf(place(n), "type", "emit must be a list of events, not %s", describe(n))
		return
	}
	for _, item := range n.Content {
		e := draftEmit{place: s.entered()}
		readFields(p, block{node: item, name: "emit", at: place(item)}, emitFields(), &e)
		s.Emit = append(s.Emit, e.Emit)
	}
}
