package definition

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/pawl-dev/pawl/engine/expression"
)

// state explains a state of any kind.
func (x *explainer) state(s *State) {
	at := "states." + s.Name
	switch s.Kind {
	case StepState:
		x.step(at, s)
	case WaitState:
		x.wait(at, s)
	case AwaitState:
		x.await(at, s)
	case EndState:
		x.end(at, s)
	}
	for i, e := range s.Emit {
		text := e.Event
		if e.Key != nil {
			text += ", key " + show(e.Key)
		}
		if e.Payload != nil {
			text += ", payload " + show(e.Payload)
		}
		x.add(fmt.Sprintf("%s.emit.%d", at, i+1), text, "written in the transaction that enters the state")
	}
	x.texts(at, s.Title, s.Description, s.Meta)
}

func (x *explainer) step(at string, s *State) {
	x.add(at+".step", s.Step, "")
	x.with(at+".with", s.With, "the input of the workflow")
	x.add(at+".next", showBranches(s.Next), "")
	x.catch(at, s)
	x.inherit(at+".timeout", expression.FormatDuration(s.Timeout), "of one attempt", "defaults.timeout", FromDefaults)
	x.retry(at+".retry", "defaults.retry", s.Retry, s.AtMostOnce)
	x.fact(at+".errors", x.errors(s), "what the step calls permanent leads there at once")
	x.fact(at+".worst_case", x.worstCase(s), x.worstNote(s))
	x.onFailure(at, s)
	x.add(at+".irreversible", strconv.FormatBool(s.Irreversible), "")
	note := ""
	if s.AtMostOnce {
		note = "so max_attempts is 1; if nobody knows what became of the attempt, it fails with the code unknown"
	}
	x.add(at+".at_most_once", strconv.FormatBool(s.AtMostOnce), note)
	if s.Batch == 0 {
		x.add(at+".batch", "none", "a call of the step takes one instance")
	} else {
		x.add(at+".batch", strconv.Itoa(s.Batch), "a call of the step takes so many instances at most")
	}
	x.concurrency(at, s.Concurrency)
	x.compensation(at, s)
}

func (x *explainer) with(path string, with *Value, otherwise string) {
	if with == nil {
		x.add(path, otherwise, "")
		return
	}
	if len(with.items) == 0 {
		x.add(path, "{}", "")
	}
	order := make([]int, len(with.items)) // as in the file
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int {
		x, y := with.keys[a].at, with.keys[b].at
		return cmp.Or(cmp.Compare(x.line, y.line), cmp.Compare(x.col, y.col))
	})
	for _, i := range order {
		x.add(joined(path, with.keys[i].name), show(with.items[i]), "")
	}
}

func (x *explainer) catch(at string, s *State) {
	codes := sortedCodes(s.Catch)
	if len(codes) == 0 {
		x.add(at+".catch", "none", "")
	}
	for _, code := range codes {
		x.add(at+".catch."+code, showBranches(s.Catch[code]), "")
	}
}

// retry explains a retry rule. Fields that are not written at path may be
// written at another place.
func (x *explainer) retry(path, other string, r Retry, once bool) {
	add := func(field, value, note string) {
		from := ""
		if other != "" {
			from = other + "." + field
		}
		x.inherit(path+"."+field, value, note, from, FromDefaults)
	}
	if once {
		at := strings.TrimSuffix(path, ".retry") + ".at_most_once"
		x.list = append(x.list, Setting{Path: path + ".max_attempts", Value: "1", From: FromOthers, Line: x.lines[at], Note: "by at_most_once"})
	} else {
		add("max_attempts", strconv.Itoa(r.MaxAttempts), "the first one included")
	}
	add("initial_delay", expression.FormatDuration(r.InitialDelay), "")
	add("backoff", strconv.FormatFloat(r.Backoff, 'f', -1, 64), "")
	add("max_delay", expression.FormatDuration(r.MaxDelay), "")
	add("jitter", strconv.FormatFloat(r.Jitter, 'f', -1, 64), "the share of a delay that chance takes away")
	if len(r.Except) == 0 {
		add("except", "none", "")
	} else {
		add("except", strings.Join(r.Except, ", "), "not tried again")
	}
	if r.CountOutage {
		add("outage", "count", "an attempt that finds the target down counts like any other")
	} else {
		add("outage", "wait", "an attempt that finds the target down does not count")
	}
	x.fact(path+".delays", showDelays(r), "between the attempts, before jitter")
}

