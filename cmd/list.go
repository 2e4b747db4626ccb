package pawlcmd

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/pawl-dev/pawl/engine"
)

// listJSON is the answer of list.
type listJSON struct {
	Instances []instanceJSON `json:"instances"`
	Next      string         `json:"next,omitempty"` // for --after; absent on the last page
}

// listFlags are the flags of list.
type listFlags struct {
	workflow, state, status string
	labels                  []string
	limit                   int
	after                   string
	all                     bool
}

func listCommand(e *env) *cobra.Command {
	var f listFlags
	c := &cobra.Command{
		Use:   "list",
		Short: "List instances, newest first",
		Long: "List instances, newest first. ATTEMPT counts what max_attempts counts: an outage of the\n" +
			"target is not in it. NEXT is when a tick will look, or how long ago the instance ended.",
		Example: "  " + e.opts.Name + " list --workflow pr-merge --status failed\n" +
			"  " + e.opts.Name + " list --label repo_id=org/app -o json",
		Args: noArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			filter, err := f.filter()
			if err != nil {
				return err
			}
			if f.all && f.after != "" {
				return usagef("--all and --after do not go together")
			}
			return e.list(c.Context(), filter, f.all)
		},
	}
	fs := c.Flags()
	fs.StringVar(&f.workflow, "workflow", "", "only of this workflow")
	fs.StringVar(&f.state, "state", "", "only in this state")
	fs.StringVar(&f.status, "status", "", "only with this status: "+strings.Join(statuses(), ", "))
	fs.StringArrayVar(&f.labels, "label", nil, "only with this label, `NAME=VALUE`; several must all match")
	fs.IntVar(&f.limit, "limit", 50, "most instances of a page, up to 1000")
	fs.StringVar(&f.after, "after", "", "go on after a page, with its `CURSOR`")
	fs.BoolVar(&f.all, "all", false, "all pages")
	e.completeFilter(c)
	return c
}

func statuses() []string {
	return []string{
		string(engine.Running), string(engine.Queued), string(engine.Waiting), string(engine.Stuck),
		string(engine.Compensating), string(engine.CompensationFailed),
		string(engine.Succeeded), string(engine.Failed), string(engine.Parked),
	}
}

func (f listFlags) filter() (engine.Filter, error) {
	out := engine.Filter{
		Workflow: f.workflow, State: f.state, Status: engine.Status(f.status), After: f.after, Limit: f.limit,
	}
	if f.limit < 1 || f.limit > 1000 {
		return out, usagef("--limit is %d; write 1 to 1000, or --all", f.limit)
	}
	if f.status != "" && !slices.Contains(statuses(), f.status) {
		return out, usagef("--status is %q; write one of %s", f.status, strings.Join(statuses(), ", "))
	}
	for _, l := range f.labels {
		name, value, ok := strings.Cut(l, "=")
		if !ok || name == "" {
			return out, usagef("--label is %q; write NAME=VALUE", l)
		}
		if out.Labels == nil {
			out.Labels = make(map[string]string)
		}
		out.Labels[name] = value
	}
	return out, nil
}

func (e *env) list(ctx context.Context, f engine.Filter, all bool) error {
	s, err := e.look(ctx)
	if err != nil {
		return err
	}
	return s.with(func() error {
		var found []engine.Instance
		var next string
		for {
			page, err := s.List(ctx, f)
			if err != nil {
				return err
			}
			found, next = append(found, page.Instances...), page.Next
			if f.After = next; next == "" || !all {
				break
			}
		}
		lim := newLimits(s.Engine)
		if e.json() {
			return e.print(listShape(ctx, found, next, lim))
		}
		if err := e.listTable(ctx, found, lim); err != nil {
			return err
		}
		if next != "" {
			e.hintf("there are more: add --all, or --after %s", next)
		}
		return nil
	})
}

func listShape(ctx context.Context, found []engine.Instance, next string, lim *limits) listJSON {
	out := listJSON{Instances: make([]instanceJSON, len(found)), Next: next}
	for i, in := range found {
		out.Instances[i] = instanceShape(in, lim.of(ctx, in))
	}
	return out
}

func (e *env) listTable(ctx context.Context, found []engine.Instance, lim *limits) error {
	if len(found) == 0 {
		e.hintf("no instances")
		return nil
	}
	t := table{head: []string{"ID", "STATE", "STATUS", "ATTEMPT", "NEXT", "ERROR"}}
	now := e.now()
	for _, in := range found {
		t.add(printable(in.ID), in.State, string(in.Status), dash(attemptText(in, lim.of(ctx, in))), nextText(in, now), dash(in.Code))
	}
	return t.write(e.out, e.width())
}

// nextText says when something happens to the instance, or since when nothing
// does.
func nextText(in engine.Instance, now time.Time) string {
	switch {
	case !in.EndedAt.IsZero():
		return age(now.Sub(in.EndedAt)) + " ago"
	case in.Status == engine.Parked:
		return "parked"
	case in.Status == engine.CompensationFailed:
		return "undo failed"
	case in.Status == engine.Queued:
		return "in line"
	case in.LeaseUntil.After(now):
		return "runs now"
	case in.Status == engine.Waiting && in.DueAt.IsZero():
		return "at a signal"
	case in.DueAt.IsZero():
		return "-"
	case in.DueAt.After(now):
		return "in " + span(in.DueAt.Sub(now))
	default:
		return "due"
	}
}

func dash(s string) string {
	if s == "" {
		return "-"
	}
	return s
}
