// Package search is the step search.index: it keeps a full-text index of the
// files of repositories, each as of the commit that was merged last, and
// searches it.
//
// The index is a bleve index in a folder, for which this is the only importer
// of bleve. It is derived data: if the folder is lost, the next merge of each
// repository fills it again. The files come from a [Source]; [GitSource] reads
// them from bare git repositories, by a git runner of its own, since steps do
// not import each other. Neither a web page nor the rights of whoever searches
// live here.
//
// # Who has the folder
//
// The folder is opened for each call and closed after it, so that any number
// of processes may share it. One writes at a time, and nobody reads meanwhile:
// whoever comes in between waits for [Config.LockWait] and then gets an error
// that says so, which the engine retries.
//
// # Crashes
//
// An update is written in several batches, and a record of the commit comes
// with the last one. If the process dies in between, the next run finds no
// such record, skips what is there already and writes the rest.
package search

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/pawl-dev/pawl/engine"
)

// Step is the name under which [Register] registers the step.
const Step = "search.index"

// Input is the input of search.index.
type Input struct {
	RepoID string `json:"repo_id"`
	SHA    string `json:"sha"` // the full id of the commit
}

// Output is the output of search.index.
type Output struct {
	// Documents counts the files of the repository in the index.
	Documents int `json:"documents"`
	// Commit is the commit that the index has: the one asked for, or a later
	// one that was faster.
	Commit string `json:"commit"`
}

// Source has the files of repositories.
type Source interface {
	// Files calls visit for each file of the commit, each path once, with its
	// content, which visit does not keep. It stops at the first error of
	// visit and returns it.
	Files(ctx context.Context, repoID, sha string, visit func(path string, content []byte) error) error
}

// History is a [Source] that knows the order of commits. Steps may run in
// another order than their merges did; with a History an index never goes back
// to an older commit.
type History interface {
	Source
	// Contains reports whether ancestor is commit itself or comes before it
	// in its history.
	Contains(ctx context.Context, repoID, commit, ancestor string) (bool, error)
}

// Config holds what an [Index] needs. Dir is required; every other zero field
// means the default named in its comment.
type Config struct {
	// Dir is the folder of the index. It is created when it is first needed.
	Dir string

	// Source has the files. It may be nil if the index is only searched.
	Source Source

	// LockWait is how long to wait for another process that uses the folder.
	// Default: 2 seconds.
	LockWait time.Duration

	// MaxFile is the size in bytes above which a file is left out.
	// Default: 1 MiB.
	MaxFile int

	// BatchBytes is how much text is written at once. It bounds the memory of
	// an update. Default: 4 MiB.
	BatchBytes int
}

// Index is a full-text index in a folder. It is safe for concurrent use and
// holds nothing open between calls.
type Index struct {
	cfg    Config
	writer chan struct{} // has room for the one that writes
}

// New returns the index. It touches no file.
func New(cfg Config) (*Index, error) {
	if cfg.Dir == "" {
		return nil, errors.New("configure the search index: Dir is empty")
	}
	if cfg.LockWait <= 0 {
		cfg.LockWait = 2 * time.Second
	}
	if cfg.MaxFile <= 0 {
		cfg.MaxFile = 1 << 20
	}
	if cfg.BatchBytes <= 0 {
		cfg.BatchBytes = 4 << 20
	}
	return &Index{cfg: cfg, writer: make(chan struct{}, 1)}, nil
}

// Register registers [Index.Update] as [Step].
func Register(reg *engine.Registry, x *Index) {
	engine.Register(reg, Step, x.Update, engine.Handler{})
}

// Update is the handler: it makes the index have the files of the commit, and
// no others of that repository. If it has that commit already, it does
// nothing and gives the same answer. Binary files, which have a NUL in their
// first 8 KiB, and large ones are left out.
//
// An error before the first write says that nothing happened. After it the
// outcome is unknown; to repeat the update completes it.
func (x *Index) Update(ctx context.Context, call engine.Call[Input]) (Output, error) {
	in := call.In
	switch {
	case x.cfg.Source == nil:
		return Output{}, engine.Permanent(errors.New("index: there is no source of files"))
	case !validRepo(in.RepoID):
		return Output{}, engine.Permanent(fmt.Errorf("index: repo_id is %q, which no repository has", in.RepoID))
	case !commitID(in.SHA):
		return Output{}, engine.Permanent(fmt.Errorf("index: sha is %q, want the 40 or 64 hex digits of a commit", in.SHA))
	}
	select {
	case x.writer <- struct{}{}:
		defer func() { <-x.writer }()
	case <-ctx.Done():
		return Output{}, engine.Definite(fmt.Errorf("index %q: wait for another update: %w", in.RepoID, context.Cause(ctx)))
	}
	out, wrote, err := x.update(ctx, in)
	if err != nil {
		err = fmt.Errorf("index %q at %s: %w", in.RepoID, in.SHA, err)
		if !wrote {
			err = engine.Definite(err)
		}
		return Output{}, err
	}
	return out, nil
}

// update opens the folder and brings it up to date. wrote says that something
// was, or may have been, written.
func (x *Index) update(ctx context.Context, in Input) (out Output, wrote bool, err error) {
	ix, err := x.open(ctx, false)
	if err != nil {
		return Output{}, false, err
	}
	u := &update{cfg: x.cfg, ix: ix, in: in}
	out, err = u.run(ctx)
	if cerr := ix.Close(); cerr != nil && err == nil {
		err = fmt.Errorf("close the index: %w", cerr)
	}
	return out, u.wrote, err
}
