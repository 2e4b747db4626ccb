package engine_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/pawl-dev/pawl/engine"
	"github.com/pawl-dev/pawl/engine/definition"
)

// version returns the demo as another version, with step B done by another
// handler.
func demoVersion(n, step string) string {
	return strings.NewReplacer("version: 1", "version: "+n, "h.b", step).Replace(demo)
}

// A program that lacks a step which instances of an older version still need is
// told so when it opens; nobody would notice otherwise.
func TestOldVersionNeedsItsSteps(t *testing.T) {
	w := newWorld(t)
	w.handle("h.a", ok)
	w.handle("h.b", scripted(engine.Wait(1, "not yet")).run)
	w.open(demo)
	for _, id := range []string{"0", "1", "2"} {
		w.start("demo", id)
	}
	w.tick()

	newer := engine.Registry{}
	register := func(name string) {
		engine.Register(&newer, name, func(context.Context, engine.Call[struct{}]) (struct{}, error) { return struct{}{}, nil }, engine.Handler{})
	}
	register("h.a")
	register("h.c")
	cfg := w.cfg
	cfg.Handlers = &newer
	_, err := w.tryOpen(cfg, demoVersion("2", "h.c"))
	want := "demo.yaml:3:1: 3 running instances of demo version 1 need the step h.b, which is not registered; register it or finish them first [old-version-step]"
	if err == nil || err.Error() != want {
		t.Errorf("Open: %v\nwant  %s", err, want)
	}
	if d, isDiag := errors.AsType[*definition.Diagnostic](err); !isDiag || d.Rule != "old-version-step" {
		t.Errorf("the error is a %T, want a diagnostic", err)
	}
	// With the step, and without such instances, it opens.
	register("h.b")
	if _, err := w.tryOpen(cfg, demoVersion("2", "h.c")); err != nil {
		t.Errorf("Open with the step: %v", err)
	}
	// A release that is taken back is not refused for the newer version.
	if _, err := w.tryOpen(w.cfg, demo); err != nil {
		t.Errorf("Open of the older version: %v", err)
	}
	_, err = w.tryOpen(w.cfg, strings.Replace(demo, "max_attempts: 3", "max_attempts: 4", 1))
	want = "demo.yaml:3:1: version 1 of demo is already stored with other content; write version: 3 [version-reused]"
	if err == nil || !strings.HasPrefix(err.Error(), want) || !errors.Is(err, engine.ErrConflict) {
		t.Errorf("Open of a changed text: %v\nwant %s", err, want)
	}
}
