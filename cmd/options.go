package pawlcmd

import (
	"context"
	"database/sql"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"time"

	"github.com/spf13/pflag"

	"github.com/pawl-dev/pawl/engine"
	"github.com/pawl-dev/pawl/steps/queue"
	"github.com/pawl-dev/pawl/workflows"
)

// Options say what a program adds to the command line. Every zero field means
// the default named in its comment.
type Options struct {
	// Name is the name of the program, for help and messages.
	// Default: "pawl".
	Name string

	// Version is what the version command prints. Default: as the Go
	// toolchain has recorded it.
	Version string

	// Workflows has the definitions as *.yaml in its root, used unless
	// --workflows names a folder. Default: those that pawl ships.
	Workflows fs.FS

	// Flags adds global flags of the program. Each gets an environment
	// variable, as those of this package have. Default: none.
	Flags func(*pflag.FlagSet)

	// Handlers registers the steps. It is called after the flags are set, by
	// the commands that check or run workflows: validate, manifest, start, tick,
	// run.
	// Default: none.
	Handlers func(ctx context.Context, s *Setup) error

	// Args are the arguments without the program's name.
	// Default: os.Args[1:].
	Args []string

	// Default: those of the process.
	Stdin          io.Reader
	Stdout, Stderr io.Writer
	// Getenv returns a variable of the environment. Default: os.Getenv.
	Getenv func(name string) string

	// Clock tells the time that is stored and that ages are counted from.
	// Default: time.Now.
	Clock func() time.Time
}

// Setup is what [Options.Handlers] gets.
type Setup struct {
	// Handlers is the registry to fill.
	Handlers *engine.Registry

	// DB is the database of the store, for tables of the handlers' own. It is
	// one connection that writes. It is nil for validate and manifest, which read
	// no more than the types of the handlers: do no I/O then.
	DB *sql.DB

	// Queue is the queue of --queue, for the step queue.publish. It is nil if
	// DB is.
	Queue queue.Queue

	// Getenv returns a variable of the environment, for secrets: they should
	// not be flags, which every user of the machine can read.
	Getenv func(name string) string

	// Logger is the log of the program.
	Logger *slog.Logger

	// Clock is that of the options.
	Clock func() time.Time

	closers []func() error
}

// AtEnd has f called when the command ends, after the last handler has
// returned. Calls come in reverse order.
func (s *Setup) AtEnd(f func() error) { s.closers = append(s.closers, f) }

func (o Options) withDefaults() Options {
	if o.Name == "" {
		o.Name = "pawl"
	}
	if o.Workflows == nil {
		o.Workflows = workflows.FS
	}
	if o.Flags == nil {
		o.Flags = func(*pflag.FlagSet) {}
	}
	if o.Handlers == nil {
		o.Handlers = func(context.Context, *Setup) error { return nil }
	}
	if o.Args == nil {
		o.Args = os.Args[1:]
	}
	if o.Stdin == nil {
		o.Stdin = os.Stdin
	}
	if o.Stdout == nil {
		o.Stdout = os.Stdout
	}
	if o.Stderr == nil {
		o.Stderr = os.Stderr
	}
	if o.Getenv == nil {
		o.Getenv = os.Getenv
	}
	if o.Clock == nil {
		o.Clock = time.Now
	}
	return o
}
