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

// judge collects the verdicts in the chain of err: Fail("x", RetryAfter(e, d))
// has both meanings.
func judge(err error) verdict {
	sum := verdict{err: err}
	for err != nil {
		v, ok := errors.AsType[*verdict](err)
		if !ok {
			break
		}
		if sum.code == "" {
			sum.code = v.code
		}
		sum.definite = sum.definite || v.definite
		sum.final = sum.final || v.final
		sum.down = sum.down || v.down
		sum.wait = sum.wait || v.wait
		sum.after = max(sum.after, v.after)
		err = v.err
	}
	return sum
}
