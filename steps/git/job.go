package git

import (
	"context"
	"fmt"
	"strings"

	"github.com/pawl-dev/pawl/engine"
)

// job is one attempt, its input checked.
type job struct {
	m        *Merger
	dir      string
	env      []string // who writes commits and when
	baseRef  string
	headRef  string // "" if unknown
	head     string
	message  string
	trailer  string // the line that marks our commit; "" without a key
	headSeen bool   // head is a commit of the repository
}

// open checks the input and finds the repository.
func (m *Merger) open(ctx context.Context, call engine.Call[MergeInput]) (*job, error) {
	in := call.In
	if err := in.check(); err != nil {
		return nil, engine.Permanent(err)
	}
	dir, err := m.repos(ctx, in.RepoID)
	if err != nil {
		return nil, engine.Definite(fmt.Errorf("find repository %q: %w", in.RepoID, err))
	}
	date := fmt.Sprintf("@%d +0000", max(0, call.StartedAt.Unix()))
	j := &job{
		m:   m,
		dir: dir,
		env: []string{
			"GIT_AUTHOR_NAME=" + m.name, "GIT_AUTHOR_EMAIL=" + m.email, "GIT_AUTHOR_DATE=" + date,
			"GIT_COMMITTER_NAME=" + m.name, "GIT_COMMITTER_EMAIL=" + m.email, "GIT_COMMITTER_DATE=" + date,
		},
		baseRef: "refs/heads/" + in.Base,
		headRef: in.HeadRef,
		head:    strings.ToLower(in.HeadSHA),
		message: message(call),
	}
	if call.Key != "" {
		j.trailer = keyTrailer + oneLine(call.Key)
	}
	return j, nil
}

// git runs git in the repository.
func (j *job) git(ctx context.Context, stdin string, args ...string) (result, error) {
	return j.m.run(ctx, invocation{dir: j.dir, stdin: stdin, env: j.env, args: args})
}

// read runs a git that changes no ref: if it fails, nothing has happened.
func (j *job) read(ctx context.Context, stdin string, args ...string) ([]byte, error) {
	r, err := j.git(ctx, stdin, args...)
	switch {
	case err != nil:
		return nil, err
	case r.code != 0:
		return nil, engine.Definite(r.failed(args[0]))
	case r.cut:
		return nil, errCut
	}
	return r.stdout, nil
}
