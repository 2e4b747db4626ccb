package ci

import (
	"encoding/json"
	"errors"
	"fmt"
	"mime"
	"strings"
)

// Bounds on what a host may make us keep.
const (
	maxFailing = 10
	maxText    = 200 // of a description or a message, in bytes
	maxURL     = 2000
)

// verdict is what a status, or all of them, mean.
type verdict int

const (
	green verdict = iota
	pending
	red
)

// verdictOf translates a state. GitHub has success, pending, failure and
// error; Gitea also warning, which does not let a pull request be merged, and
// skipped, which does.
func verdictOf(state string) (verdict, error) {
	switch state {
	case "success", "skipped":
		return green, nil
	case "pending":
		return pending, nil
	case "failure", "error", "warning":
		return red, nil
	default:
		return 0, fmt.Errorf("the state %q is not known", clip(state))
	}
}

// page is one page of a combined status. TotalCount is a pointer since an
// answer without it is not a combined status at all.
type page struct {
	State      string   `json:"state"`
	SHA        string   `json:"sha"`
	TotalCount *int     `json:"total_count"`
	Statuses   []status `json:"statuses"`
}

// status is that of one context. GitHub calls its state "state", Gitea
// "status".
type status struct {
	Context     string `json:"context"`
	State       string `json:"state"`
	Status      string `json:"status"`
	Description string `json:"description"`
	TargetURL   string `json:"target_url"`
}

// parsePage decodes a page and checks that it is about the commit sha.
func parsePage(contentType string, body []byte, sha string) (page, error) {
	media, _, err := mime.ParseMediaType(contentType)
	if err == nil && media != "application/json" && !strings.HasSuffix(media, "+json") {
		return page{}, fmt.Errorf("the answer is %s, not JSON", clip(media))
	}
	var p page
	if err := json.Unmarshal(body, &p); err != nil {
		return page{}, fmt.Errorf("decode the answer: %w", err)
	}
	switch {
	case p.TotalCount == nil:
		return page{}, errors.New("the answer is not a combined status: it has no total_count")
	case p.SHA != "" && p.SHA != sha:
		return page{}, fmt.Errorf("the answer is about the commit %q", clip(p.SHA))
	}
	return p, nil
}

// summary is what the pages come to.
type summary struct {
	worst   verdict
	state   string // that of the worst page
	seen    int
	total   int // what the host says it has, or what was seen
	failing []Context
}

// add folds a page in. GitHub gives the state of all statuses on each page,
// Gitea that of the statuses of the page, and none on a page without any.
func (s *summary) add(p page) error {
	if len(p.Statuses) == 0 && *p.TotalCount == 0 {
		return nil
	}
	s.seen += len(p.Statuses)
	s.total = max(s.total, s.seen, *p.TotalCount)
	if err := s.fold(p.State); err != nil {
		return err
	}
	for _, st := range p.Statuses {
		state := st.State
		if state == "" {
			state = st.Status
		}
		v, err := verdictOf(state)
		if err != nil {
			return err
		}
		if v == red && len(s.failing) < maxFailing {
			s.failing = append(s.failing, Context{
				Name:        clip(st.Context),
				State:       state,
				Description: clip(st.Description),
				URL:         link(st.TargetURL),
			})
		}
	}
	return nil
}

// fold takes the state of a page in: red before pending before green.
func (s *summary) fold(state string) error {
	v, err := verdictOf(state)
	if err != nil {
		return err
	}
	if s.state == "" || v > s.worst {
		s.worst, s.state = v, state
	}
	return nil
}

// verdict says what the commit is. If nothing has reported, that is pending or
// green as the caller has it.
func (s *summary) verdict(noStatusIsGreen bool) verdict {
	switch {
	case s.total > 0:
		return s.worst
	case noStatusIsGreen:
		return green
	default:
		return pending
	}
}

func (s *summary) output(isGreen bool) Output {
	out := Output{Status: Red, State: s.state, Total: s.total, Failing: s.failing}
	if isGreen {
		out.Status = Green
	}
	if s.total == 0 {
		out.State = "none"
	}
	return out
}

// link returns a web address as it is, and nothing for anything else: it will
// be shown as a link.
func link(s string) string {
	if len(s) > maxURL || !strings.HasPrefix(s, "https://") && !strings.HasPrefix(s, "http://") {
		return ""
	}
	return s
}

// clip cuts s to maxText, at the border of a character.
func clip(s string) string {
	s = strings.ToValidUTF8(s, "\uFFFD")
	if len(s) <= maxText {
		return s
	}
	return strings.ToValidUTF8(s[:maxText], "") + "..."
}
