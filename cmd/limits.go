package pawlcmd

import (
	"context"
	"fmt"

	"github.com/pawl-dev/pawl/engine"
	"github.com/pawl-dev/pawl/engine/definition"
)

// limits knows how many attempts the states of instances allow, by the
// definitions that the instances are pinned to.
type limits struct {
	eng    *engine.Engine
	byHash map[string]*definition.Definition // nil if it cannot be read
}

func newLimits(eng *engine.Engine) *limits {
	return &limits{eng: eng, byHash: make(map[string]*definition.Definition)}
}

// of returns max_attempts of the instance's state, or of the one that failed.
// It is 0 for other ends, and if the definition cannot be read: to look at an
// instance must be possible without it.
func (l *limits) of(ctx context.Context, in engine.Instance) int {
	def, ok := l.byHash[in.DefHash]
	if !ok {
		def, _ = l.eng.Definition(ctx, in) // nil if it cannot be had
		l.byHash[in.DefHash] = def
	}
	name := in.State
	if in.Status == engine.Failed {
		name = in.FailedState
	}
	if def == nil || def.State(name) == nil {
		return 0
	}
	st := def.State(name)
	if (in.Status == engine.Compensating || in.Status == engine.CompensationFailed) && st.Undoes() {
		return st.Compensate.Retry.MaxAttempts
	}
	return st.Retry.MaxAttempts
}

// countText says which attempt of how many.
func countText(n, most int) string {
	if most == 0 {
		return fmt.Sprint(n)
	}
	return fmt.Sprintf("%d of %d", n, most)
}
