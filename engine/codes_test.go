package engine_test

import (
	"strings"
	"testing"

	"github.com/pawl-dev/pawl/engine/definition"
)

// A code that the engine itself gives cannot be a handler's: a catch: for it
// would never be, or be taken for something else.
func TestHandlersCannotDeclareTheEnginesCodes(t *testing.T) {
	for _, code := range []string{
		"timeout", "unknown", "panic", "any", "failed", "deadline", "cancelled", "declined", "expression", "too_large", "limit",
	} {
		w := newWorld(t)
		w.handle("h.a", ok, code)
		w.handle("h.b", ok)
		_, err := w.tryOpen(w.cfg, demo)
		if err == nil || !strings.Contains(err.Error(), `the code "`+code+`"`) || !strings.Contains(err.Error(), "[name-clash]") {
			t.Errorf("a handler that declares %q: %v, want name-clash", code, err)
		}
	}
}

// catch: names only what can arrive there.
func TestCatchOfTheEnginesCodes(t *testing.T) {
	for code, good := range map[string]bool{
		"timeout": true, "unknown": true, "panic": true, "any": true,
		"failed": false, "deadline": false, "cancelled": false, "declined": false, "expression": false, "too_large": false, "limit": false,
	} {
		src := strings.Replace(demo, "next: B}", "next: B, catch: {"+code+": FAILED}}", 1)
		_, diags := definition.Parse("demo.yaml", []byte(src))
		if err := diags.Err(); (err == nil) != good {
			t.Errorf("catch: {%s: FAILED}: %v, want it accepted: %t", code, err, good)
		}
	}
}
