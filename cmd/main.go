package pawlcmd

import (
	"context"
	"errors"
	"fmt"
	"os/signal"
	"strings"
	"syscall"

	"github.com/spf13/cobra"
)

// Main runs the command that the arguments name and returns the exit code of
// the process. SIGINT and SIGTERM end it in order: no step begins any more,
// those that run are let finish for a while. A second signal ends it at once.
func Main(ctx context.Context, o Options) int {
	ctx, stop := signal.NotifyContext(ctx, syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	// After the first signal the default handling is back.
	defer context.AfterFunc(ctx, stop)()
	e := newEnv(o.withDefaults())
	return e.report(rootCommand(e).ExecuteContext(ctx))
}

// rootCommand has all commands below it.
func rootCommand(e *env) *cobra.Command {
	c := &cobra.Command{
		Use:   e.opts.Name,
		Short: "Run workflows that survive crashes",
		Long: "Run workflows that survive crashes: see what happens to them, and repair what failed.\n\n" +
			"Every global flag has an environment variable: --store is PAWL_STORE, --log-level is\n" +
			"PAWL_LOG_LEVEL. Exit codes: 0 done, 1 failed, 2 wrong use, 3 conflict, 4 not found.",
		SilenceErrors: true,
		SilenceUsage:  true,
		// For the suggestions of runRoot.
		SuggestionsMinimumDistance: 2,

		Args: cobra.ArbitraryArgs,
		RunE: runRoot,
		PersistentPreRunE: func(c *cobra.Command, _ []string) error {
			return errors.Join(e.settle(c.Root().PersistentFlags()), e.checkOutput(c))
		},
	}
	c.SetArgs(e.opts.Args)
	c.SetIn(e.in)
	c.SetOut(e.out)
	c.SetErr(e.err)
	c.SetFlagErrorFunc(func(c *cobra.Command, err error) error {
		return usagef("%w; see %s --help", err, c.CommandPath())
	})
	e.flags(c.PersistentFlags())
	e.completeFlags(c)
	c.AddCommand(
		validateCommand(e), explainCommand(e), graphCommand(e), manifestCommand(e), migrateCommand(e), startCommand(e),
		tickCommand(e), runCommand(e),
		listCommand(e), showCommand(e), historyCommand(e), retryCommand(e),
		demoCommand(e), schemaCommand(e), versionCommand(e),
	)
	return c
}

// runRoot answers a call without a command that exists.
func runRoot(c *cobra.Command, args []string) error {
	if len(args) == 0 {
		return c.Help()
	}
	text := fmt.Sprintf("there is no command %q", args[0])
	if near := c.SuggestionsFor(args[0]); len(near) > 0 {
		text += "; did you mean " + strings.Join(near, " or ") + "?"
	} else {
		text += fmt.Sprintf("; %s --help lists them", c.Name())
	}
	return usagef("%s", text)
}

// noArgs refuses arguments.
func noArgs(c *cobra.Command, args []string) error {
	if len(args) > 0 {
		return usagef("%s takes no arguments, only flags; see %s --help", c.Name(), c.CommandPath())
	}
	return nil
}

// someArgs wants at least one argument, and says what it is.
func someArgs(what string) cobra.PositionalArgs {
	return func(c *cobra.Command, args []string) error {
		if len(args) == 0 {
			return usagef("%s: give %s; see %s --help", c.Name(), what, c.CommandPath())
		}
		return nil
	}
}

// oneArg wants exactly one argument, and says what it is.
func oneArg(what string) cobra.PositionalArgs {
	return func(c *cobra.Command, args []string) error {
		if len(args) > 1 {
			return usagef("%s: %d arguments, want %s", c.Name(), len(args), what)
		}
		return someArgs(what)(c, args)
	}
}
