package ci_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-dev/pawl/engine"
	"github.com/pawl-dev/pawl/steps/ci"
)

const (
	sha   = "0123456789abcdef0123456789abcdef01234567"
	token = "s3cr3t-t0ken"
)

// host is a git host that answers every request in the same way.
type host struct {
	status int
	header map[string]string
	body   string
}

func (h host) ServeHTTP(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	for k, v := range h.header {
		w.Header().Set(k, v)
	}
	w.WriteHeader(h.status)
	_, _ = w.Write([]byte(h.body))
}

func serve(t *testing.T, h http.Handler) *httptest.Server {
	t.Helper()
	srv := httptest.NewServer(h)
	t.Cleanup(srv.Close)
	return srv
}

func mustCheck(t *testing.T, cfg ci.Config) engine.HandlerFunc[ci.Input, ci.Output] {
	t.Helper()
	if cfg.HTTPClient == nil { // each its own: to close a test server breaks into the default transport
		transport := &http.Transport{}
		t.Cleanup(transport.CloseIdleConnections)
		cfg.HTTPClient = &http.Client{Transport: transport}
	}
	check, err := ci.Check(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return check
}

// ask runs the step once, as for the pull request of org/repo.
func ask(t *testing.T, cfg ci.Config) (ci.Output, error) {
	t.Helper()
	cfg.Token = token
	return mustCheck(t, cfg)(t.Context(), engine.Call[ci.Input]{In: ci.Input{RepoID: "org/repo", SHA: sha}})
}

// answer writes a good answer.
func answer(w http.ResponseWriter, body string) {
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	_, _ = w.Write([]byte(body))
}

// combined is the answer of a host, with one status per word of the form
// context=state.
func combined(state, words string) string {
	var list []string
	for word := range strings.FieldsSeq(words) {
		name, st, _ := strings.Cut(word, "=")
		list = append(list, fmt.Sprintf(
			`{"context":%q,"state":%q,"description":"about %s","target_url":"https://ci.example/%s"}`, name, st, name, name))
	}
	return fmt.Sprintf(`{"state":%q,"sha":%q,"total_count":%d,"statuses":[%s]}`, state, sha, len(list), strings.Join(list, ","))
}

func TestCheckAnswers(t *testing.T) {
	t.Parallel()
	failing := func(name, state string) ci.Context {
		return ci.Context{Name: name, State: state, Description: "about " + name, URL: "https://ci.example/" + name}
	}
	tests := []struct {
		name string
		body string
		want ci.Output
	}{
		{"Success", combined("success", "build=success test=success"), ci.Output{Status: ci.Green, State: "success", Total: 2}},
		{"GiteaSkipped", combined("skipped", "build=skipped"), ci.Output{Status: ci.Green, State: "skipped", Total: 1}},
		{
			"Failure", combined("failure", "build=success test=failure lint=error slow=pending"),
			ci.Output{
				Status: ci.Red, State: "failure", Total: 4,
				Failing: []ci.Context{failing("test", "failure"), failing("lint", "error")},
			},
		},
		{
			"Error", combined("error", "test=error"),
			ci.Output{Status: ci.Red, State: "error", Total: 1, Failing: []ci.Context{failing("test", "error")}},
		},
		{
			"GiteaWarning", combined("warning", "test=warning"),
			ci.Output{Status: ci.Red, State: "warning", Total: 1, Failing: []ci.Context{failing("test", "warning")}},
		},
		{
			"GiteaNamesTheStateStatus",
			`{"state":"failure","sha":"","total_count":1,"statuses":[{"context":"a","status":"failure","description":null,"target_url":""}]}`,
			ci.Output{Status: ci.Red, State: "failure", Total: 1, Failing: []ci.Context{{Name: "a", State: "failure"}}},
		},
		{
			"OnlyWebLinks",
			`{"state":"failure","total_count":1,"statuses":[{"context":"a","state":"failure","target_url":"javascript:alert(1)"}]}`,
			ci.Output{Status: ci.Red, State: "failure", Total: 1, Failing: []ci.Context{{Name: "a", State: "failure"}}},
		},
		{
			"StatusesCutOff", `{"state":"success","total_count":3,"statuses":null}`,
			ci.Output{Status: ci.Green, State: "success", Total: 3},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			srv := serve(t, host{status: http.StatusOK, body: tt.body})
			got, err := ask(t, ci.Config{BaseURL: srv.URL})
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("output (-want +got):\n%s", diff)
			}
		})
	}
}

