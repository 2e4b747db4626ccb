package pawlcmd

import (
	"context"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/pawl-dev/pawl/engine"
)

// reportJSON is the answer of tick: what was done.
type reportJSON struct {
	Claimed    int               `json:"claimed"`
	Steps      int               `json:"steps"`
	Committed  int               `json:"committed"`
	Succeeded  int               `json:"succeeded"`
	Failed     int               `json:"failed"`
	Retried    int               `json:"retried"`
	Queued     int               `json:"queued"`
	Parked     int               `json:"parked"`
	UndoFailed int               `json:"undo_failed"`
	Lost       int               `json:"lost"`
	Returned   int               `json:"returned"`
	Purged     int               `json:"purged"`
	Down       map[string]string `json:"down,omitempty"` // step -> why its target is down
}

// tickFlags are the flags of tick and run.
type tickFlags struct {
	budget, length, every time.Duration
	lease                 time.Duration
	concurrency           int
}

// engineFlags are those by which an engine is configured.
func (f *tickFlags) engineFlags(c *cobra.Command) {
	c.Flags().DurationVar(&f.lease, "lease", 20*time.Second,
		"how long a claim lasts without renewal: so long a killed worker blocks its instances")
	c.Flags().IntVar(&f.concurrency, "concurrency", 128, "most instances that run at once")
}

func (f *tickFlags) config(log *slog.Logger) engine.Config {
	return engine.Config{Lease: f.lease, Concurrency: f.concurrency, Logger: log}
}

// check refuses wrong values before the store is opened, and zeros, which
// engine.Config would take for "not set".
func (f *tickFlags) check() error {
	switch {
	case f.lease < time.Second:
		return usagef("--lease is %s; write 1s or more", f.lease)
	case f.concurrency < 1:
		return usagef("--concurrency is %d; write 1 or more", f.concurrency)
	case f.every < 0:
		return usagef("--every is %s; write for example 5s", f.every)
	}
	return nil
}

// checkTick checks the flags that only tick has.
func (f *tickFlags) checkTick(program string) error {
	switch {
	case f.budget <= 0:
		return usagef("--budget is %s; write for example 10s", f.budget)
	case f.length < 0:
		return usagef("--for is %s; write for example 55s", f.length)
	case f.every != 0 && f.length == 0:
		return usagef("--every belongs to --for; to tick without end use %s run --every %s", program, f.every)
	}
	return f.check()
}

func tickCommand(e *env) *cobra.Command {
	var f tickFlags
	c := &cobra.Command{
		Use:   "tick",
		Short: "Advance what is due, once or for a while",
		Long: "Advance what is due, and what becomes due by it, until nothing is left or the budget is\n" +
			"used up. No step begins after the budget, those that run are let finish. Any number of\n" +
			"ticks may run at once, on any number of machines.\n\n" +
			"With --for and --every it ticks for a while, for timers that fire rarely.",
		Example: "  " + e.opts.Name + " tick --budget 10s\n" +
			"  " + e.opts.Name + " tick --for 55s --every 5s",
		Args: noArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			if c.Flags().Changed("for") && c.Flags().Changed("budget") {
				return usagef("--for and --budget do not go together: --for is the budget of many ticks")
			}
			return e.tick(c.Context(), f)
		},
	}
	c.Flags().DurationVar(&f.budget, "budget", 10*time.Second, "how long steps may begin")
	c.Flags().DurationVar(&f.length, "for", 0, "go on ticking for so long")
	c.Flags().DurationVar(&f.every, "every", 0, "with --for: how often (default 5s)")
	f.engineFlags(c)
	return c
}

func (e *env) tick(ctx context.Context, f tickFlags) error {
	if err := f.checkTick(e.opts.Name); err != nil {
		return err
	}
	s, err := e.work(ctx, f.config(e.logger(full)))
	if err != nil {
		return err
	}
	return s.with(func() error {
		var report engine.Report
		var err error
		if f.length != 0 {
			report, err = s.RunFor(ctx, f.length, orDefault(f.every, 5*time.Second))
		} else {
			report, err = s.Tick(ctx, f.budget)
		}
		if bad := e.printReport(report); err == nil {
			err = bad
		}
		return err
	})
}

func orDefault(d, otherwise time.Duration) time.Duration {
	if d == 0 {
		return otherwise
	}
	return d
}

func (e *env) printReport(r engine.Report) error {
	if e.json() {
		return e.print(reportJSON(r))
	}
	e.printf("%d claimed, %d steps, %d committed", r.Claimed, r.Steps, r.Committed)
	for _, part := range []struct {
		n    int
		what string
	}{
		{r.Succeeded, "succeeded"},
		{r.Failed, "failed"},
		{r.Retried, "to be retried"},
		{r.Queued, "in line"},
		{r.Parked, "parked"},
		{r.UndoFailed, "not undone"},
		{r.Lost, "late"},
		{r.Returned, "given back"},
		{r.Purged, "purged"},
	} {
		if part.n > 0 {
			e.printf(", %d %s", part.n, part.what)
		}
	}
	e.printf("\n")
	for _, step := range slices.Sorted(maps.Keys(r.Down)) {
		fmt.Fprintf(e.out, "%s is down: %s\n", step, oneLine(r.Down[step]))
	}
	return nil
}
