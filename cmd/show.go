package pawlcmd

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/pawl-dev/pawl/engine"
)

// showJSON is the answer of show.
type showJSON struct {
	instanceJSON
	// Retry is what the command retry would do; absent if it would do nothing.
	Retry *retryPlanJSON `json:"retry,omitempty"`
}

type retryPlanJSON struct {
	State   string `json:"state,omitempty"`
	Step    string `json:"step,omitempty"`
	Refused string `json:"refused,omitempty"` // why a retry is not possible
}

func showCommand(e *env) *cobra.Command {
	return &cobra.Command{
		Use:               "show ID",
		Short:             "Show an instance: its state, its error, and what comes next",
		Args:              oneArg("the id of an instance (in quotes, if it has spaces)"),
		ValidArgsFunction: e.completeID(),
		RunE:              func(c *cobra.Command, args []string) error { return e.show(c.Context(), args[0]) },
	}
}

func (e *env) show(ctx context.Context, id string) error {
	return e.lookAt(ctx, id, func(s *session, in engine.Instance) error {
		most := newLimits(s.Engine).of(ctx, in)
		plan, err := retryPlan(ctx, s.Engine, in)
		if err != nil {
			return err
		}
		if e.json() {
			return e.print(showJSON{instanceJSON: instanceShape(in, most), Retry: plan})
		}
		return e.showText(in, most, plan)
	})
}

// retryPlan asks what a retry would do, where one is possible at all.
func retryPlan(ctx context.Context, eng *engine.Engine, in engine.Instance) (*retryPlanJSON, error) {
	switch in.Status {
	case engine.Failed, engine.Parked, engine.CompensationFailed, engine.Stuck:
	default:
		return nil, nil
	}
	plan, err := eng.Retry(ctx, in.ID, engine.Operator{Actor: "show", ExpectVersion: in.Version, DryRun: true})
	switch {
	case err == nil:
		return &retryPlanJSON{State: plan.State, Step: plan.Step}, nil
	case errors.Is(err, engine.ErrConflict):
		return &retryPlanJSON{Refused: err.Error()}, nil
	default:
		return nil, err
	}
}

// facts prints groups of names and values.
type facts struct {
	b     bytes.Buffer
	width int
}

func (f *facts) group(name string) { fmt.Fprintf(&f.b, "\n%s\n", name) }

// add prints a fact; long values are broken into lines. Empty ones are left
// out.
func (f *facts) add(name, value string) {
	if value == "" {
		return
	}
	const indent, label = 2, 10
	for _, line := range wrap(value, f.width-indent-label) {
		fmt.Fprintf(&f.b, "  %-*s%s\n", label, name, line)
		name = ""
	}
}

// json prints a JSON value.
func (f *facts) json(name string, raw json.RawMessage) {
	if len(raw) == 0 {
		return
	}
	f.group(name)
	var b bytes.Buffer
	if json.Indent(&b, raw, "", "  ") != nil {
		b.Reset()
		b.Write(raw)
	}
	for line := range strings.Lines(b.String()) {
		f.b.WriteString("  " + printable(strings.TrimRight(line, "\n")) + "\n")
	}
}

func (e *env) showText(in engine.Instance, most int, plan *retryPlanJSON) error {
	f := &facts{width: e.width()}
	now := e.now()
	f.b.WriteString(printable(in.ID) + "\n")
	f.add("state", fmt.Sprintf("%s (%s), since %s", in.State, in.Status, when(in.EnteredAt, now)))
	f.add("workflow", fmt.Sprintf("%s version %d, definition %.12s", in.Workflow, in.DefVersion, in.DefHash))
	f.add("labels", labelText(in.Labels))
	f.add("version", fmt.Sprint(in.Version))
	f.addNext(in, most, now)
	f.addError(in, plan, e.opts.Name)
	f.group("times")
	f.add("started", when(in.StartedAt, now))
	f.add("updated", when(in.UpdatedAt, now))
	f.add("ended", when(in.EndedAt, now))
	if in.EndedAt.IsZero() {
		f.add("deadline", when(in.DeadlineAt, now))
	}
	f.add("kept till", when(in.ExpireAt, now))
	f.json("input", in.Input)
	if in.Status != engine.Succeeded {
		f.json("input of the step (with)", in.With)
	}
	outputs, err := in.Outputs()
	if err != nil {
		f.group("outputs")
		f.add("error", err.Error())
	}
	for _, state := range slices.Sorted(maps.Keys(outputs)) {
		f.json("output of "+state, outputs[state])
	}
	f.json("output", in.Output)
	_, err = e.out.Write(f.b.Bytes())
	return err
}