func TestCheckBoundsTheOutput(t *testing.T) {
	t.Parallel()
	var list []string
	for i := range 40 {
		list = append(list, fmt.Sprintf(`{"context":"c%d","state":"failure","description":%q,"target_url":"https://ci/%s"}`,
			i, strings.Repeat("ё", 5000), strings.Repeat("x", 5000)))
	}
	srv := serve(t, host{status: http.StatusOK, body: fmt.Sprintf(
		`{"state":"failure","total_count":40,"statuses":[%s]}`, strings.Join(list, ","))})
	got, err := ask(t, ci.Config{BaseURL: srv.URL})
	if err != nil {
		t.Fatal(err)
	}
	if got.Total != 40 || len(got.Failing) != 10 {
		t.Errorf("total %d, failing %d, want 40 and 10", got.Total, len(got.Failing))
	}
	want := ci.Context{Name: "c0", State: "failure", Description: strings.Repeat("ё", 100) + "..."}
	if diff := cmp.Diff(want, got.Failing[0]); diff != "" {
		t.Errorf("failing context (-want +got):\n%s", diff)
	}
}

func TestCheckWaits(t *testing.T) {
	t.Parallel()
	const none = `{"state":"pending","sha":"","total_count":0,"statuses":[]}`
	const gitea = `{"state":"","sha":"","total_count":0,"statuses":null,"repository":null}`
	tests := []struct {
		name string
		body string
		cfg  ci.Config
		want time.Duration // 0: green at once
	}{
		{"Pending", combined("pending", "build=pending"), ci.Config{}, 10 * time.Second},
		{"PollEvery", combined("pending", "build=pending"), ci.Config{PollEvery: time.Minute}, time.Minute},
		{"NothingReported", none, ci.Config{}, 10 * time.Second},
		{"NothingReportedGitea", gitea, ci.Config{}, 10 * time.Second},
		{"NothingReportedIsGreen", none, ci.Config{NoStatusIsGreen: true}, 0},
		{"NothingReportedGiteaIsGreen", gitea, ci.Config{NoStatusIsGreen: true}, 0},
		{"PendingIsNotNothing", combined("pending", "build=pending"), ci.Config{NoStatusIsGreen: true}, 10 * time.Second},
		{
			"PendingWithoutStatusesIsNotNothing", `{"state":"pending","total_count":1,"statuses":[]}`,
			ci.Config{NoStatusIsGreen: true},
			10 * time.Second,
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			tt.cfg.BaseURL = serve(t, host{status: http.StatusOK, body: tt.body}).URL
			out, err := ask(t, tt.cfg)
			if tt.want == 0 {
				if want := (ci.Output{Status: ci.Green, State: "none"}); err != nil || !cmp.Equal(out, want) {
					t.Errorf("check = %+v, %v, want %+v", out, err, want)
				}
				return
			}
			want := engine.Verdict{Definite: true, Wait: true, After: tt.want}
			if got := engine.VerdictOf(err); got != want || err.Error() != "CI is pending for "+sha {
				t.Errorf("check = %v %+v, want to wait for %s", err, got, tt.want)
			}
		})
	}
}

func TestCheckReadsAllPages(t *testing.T) {
	t.Parallel()
	passed := strings.Repeat("ok=success ", 50)
	tests := []struct {
		name  string
		pages []string
		links bool
		want  string // status, or "wait"
		total int
	}{
		{"GiteaFailureOnTheSecond", []string{combined("success", passed), combined("failure", "bad=failure")}, false, ci.Red, 51},
		{"GiteaFailureOnTheFirst", []string{combined("failure", "bad=failure "+passed), combined("success", "a=success")}, false, ci.Red, 52},
		{"GiteaPendingOnTheSecond", []string{combined("success", passed), combined("pending", "slow=pending")}, false, "wait", 0},
		{"FullPageThenNone", []string{combined("success", passed), `{"state":"","total_count":0,"statuses":null}`}, false, ci.Green, 50},
		{"ShortPagesWithALink", []string{combined("success", "a=success"), combined("failure", "b=failure")}, true, ci.Red, 2},
		{"ShortPagesWithACount", []string{
			`{"state":"failure","total_count":2,"statuses":[{"context":"a","state":"success"}]}`,
			`{"state":"failure","total_count":2,"statuses":[{"context":"b","state":"failure"}]}`,
		}, false, ci.Red, 2},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			asked := 0
			srv := serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				asked++
				if got := r.URL.Query().Get("page"); got != fmt.Sprint(asked) {
					t.Errorf("page = %q, want %d", got, asked)
				}
				if tt.links && asked < len(tt.pages) {
					w.Header().Set("Link", `<http://elsewhere.example/?page=9>; rel="next"`)
				}
				answer(w, tt.pages[asked-1])
			}))
			out, err := ask(t, ci.Config{BaseURL: srv.URL})
			if got := engine.VerdictOf(err).Wait; got != (tt.want == "wait") || !got && err != nil {
				t.Fatalf("check = %+v, %v, want %s", out, err, tt.want)
			}
			if err == nil && (out.Status != tt.want || out.Total != tt.total) {
				t.Errorf("check = %+v, want %s of %d", out, tt.want, tt.total)
			}
			if asked != len(tt.pages) {
				t.Errorf("%d pages read, want %d", asked, len(tt.pages))
			}
		})
	}
}

