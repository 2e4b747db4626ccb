package engine

import (
	"encoding/json"
	"fmt"
	"maps"
	"strconv"
	"time"

	"github.com/pawl-dev/pawl/engine/definition"
)

// progress is what an instance has behind it: the content of Instance.Data.
type progress struct {
	Outputs map[string]json.RawMessage `json:"outputs,omitempty"` // of states that completed
	Visits  map[string]int             `json:"visits,omitempty"`  // how often each was entered
	Moves   int                        `json:"moves"`             // states entered in all
	Pivot   bool                       `json:"pivot,omitempty"`   // an irreversible step succeeded or ended unknown
	Holds   []hold                     `json:"holds,omitempty"`   // concurrency keys taken, in order
	WithOf  string                     `json:"with_of,omitempty"` // what Instance.With belongs to: a state, or undoOf one
	Error   *definition.ErrorVars      `json:"error,omitempty"`   // the last error
	Wake    int64                      `json:"wake,omitempty"`    // when the wait of this visit is over, in unix microseconds; 0: never

	Done   []doneVisit `json:"done,omitempty"`    // what a failure would undo, from the last to the first
	UndoTo string      `json:"undo_to,omitempty"` // the end after the last undo, while one is under way
	Undone bool        `json:"undone,omitempty"`  // everything was undone, so nothing can be retried
}

// doneVisit is a completed visit of a state that has a compensation.
type doneVisit struct {
	State string          `json:"state"`
	Visit int             `json:"visit"`
	In    json.RawMessage `json:"in,omitempty"`  // nil: the input of the instance
	Out   json.RawMessage `json:"out,omitempty"` // nil: the outcome is unknown
}

// hold is a concurrency key that the instance has, or waits for.
type hold struct {
	State string `json:"state,omitempty"` // empty: held from start to end
	Name  string `json:"name"`
}

// clone returns a copy that may be changed.
func (p progress) clone() progress {
	p.Outputs = maps.Clone(p.Outputs)
	p.Visits = maps.Clone(p.Visits)
	p.Holds = append([]hold(nil), p.Holds...)
	p.Done = append([]doneVisit(nil), p.Done...)
	return p
}

// snapshot is an instance with its definition and decoded data: all that
// decide looks at.
type snapshot struct {
	Instance
	def      *definition.Definition // nil until it is found; progress is empty then
	progress progress
	input    map[string]any // decoded on first use
	outputs  map[string]any // decoded on first use, by state
}

// newSnapshot decodes the data of in, which runs on def.
func newSnapshot(in Instance, def *definition.Definition) (*snapshot, error) {
	s := &snapshot{Instance: in, def: def}
	if len(in.Data) > 0 {
		if err := json.Unmarshal(in.Data, &s.progress); err != nil {
			return nil, fmt.Errorf("decode the data of %s: %w", in.ID, err)
		}
	}
	return s, nil
}

// vars gives the expressions their values. What is decoded stays for the next
// transition of the same tick.
func (s *snapshot) vars(now time.Time) (*definition.Vars, error) {
	if s.input == nil {
		input, err := s.def.ReadInput(s.Input)
		if err != nil {
			return nil, fmt.Errorf("read the stored input: %w", err)
		}
		s.input = input
	}
	if s.outputs == nil {
		s.outputs = make(map[string]any, len(s.progress.Outputs))
	}
	for state, raw := range s.progress.Outputs {
		if _, ok := s.outputs[state]; ok {
			continue
		}
		st := s.def.State(state)
		if st == nil {
			continue // no expression can name it
		}
		out, err := st.ReadOutput(raw)
		if err != nil {
			return nil, fmt.Errorf("read the stored output of %s: %w", state, err)
		}
		s.outputs[state] = out
	}
	return &definition.Vars{
		Input: s.input,
		Instance: definition.InstanceVars{
			ID: s.ID, Workflow: s.Workflow, Version: s.DefVersion, StartedAt: s.StartedAt,
		},
		Now:    now,
		States: s.outputs,
		Error:  s.progress.Error,
	}, nil
}

// key is the idempotency key of the state's step, or of its undo: equal for all
// attempts and operator retries of one visit.
func (s *snapshot) key() string {
	if s.undoing() {
		return s.visitKey(s.progress.Done[len(s.progress.Done)-1].Visit) + undoSuffix
	}
	return s.visitKey(s.progress.Visits[s.State])
}

func (s *snapshot) visitKey(visit int) string {
	return s.ID + "/" + s.State + "/" + strconv.Itoa(visit)
}
