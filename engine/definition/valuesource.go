package definition

import "strings"

// Source returns how v is written, for people: an expression without its
// marker, a literal as its text, a map or list as JSON or, if it holds
// expressions, as nothing.
func (v *Value) Source() string {
	switch {
	case v == nil:
		return ""
	case v.expr != nil:
		return strings.TrimSpace(v.expr.src)
	}
	if text, ok := v.lit.(string); ok {
		return text
	}
	return string(v.raw)
}
