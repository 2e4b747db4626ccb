package engine

import "errors"

// Conditions that a caller may test for with errors.Is.
var (
	// ErrNotFound means that the store keeps nothing under that id. Nothing
	// was changed.
	ErrNotFound = errors.New("not found")

	// ErrConflict means that the instance is not what the caller took it for:
	// somebody was faster, the key is taken by another input, or its present
	// state does not allow the operation. Nothing was changed.
	ErrConflict = errors.New("conflict")

	// ErrLeaseLost means that another claim came after this one. The work may
	// have been done twice; it was recorded once.
	ErrLeaseLost = errors.New("lease lost")

	// ErrUnknown means that a write may or may not have happened. Every write
	// of a store is safe to repeat, which settles it.
	ErrUnknown = errors.New("outcome of the write is unknown")

	// ErrUnavailable means that the store cannot be reached or is too busy.
	// Nothing was changed; the same call may succeed later.
	ErrUnavailable = errors.New("store unavailable")

	// ErrTooLarge means that a value is over a documented limit. Nothing was
	// stored.
	ErrTooLarge = errors.New("too large")

	// ErrSchema means that the tables of the store do not fit this program.
	// The text says whether to migrate them or to update the program.
	ErrSchema = errors.New("schema mismatch")

	// ErrInvalid means that the request itself is wrong; the text says where
	// and how to mend it. Nothing was stored.
	ErrInvalid = errors.New("invalid request")

	// ErrClockSkew means that the local clock moved against the store's by
	// more than a third of a lease. Nothing was claimed.
	ErrClockSkew = errors.New("clock skew")

	// ErrShutdown is the cause of a handler's cancelled context when the tick
	// is asked to stop. The attempt is given back.
	ErrShutdown = errors.New("engine is shutting down")
)
