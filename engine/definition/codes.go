package definition

// The error codes that the engine gives; handlers cannot declare them. A
// catch: can name the first four.
const (
	CodeUnknown    = "unknown"    // a plain error, a lost worker
	CodeTimeout    = "timeout"    // the attempt took longer than timeout:
	CodePanic      = "panic"      // the handler panicked
	CodeAny        = "any"        // in catch: every code that can be caught
	CodeFailed     = "failed"     // a definite error without a code of its own
	CodeDeadline   = "deadline"   // the instance took longer than deadline:
	CodeCancelled  = "cancelled"  // an operator cancelled the instance
	CodeDeclined   = "declined"   // a guard led to a failed end
	CodeExpression = "expression" // an expression of the definition failed
	CodeTooLarge   = "too_large"  // an output is over the limit
	CodeLimit      = "limit"      // the instance entered too many states
)

// catchable are the codes of the engine that a catch: can name.
func catchable() []string { return []string{CodeTimeout, CodeUnknown, CodePanic, CodeAny} }

// uncatchable are the codes of the engine that no catch: can name, and why.
func uncatchable() map[string]string {
	return map[string]string{
		CodeFailed:     "it means an error without a code of its own; name any",
		CodeDeadline:   "it goes to the on_failure of the workflow",
		CodeCancelled:  "it goes to the on_failure of the workflow",
		CodeDeclined:   "it means that a guard led to a failed end",
		CodeExpression: "it means that an expression does not fit the data",
		CodeTooLarge:   "it means that an output is too large, and goes to on_failure",
		CodeLimit:      "it means that too many states were entered, and goes to the on_failure of the workflow",
	}
}

// ReservedCode reports whether the engine itself gives this code.
func ReservedCode(code string) bool {
	switch code {
	case CodeUnknown, CodeTimeout, CodePanic, CodeAny, CodeFailed:
		return true
	}
	return PastCatch(code)
}

// PastCatch reports whether an error of this code goes straight to
// on_failure:, past every catch:, any included.
func PastCatch(code string) bool {
	switch code {
	case CodeDeadline, CodeCancelled, CodeDeclined, CodeExpression, CodeTooLarge, CodeLimit:
		return true
	}
	return false
}
