package pawlcmd

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/pflag"

	"github.com/pawl-dev/pawl/engine"
	"github.com/pawl-dev/pawl/steps/chat"
	"github.com/pawl-dev/pawl/steps/ci"
	"github.com/pawl-dev/pawl/steps/git"
	"github.com/pawl-dev/pawl/steps/ledger"
	"github.com/pawl-dev/pawl/steps/notify"
	"github.com/pawl-dev/pawl/steps/queue"
	"github.com/pawl-dev/pawl/steps/search"
)

// Shipped are pawl's own steps, for the workflows that pawl ships: ci.check,
// git.merge, watchers.notify, search.index and queue.publish; those of packages
// ledger and chat, and merchant.notify. Its fields are set by the flags that
// [Shipped.Flags] adds.
//
// A step whose setting is missing is registered all the same, so that
// workflows can be checked and started anywhere; where it comes to run, its
// target counts as down: that costs no attempts, and says what to set.
type Shipped struct {
	// Repos is the folder of the bare repositories, for git.merge and
	// search.index.
	Repos string

	// CIURL is where the API of the CI status begins, for ci.check. The token
	// is taken from the variable PAWL_CI_TOKEN.
	CIURL string

	// CIPoll is how often a pending CI is asked again. Default: 10 seconds.
	CIPoll time.Duration

	// SearchIndex is the folder of the index of search.index.
	SearchIndex string
}

// Flags adds the flags of the steps. It fits [Options].
func (s *Shipped) Flags(fs *pflag.FlagSet) {
	fs.StringVar(&s.Repos, "repos", "", "`DIR` of the bare repositories, for git.merge and search.index")
	fs.StringVar(&s.CIURL, "ci-url", "", "`URL` of the API with the CI status, for ci.check; its token is in PAWL_CI_TOKEN")
	fs.DurationVar(&s.CIPoll, "ci-poll", 10*time.Second, "how often to ask a pending CI again")
	fs.StringVar(&s.SearchIndex, "search-index", "", "`DIR` of the full-text index, for search.index")
}

// Handlers registers the steps. It fits [Options], and may be called by a
// function that registers more.
func (s *Shipped) Handlers(ctx context.Context, setup *Setup) error {
	queue.Register(setup.Handlers, setup.Queue)
	return errors.Join(
		s.registerCI(setup),
		s.registerGit(ctx, setup),
		registerNotify(ctx, setup),
		s.registerSearch(setup),
		registerLedger(ctx, setup),
		registerChat(ctx, setup),
	)
}

func (s *Shipped) registerCI(setup *Setup) error {
	if s.CIURL == "" {
		engine.Register(setup.Handlers, ci.Step, unset[ci.Input, ci.Output]("ci-url", "URL"), engine.Handler{})
		return nil
	}
	return ci.Register(setup.Handlers, ci.Config{
		BaseURL: s.CIURL, Token: setup.Getenv(variable("ci-token")), PollEvery: s.CIPoll, Clock: setup.Clock,
	})
}

func (s *Shipped) registerGit(ctx context.Context, setup *Setup) error {
	if s.Repos == "" {
		engine.Register(setup.Handlers, git.Step, unset[git.MergeInput, git.MergeOutput]("repos", "DIR"),
			engine.Handler{Codes: git.Codes})
		return nil
	}
	m, err := git.New(ctx, git.Config{Repositories: git.Dir(s.Repos)})
	if err != nil {
		return err
	}
	git.Register(setup.Handlers, m)
	return nil
}

func registerNotify(ctx context.Context, setup *Setup) error {
	log := notify.Log{Logger: setup.Logger}
	if setup.DB == nil {
		notify.Register(setup.Handlers, notify.Config{Notifier: log})
		notify.RegisterMerchant(setup.Handlers, log)
		return nil
	}
	rec, err := notify.NewRecorder(ctx, setup.DB, notify.RecorderOptions{Logger: setup.Logger, Clock: setup.Clock})
	if err != nil {
		return err
	}
	notify.Register(setup.Handlers, notify.Config{Notifier: rec})
	notify.RegisterMerchant(setup.Handlers, rec)
	return nil
}

func (s *Shipped) registerSearch(setup *Setup) error {
	missing, what := "", ""
	switch {
	case s.SearchIndex == "":
		missing, what = "search-index", "DIR"
	case s.Repos == "":
		missing, what = "repos", "DIR"
	}
	if missing != "" {
		engine.Register(setup.Handlers, search.Step, unset[search.Input, search.Output](missing, what), engine.Handler{})
		return nil
	}
	x, err := search.New(search.Config{Dir: s.SearchIndex, Source: search.GitSource{Dir: git.Dir(s.Repos)}})
	if err != nil {
		return err
	}
	search.Register(setup.Handlers, x)
	return nil
}

func registerLedger(ctx context.Context, setup *Setup) (err error) {
	l := &ledger.Ledger{}
	if setup.DB != nil {
		if l, err = ledger.New(ctx, setup.DB, ledger.Options{Clock: setup.Clock}); err != nil {
			return err
		}
	}
	ledger.Register(setup.Handlers, l)
	return nil
}

func registerChat(ctx context.Context, setup *Setup) (err error) {
	m := &chat.Messages{}
	if setup.DB != nil {
		if m, err = chat.New(ctx, setup.DB, chat.Options{Clock: setup.Clock}); err != nil {
			return err
		}
	}
	chat.Register(setup.Handlers, m)
	return nil
}

// unset is the handler of a step that lacks a setting.
func unset[In, Out any](flag, value string) engine.HandlerFunc[In, Out] {
	return func(context.Context, engine.Call[In]) (out Out, err error) {
		return out, engine.TargetDown(fmt.Errorf("the step is not set up in this program; set --%s %s, or %s", flag, value, variable(flag)))
	}
}
