// Package fuzztest makes fuzz targets fail on inputs that cost too much, which
// the fuzzer of Go does not notice: it finds crashes only.
package fuzztest

import (
	"flag"
	"fmt"
	"runtime"
	"runtime/metrics"
	"testing"
	"time"
)

// What one input may cost.
const (
	MaxTime   = time.Second // of the processors, so that a busy machine does not count
	MaxMemory = 64 << 20    // bytes in use at once
)

// hang is when an input is taken to run for ever.
const hang = 30 * time.Second

// Bounded calls f. While fuzzing it fails tb if f takes longer than MaxTime or
// uses more than MaxMemory, and ends the process if f hangs; the fuzzer then
// keeps the input. In an ordinary run of the tests, which shares time and
// memory with other tests, f is only called.
//
// f must do the same when it is called again: what was too much once is
// measured again before it counts.
func Bounded(tb testing.TB, f func()) {
	tb.Helper()
	if !Fuzzing() {
		f()
		return
	}
	watch := time.AfterFunc(hang, func() { panic(fmt.Sprintf("an input has run for %s", hang)) })
	defer watch.Stop()
	took, bytes := Measure(f)
	for range 2 {
		if took > MaxTime {
			again, _ := Measure(f)
			took = min(took, again)
		}
	}
	if bytes > MaxMemory { // a part of it may have been free again
		bytes = peak(f)
	}
	if text := complaint(took, bytes); text != "" {
		tb.Error(text)
	}
}

// Fuzzing reports whether this process runs a fuzz target with -fuzz.
func Fuzzing() bool {
	f := flag.Lookup("test.fuzz")
	return f != nil && f.Value.String() != ""
}

// Measure calls f and returns how long the processors were at it, and how much
// it has allocated. It counts what the rest of the process does meanwhile, too.
func Measure(f func()) (took time.Duration, bytes uint64) {
	before, start := read("/gc/heap/allocs:bytes"), used()
	f()
	return used() - start, read("/gc/heap/allocs:bytes") - before
}

// peak returns how much memory f has in use at once, as often as one can look.
func peak(f func()) uint64 {
	runtime.GC()
	const objects = "/memory/classes/heap/objects:bytes"
	before, most := read(objects), uint64(0)
	done, over := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(over)
		tick := time.NewTicker(time.Millisecond)
		defer tick.Stop()
		for {
			most = max(most, read(objects))
			select {
			case <-done:
				return
			case <-tick.C:
			}
		}
	}()
	f()
	close(done)
	<-over
	return most - min(before, most)
}

func read(name string) uint64 {
	sample := []metrics.Sample{{Name: name}}
	metrics.Read(sample)
	return sample[0].Value.Uint64()
}

// complaint says what was too much; it is empty if nothing was.
func complaint(took time.Duration, bytes uint64) string {
	switch {
	case took > MaxTime:
		return fmt.Sprintf("the input took %s, the limit is %s", took, MaxTime)
	case bytes > MaxMemory:
		return fmt.Sprintf("the input used %d MiB, the limit is %d MiB", bytes>>20, MaxMemory>>20)
	}
	return ""
}
