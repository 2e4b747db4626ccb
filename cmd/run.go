package pawlcmd

import (
	"context"
	"log/slog"
	"time"

	"github.com/spf13/cobra"
)

// Keys of the log records of run.
const (
	keyStore = "store"
	keyEvery = "every"
)

func runCommand(e *env) *cobra.Command {
	var f tickFlags
	c := &cobra.Command{
		Use:   "run",
		Short: "Stay and advance what is due",
		Long: "Stay and advance what is due, until SIGINT or SIGTERM: then no step begins any more, those\n" +
			"that run are let finish for a moment, and the process ends with code 0. A second signal\n" +
			"ends it at once. A process that is killed loses nothing: its work is taken up by the next\n" +
			"one when the lease is over. Any number of processes may run on one store.",
		Args: noArgs,
		RunE: func(c *cobra.Command, _ []string) error { return e.run(c.Context(), f) },
	}
	c.Flags().DurationVar(&f.every, "every", 5*time.Second, "how often to look for what is due")
	f.engineFlags(c)
	return c
}

func (e *env) run(ctx context.Context, f tickFlags) error {
	if err := f.check(); err != nil {
		return err
	}
	if f.every == 0 {
		return usagef("--every is 0s; write for example 5s")
	}
	log := e.logger(full)
	s, err := e.work(ctx, f.config(log))
	if err != nil {
		return err
	}
	return s.with(func() error {
		log.LogAttrs(ctx, slog.LevelInfo, "started", slog.String(keyStore, e.store), slog.Duration(keyEvery, f.every))
		err := s.Run(ctx, f.every)
		log.LogAttrs(ctx, slog.LevelInfo, "stopped")
		return err
	})
}
