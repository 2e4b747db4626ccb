package definition

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
)

// hashLength is the length of a hash in hexadecimal digits.
const hashLength = 32

// hash returns the hash of the meaning of d. It is taken over what was parsed
// and resolved, in an order of its own: comments, layout, quotes, the order of
// keys and defaults that are written out do not change it. Fields of later
// releases must be left out where they are not used, or every definition that
// is stored today would change its hash.
func hash(d *Definition) string {
	c := canonical{
		"pawl":        languageVersion,
		"workflow":    d.Workflow,
		"version":     d.Version,
		"description": d.Description,
		"meta":        d.Meta,
		"input":       canonicalFields(d.Input),
		"key":         d.InstanceKey.canonical(),
		"concurrency": canonicalConcurrency(d.Concurrency),
		"deadline":    d.Deadline,
		"retention":   []time.Duration{d.Retention.Succeeded, d.Retention.Failed},
		"on_failure":  []string{string(d.OnFailure.Policy), d.OnFailure.To},
		"start":       d.Start,
	}
	labels, states := canonical{}, canonical{}
	for _, l := range d.Labels {
		labels[l.Name] = l.Value.canonical()
	}
	for _, s := range d.States {
		states[s.Name] = s.canonical().used()
	}
	c["labels"], c["states"] = labels, states
	text, err := json.Marshal(c.used())
	if err != nil {
		// Everything in it is text, numbers, maps and lists.
		panic(fmt.Sprintf("definition: hash %s: %v", d.Workflow, err))
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])[:hashLength]
}

// canonical is a map whose encoded form is sorted.
type canonical map[string]any

// used returns c without what is not set.
func (c canonical) used() canonical {
	maps.DeleteFunc(c, func(_ string, v any) bool {
		switch v := v.(type) {
		case nil:
			return true
		case string:
			return v == ""
		case bool:
			return !v
		case int:
			return v == 0
		case time.Duration:
			return v == 0
		case map[string]string:
			return len(v) == 0
		case canonical:
			return len(v) == 0
		case []any:
			return len(v) == 0
		}
		return false
	})
	return c
}

func (s *State) canonical() canonical {
	c := canonical{
		"kind":        string(s.Kind),
		"title":       s.Title,
		"description": s.Description,
		"meta":        s.Meta,
	}
	var emits []any
	for _, e := range s.Emit {
		emits = append(emits, canonical{"event": e.Event, "key": e.Key.canonical(), "payload": e.Payload.canonical()}.used())
	}
	c["emit"] = emits
	if s.Kind == EndState {
		c["failed"], c["output"] = s.Failed, s.Output.canonical()
		return c
	}
	catch := canonical{}
	for code, branches := range s.Catch {
		catch[code] = canonicalBranches(branches)
	}
	c["next"], c["catch"], c["timeout"] = canonicalBranches(s.Next), catch, s.Timeout
	c["on_failure"] = []string{string(s.OnFailure.Policy), s.OnFailure.To}
	switch s.Kind {
	case StepState:
		c["step"], c["with"] = s.Step, s.With.canonical()
		c["retry"] = s.Retry.canonical()
		c["irreversible"], c["at_most_once"], c["batch"] = s.Irreversible, s.AtMostOnce, s.Batch
		c["concurrency"], c["compensate"] = canonicalConcurrency(s.Concurrency), s.Compensate.canonical()
	case WaitState:
		c["wait"] = canonical{"for": s.Wait.For.canonical(), "until": s.Wait.Until.canonical()}.used()
	case AwaitState:
		signals := canonical{}
		for _, sig := range s.Signals {
			signals[sig.Name] = canonicalBranches(sig.Next)
		}
		c["await"], c["payload"] = signals, canonicalFields(s.Payload)
	case EndState:
	}
	return c
}

func (r *Retry) canonical() string {
	except := slices.Sorted(slices.Values(r.Except))
	return fmt.Sprint(
		r.MaxAttempts, r.InitialDelay, r.Backoff, r.MaxDelay, r.Jitter, r.CountOutage, strings.Join(except, ","))
}

func (c *Compensation) canonical() any {
	switch {
	case c == nil:
		return nil
	case c.None:
		return noCompensation
	}
	return canonical{
		"step": c.Step, "with": c.With.canonical(), "retry": c.Retry.canonical(), "timeout": c.Timeout,
	}.used()
}

func canonicalBranches(list []Branch) []any {
	var out []any
	for _, b := range list {
		out = append(out, canonical{"when": b.When.canonical(), "to": b.To}.used())
	}
	return out
}

func canonicalConcurrency(c *Concurrency) any {
	if c == nil {
		return nil
	}
	return canonical{"key": c.Key.canonical(), "reject": c.Reject}.used()
}

func canonicalFields(fields []Field) canonical {
	c := canonical{}
	for _, f := range fields {
		c[f.Name] = canonicalType(&f.Type)
	}
	return c
}

func canonicalType(t *Type) any {
	c := canonical{"kind": string(t.Kind), "optional": t.Optional}
	if t.Elem != nil {
		c["elem"] = canonicalType(t.Elem)
	}
	if t.Fields != nil {
		c["fields"] = []any{canonicalFields(t.Fields)} // also if there are none: that is not the same as any
	}
	if len(t.Enum) > 0 {
		c["enum"] = slices.Sorted(slices.Values(t.Enum))
	}
	return c.used()
}

// canonical returns v with its expressions as texts that no literal can have.
func (v *Value) canonical() any {
	switch {
	case v == nil:
		return nil
	case v.expr != nil:
		return canonical{openExpr: v.expr.src}
	case v.isMap:
		c := canonical{}
		for i, k := range v.keys {
			c[k.name] = v.items[i].canonical()
		}
		return []any{c} // a list, so that no key can be taken for an expression
	case v.items != nil || v.lit == nil:
		list := []any{"list"}
		for _, item := range v.items {
			list = append(list, item.canonical())
		}
		return list
	}
	return canonical{"literal": v.raw}
}
