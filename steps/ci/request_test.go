package ci_test

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/pawl-dev/pawl/engine"
	"github.com/pawl-dev/pawl/steps/ci"
)

func TestCheckRequest(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name string
		repo string
		want string // the path as it is on the wire; empty: the repo_id is refused
	}{
		{"Plain", "org/repo", "/api/v1/repos/org/repo/commits/" + sha + "/status"},
		{"Hash", "org/repo#42", "/api/v1/repos/org/repo%2342/commits/" + sha + "/status"},
		{"EscapedSlash", "org/a%2Fb", "/api/v1/repos/org/a%252Fb/commits/" + sha + "/status"},
		{"Query", "o?x=1/r&y", "/api/v1/repos/o%3Fx=1/r&y/commits/" + sha + "/status"},
		{"Unicode", "ё/😀", "/api/v1/repos/%D1%91/%F0%9F%98%80/commits/" + sha + "/status"},
		{"Spaces", "a b/c d", "/api/v1/repos/a%20b/c%20d/commits/" + sha + "/status"},
		{"LooksLikeAFlag", "-rf/-x", "/api/v1/repos/-rf/-x/commits/" + sha + "/status"},
		{"Quote", "'; DROP/x", "/api/v1/repos/%27%3B%20DROP/x/commits/" + sha + "/status"},
		{"NewLine", "a\nb/c", "/api/v1/repos/a%0Ab/c/commits/" + sha + "/status"},
		{"EscapedDots", "%2e%2e/x", "/api/v1/repos/%252e%252e/x/commits/" + sha + "/status"},
		{"NoSlash", "a%2Fb", ""},
		{"Empty", "", ""},
		{"NoOwner", "/repo", ""},
		{"NoRepo", "org/", ""},
		{"ThreeParts", "a/b/c", ""},
		{"DotDotOwner", "../admin", ""},
		{"DotDotRepo", "org/..", ""},
		{"Dot", "./x", ""},
		{"NUL", "a\x00/b", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			asked := false
			srv := serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				asked = true
				path, _, _ := strings.Cut(r.RequestURI, "?")
				if path != tt.want || r.Method != http.MethodGet {
					t.Errorf("request = %s %s, want GET %s", r.Method, path, tt.want)
				}
				if got := r.Header.Get("Authorization"); got != "token "+token {
					t.Errorf("Authorization = %q, want the token", got)
				}
				answer(w, combined("success", "a=success"))
			}))
			_, err := mustCheck(t, ci.Config{BaseURL: srv.URL + "/api/v1/", Token: " " + token + "\n"})(
				t.Context(), engine.Call[ci.Input]{In: ci.Input{RepoID: tt.repo, SHA: sha}})
			switch {
			case tt.want != "" && err != nil:
				t.Error(err)
			case tt.want == "" && (asked || !engine.VerdictOf(err).Permanent || !strings.Contains(err.Error(), "want owner/repo")):
				t.Errorf("check = %v, asked %v, want a permanent error and no request", err, asked)
			}
		})
	}
}

func TestCheckKeepsTheEscapesOfTheBase(t *testing.T) {
	t.Parallel()
	srv := serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		const want = "/x%2Fy/repos/org/a%252Fb%23/commits/" + sha + "/status"
		if path, _, _ := strings.Cut(r.RequestURI, "?"); path != want {
			t.Errorf("path = %s, want %s", path, want)
		}
		answer(w, combined("success", "a=success"))
	}))
	_, err := mustCheck(t, ci.Config{BaseURL: srv.URL + "/x%2Fy"})(
		t.Context(), engine.Call[ci.Input]{In: ci.Input{RepoID: "org/a%2Fb#", SHA: sha}})
	if err != nil {
		t.Error(err)
	}
}

func TestCheckRefusesWhatIsNoCommit(t *testing.T) {
	t.Parallel()
	check := mustCheck(t, ci.Config{BaseURL: "http://host.invalid"})
	for _, bad := range []string{"", "main", sha[:39], sha + "0", strings.ToUpper(sha), sha[:39] + "/", "-" + sha[1:]} {
		_, err := check(t.Context(), engine.Call[ci.Input]{In: ci.Input{RepoID: "org/repo", SHA: bad}})
		if !engine.VerdictOf(err).Permanent {
			t.Errorf("check of %q = %v, want a permanent error", bad, err)
		}
	}
	long := strings.Repeat("a", 64)
	if _, err := check(t.Context(), engine.Call[ci.Input]{In: ci.Input{RepoID: "org/repo", SHA: long}}); engine.VerdictOf(err).Permanent {
		t.Errorf("check of a SHA-256 commit = %v, want it asked", err)
	}
}

