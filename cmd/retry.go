package pawlcmd

import (
	"context"
	"os/user"

	"github.com/spf13/cobra"

	"github.com/pawl-dev/pawl/engine"
)

// retriedJSON is the answer of retry.
type retriedJSON struct {
	ID           string `json:"id"`
	State        string `json:"state"` // that is entered again
	Step         string `json:"step"`  // that will run
	Version      int64  `json:"version"`
	QueuedBehind string `json:"queued_behind,omitempty"`
	DryRun       bool   `json:"dry_run,omitempty"`
}

func retryCommand(e *env) *cobra.Command {
	var op engine.Operator
	c := &cobra.Command{
		Use:   "retry ID",
		Short: "Run the failed step of an instance again",
		Long: "Run the failed step of a failed or parked instance again, with the input that is stored,\n" +
			"fresh attempts and a fresh deadline. Nothing before that step runs again. An instance that\n" +
			"has not failed is a conflict (exit code 3).",
		Example: "  " + e.opts.Name + ` retry pr-merge/42 --reason "search is back"` + "\n" +
			"  " + e.opts.Name + " retry pr-merge/42 --dry-run",
		Args:              oneArg("the id of an instance (in quotes, if it has spaces)"),
		ValidArgsFunction: e.completeID(engine.Failed, engine.Parked, engine.CompensationFailed, engine.Stuck),
		RunE: func(c *cobra.Command, args []string) error {
			if op.ExpectVersion < 0 {
				return usagef("--expect-version is %d; write the version that show prints", op.ExpectVersion)
			}
			if op.Actor == "" {
				op.Actor = userName()
			}
			return e.retry(c.Context(), args[0], op)
		},
	}
	c.Flags().StringVar(&op.Reason, "reason", "", "why; it stays in the history")
	c.Flags().StringVar(&op.Actor, "actor", "", "who; it stays in the history (default: the user of the system)")
	c.Flags().Int64Var(&op.ExpectVersion, "expect-version", 0, "refuse unless the instance has this `VERSION`")
	c.Flags().BoolVar(&op.DryRun, "dry-run", false, "check everything and change nothing")
	return c
}

// userName is the name of the user that runs the process.
func userName() string {
	u, err := user.Current()
	if err != nil || u.Username == "" {
		return "unknown"
	}
	return u.Username
}

func (e *env) retry(ctx context.Context, id string, op engine.Operator) error {
	s, err := e.look(ctx)
	if err != nil {
		return err
	}
	return s.with(func() error {
		got, err := s.Retry(ctx, id, op)
		if err != nil {
			return e.explain(id, err)
		}
		if e.json() {
			return e.print(retriedJSON{
				ID: got.ID, State: got.State, Step: got.Step, Version: got.Version,
				QueuedBehind: got.QueuedBehind, DryRun: op.DryRun,
			})
		}
		verb := "runs again"
		if op.DryRun {
			verb = "would run again"
		}
		e.printf("%s: %s (%s) %s, version %d\n", printable(got.ID), got.State, got.Step, verb, got.Version)
		if got.QueuedBehind != "" {
			e.printf("it waits in line behind %s\n", printable(got.QueuedBehind))
		}
		return nil
	})
}
