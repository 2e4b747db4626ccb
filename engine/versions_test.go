package engine_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-dev/pawl/engine"
)

// merging is a workflow of three steps, the one in the middle of which is
// slow. Its later versions change what stands around.
const merging = `pawl: 1
workflow: pr-merge
version: 1
input: {id: string}
instance_key: ${{ input.id }}
on_failure: {policy: mark_failed, to: FAILED}
start: A
states:
  A: {step: h.a, next: B}
  B: {step: h.b, next: C}
  C: {step: h.c, next: DONE}
  DONE: {end: succeeded}
  FAILED: {end: failed}
`

// edited returns src with parts replaced, each of which must be there.
func edited(tb testing.TB, src string, pairs ...string) string {
	tb.Helper()
	for i := 0; i < len(pairs); i += 2 {
		if !strings.Contains(src, pairs[i]) {
			tb.Fatalf("%q is not in the workflow", pairs[i])
		}
		src = strings.Replace(src, pairs[i], pairs[i+1], 1)
	}
	return src
}

// Three instances are in B of version 1. Version 2 has a step before B,
// version 3 has no B. Everybody ends on the version that they started with.
// C22.
func TestDefinitionChangesUnderRunningInstances(t *testing.T) {
	w := newWorld(t)
	ready := false
	for _, name := range []string{"h.a", "h.c", "h.x"} {
		w.handle(name, ok)
	}
	w.handle("h.b", func(context.Context, engine.Call[json.RawMessage]) error {
		if !ready {
			return engine.Wait(1, "not ready")
		}
		return nil
	})
	v2 := edited(t, merging, "version: 1", "version: 2", "next: B}", "next: X}\n  X: {step: h.x, next: B}")
	v3 := edited(t, v2, "version: 2", "version: 3", "X: {step: h.x, next: B}", "X: {step: h.x, next: C}",
		"  B: {step: h.b, next: C}\n", "")

	want := map[string][]string{}
	start := func(id string, version int, story ...string) {
		key := w.start("pr-merge", id)
		want[key] = story
		if in := w.load(key); in.DefVersion != version {
			t.Errorf("%s was started on version %d, want %d", key, in.DefVersion, version)
		}
	}
	w.open(merging)
	for i := range 3 {
		start(fmt.Sprint("old-", i), 1, "A>B done 1", "B>B wait 1", "B>C done 1", "C>DONE done 1")
	}
	w.tick()
	for id := range want {
		if in := w.load(id); in.State != "B" {
			t.Fatalf("%s is in %s, want B", id, in.State)
		}
	}
	w.open(v2)
	start("second", 2, "A>X done 1", "X>B done 1", "B>B wait 1", "B>C done 1", "C>DONE done 1")
	w.tick()
	w.open(v3)
	start("third", 3, "A>X done 1", "X>C done 1", "C>DONE done 1")
	w.tick()
	ready = true
	for id, story := range want {
		if in := w.settle(id); in.State != "DONE" || in.Status != engine.Succeeded {
			t.Errorf("%s has ended in %s, %s", id, in.State, in.Status)
		}
		if diff := cmp.Diff(story, w.story(id)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", id, diff)
		}
	}
}

// A version is one text, as far as its meaning goes.
func TestVersionIsNotReused(t *testing.T) {
	w := newWorld(t)
	for _, name := range []string{"h.a", "h.b", "h.c", "h.x"} {
		w.handle(name, ok)
	}
	v3 := edited(t, merging, "version: 1", "version: 3")
	w.open(v3)
	w.start("pr-merge", "1")

	changed := edited(t, v3, "C: {step: h.c", "C: {step: h.x")
	_, err := w.tryOpen(w.cfg, changed)
	const text = "pr-merge.yaml:3:1: version 3 of pr-merge is already stored with other content; write version: 4 [version-reused]"
	if !errors.Is(err, engine.ErrConflict) || !strings.HasPrefix(fmt.Sprint(err), text) {
		t.Errorf("Open with another text: %v\nwant %s", err, text)
	}
	if in := w.settle("pr-merge/1"); in.State != "DONE" {
		t.Errorf("the engine that was open is disturbed: %s", in.State)
	}
	for name, same := range map[string]string{
		"comments": "# changed\n" + v3, "layout": edited(t, v3, "C: {step: h.c, next: DONE}", "C:\n    next: DONE\n    step: \"h.c\""),
		"defaults": edited(t, v3, "start: A", "defaults: {timeout: 30s}\nstart: A"), "order": edited(t, v3, "  DONE: {end: succeeded}\n", "", "states:\n", "states:\n  DONE: {end: succeeded}\n"),
	} {
		if _, err := w.tryOpen(w.cfg, same); err != nil {
			t.Errorf("Open with other %s: %v, want none: the meaning is the same", name, err)
		}
	}
	if _, err := w.tryOpen(w.cfg, edited(t, changed, "version: 3", "version: 4")); err != nil {
		t.Errorf("Open of the text as version 4: %v", err)
	}
}

// An instance whose definition is gone is kept aside with the reason, and can
// be found; it has not failed. C22.
func TestMissingVersionIsParked(t *testing.T) {
	w := newWorld(t)
	for _, name := range []string{"h.a", "h.b", "h.c"} {
		w.handle(name, ok)
	}
	w.open(merging)
	ctx := context.Background()
	lost, err := w.eng.NewInstance(engine.StartRequest{Workflow: "pr-merge", Input: json.RawMessage(`{"id":"lost"}`)})
	if err != nil {
		t.Fatal(err)
	}
	lost.Instance.DefVersion, lost.Instance.DefHash = 2, "0123"
	if _, err := w.store.Insert(ctx, w.clock.Now(), []engine.New{lost}); err != nil {
		t.Fatal(err)
	}
	fine := w.start("pr-merge", "fine")
	w.tick()
	in := w.load("pr-merge/lost")
	const note = "definition missing: version 2 of pr-merge (hash 0123) is neither in this program nor in the store"
	if in.Status != engine.Parked || in.Note != note || in.Attempt != 0 || in.Failures != 0 || in.Code != "" {
		t.Errorf("%+v, want it parked with the note %q and no failure", in, note)
	}
	if got := w.load(fine); got.State != "DONE" {
		t.Errorf("the other instance is in %s, want DONE", got.State)
	}
	page, err := w.eng.List(ctx, engine.Filter{Status: engine.Parked})
	if err != nil || len(page.Instances) != 1 || page.Instances[0].ID != in.ID {
		t.Errorf("parked instances: %v, %v, want %s", page.Instances, err, in.ID)
	}
}
