package diagram

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/pawl-dev/pawl/engine/definition"
)

func sortedCodes(catch map[string][]definition.Branch) []string {
	return slices.Sorted(maps.Keys(catch))
}

// newNode says what stands in the box of a state, and what its tooltip adds.
func newNode(def *definition.Definition, s *definition.State) *node {
	n := &node{name: s.Name, kind: s.Kind, start: s.Name == def.Start, bad: s.Failed, pivot: s.Irreversible}
	n.tip = []string{s.Name}
	for _, text := range []string{s.Title, s.Description} {
		if text != "" {
			n.tip = append(n.tip, text)
		}
	}
	n.line(s.Title)
	switch s.Kind {
	case definition.StepState:
		n.step(s)
	case definition.WaitState:
		n.line(waitText(s.Wait))
		n.tip = append(n.tip, waitText(s.Wait))
	case definition.AwaitState:
		n.line(awaitText(s))
		n.tip = append(n.tip, awaitText(s))
	case definition.EndState:
		n.end(def, s)
	}
	for _, e := range s.Emit {
		n.tip = append(n.tip, "emits "+e.Event)
	}
	return n
}

func (n *node) line(text string) {
	if text = oneLine(text, nodeWidth); text != "" {
		n.lines = append(n.lines, text)
	}
}

func (n *node) step(s *definition.State) {
	n.line(s.Step)
	n.tip = append(n.tip, fmt.Sprintf("step %s, at most %d attempts, %s each", s.Step, s.Retry.MaxAttempts, duration(s.Timeout)))
	if s.Irreversible {
		n.tip = append(n.tip, "irreversible: once it has run, nothing before it is undone")
	}
	if s.AtMostOnce {
		n.line("at most once")
	}
	if s.Batch > 0 {
		n.tip = append(n.tip, fmt.Sprintf("up to %d instances in one call", s.Batch))
	}
	if s.Concurrency != nil {
		n.tip = append(n.tip, "one instance at a time for "+s.Concurrency.Key.Source())
	}
	if s.OnFailure.Policy == definition.Forward {
		n.line("forward: never gives up")
	}
	if s.Undoes() {
		n.undo = s.Compensate.Step
		n.tip = append(n.tip, "undone by "+n.undo)
	}
}

func (n *node) end(def *definition.Definition, s *definition.State) {
	if !s.Failed {
		n.tip = append(n.tip, "end: succeeded")
		return
	}
	n.tip = append(n.tip, "end: failed")
	if def.OnFailure.To != s.Name {
		return
	}
	n.line(policyText(def.OnFailure.Policy))
	if def.Deadline > 0 {
		n.line("deadline: " + duration(def.Deadline))
	}
}

func waitText(w *definition.Wait) string {
	switch {
	case w == nil:
		return ""
	case w.For != nil:
		return "wait " + w.For.Source()
	default:
		return "wait until " + w.Until.Source()
	}
}

func awaitText(s *definition.State) string {
	if s.Timeout == 0 {
		return "await a signal"
	}
	return "await a signal for " + duration(s.Timeout)
}

// duration writes d in the units of the language.
func duration(d time.Duration) string {
	const day = 24 * time.Hour
	var text strings.Builder
	for _, u := range []struct {
		name string
		size time.Duration
	}{{"d", day}, {"h", time.Hour}, {"m", time.Minute}, {"s", time.Second}, {"ms", time.Millisecond}} {
		if n := d / u.size; n > 0 {
			fmt.Fprintf(&text, "%d%s", n, u.name)
			d %= u.size
		}
	}
	if text.Len() == 0 {
		return "0s"
	}
	return text.String()
}
