package definition

import "github.com/pawl-dev/pawl/engine/expression"

// checkOrder refuses a plain states.X.output where X has not surely completed
// before.
func (p *parser) checkOrder(s slot, ref expression.Ref) {}
