package engine_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/pawl-dev/pawl/engine"
)

// Two starts under one key are one instance. C06.
func TestStartIsIdempotentByKey(t *testing.T) {
	w := newWorld(t)
	src := strings.Replace(demo, "input: {id: string}", "input: {id: string, note: optional string}", 1)
	a := scripted()
	w.handle("h.a", a.run)
	w.handle("h.b", ok)
	w.open(src)
	start := func(input string) (engine.Started, error) {
		return w.eng.Start(context.Background(), engine.StartRequest{Workflow: "demo", Input: json.RawMessage(input)})
	}
	var wg sync.WaitGroup
	var mu sync.Mutex
	created := 0
	for range 10 {
		wg.Go(func() {
			s, err := start(`{"id": "42", "note": "x"}`)
			mu.Lock()
			defer mu.Unlock()
			if err != nil || s.Instance.ID != "demo/42" {
				t.Errorf("start: %s, %v", s.Instance.ID, err)
			}
			if s.Created {
				created++
			}
		})
	}
	wg.Wait()
	if created != 1 {
		t.Errorf("%d of 10 starts created an instance, want 1", created)
	}
	other := func(when string) {
		t.Helper()
		if _, err := start(`{"id": "42", "note": "y"}`); !errors.Is(err, engine.ErrConflict) {
			t.Errorf("start with another input %s: %v, want ErrConflict", when, err)
		}
		s, err := start(`{"note":"x",  "id":"42"}`)
		if err != nil || s.Created {
			t.Errorf("start with the same input %s: created %t, %v", when, s.Created, err)
		}
	}
	other("while it runs")
	w.tick()
	other("when it is done")
	w.tick()
	if a.count() != 1 {
		t.Errorf("the first step ran %d times, want once", a.count())
	}
}

// An instance that failed before its pivot frees its key; one that failed
// after it keeps it, so what cannot be undone is not done twice.
func TestKeyIsFreeAfterFailureBeforeThePivot(t *testing.T) {
	w := newWorld(t)
	a := scripted(engine.Permanent(errBoom), nil)
	c := scripted(engine.Permanent(errBoom))
	w.handle("h.a", a.run)
	w.handle("h.b", ok)
	w.handle("h.c", c.run)
	src := strings.Replace(demo, "next: DONE}", "next: C}\n  C: {step: h.c, next: DONE}", 1)
	w.open(src)
	first := w.settle(w.start("demo", "1"))
	if first.FailedState != "A" {
		t.Fatalf("setup: failed in %s", first.FailedState)
	}
	second := w.start("demo", "1")
	if second != "demo/1~2" {
		t.Fatalf("the second run of the key is %s, want demo/1~2", second)
	}
	_, err := w.eng.Retry(context.Background(), first.ID, engine.Operator{Actor: "alice"})
	if !errors.Is(err, engine.ErrConflict) || !strings.Contains(err.Error(), second) {
		t.Errorf("retry of the first run: %v, want a conflict that names %s", err, second)
	}
	if in := w.settle(second); in.FailedState != "C" {
		t.Fatalf("setup: the second run ended in %s", in.State)
	}
	if third := w.start("demo", "1"); third != second {
		t.Errorf("after the pivot a start made %s, want to find %s", third, second)
	}
}

// Keys are checked at start and survive everywhere. C19.
func TestOddKeys(t *testing.T) {
	w := newWorld(t)
	w.handle("h.a", ok)
	w.handle("h.b", ok)
	w.open(demo)
	start := func(key string) (engine.Started, error) {
		in, err := json.Marshal(map[string]string{"id": key})
		if err != nil {
			t.Fatal(err)
		}
		return w.eng.Start(context.Background(), engine.StartRequest{Workflow: "demo", Input: in})
	}
	good := []string{"org/repo#42", "a%2Fb", "a/b", "x y", "..", "ё/😀", "-rf", "'; DROP", "@:()", "a~b", "a~~b", "42~2"}
	ids := make(map[string]bool)
	for _, key := range good {
		s, err := start(key)
		if err != nil || !s.Created {
			t.Errorf("start %q: created %t, %v", key, s.Created, err)
			continue
		}
		if ids[s.Instance.ID] {
			t.Errorf("%q got an id that another key has: %s", key, s.Instance.ID)
		}
		ids[s.Instance.ID] = true
		if in := w.load(s.Instance.ID); in.Key != key {
			t.Errorf("%q came back as %q", key, in.Key)
		}
	}
	w.tick()
	for id := range ids {
		if in := w.load(id); in.State != "DONE" {
			t.Errorf("%q is in %s, want DONE", id, in.State)
		}
	}
	for _, key := range []string{"", strings.Repeat("k", 2048), "a\nb", "a\x00b", "\u0085"} {
		if _, err := start(key); !errors.Is(err, engine.ErrInvalid) {
			t.Errorf("start %.20q: %v, want ErrInvalid", key, err)
		}
	}
	for _, key := range []string{"a\xffb"} {
		// JSON replaces it, so this can only come by Key.
		_, err := w.eng.Start(context.Background(), engine.StartRequest{Workflow: "demo", Input: json.RawMessage(`{"id":"` + key + `"}`)})
		if err == nil {
			t.Errorf("start %q succeeded", key)
		}
	}
}

