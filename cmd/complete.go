package pawlcmd

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/pawl-dev/pawl/engine"
)

const (
	completionTime = 2 * time.Second // a shell that hangs is worse than no help
	completionIDs  = 200
)

const noFiles = cobra.ShellCompDirectiveNoFileComp

// complete prepares what a completion asks: flags are taken from the
// environment, and errors mean no answer.
func (e *env) complete(c *cobra.Command, ask func(ctx context.Context) []string, prefix string) ([]string, cobra.ShellCompDirective) {
	if e.settle(c.Root().PersistentFlags()) != nil {
		return nil, noFiles
	}
	ctx, cancel := context.WithTimeout(c.Context(), completionTime)
	defer cancel()
	found := slices.DeleteFunc(ask(ctx), func(s string) bool { return !strings.HasPrefix(s, prefix) })
	slices.Sort(found)
	return slices.Compact(found), noFiles
}

// completeWorkflow completes the first argument to the name of a workflow.
func (e *env) completeWorkflow(c *cobra.Command, args []string, prefix string) ([]string, cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, noFiles
	}
	return e.complete(c, e.workflowNames, prefix)
}

func (e *env) workflowNames(context.Context) []string {
	list, err := e.sources()
	if err != nil {
		return nil
	}
	var names []string
	for _, s := range list {
		if s.def != nil {
			names = append(names, s.def.Workflow)
		}
	}
	return names
}

func (e *env) stateNames(context.Context) []string {
	list, err := e.sources()
	if err != nil {
		return nil
	}
	var names []string
	for _, s := range list {
		if s.def == nil {
			continue
		}
		for _, st := range s.def.States {
			names = append(names, st.Name)
		}
	}
	return names
}

// completeID completes the first argument to the id of an instance, one of the
// newest with one of the statuses, if there are any.
func (e *env) completeID(status ...engine.Status) cobra.CompletionFunc {
	return func(c *cobra.Command, args []string, prefix string) ([]string, cobra.ShellCompDirective) {
		if len(args) > 0 {
			return nil, noFiles
		}
		ids := func(ctx context.Context) []string { return e.newestIDs(ctx, status) }
		return e.complete(c, ids, prefix)
	}
}

func (e *env) newestIDs(ctx context.Context, status []engine.Status) []string {
	st, err := e.openExisting(ctx)
	if err != nil {
		return nil
	}
	defer func() { _ = st.Close() }()
	if len(status) == 0 {
		status = []engine.Status{""}
	}
	var ids []string
	for _, one := range status {
		page, err := st.List(ctx, engine.Filter{Status: one, Limit: completionIDs})
		if err != nil {
			return ids
		}
		for _, in := range page.Instances {
			ids = append(ids, in.ID)
		}
	}
	return ids
}

// completeFlags completes the values of the global flags.
func (e *env) completeFlags(c *cobra.Command) {
	_ = c.RegisterFlagCompletionFunc("output", completeOutput) // the flag is there
	fixed(c, "color", "auto", "always", "never")
	fixed(c, "log-format", "text", "json")
	fixed(c, "log-level", "debug", "info", "warn", "error")
	fixed(c, "queue", "store:")
	_ = c.MarkPersistentFlagDirname("workflows") // the flag is there
}

// completeOutput completes --output to what the command can print.
func completeOutput(c *cobra.Command, _ []string, _ string) ([]string, cobra.ShellCompDirective) {
	if c.Annotations[sarif] != "" {
		return []string{"table", "json", sarif}, noFiles
	}
	return []string{"table", "json"}, noFiles
}

// completeFilter completes the flags of list.
func (e *env) completeFilter(c *cobra.Command) {
	fixed(c, "status", statuses()...)
	asked(c, "workflow", func(c *cobra.Command, prefix string) ([]string, cobra.ShellCompDirective) {
		return e.complete(c, e.workflowNames, prefix)
	})
	asked(c, "state", func(c *cobra.Command, prefix string) ([]string, cobra.ShellCompDirective) {
		return e.complete(c, e.stateNames, prefix)
	})
}

func fixed(c *cobra.Command, flag string, values ...string) {
	_ = c.RegisterFlagCompletionFunc(flag, cobra.FixedCompletions(values, noFiles)) // the flag is there
}

func asked(c *cobra.Command, flag string, f func(c *cobra.Command, prefix string) ([]string, cobra.ShellCompDirective)) {
	_ = c.RegisterFlagCompletionFunc(flag, func(c *cobra.Command, _ []string, prefix string) ([]string, cobra.ShellCompDirective) {
		return f(c, prefix)
	})
}
