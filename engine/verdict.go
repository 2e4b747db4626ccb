package engine

import (
	"errors"
	"time"
)

// verdict is a handler's opinion of its own error.
type verdict struct {
	err      error
	code     string
	definite bool // nothing happened
	final    bool // another attempt cannot help
	down     bool // the whole target is down
	wait     bool // not an error: not ready yet
	after    time.Duration
}

func (v *verdict) Error() string {
	if v.err == nil {
		return "not ready yet"
	}
	return v.err.Error()
}

func (v *verdict) Unwrap() error { return v.err }

// Fail says that the step failed for sure, nothing happened, and gives the
// failure a code that catch: may name. It is retried unless catch: or
// retry.except names the code. The code must be one that the handler declares.
func Fail(code string, err error) error {
	if err == nil {
		err = errors.New(code)
	}
	return &verdict{err: err, code: code, definite: true}
}

// Permanent says that the step failed for sure, nothing happened, and that
// another attempt cannot help. It returns nil if err is nil.
func Permanent(err error) error {
	if err == nil {
		return nil
	}
	return &verdict{err: err, definite: true, final: true}
}

// Definite says that nothing happened and that another attempt may help. It
// returns nil if err is nil.
func Definite(err error) error {
	if err == nil {
		return nil
	}
	return &verdict{err: err, definite: true}
}

// RetryAfter says that the next attempt must wait for at least d. Whether
// something happened stays as err says. It returns nil if err is nil.
func RetryAfter(err error, d time.Duration) error {
	if err == nil {
		return nil
	}
	return &verdict{err: err, after: d}
}

// TargetDown says that the whole target is down: the rest of the step's
// instances is not tried again in this tick, and by the default
// retry.outage: wait the failure does not count against max_attempts. It
// implies that nothing happened. It returns nil if err is nil.
func TargetDown(err error) error {
	if err == nil {
		return nil
	}
	return &verdict{err: err, definite: true, down: true}
}

// Wait says that the step is not ready and is to be asked again after d, which
// costs no attempt. d is at least a second; note tells people what it waits
// for.
func Wait(d time.Duration, note string) error {
	return &verdict{err: errors.New(note), definite: true, wait: true, after: max(d, time.Second)}
}

// Verdict is what a handler's error says, see [VerdictOf].
type Verdict struct {
	Code       string        // of [Fail], or empty
	Definite   bool          // nothing happened
	Permanent  bool          // another attempt cannot help
	TargetDown bool          // the whole target is down
	Wait       bool          // not ready yet, not an error
	After      time.Duration // least delay of the next attempt, or zero
}

// VerdictOf collects the verdicts in the chain of err, so that
// Fail("busy", RetryAfter(err, d)) has both meanings. It is for tests of
// handlers; the engine judges by it.
func VerdictOf(err error) Verdict {
	var sum Verdict
	for {
		v, ok := errors.AsType[*verdict](err)
		if !ok {
			return sum
		}
		if sum.Code == "" {
			sum.Code = v.code
		}
		sum.Definite = sum.Definite || v.definite
		sum.Permanent = sum.Permanent || v.final
		sum.TargetDown = sum.TargetDown || v.down
		sum.Wait = sum.Wait || v.wait
		sum.After = max(sum.After, v.after)
		err = v.err
	}
}