func TestCheckGivesUpOnPagesWithoutEnd(t *testing.T) {
	t.Parallel()
	asked := 0
	srv := serve(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		asked++
		answer(w, combined("success", strings.Repeat("ok=success ", 50)))
	}))
	if _, err := ask(t, ci.Config{BaseURL: srv.URL}); !engine.VerdictOf(err).Permanent || asked > 20 {
		t.Errorf("check = %v after %d pages, want a permanent error after 20", err, asked)
	}
}

func TestCheckErrors(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	reset := func(d time.Duration) string { return fmt.Sprint(now.Add(d).Unix()) }
	var (
		again     = engine.Verdict{Definite: true}
		down      = engine.Verdict{Definite: true, TargetDown: true}
		permanent = engine.Verdict{Definite: true, Permanent: true}
		html      = map[string]string{"Content-Type": "text/html"}
	)
	after := func(v engine.Verdict, d time.Duration) engine.Verdict {
		v.After = d
		return v
	}
	tests := []struct {
		name string
		host host
		want engine.Verdict
		text string
	}{
		{"BadRequest", host{400, nil, ``}, permanent, "answered 400 Bad Request"},
		{"BadToken", host{401, nil, `{"message":"Bad credentials"}`}, down, `answered 401 Unauthorized: "Bad credentials"`},
		{"Forbidden", host{403, nil, `{"message":"no access"}`}, again, `403 Forbidden: "no access"`},
		{"NotFound", host{404, nil, `{"message":"Not Found"}`}, again, "404"},
		{"TimedOut", host{408, nil, ``}, again, "408"},
		{"Gone", host{410, nil, ``}, permanent, "410"},
		{"NoCommit", host{422, nil, `{"message":"No commit found"}`}, again, "422"},
		{"TooMany", host{429, nil, ``}, after(down, time.Minute), "429"},
		{"TooManyRetryAfter", host{429, map[string]string{"Retry-After": "17"}, ``}, after(down, 17*time.Second), "429"},
		{
			"TooManyRetryAfterDate",
			host{429, map[string]string{"Retry-After": now.Add(90 * time.Second).Format(http.TimeFormat)}, ``},
			after(down, 90*time.Second), "429",
		},
		{"TooManyForADay", host{429, map[string]string{"Retry-After": "86400"}, ``}, after(down, time.Hour), "429"},
		{"TooManyRetryInThePast", host{429, map[string]string{"Retry-After": "-5"}, ``}, after(down, time.Minute), "429"},
		{"TooManyRetryNonsense", host{429, map[string]string{"Retry-After": "soon"}, ``}, after(down, time.Minute), "429"},
		{
			"RateLimit",
			host{403, map[string]string{"X-RateLimit-Remaining": "0", "X-RateLimit-Reset": reset(2 * time.Minute)}, ``},
			after(down, 2*time.Minute+time.Second), "403",
		},
		{
			"RateLimitWithoutReset",
			host{403, map[string]string{"X-RateLimit-Remaining": "0"}, ``},
			after(down, time.Minute), "403",
		},
		{"SecondaryRateLimit", host{403, map[string]string{"Retry-After": "60"}, ``}, after(down, time.Minute), "403"},
		{
			"ForbiddenBelowTheLimit",
			host{403, map[string]string{"X-RateLimit-Remaining": "4999", "X-RateLimit-Reset": reset(time.Hour)}, ``},
			again, "403",
		},
		{"ServerError", host{500, nil, `{"message":"oops"}`}, again, `500 Internal Server Error: "oops"`},
		{"BadGatewayHTML", host{502, html, `<html><h1>502 Bad Gateway</h1></html>`}, again, "answered 502 Bad Gateway"},
		{"Unavailable", host{503, map[string]string{"Retry-After": "30"}, ``}, after(again, 30*time.Second), "503"},
		{"StrangeCode", host{599, nil, ``}, again, "answered 599"},
		{"NotModified", host{304, nil, ``}, again, "304"},
		{"NoContent", host{204, nil, ``}, again, "204"},
		{"HTML", host{200, html, `<html>Sign in</html>`}, again, "the answer is text/html, not JSON"},
		{"HTMLSaidToBeJSON", host{200, nil, `<html>Sign in</html>`}, again, "decode the answer: invalid character"},
		{"Empty", host{200, nil, ``}, again, "decode the answer"},
		{"Null", host{200, nil, `null`}, again, "not a combined status"},
		{"OtherJSON", host{200, nil, `{"state":"success"}`}, again, "not a combined status"},
		{"OtherType", host{200, nil, `{"total_count":"many"}`}, again, "decode the answer"},
		{
			"OtherCommit",
			host{200, nil, `{"state":"success","sha":"ffff","total_count":1,"statuses":[{"state":"success"}]}`},
			again, `about the commit "ffff"`,
		},
		{"UnknownState", host{200, nil, combined("splendid", "a=success")}, again, `the state "splendid" is not known`},
		{"UnknownStateOfOne", host{200, nil, combined("success", "a=splendid")}, again, `the state "splendid" is not known`},
		{"TooLarge", host{200, nil, `"` + strings.Repeat("x", 4<<20) + `"`}, again, "larger than"},
		{"TokenEchoed", host{400, nil, `{"message":"token ` + token + ` is bad"}`}, permanent, `token *** is bad`},
		{"LongMessage", host{400, nil, `{"message":"` + strings.Repeat("x", 9000) + `"}`}, permanent, `xx..."`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			header := map[string]string{"Date": now.Format(http.TimeFormat)}
			maps.Copy(header, tt.host.header)
			tt.host.header = header
			out, err := ask(t, ci.Config{BaseURL: serve(t, tt.host).URL, NoStatusIsGreen: true})
			if err == nil {
				t.Fatalf("check = %+v, want an error", out)
			}
			if got := engine.VerdictOf(err); got != tt.want {
				t.Errorf("verdict of %q (-want +got):\n%s", err, cmp.Diff(tt.want, got))
			}
			if text := err.Error(); !strings.Contains(text, tt.text) || strings.Contains(text, token) || len(text) > 600 {
				t.Errorf("error = %q, want %q in it, no token, and at most 500 bytes", text, tt.text)
			}
		})
	}
}

