package engine_test

import (
	"testing"

	"github.com/pawl-dev/pawl/engine"
)

func TestStepKey(t *testing.T) {
	t.Parallel()
	for key, want := range map[string]string{
		"payment/7/RESERVING/1":      "payment/7/RESERVING/1",
		"payment/7/RESERVING/1/undo": "payment/7/RESERVING/1",
		"payment/a/undo/UNDO/2/undo": "payment/a/undo/UNDO/2",
	} {
		if got := (engine.Call[int]{Key: key}).StepKey(); got != want {
			t.Errorf("StepKey of %q = %q, want %q", key, got, want)
		}
	}
}
