//go:build !unix

package fuzztest

import "time"

// used returns the time of day, since that of the processors cannot be had.
func used() time.Duration { return time.Duration(time.Now().UnixNano()) }
