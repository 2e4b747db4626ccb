package pawlcmd

import (
	"context"
	"errors"

	"github.com/spf13/cobra"

	"github.com/pawl-dev/pawl/steps/queue/storequeue"
)

// migratedJSON is the answer of migrate.
type migratedJSON struct {
	Store string `json:"store"`
}

func migrateCommand(e *env) *cobra.Command {
	return &cobra.Command{
		Use:   "migrate",
		Short: "Make or upgrade the tables of the store",
		Long: "Make or upgrade the tables of the store. start, tick and run do so too; the other commands\n" +
			"leave the store as it is. A store that is newer than this program is refused.",
		Args: noArgs,
		RunE: func(c *cobra.Command, _ []string) error { return e.migrate(c.Context()) },
	}
}

func (e *env) migrate(ctx context.Context) error {
	st, err := e.openStore(ctx)
	if err != nil {
		return err
	}
	_, err = storequeue.New(ctx, st.DB(), QueueName, storequeue.Options{})
	if err := errors.Join(err, st.Close()); err != nil {
		return err
	}
	if e.json() {
		return e.print(migratedJSON{Store: e.store})
	}
	e.printf("%s is up to date\n", e.store)
	return nil
}
