package pawlcmd

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/pawl-dev/pawl/engine"
)

// historyJSON is the answer of history.
type historyJSON struct {
	ID          string           `json:"id"`
	Transitions []transitionJSON `json:"transitions"`
}

// transitionJSON is a line of the story of an instance.
type transitionJSON struct {
	Seq             int64     `json:"seq"`
	At              time.Time `json:"at"`
	From            string    `json:"from,omitempty"`
	To              string    `json:"to"` // equal to from if the state was not left
	Reason          string    `json:"reason"`
	Attempt         int       `json:"attempt,omitempty"`
	DurationSeconds float64   `json:"duration_seconds,omitempty"` // of the attempt
	Code            string    `json:"code,omitempty"`
	Message         string    `json:"message,omitempty"`
	FailedState     string    `json:"failed_state,omitempty"`
	Actor           string    `json:"actor,omitempty"` // worker or operator
}

func historyCommand(e *env) *cobra.Command {
	return &cobra.Command{
		Use:   "history ID",
		Short: "Show what happened to an instance",
		Long: "Show what happened to an instance: a line for each attempt and each transition. Messages\n" +
			"are cut to the width of the table; -o json has them whole, and who did it.",
		Args:              oneArg("the id of an instance (in quotes, if it has spaces)"),
		ValidArgsFunction: e.completeID(),
		RunE:              func(c *cobra.Command, args []string) error { return e.history(c.Context(), args[0]) },
	}
}

func (e *env) history(ctx context.Context, id string) error {
	return e.lookAt(ctx, id, func(s *session, in engine.Instance) error {
		lines, err := allHistory(ctx, s.Engine, id)
		if err != nil {
			return e.explain(id, err)
		}
		if e.json() {
			return e.print(historyShape(id, lines))
		}
		return e.historyTable(in, lines)
	})
}

// allHistory reads all pages.
func allHistory(ctx context.Context, eng *engine.Engine, id string) ([]engine.History, error) {
	var all []engine.History
	for after := int64(0); ; {
		const page = 1000
		lines, err := eng.History(ctx, id, after, page)
		if err != nil {
			return nil, err
		}
		all = append(all, lines...)
		if len(lines) < page {
			return all, nil
		}
		after = lines[len(lines)-1].Seq
	}
}

func historyShape(id string, lines []engine.History) historyJSON {
	out := historyJSON{ID: id, Transitions: make([]transitionJSON, len(lines))}
	for i, h := range lines {
		out.Transitions[i] = transitionJSON{
			Seq: h.Seq, At: h.At.UTC(), From: h.From, To: h.To, Reason: h.Reason, Attempt: h.Attempt,
			DurationSeconds: h.Duration.Seconds(), Code: h.Code, Message: h.Message,
			FailedState: h.FailedState, Actor: h.Actor,
		}
	}
	return out
}

func (e *env) historyTable(in engine.Instance, lines []engine.History) error {
	e.printf("%s  %s version %d, started %s\n", printable(in.ID), in.Workflow, in.DefVersion, clockText(in.StartedAt))
	if len(lines) == 0 {
		e.hintf("nothing has happened yet; it is in %s since its start", in.State)
		return nil
	}
	t := table{head: []string{"TIME", "STATE", "REASON", "TRY", "TOOK", "ERROR"}}
	day := in.StartedAt.UTC().Format(time.DateOnly)
	for _, h := range lines {
		if d := h.At.UTC().Format(time.DateOnly); d != day {
			day = d
			t.add(day, "", "", "", "", "")
		}
		t.add(h.At.UTC().Format(time.TimeOnly), moveText(h), reasonText(h), tryText(h), tookText(h), remark(h))
	}
	return t.write(e.out, e.width())
}

// moveText is "A → B", or the state alone if it was not left.
func moveText(h engine.History) string {
	if h.From == h.To || h.From == "" {
		return h.To
	}
	return h.From + " → " + h.To
}

func reasonText(h engine.History) string {
	if h.Reason == engine.ReasonLate {
		return "late"
	}
	return h.Reason
}

func tryText(h engine.History) string {
	if h.Attempt == 0 {
		return ""
	}
	return fmt.Sprint(h.Attempt)
}

func tookText(h engine.History) string {
	if h.Duration == 0 {
		return ""
	}
	return span(h.Duration)
}

// remark is the error of a line, or what an operator or a handler noted.
func remark(h engine.History) string {
	text := oneLine(h.Message)
	if h.Reason == engine.ReasonOperator && text == "" {
		text = "by " + printable(h.Actor)
	}
	switch {
	case h.Code == "":
		return text
	case text == "":
		return h.Code
	default:
		return h.Code + ": " + text
	}
}

// explain adds to an error about one instance how to go on.
func (e *env) explain(id string, err error) error {
	if errors.Is(err, engine.ErrNotFound) {
		return fmt.Errorf("there is no instance %q in %s (%w); see %s list", id, e.store, engine.ErrNotFound, e.opts.Name)
	}
	return err
}
