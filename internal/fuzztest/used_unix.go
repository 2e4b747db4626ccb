//go:build unix

package fuzztest

import (
	"syscall"
	"time"
)

// used returns the time that the processors have given to this process.
func used() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
