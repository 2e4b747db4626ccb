package engine_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/pawl-dev/pawl/engine"
)

// Numbers that a float cannot hold go through two steps, a guard and the event
// into the body that the outbox sends, with all their digits. C20.
func TestDigitsReachTheBodyOfTheEvent(t *testing.T) {
	const id, money = "634866135153775564", "0.12345678901234567890"
	src := `pawl: 1
workflow: big
version: 1
input: {id: integer, extra: object}
on_failure: {policy: mark_failed, to: FAILED}
start: A
states:
  A:
    step: h.a
    with: {id: "${{ input.id }}", money: "${{ input.extra.money }}"}
    next:
      - {when: "${{ output.id == input.id and output.id == ` + id + ` and output.id != ` + id + ` + 1 }}", to: B}
      - to: FAILED
  B:
    step: h.b
    with: {id: "${{ states.A.output.id }}", money: "${{ states.A.output.money }}"}
    next: DONE
  DONE:
    end: succeeded
    emit:
      - event: Done
        key: ${{ string(input.id) }}
        payload: {id: "${{ states.B.output.id }}", money: "${{ states.B.output.money }}", input: "${{ input.extra }}"}
  FAILED: {end: failed}
`
	w := newWorld(t)
	// Both steps answer what they were given, as bytes: the engine must not
	// touch the numbers.
	echo := func(_ context.Context, c engine.Call[json.RawMessage]) (json.RawMessage, error) { return c.In, nil }
	engine.Register(&w.reg, "h.a", echo, engine.Handler{})
	engine.Register(&w.reg, "h.b", echo, engine.Handler{})
	var sent []event
	engine.RegisterBatch(&w.reg, "queue.publish", func(_ context.Context, calls []engine.Call[event]) []engine.Result[struct{}] {
		for _, c := range calls {
			sent = append(sent, c.In)
		}
		return make([]engine.Result[struct{}], len(calls))
	}, engine.Handler{})
	w.open(src, outbox)
	input := `{"id":` + id + `,"extra":{"money":` + money + `,"huge":` + strings.Repeat("9", 40) + `}}`
	s, err := w.eng.Start(context.Background(), engine.StartRequest{Workflow: "big", Input: json.RawMessage(input)})
	if err != nil {
		t.Fatal(err)
	}
	in := w.settle(s.Instance.ID)
	if in.State != "DONE" || string(in.Input) != input {
		t.Fatalf("%s, %s, input %s; want DONE and the input as it was", in.State, in.Message, in.Input)
	}
	want := `{"id":` + id + `,"input":{"huge":` + strings.Repeat("9", 40) + `,"money":` + money + `},"money":` + money + `}`
	if len(sent) != 1 || sent[0].Key != id || string(sent[0].Payload) != want {
		t.Errorf("sent %+v, want the key %s and the payload %s", sent, id, want)
	}
}
