package fuzztest

import (
	"testing"
	"time"
)

// keep makes what a test allocates live.
var keep []byte

func TestMeasureSeesWhatIsAllocated(t *testing.T) {
	f := func() {
		for range 10 {
			keep = make([]byte, 16<<20)
		}
	}
	if _, bytes := Measure(f); bytes < 160<<20 || bytes > 170<<20 {
		t.Errorf("measured %d MiB, want 160", bytes>>20)
	}
	if _, bytes := Measure(func() {}); bytes > 1<<20 {
		t.Errorf("measured %d bytes of nothing", bytes)
	}
}

// What is free again does not count.
func TestPeakSeesWhatIsInUse(t *testing.T) {
	keep = nil
	f := func() {
		keep = make([]byte, 80<<20)
		for i := range keep { // so that it takes longer than a look
			keep[i] = byte(i)
		}
	}
	if bytes := peak(f); bytes < 80<<20 || bytes > 100<<20 {
		t.Errorf("measured %d MiB, want 80", bytes>>20)
	}
}

func TestMeasureSeesHowLongItTook(t *testing.T) {
	begin, start := used(), time.Now()
	took, _ := Measure(func() {
		for used()-begin < 50*time.Millisecond && time.Since(start) < 10*time.Second {
			keep = append(keep[:0], 1)
		}
	})
	if took < 20*time.Millisecond {
		t.Errorf("measured %s of 50ms", took)
	}
}

func TestComplaint(t *testing.T) {
	tests := []struct {
		took  time.Duration
		bytes uint64
		want  string
	}{
		{time.Second, 64 << 20, ""},
		{2 * time.Second, 0, "the input took 2s, the limit is 1s"},
		{0, 65 << 20, "the input used 65 MiB, the limit is 64 MiB"},
	}
	for _, tt := range tests {
		if got := complaint(tt.took, tt.bytes); got != tt.want {
			t.Errorf("complaint(%s, %d) = %q, want %q", tt.took, tt.bytes, got, tt.want)
		}
	}
}

func TestBoundedCallsOnceInAnOrdinaryRun(t *testing.T) {
	calls := 0
	Bounded(t, func() { calls++ })
	if calls != 1 {
		t.Errorf("%d calls, want 1", calls)
	}
}