// Digits survive: stored input, guard and step see the same number. C20.
func TestNumbersKeepTheirDigits(t *testing.T) {
	const big = "634866135153775564"
	src := `pawl: 1
workflow: big
version: 1
input: {id: integer, extra: object}
on_failure: {policy: mark_failed, to: FAILED}
start: A
states:
  A:
    step: h.a
    with:
      id: ${{ input.id }}
      extra: ${{ input.extra }}
    next:
      - when: ${{ input.id == ` + big + ` and output.id == ` + big + ` }}
        to: DONE
      - to: FAILED
  DONE:
    end: succeeded
    output:
      id: ${{ states.A.output.id }}
      extra: ${{ input.extra }}
  FAILED: {end: failed}
`
	w := newWorld(t)
	var seen string
	engine.Register(&w.reg, "h.a", func(_ context.Context, c engine.Call[json.RawMessage]) (json.RawMessage, error) {
		seen = string(c.In)
		return json.RawMessage(`{"id": ` + big + `}`), nil
	}, engine.Handler{})
	w.open(src)
	input := `{"id":` + big + `,"extra":{"n":` + big + `,"f":1.10,"huge":123456789012345678901234567890}}`
	s, err := w.eng.Start(context.Background(), engine.StartRequest{Workflow: "big", Input: json.RawMessage(input)})
	if err != nil {
		t.Fatal(err)
	}
	in := w.settle(s.Instance.ID)
	if in.State != "DONE" {
		t.Fatalf("the guard was false: %s, %s", in.State, in.Message)
	}
	if string(in.Input) != input {
		t.Errorf("stored input %s, want %s", in.Input, input)
	}
	for what, text := range map[string]string{"with": seen, "output": string(in.Output)} {
		for _, digits := range []string{`"id":` + big, `"n":` + big, `123456789012345678901234567890`} {
			if !strings.Contains(text, digits) {
				t.Errorf("%s %s lacks %s", what, text, digits)
			}
		}
	}
}

// Too large or wrong data is refused before any row. C18.
func TestStartRefusesBadInput(t *testing.T) {
	w := newWorld(t)
	w.handle("h.a", ok)
	w.handle("h.b", ok)
	w.open(demo)
	tests := []struct {
		name, workflow, input, key string
		want                       error
		text                       string
	}{
		{"FiveMegabytes", "demo", `{"id":"` + strings.Repeat("x", 5<<20) + `"}`, "", engine.ErrTooLarge, "65536"},
		{"UnknownWorkflow", "dem", `{}`, "", engine.ErrInvalid, "demo"},
		{"MissingField", "demo", `{}`, "", engine.ErrInvalid, "id"},
		{"UnknownField", "demo", `{"id":"1","idd":1}`, "", engine.ErrInvalid, "idd"},
		{"WrongType", "demo", `{"id":1}`, "", engine.ErrInvalid, "string"},
		{"NotJSON", "demo", `{`, "", engine.ErrInvalid, ""},
		{"NotAnObject", "demo", `[1]`, "", engine.ErrInvalid, "object"},
		{"OtherKey", "demo", `{"id":"1"}`, "2", engine.ErrInvalid, "leave the key out"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := w.eng.Start(context.Background(), engine.StartRequest{Workflow: tt.workflow, Input: json.RawMessage(tt.input), Key: tt.key})
			if !errors.Is(err, tt.want) || !strings.Contains(fmt.Sprint(err), tt.text) {
				t.Errorf("start: %.200v; want %v with %q", err, tt.want, tt.text)
			}
		})
	}
	page, err := w.eng.List(context.Background(), engine.Filter{})
	if err != nil || len(page.Instances) != 0 {
		t.Errorf("%d rows exist after refused starts, %v", len(page.Instances), err)
	}
}
