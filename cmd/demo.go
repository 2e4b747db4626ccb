package pawlcmd

import (
	"context"
	"errors"

	"github.com/spf13/cobra"

	"github.com/pawl-dev/pawl/cmd/demo"
)

func demoCommand(e *env) *cobra.Command {
	cfg := demo.Config{Program: e.opts.Name, Queue: QueueName, Out: e.out, Now: e.now}
	c := &cobra.Command{
		Use:   "demo",
		Short: "Show the main job on a throw-away git repository",
		Long: "Open three pull requests on a throw-away git repository and drive them by ticks: one merges;\n" +
			"one merges, fails to be indexed, is mended and retried at that step alone; one conflicts.\n" +
			"Needs git and no network. With --dir everything stays there to be looked at.",
		Args: noArgs,
		RunE: func(c *cobra.Command, _ []string) error { return e.demo(c.Context(), cfg) },
	}
	c.Flags().StringVar(&cfg.Dir, "dir", "", "keep repo.git, pawl.db and index in this new `DIR`")
	return c
}

func (e *env) demo(ctx context.Context, cfg demo.Config) error {
	err := demo.Run(ctx, cfg)
	if errors.Is(err, demo.ErrDir) {
		return usage(err)
	}
	return err
}
