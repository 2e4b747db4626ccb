package engine

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/pawl-dev/pawl/engine/definition"
)

// A signal is the output of the await that it ends: guards and the states
// behind it see its payload, by its types.
func TestDecideSignal(t *testing.T) {
	def, diags := definition.Parse("w.yaml", []byte(`pawl: 1
workflow: w
version: 1
on_failure: {policy: mark_failed, to: FAILED}
start: ANSWER
states:
  ANSWER:
    await:
      approve: B
      reject:
        - when: ${{ output.payload.final }}
          to: FAILED
        - to: B
    payload: {by: string, at: timestamp, final: boolean}
    timeout: 3d
  B:
    step: h.b
    with:
      by: ${{ states.ANSWER.output.payload.by }}
      next_day: ${{ states.ANSWER.output.payload.at + duration('24h') }}
      how: ${{ states.ANSWER.output.signal }}
    next: DONE
  DONE: {end: succeeded}
  FAILED: {end: failed}
`))
	if err := diags.Err(); err != nil {
		t.Fatal(err)
	}
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	m := moment{now: now, worker: "w", runs: func(string) bool { return true }}
	tests := []struct {
		signal, payload   string
		state, with, code string
		status            Status
	}{
		{
			"approve", `{"by":"ann","at":"2026-03-01T12:00:00Z","final":true}`,
			"B", `{"by":"ann","how":"approve","next_day":"2026-03-02T12:00:00Z"}`, "", Running,
		},
		{
			"reject", `{"by":"ann","at":"2026-03-01T12:00:00Z","final":false}`,
			"B", `{"by":"ann","how":"reject","next_day":"2026-03-02T12:00:00Z"}`, "", Running,
		},
		{"reject", `{"by":"ann","at":"2026-03-01T12:00:00Z","final":true}`, "FAILED", "", "declined", Failed},
		{"other", `{}`, "ANSWER", "", "", Parked},
	}
	for _, tt := range tests {
		n, err := newInstance(def, StartRequest{Workflow: "w"}, m)
		if err != nil {
			t.Fatal(err)
		}
		s, err := newSnapshot(n.Instance, def)
		if err != nil {
			t.Fatal(err)
		}
		if s.Status != Waiting || !s.DueAt.Equal(now.Add(3*24*time.Hour)) {
			t.Fatalf("at the start it is %s, due %s", s.Status, s.DueAt)
		}
		tr, _ := decide(s, outcome{kind: outcomeSignal, signal: tt.signal, out: json.RawMessage(tt.payload)}, m)
		in := tr.Instance
		if in.State != tt.state || string(in.With) != tt.with || in.Status != tt.status || in.Code != tt.code {
			t.Errorf("%s %s: %s in %s with %s, code %s: %s", tt.signal, tt.payload, in.Status, in.State, in.With, in.Code, in.Message)
		}
	}
}