func TestCheckWithoutToken(t *testing.T) {
	t.Parallel()
	srv := serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if _, ok := r.Header["Authorization"]; ok {
			t.Error("there is a header Authorization, want none")
		}
		answer(w, combined("success", "a=success"))
	}))
	out, err := mustCheck(t, ci.Config{BaseURL: srv.URL})(
		t.Context(), engine.Call[ci.Input]{In: ci.Input{RepoID: "org/repo", SHA: sha}})
	if err != nil || out.Status != ci.Green {
		t.Errorf("check = %+v, %v, want green", out, err)
	}
}

// TestCheckRedirects has the target on another port of one host, to which
// net/http by itself would hand on the token.
func TestCheckRedirects(t *testing.T) {
	t.Parallel()
	asked := false
	other := serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked = true
		answer(w, combined("success", "a=success"))
	}))
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case strings.HasPrefix(r.URL.Path, "/renamed"):
			http.Redirect(w, r, "/new/repos/", http.StatusMovedPermanently)
		case strings.HasPrefix(r.URL.Path, "/elsewhere"):
			http.Redirect(w, r, other.URL+"/?token="+token, http.StatusFound)
		case strings.HasPrefix(r.URL.Path, "/loop"):
			http.Redirect(w, r, "/loop", http.StatusFound)
		case r.Header.Get("Authorization") != "token "+token:
			t.Error("the token did not follow within the host")
		default:
			answer(w, combined("success", "a=success"))
		}
	}))
	t.Cleanup(srv.Close)
	transport := &http.Transport{}
	t.Cleanup(transport.CloseIdleConnections)
	refusing := &http.Client{
		Transport:     transport,
		CheckRedirect: func(*http.Request, []*http.Request) error { return errors.New("none at all") },
	}

	if out, err := ask(t, ci.Config{BaseURL: srv.URL + "/renamed"}); err != nil || out.Status != ci.Green {
		t.Errorf("redirect within the host = %+v, %v, want green", out, err)
	}
	for _, path := range []string{"/elsewhere", "/loop"} {
		_, err := ask(t, ci.Config{BaseURL: srv.URL + path})
		if want := (engine.Verdict{Definite: true}); engine.VerdictOf(err) != want || err == nil ||
			!strings.Contains(err.Error(), "is not followed") || strings.Contains(err.Error(), token) {
			t.Errorf("redirect to %s = %v, want a definite error without the token", path, err)
		}
	}
	if asked {
		t.Error("the other host was asked")
	}
	if _, err := ask(t, ci.Config{BaseURL: srv.URL + "/renamed", HTTPClient: refusing}); err == nil {
		t.Error("the CheckRedirect of the given client was not asked")
	}
}

type doer func(*http.Request) (*http.Response, error)

func (d doer) Do(r *http.Request) (*http.Response, error) { return d(r) }

func TestCheckByAnyDoer(t *testing.T) {
	t.Parallel()
	broken := errors.New("broken")
	_, err := ask(t, ci.Config{
		BaseURL:    "https://host.invalid",
		HTTPClient: doer(func(*http.Request) (*http.Response, error) { return nil, broken }),
	})
	if !errors.Is(err, broken) || !engine.VerdictOf(err).TargetDown {
		t.Errorf("check = %v, want the error of the Doer as target down", err)
	}
}

func TestConfig(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name string
		cfg  ci.Config
		want string // empty: good
	}{
		{"Good", ci.Config{BaseURL: "https://api.github.com", Token: token}, ""},
		{"NoURL", ci.Config{}, `BaseURL is ""`},
		{"NoScheme", ci.Config{BaseURL: "api.github.com"}, "want https://HOST/PATH"},
		{"OtherScheme", ci.Config{BaseURL: "ftp://host"}, "want https://HOST/PATH"},
		{"NotAURL", ci.Config{BaseURL: "https://u:" + token + "@ho st"}, "BaseURL is not a URL"},
		{"Password", ci.Config{BaseURL: "https://u:" + token + "@host"}, "want no user"},
		{"Query", ci.Config{BaseURL: "https://host?a=b"}, "want no user, query"},
		{"Negative", ci.Config{BaseURL: "https://host", PollEvery: -1}, "PollEvery"},
		{"TokenWithANewLine", ci.Config{BaseURL: "https://host", Token: token + "\nX: y"}, "the token has a space"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			var reg engine.Registry
			err := ci.Register(&reg, tt.cfg)
			if _, ok := reg.Manifest()[ci.Step]; ok != (tt.want == "") {
				t.Errorf("registered = %v", ok)
			}
			switch {
			case tt.want == "" && err != nil:
				t.Error(err)
			case tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want) || strings.Contains(err.Error(), token)):
				t.Errorf("Register = %v, want %q and no token", err, tt.want)
			}
		})
	}
}