// addNext says what happens next, and which attempt it is.
func (f *facts) addNext(in engine.Instance, most int, now time.Time) {
	if in.Status == engine.Succeeded {
		return
	}
	f.group("next")
	switch {
	case in.Status == engine.Failed:
		f.add("due", "never: it has failed, an operator decides")
	case in.Status == engine.Parked:
		f.add("due", "never: it is parked, an operator decides")
	case in.Status == engine.CompensationFailed:
		f.add("due", "never: an undo failed, an operator decides")
	case in.Status == engine.Waiting:
		f.add("waits", orText(when(in.DueAt, now), "for a signal"))
	case in.Status == engine.Queued:
		f.add("due", "when its turn comes; it waits in line for a key that another instance holds")
	case in.LeaseUntil.After(now):
		f.add("runs", in.Step+" at "+printable(in.LeaseOwner))
		f.add("lease", "until "+when(in.LeaseUntil, now))
	default:
		f.add("due", when(in.DueAt, now))
		f.add("step", in.Step)
	}
	f.add("note", in.Note)
	if text := attemptText(in, most); text != "" {
		if in.Attempt > in.Failures+1 {
			text += fmt.Sprintf(" (%d were made; an outage does not count)", in.Attempt)
		}
		f.add("attempt", text)
	}
	if in.Doubt {
		f.add("in doubt", "an attempt ended unknown: its work may have been done")
	}
}

func (f *facts) addError(in engine.Instance, plan *retryPlanJSON, program string) {
	own, undo := errorsOf(in)
	f.addErrorGroup("error", own)
	f.addErrorGroup("error of the undo", undo)
	switch {
	case plan == nil:
	case plan.Refused != "":
		f.group("retry")
		f.add("refused", plan.Refused)
	default:
		f.group("retry")
		f.add("runs", fmt.Sprintf("%s in %s again, and nothing before it", plan.Step, plan.State))
		f.add("by", fmt.Sprintf("%s retry %s --reason TEXT", program, shellWord(in.ID)))
	}
}

func (f *facts) addErrorGroup(name string, e *errorJSON) {
	if e == nil {
		return
	}
	f.group(name)
	f.add("state", e.State)
	f.add("code", e.Code)
	f.add("message", e.Message)
}

// orText returns text, or other if that is empty.
func orText(text, other string) string {
	if text == "" {
		return other
	}
	return text
}

// when shows a time and how far away it is; nothing for the zero time.
func when(t, now time.Time) string {
	switch {
	case t.IsZero():
		return ""
	case t.After(now):
		return clockText(t) + " (in " + span(t.Sub(now)) + ")"
	default:
		return clockText(t) + " (" + span(now.Sub(t)) + " ago)"
	}
}

func labelText(labels map[string]string) string {
	words := make([]string, 0, len(labels))
	for _, name := range slices.Sorted(maps.Keys(labels)) {
		words = append(words, name+"="+labels[name])
	}
	return strings.Join(words, " ")
}

// shellWord quotes s for a shell if it has to be.
func shellWord(s string) string {
	const plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+=:,./@%"
	s = printable(s)
	if s != "" && strings.Trim(s, plain) == "" {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}
