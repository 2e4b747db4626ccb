// Package notify is the steps that tell somebody: watchers.notify tells the
// watchers of a pull request that it was merged, merchant.notify tells a
// merchant that a payment to it was made.
//
// Which watchers to tell says a function of the application, how to tell says
// a [Notifier] or [MerchantNotifier]. Two are here for both: [Log] writes a record to a log, [Recorder] keeps
// each notice once in a table and logs it then. Mail, chat and web hooks do
// not live here; a program brings its own for them.
package notify

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"

	"github.com/pawl-dev/pawl/engine"
)

// Step is the name under which [Register] registers the step.
const Step = "watchers.notify"

// Input is the input of watchers.notify.
type Input struct {
	PRID     string `json:"pr_id"`
	MergeSHA string `json:"merge_sha"`
}

// Output is the output of watchers.notify.
type Output struct {
	// Notified counts the notices, those of earlier attempts included.
	Notified int `json:"notified"`
}

// Notice says that a pull request was merged.
type Notice struct {
	// Key is the idempotency key of the step. Together with Watcher it is
	// equal on every attempt.
	Key string
	// Watcher is whom the notice is for; empty if the watchers are not known.
	Watcher  string
	PRID     string
	MergeSHA string
}

// Notifier sends notices. Implementations are safe for concurrent use.
type Notifier interface {
	// Notify sends n, or does nothing if a notice with that key and watcher
	// was sent before. It may wrap its error with a verdict of package
	// engine; plain, the notice may have been sent.
	Notify(ctx context.Context, n Notice) error
}

// WatchersFunc returns who watches a pull request. An error means that it
// could not find out; nobody is told then.
type WatchersFunc func(ctx context.Context, prID string) ([]string, error)

// Config holds what the step needs. Every zero field means the default named
// in its comment.
type Config struct {
	// Notifier sends the notices. Default: a [Log].
	Notifier Notifier

	// Watchers says whom to tell. Default: one notice with an empty Watcher.
	Watchers WatchersFunc
}

// Register registers [Notify] as [Step].
func Register(reg *engine.Registry, cfg Config) {
	engine.Register(reg, Step, Notify(cfg), engine.Handler{})
}

// Notify returns the handler. It sends one notice to each watcher. A failure
// for one does not keep the others from being told, and the next attempt finds
// them told.
func Notify(cfg Config) engine.HandlerFunc[Input, Output] {
	if cfg.Notifier == nil {
		cfg.Notifier = Log{}
	}
	if cfg.Watchers == nil {
		cfg.Watchers = func(context.Context, string) ([]string, error) { return []string{""}, nil }
	}
	return cfg.notify
}

func (c Config) notify(ctx context.Context, call engine.Call[Input]) (Output, error) {
	in := call.In
	watchers, err := c.Watchers(ctx, in.PRID)
	if err != nil {
		return Output{}, engine.Definite(fmt.Errorf("find the watchers of %q: %w", in.PRID, err))
	}
	watchers = slices.Clone(watchers)
	slices.Sort(watchers)
	watchers = slices.Compact(watchers)
	var errs []error
	for _, w := range watchers {
		n := Notice{Key: call.Key, Watcher: w, PRID: in.PRID, MergeSHA: in.MergeSHA}
		if err := c.Notifier.Notify(ctx, n); err != nil {
			errs = append(errs, fmt.Errorf("notify %q of %q: %w", w, in.PRID, err))
		}
		if ctx.Err() != nil {
			errs = append(errs, context.Cause(ctx))
			break
		}
	}
	if len(errs) > 0 {
		return Output{}, errors.Join(errs...)
	}
	return Output{Notified: len(watchers)}, nil
}

// Keys of the log record.
const (
	keyPR      = "pr_id"
	keyMerge   = "merge_sha"
	keyWatcher = "watcher"
	keyKey     = "key"

	keyMerchant   = "merchant_id"
	keyPayment    = "payment_id"
	keyWithdrawal = "withdrawal_id"
)

// Log writes each notice to a log, and again on every attempt.
type Log struct {
	Logger *slog.Logger // default: slog.Default()
}

var (
	_ Notifier         = Log{}
	_ MerchantNotifier = Log{}
)

// Notify implements [Notifier].
func (l Log) Notify(ctx context.Context, n Notice) error {
	l.logger().LogAttrs(ctx, slog.LevelInfo, "pull request merged",
		slog.String(keyPR, n.PRID),
		slog.String(keyMerge, n.MergeSHA),
		slog.String(keyWatcher, n.Watcher),
		slog.String(keyKey, n.Key),
	)
	return nil
}

func (l Log) logger() *slog.Logger {
	if l.Logger == nil {
		return slog.Default()
	}
	return l.Logger
}
