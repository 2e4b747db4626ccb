package definition

import (
	"time"

	"github.com/pawl-dev/pawl/engine/expression"
)

// FormatDuration writes d as the language does: 1h30m, 7d, 250ms.
func FormatDuration(d time.Duration) string { return expression.FormatDuration(d) }
