package ci

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/pawl-dev/pawl/engine"
)

const (
	// pageSize is what GitHub (100) and Gitea (50 by default) both allow.
	pageSize = 50
	maxPages = 20
	maxBody  = 4 << 20

	defaultDelay = time.Minute // of a rate limit that does not say how long
	maxDelay     = time.Hour   // the window of GitHub's rate limit
)

// fetch reads the combined status, all pages of it: a Gitea says of a page
// whether that page is green.
func (c *checker) fetch(ctx context.Context, target *url.URL, sha string) (*summary, error) {
	var sum summary
	for n := 1; n <= maxPages; n++ {
		u := *target
		u.RawQuery = fmt.Sprintf("limit=%d&page=%d&per_page=%d", pageSize, n, pageSize)
		p, header, err := c.get(ctx, &u, sha)
		if err != nil {
			return nil, err
		}
		if err := sum.add(p); err != nil {
			return nil, engine.Definite(err)
		}
		if len(p.Statuses) == 0 || !more(&sum, p, header) {
			return &sum, nil
		}
	}
	return nil, engine.Permanent(fmt.Errorf("more than %d statuses", maxPages*pageSize))
}

// more reports whether there is a page after p, which is the last one of sum.
func more(sum *summary, p page, header http.Header) bool {
	return len(p.Statuses) >= pageSize || *p.TotalCount > sum.seen ||
		strings.Contains(header.Get("Link"), `rel="next"`)
}

// get reads one page.
func (c *checker) get(ctx context.Context, u *url.URL, sha string) (page, http.Header, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, u.String(), http.NoBody)
	if err != nil {
		return page{}, nil, engine.Permanent(fmt.Errorf("make the request: %w", err))
	}
	req.Header.Set("Accept", "application/json")
	req.Header.Set("User-Agent", "pawl")
	if c.Token != "" {
		req.Header.Set("Authorization", "token "+c.Token) // the form that GitHub and every Gitea take
	}
	resp, err := c.HTTPClient.Do(req)
	if err != nil {
		return page{}, nil, c.unreachable(ctx, err)
	}
	defer func() { _ = resp.Body.Close() }()
	body, err := io.ReadAll(io.LimitReader(resp.Body, maxBody+1))
	switch {
	case resp.StatusCode != http.StatusOK:
		return page{}, nil, c.refused(resp, body) // also if not all of the body came
	case err != nil:
		return page{}, nil, c.unreachable(ctx, err)
	case len(body) > maxBody:
		return page{}, nil, engine.Definite(fmt.Errorf("the answer is larger than %d bytes", maxBody))
	}
	p, err := parsePage(resp.Header.Get("Content-Type"), body, sha)
	if err != nil {
		return page{}, nil, engine.Definite(fmt.Errorf("%s: %w", c.base.Host, err))
	}
	return p, resp.Header, nil
}

// unreachable judges an error of the transport. A step that is cancelled says
// nothing about the target; one that has run out of time does.
func (c *checker) unreachable(ctx context.Context, err error) error {
	var redirect *redirectError
	switch {
	case errors.As(err, &redirect):
		return engine.Definite(redirect)
	case ctx.Err() != nil && !errors.Is(ctx.Err(), context.DeadlineExceeded):
		return engine.Definite(context.Cause(ctx))
	}
	// The URL in the text of a url.Error is long and tells nothing new.
	if wrapped, ok := errors.AsType[*url.Error](err); ok {
		err = wrapped.Err
	}
	return engine.TargetDown(fmt.Errorf("%s does not answer: %w", c.base.Host, err))
}

// refused judges an answer that is not 200, see the package comment.
func (c *checker) refused(resp *http.Response, body []byte) error {
	status := strings.TrimSpace(fmt.Sprint(resp.StatusCode, " ", http.StatusText(resp.StatusCode)))
	err := fmt.Errorf("%s answered %s%s", c.base.Host, status, c.message(body))
	delay, limited := c.delay(resp.Header)
	switch code := resp.StatusCode; {
	case code == http.StatusTooManyRequests, code == http.StatusForbidden && limited:
		if delay == 0 {
			delay = defaultDelay
		}
		return engine.RetryAfter(engine.TargetDown(err), delay)
	case code == http.StatusUnauthorized:
		return engine.TargetDown(err)
	case code >= 500, code < 400, code == http.StatusForbidden, code == http.StatusNotFound,
		code == http.StatusRequestTimeout, code == http.StatusUnprocessableEntity, code == http.StatusTooEarly:
		return engine.RetryAfter(engine.Definite(err), delay)
	default:
		return engine.Permanent(err)
	}
}

// message returns what a JSON answer says about itself. No other body is
// shown: it may be a whole web page.
func (c *checker) message(body []byte) string {
	var answer struct {
		Message string `json:"message"`
	}
	if json.Unmarshal(body, &answer) != nil || answer.Message == "" {
		return ""
	}
	text := answer.Message
	if c.Token != "" {
		text = strings.ReplaceAll(text, c.Token, "***")
	}
	return ": " + strconv.Quote(clip(text))
}

// delay returns how long the host asks to wait, and whether it says that a
// rate limit was reached.
func (c *checker) delay(h http.Header) (d time.Duration, limited bool) {
	now, err := http.ParseTime(h.Get("Date"))
	if err != nil {
		now = c.Clock()
	}
	after := h.Get("Retry-After")
	if sec, err := strconv.ParseInt(after, 10, 64); err == nil {
		return bounded(sec), true
	}
	if t, err := http.ParseTime(after); err == nil {
		return bounded(int64(t.Sub(now) / time.Second)), true
	}
	if h.Get("X-RateLimit-Remaining") != "0" {
		return 0, false
	}
	if unix, err := strconv.ParseInt(h.Get("X-RateLimit-Reset"), 10, 64); err == nil {
		return bounded(unix - now.Unix() + 1), true // seconds are rounded down
	}
	return 0, true
}

// bounded makes a sane delay of seconds.
func bounded(sec int64) time.Duration {
	return time.Duration(min(max(sec, 0), int64(maxDelay/time.Second))) * time.Second
}
