package engine

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
)

// lateHandlers counts the handlers that run on although their attempt is over.
type lateHandlers struct {
	mu      sync.Mutex
	running map[string]int // instance and state -> count
	idle    chan struct{}  // closed when running gets empty; nil if it is
}

func (l *lateHandlers) add(name string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.running == nil {
		l.running = make(map[string]int)
	}
	if len(l.running) == 0 {
		l.idle = make(chan struct{})
	}
	l.running[name]++
}

func (l *lateHandlers) done(name string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.running[name]--; l.running[name] <= 0 {
		delete(l.running, name)
	}
	if len(l.running) == 0 {
		close(l.idle)
	}
}

func (l *lateHandlers) wait(ctx context.Context) error {
	l.mu.Lock()
	idle := l.idle
	n := len(l.running)
	l.mu.Unlock()
	if n == 0 {
		return nil
	}
	select {
	case <-idle:
		return nil
	case <-ctx.Done():
		l.mu.Lock()
		defer l.mu.Unlock()
		names := slices.Sorted(maps.Keys(l.running))
		return fmt.Errorf("%d handlers still run although their attempts are over: %s: %w",
			len(names), strings.Join(names, ", "), context.Cause(ctx))
	}
}
