package ci

import (
	"fmt"
	"net/http"
)

// maxRedirects is as many as net/http follows.
const maxRedirects = 10

// redirectError is a redirect that is not followed.
type redirectError struct{ from, to string }

func (e *redirectError) Error() string {
	return fmt.Sprintf("%s redirects to %s, which is not followed", e.from, e.to)
}

// sameHost returns a client that follows redirects only to the scheme, host
// and port of the request: a renamed repository is found, and the token goes
// nowhere else. By itself net/http would hand it on to subdomains, to other
// ports and from https to http.
func sameHost(d Doer) Doer {
	if d == nil {
		d = &http.Client{}
	}
	given, ok := d.(*http.Client)
	if !ok {
		return d
	}
	client := *given
	client.CheckRedirect = func(req *http.Request, via []*http.Request) error {
		from := via[0].URL
		if req.URL.Scheme != from.Scheme || req.URL.Host != from.Host || len(via) >= maxRedirects {
			return &redirectError{
				from: from.Scheme + "://" + from.Host,
				to:   req.URL.Scheme + "://" + req.URL.Host,
			}
		}
		if given.CheckRedirect != nil {
			return given.CheckRedirect(req, via)
		}
		return nil
	}
	return &client
}