func TestCheckRateLimitByOwnClock(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	srv := serve(t, host{http.StatusForbidden, map[string]string{
		"Date": "", "X-RateLimit-Remaining": "0", "X-RateLimit-Reset": fmt.Sprint(now.Unix() + 9),
	}, ``})
	_, err := ask(t, ci.Config{BaseURL: srv.URL, Clock: func() time.Time { return now }})
	if got := engine.VerdictOf(err).After; got != 10*time.Second {
		t.Errorf("delay = %s, want 10s", got)
	}
}

func TestCheckUnreachable(t *testing.T) {
	t.Parallel()
	closed := httptest.NewServer(http.NotFoundHandler())
	closed.Close()
	hung := serve(t, http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }))
	broken := serve(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Length", "1000")
		_, _ = w.Write([]byte(`{"state":"success",`))
	}))
	timeout := func() (context.Context, context.CancelFunc) {
		return context.WithDeadline(t.Context(), time.Now().Add(20*time.Millisecond))
	}
	plain := func() (context.Context, context.CancelFunc) { return context.WithCancel(t.Context()) }
	shutdown := func() (context.Context, context.CancelFunc) {
		ctx, cancel := context.WithCancelCause(t.Context())
		cancel(engine.ErrShutdown)
		return ctx, func() {}
	}
	down := engine.Verdict{Definite: true, TargetDown: true}
	tests := []struct {
		name string
		url  string
		ctx  func() (context.Context, context.CancelFunc)
		want engine.Verdict
		is   error
	}{
		{"ConnectionRefused", closed.URL, plain, down, nil},
		{"NoSuchHost", "http://host.invalid", plain, down, nil},
		{"TimedOut", hung.URL, timeout, down, context.DeadlineExceeded},
		{"BrokenOff", broken.URL, plain, down, nil},
		{"Shutdown", hung.URL, shutdown, engine.Verdict{Definite: true}, engine.ErrShutdown},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			ctx, cancel := tt.ctx()
			defer cancel()
			_, err := mustCheck(t, ci.Config{BaseURL: tt.url, Token: token})(
				ctx, engine.Call[ci.Input]{In: ci.Input{RepoID: "org/repo", SHA: sha}})
			if err == nil || engine.VerdictOf(err) != tt.want || tt.is != nil && !errors.Is(err, tt.is) {
				t.Errorf("check = %v %+v, want %+v", err, engine.VerdictOf(err), tt.want)
			}
			if err != nil && strings.Contains(err.Error(), token) {
				t.Errorf("error = %q has the token", err)
			}
		})
	}
}
