package engine_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/pawl-dev/pawl/engine"
)

// Each transition is one record, with the labels as plain keys, failures at
// WARN. The keys are a promise to those who filter by them.
func TestEveryTransitionIsLoggedOnce(t *testing.T) {
	w := newWorld(t)
	w.logTo()
	w.handle("h.a", scripted(errBoom, nil).run)
	w.handle("h.b", scripted(engine.Permanent(errBoom), nil).run)
	src := strings.Replace(demo, "on_failure:", "labels: {pr_id: \"${{ input.id }}\", to: \"${{ input.id }}\"}\non_failure:", 1)
	w.open(src)
	w.settle(w.start("demo", "42"))
	if _, err := w.eng.Retry(context.Background(), "demo/42", engine.Operator{Actor: "alice", Reason: "disk is free again"}); err != nil {
		t.Fatal(err)
	}
	w.settle("demo/42")
	want := `level=WARN msg=transition workflow=demo instance=demo/42 from=A to=A reason=retry attempt=1 code=unknown error=boom actor=w1 pr_id=42 label_to=42
level=INFO msg=transition workflow=demo instance=demo/42 from=A to=B reason=done attempt=2 actor=w1 pr_id=42 label_to=42
level=WARN msg=transition workflow=demo instance=demo/42 from=B to=FAILED reason=failed attempt=1 failed_state=B code=failed error=boom actor=w1 pr_id=42 label_to=42
level=INFO msg=transition workflow=demo instance=demo/42 from=FAILED to=B reason=operator attempt=1 note="disk is free again" actor=alice pr_id=42 label_to=42
level=INFO msg=transition workflow=demo instance=demo/42 from=B to=DONE reason=done attempt=1 actor=w1 pr_id=42 label_to=42
`
	if got := w.log.String(); got != want {
		t.Errorf("log:\n%s\nwant:\n%s", got, want)
	}
	if n := strings.Count(w.log.String(), "\n"); n != len(w.story("demo/42")) {
		t.Errorf("%d records and %d lines of history, want as many", n, len(w.story("demo/42")))
	}
}

// What a handler was given and what it answered is never logged.
func TestPayloadsAreNotLogged(t *testing.T) {
	w := newWorld(t)
	w.logTo()
	engine.Register(&w.reg, "h.a", func(context.Context, engine.Call[json.RawMessage]) (string, error) { return "secret-output", nil }, engine.Handler{})
	w.handle("h.b", ok)
	w.open(demo, strings.NewReplacer(
		"workflow: demo", "workflow: declining",
		"next: B}", "next: [{when: \"${{ output == 'green' }}\", to: B}, {to: FAILED}]}",
	).Replace(demo))
	w.settle(w.start("demo", "1"))
	if in := w.settle(w.start("declining", "1")); in.Code != "declined" {
		t.Errorf("setup: %s %s", in.State, in.Code)
	}
	if strings.Contains(w.log.String(), "secret") || !strings.Contains(w.log.String(), "msg=transition") {
		t.Errorf("log: %s", w.log.String())
	}
}