// few equal delays are listed one by one.
const few = 3

// showDelays lists the delays of a retry rule, those at the limit once.
func showDelays(r Retry) string {
	if r.MaxAttempts == 1 {
		return "none"
	}
	var parts []string
	for n := 1; n < r.MaxAttempts; n++ {
		d := backOff(r, n)
		if rest := r.MaxAttempts - n; d >= r.MaxDelay && rest > few {
			if n == 1 {
				return fmt.Sprintf("%d times %s", rest, expression.FormatDuration(d))
			}
			return fmt.Sprintf("%s, then %d times %s", strings.Join(parts, " "), rest, expression.FormatDuration(d))
		}
		parts = append(parts, expression.FormatDuration(d))
	}
	return strings.Join(parts, " ")
}

// backOff is the delay after the n-th attempt, before jitter.
func backOff(r Retry, n int) time.Duration {
	d := float64(r.InitialDelay) * math.Pow(r.Backoff, float64(n-1))
	if d >= float64(r.MaxDelay) {
		return r.MaxDelay
	}
	return time.Duration(d).Round(time.Millisecond)
}

func (x *explainer) worstCase(s *State) string {
	if s.OnFailure.Policy == Forward {
		return "without end"
	}
	return expression.FormatDuration(worstCase(s.Retry, s.Timeout))
}

func (x *explainer) worstNote(s *State) string {
	long := expression.FormatDuration(worstCase(s.Retry, s.Timeout))
	note := attempts(s.Retry.MaxAttempts) + " of " + expression.FormatDuration(s.Timeout)
	if s.Retry.MaxAttempts > 1 {
		note += " and the delays"
	}
	if s.OnFailure.Policy == Forward {
		note = long + " for " + attempts(s.Retry.MaxAttempts) + ", then once every " + expression.FormatDuration(s.Retry.MaxDelay)
	}
	if !s.Retry.CountOutage {
		note += "; an outage of the target comes on top"
	}
	if x.def.Deadline > 0 {
		note += "; the deadline ends it after " + expression.FormatDuration(x.def.Deadline)
	}
	return note
}

func attempts(n int) string {
	if n == 1 {
		return "1 attempt"
	}
	return fmt.Sprintf("%d attempts", n)
}

func (x *explainer) wait(at string, s *State) {
	if s.Wait.For != nil {
		text := show(s.Wait.For)
		if s.Wait.For.expr == nil {
			text, _ = s.Wait.For.lit.(string)
		}
		x.add(at+".wait.for", text, "from the entry on")
	} else {
		x.add(at+".wait.until", show(s.Wait.Until), "at once if that is over")
	}
	x.add(at+".next", showBranches(s.Next), "")
}

func (x *explainer) await(at string, s *State) {
	for _, signal := range s.Signals {
		x.add(at+".await."+signal.Name, showBranches(signal.Next), "")
	}
	x.fields(at+".payload", s.Payload, "the signals carry no data")
	note := "waits until a signal comes"
	if x.def.Deadline > 0 {
		note += ", or the deadline of " + expression.FormatDuration(x.def.Deadline) + " ends the instance"
	}
	if s.Timeout > 0 {
		note = "from the entry on"
	}
	x.add(at+".timeout", orNone(s.Timeout), note)
	x.catch(at, s)
	if s.Timeout > 0 {
		x.fact(at+".errors", x.errors(s), "")
	}
	x.onFailure(at, s)
}

func (x *explainer) end(at string, s *State) {
	value, kept := "succeeded", x.def.Retention.Succeeded
	if s.Failed {
		value, kept = "failed", x.def.Retention.Failed
	}
	note := "the instance is kept for ever"
	if kept > 0 {
		note = "the instance is deleted " + expression.FormatDuration(kept) + " later"
	}
	x.add(at+".end", value, note)
	x.with(at+".output", s.Output, "none")
}
