package demo

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/pawl-dev/pawl/engine"
)

// Config says how to show the demo. Every zero field means the default named
// in its comment.
type Config struct {
	// Dir is where the demo leaves repo.git, pawl.db and index. It is made;
	// if it exists it must be empty. Default: a folder that is removed at the
	// end.
	Dir string

	// Out is where the story goes. Default: it goes nowhere.
	Out io.Writer

	// Program is the name of the command line in the advice at the end.
	// Default: "pawl".
	Program string

	// Queue is the name of the queue that events go to. Default: "events".
	Queue string

	// Now tells the real time. Default: time.Now.
	Now func() time.Time
}

// ErrDir means that the folder cannot be used. Nothing in it was changed.
var ErrDir = errors.New("demo folder")

const (
	storeName = "pawl.db"
	repoName  = "repo.git"
	indexName = "index"
	asideName = "index.aside"
)

// Run shows the demo. It returns an error if anything in it did not turn out
// as it must; what happened until then is on Out.
func Run(ctx context.Context, cfg Config) error {
	if cfg.Out == nil {
		cfg.Out = io.Discard
	}
	if cfg.Program == "" {
		cfg.Program = "pawl"
	}
	if cfg.Queue == "" {
		cfg.Queue = "events"
	}
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	dir, remove, err := folder(cfg.Dir)
	if err != nil {
		return err
	}
	// The steps run git in the repository, where a relative path would name
	// something else.
	if dir, err = filepath.Abs(dir); err == nil {
		err = play(ctx, cfg, dir)
	}
	return errors.Join(err, remove())
}

// folder makes the folder of the demo, or checks that it is empty.
func folder(dir string) (path string, remove func() error, err error) {
	if dir == "" {
		dir, err = os.MkdirTemp("", "pawl-demo-")
		return dir, func() error { return os.RemoveAll(dir) }, err
	}
	keep := func() error { return nil }
	entries, err := os.ReadDir(dir)
	switch {
	case errors.Is(err, os.ErrNotExist):
		return dir, keep, os.MkdirAll(dir, 0o750)
	case err != nil:
		return "", nil, fmt.Errorf("%w: %w", ErrDir, err)
	case len(entries) == 0:
		return dir, keep, nil
	}
	if _, err := os.Stat(filepath.Join(dir, storeName)); err == nil {
		return "", nil, fmt.Errorf("%w: %s has a demo already; name a new folder, or remove that one", ErrDir, dir)
	}
	return "", nil, fmt.Errorf("%w: %s is not empty; name a new one", ErrDir, dir)
}

// stage is all that the acts of the demo share.
type stage struct {
	cfg   Config
	dir   string
	clock *clock
	prs   []*pull
	prog  *program
	story *story
}

// play sets the stage and runs the acts.
func play(ctx context.Context, cfg Config, dir string) (err error) {
	s := &stage{cfg: cfg, dir: dir, clock: newClock(cfg.Now()), prs: pulls()}
	if err := makeRepo(ctx, s.path(repoName), s.prs); err != nil {
		return err
	}
	ci, err := serveCI(ctx, s.prs)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, ci.close()) }()
	if s.prog, err = openProgram(ctx, s, ci.url); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.prog.close(ctx)) }()
	s.story = newStory(cfg.Out, s.clock.time(), dir, s.prs)
	for _, act := range []func(context.Context) error{
		s.open, s.breakIndex, s.mendIndex, s.check,
	} {
		if err := act(ctx); err != nil {
			return err
		}
	}
	if cfg.Dir != "" {
		s.story.advice(cfg, s.prs)
	}
	return nil
}

func (s *stage) path(name string) string { return filepath.Join(s.dir, name) }

// open starts the pull requests, and ticks until the first is merged.
func (s *stage) open(ctx context.Context) error {
	s.story.title("Three pull requests on a new repository")
	for _, p := range s.prs {
		if err := s.prog.start(ctx, p); err != nil {
			return err
		}
		s.story.opened(p)
	}
	s.story.linef("The clock is accelerated: it stands still while the steps run, and where the engine")
	s.story.linef("would wait, it is moved on (shown as ~~). A tick runs what is due.")
	return s.tick(ctx)
}

// breakIndex puts a plain file in the place of the search index, and ticks
// until nothing is left to do.
func (s *stage) breakIndex(ctx context.Context) error {
	s.story.title("A plain file stands where the index should be")
	if err := os.Rename(s.path(indexName), s.path(asideName)); err != nil {
		return err
	}
	if err := os.WriteFile(s.path(indexName), []byte("not an index\n"), 0o600); err != nil {
		return err
	}
	return s.drain(ctx)
}

// mendIndex puts the index back and retries the failed step.
func (s *stage) mendIndex(ctx context.Context) error {
	s.story.title("The index is mended, and an operator retries the failed step")
	if err := os.Remove(s.path(indexName)); err != nil {
		return err
	}
	if err := os.Rename(s.path(asideName), s.path(indexName)); err != nil {
		return err
	}
	got, err := s.prog.engine.Retry(ctx, s.prs[1].instance(), engine.Operator{Actor: "demo", Reason: "the index is back"})
	if err != nil {
		return err
	}
	s.story.linef("$ %s retry %s --reason \"the index is back\"", s.cfg.Program, got.ID)
	s.story.linef("  runs %s in %s again, and nothing before it", got.Step, got.State)
	return s.drain(ctx)
}

// tick runs what is due and tells what happened.
func (s *stage) tick(ctx context.Context) error {
	const budget = time.Minute // of real time; far more than is needed
	if _, err := s.prog.engine.Tick(ctx, budget); err != nil {
		return err
	}
	return s.story.goOn(ctx, s.prog.engine)
}

// drain moves the clock to what is due next and ticks, until all has ended.
func (s *stage) drain(ctx context.Context) error {
	const most = 100 // ticks; about a dozen are needed
	for range most {
		due, err := s.prog.nextDue(ctx)
		if err != nil || due.IsZero() {
			return err
		}
		if d := s.clock.skipTo(due); d > 0 {
			s.story.skipped(d)
		}
		if err := s.tick(ctx); err != nil {
			return err
		}
	}
	return fmt.Errorf("something is still due after %d ticks", most)
}
