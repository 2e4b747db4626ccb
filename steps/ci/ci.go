// Package ci is the step ci.check: it asks a git host whether the continuous
// integration of one commit is green, and waits while it is pending.
//
// It reads the combined commit status as GitHub, Gitea and Forgejo serve it at
// /repos/{owner}/{repo}/commits/{sha}/status. What only other interfaces know
// is not seen: above all GitHub's check runs, which GitHub Actions reports by.
//
// # What an answer means
//
// A commit whose CI failed is not an error but the answer "red". The request
// changes nothing, so after every error it is certain that nothing happened.
//
//	pending, or nothing reported yet     wait [Config.PollEvery], costs no attempt
//	no connection, no answer in time     the target is down
//	401: the token is not accepted       the target is down, until somebody mends it
//	429, 403 at the rate limit           the target is down until the limit is over
//	5xx                                  retried; one repository may be the cause
//	403, 404, 422                        retried; a commit may be slow to arrive
//	any other 4xx, a malformed repo_id   permanent
//
// Only the request and its meaning live here; statuses are neither written nor
// kept.
package ci

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/pawl-dev/pawl/engine"
)

// Step is the name under which [Register] registers the step.
const Step = "ci.check"

// What a commit is found to be.
const (
	Green = "green"
	Red   = "red"
)

// Input is the input of ci.check.
type Input struct {
	RepoID string `json:"repo_id"` // "owner/repo"
	SHA    string `json:"sha"`     // the full id of the commit
}

// Output is the output of ci.check.
type Output struct {
	// Status is [Green] or [Red].
	Status string `json:"status" pawl:"enum=green|red"`
	// State is the host's word for it: success, failure, error; or none if
	// nothing has reported.
	State string `json:"state"`
	// Total counts the contexts that reported.
	Total int `json:"total"`
	// Failing are the contexts that make the commit red, ten at most.
	Failing []Context `json:"failing,omitempty"`
}

// Context is one of the things that report on a commit, such as one job.
type Context struct {
	Name        string `json:"name"`
	State       string `json:"state"`
	Description string `json:"description,omitempty"`
	URL         string `json:"url,omitempty"`
}

// Doer sends a request. It is the part of *http.Client that the step uses.
type Doer interface {
	Do(*http.Request) (*http.Response, error)
}

// Config says whom to ask. BaseURL is required; every other zero field means
// the default named in its comment.
type Config struct {
	// BaseURL is where the API begins: "https://api.github.com", or
	// "https://HOST/api/v1" of a Gitea.
	BaseURL string

	// Token is sent in the header Authorization, to BaseURL only, and appears
	// in no error. Default: no such header.
	Token string

	// HTTPClient sends the requests. An *http.Client is copied, and the copy
	// follows no redirect to another host; another Doer must see to that
	// itself. Default: an http.Client.
	HTTPClient Doer

	// PollEvery is how long to wait while the CI is pending.
	// Default: 10 seconds.
	PollEvery time.Duration

	// NoStatusIsGreen takes a commit that nothing has reported on as green,
	// for hosts where not every repository has a CI. A commit is then green
	// also in the time before its CI has reported for the first time.
	// Default: it is pending, as GitHub says.
	NoStatusIsGreen bool

	// Clock tells the time from which to wait for the end of a rate limit,
	// if the answer does not have it. Default: time.Now.
	Clock func() time.Time
}

// checker is a Config that was found to be good.
type checker struct {
	Config
	base *url.URL
}

// Register registers [Check] as [Step], or says what is wrong with cfg.
func Register(reg *engine.Registry, cfg Config) error {
	check, err := Check(cfg)
	if err != nil {
		return err
	}
	engine.Register(reg, Step, check, engine.Handler{})
	return nil
}

// Check returns the handler, or says what is wrong with cfg.
func Check(cfg Config) (engine.HandlerFunc[Input, Output], error) {
	c, err := newChecker(cfg)
	if err != nil {
		return nil, fmt.Errorf("configure %s: %w", Step, err)
	}
	return c.check, nil
}

func newChecker(cfg Config) (*checker, error) {
	base, err := url.Parse(strings.TrimRight(cfg.BaseURL, "/"))
	switch {
	case err != nil:
		return nil, errors.New("BaseURL is not a URL") // its text may hold a password
	case base.Scheme != "https" && base.Scheme != "http" || base.Host == "":
		return nil, fmt.Errorf("BaseURL is %q, want https://HOST/PATH", base.Redacted())
	case base.User != nil || base.RawQuery != "" || base.Fragment != "":
		return nil, fmt.Errorf("BaseURL is %q, want no user, query or fragment", base.Redacted())
	case cfg.PollEvery < 0:
		return nil, fmt.Errorf("PollEvery is %s, want more than zero", cfg.PollEvery)
	}
	cfg.Token = strings.TrimSpace(cfg.Token) // tokens are read from files
	if strings.ContainsFunc(cfg.Token, func(r rune) bool { return r <= ' ' || r >= 0x7f }) {
		return nil, errors.New("the token has a space or a character that is not ASCII")
	}
	if cfg.PollEvery == 0 {
		cfg.PollEvery = 10 * time.Second
	}
	if cfg.Clock == nil {
		cfg.Clock = time.Now
	}
	cfg.HTTPClient = sameHost(cfg.HTTPClient)
	return &checker{Config: cfg, base: base}, nil
}

// check is the handler.
func (c *checker) check(ctx context.Context, call engine.Call[Input]) (Output, error) {
	in := call.In
	target, err := c.target(in)
	if err != nil {
		return Output{}, engine.Permanent(err)
	}
	sum, err := c.fetch(ctx, target, in.SHA)
	if err != nil {
		return Output{}, fmt.Errorf("check CI of %q at %s: %w", in.RepoID, in.SHA, err)
	}
	v := sum.verdict(c.NoStatusIsGreen)
	if v == pending {
		return Output{}, engine.Wait(c.PollEvery, "CI is pending for "+in.SHA)
	}
	return sum.output(v == green), nil
}

// target returns the URL of the commit's status. Each part of repo_id is one
// segment of the path, whatever characters it has.
func (c *checker) target(in Input) (*url.URL, error) {
	owner, repo, ok := strings.Cut(in.RepoID, "/")
	if !ok || !segment(owner) || !segment(repo) {
		return nil, fmt.Errorf("repo_id is %q, want owner/repo", in.RepoID)
	}
	if !commitID(in.SHA) {
		return nil, fmt.Errorf("sha is %q, want the 40 or 64 hex digits of a commit", in.SHA)
	}
	u := *c.base
	u.RawPath = c.base.EscapedPath() + "/repos/" + url.PathEscape(owner) + "/" + url.PathEscape(repo) +
		"/commits/" + in.SHA + "/status"
	u.Path = c.base.Path + "/repos/" + owner + "/" + repo + "/commits/" + in.SHA + "/status"
	return &u, nil
}

// segment reports whether s can be one segment of a path: one that is "..",
// even if escaped, some servers would resolve.
func segment(s string) bool {
	return s != "" && s != "." && s != ".." && !strings.ContainsAny(s, "/\x00")
}

func commitID(s string) bool {
	return (len(s) == 40 || len(s) == 64) && strings.Trim(s, "0123456789abcdef") == ""
}
