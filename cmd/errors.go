package pawlcmd

import (
	"errors"
	"fmt"
	"strings"

	"github.com/pawl-dev/pawl/engine"
)

// The exit codes of the process.
const (
	exitDone     = 0
	exitFailed   = 1
	exitUsage    = 2
	exitConflict = 3
	exitNotFound = 4
)

// errUsage means that the command was called in a wrong way.
var errUsage = errors.New("wrong use")

// usageError is an error of the command line, whose text stands alone.
type usageError struct{ err error }

func (u *usageError) Error() string        { return u.err.Error() }
func (u *usageError) Unwrap() error        { return u.err }
func (u *usageError) Is(target error) bool { return target == errUsage }

func usage(err error) error { return &usageError{err: err} }

func usagef(format string, args ...any) error { return usage(fmt.Errorf(format, args...)) }

// silent is an error whose text the command has printed in its own way.
type silentError struct{ code int }

func (s *silentError) Error() string { return fmt.Sprintf("exit code %d", s.code) }

// exitCode says what err means to a caller of the process.
func exitCode(err error) int {
	if s, ok := errors.AsType[*silentError](err); ok {
		return s.code
	}
	switch {
	case err == nil:
		return exitDone
	case errors.Is(err, engine.ErrNotFound):
		return exitNotFound
	case errors.Is(err, engine.ErrConflict), errors.Is(err, engine.ErrLeaseLost):
		return exitConflict
	case errors.Is(err, errUsage), errors.Is(err, engine.ErrInvalid), errors.Is(err, engine.ErrTooLarge):
		return exitUsage
	default:
		return exitFailed
	}
}

// report prints err and returns the exit code. Errors that were joined are a
// line each, which begins with the name of the program.
func (e *env) report(err error) int {
	code := exitCode(err)
	if _, ok := errors.AsType[*silentError](err); ok || code == exitDone {
		return code
	}
	for line := range strings.Lines(err.Error()) {
		if line = strings.TrimSpace(line); line != "" {
			fmt.Fprintf(e.err, "%s: %s\n", e.opts.Name, printable(line))
		}
	}
	return code
}
