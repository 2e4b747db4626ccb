package demo

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/pawl-dev/pawl/engine"
)

// check holds what was told against git, the history and the queue.
func (s *stage) check(ctx context.Context) error {
	s.story.title("What came of it")
	var errs []error
	for _, c := range []struct {
		claim string
		check func(context.Context) error
	}{
		{"two pull requests are MERGED, #3 is MERGE_FAILED and names greeting.txt", s.checkStates},
		{"main has exactly two merge commits, those of #1 and #2", s.checkMerges},
		{"git.merge ran once for #2: the retry ran search.index alone", s.checkHistory},
		{"the events are in the queue, each once", s.checkQueue},
	} {
		err := c.check(ctx)
		mark := "ok    "
		if err != nil {
			mark = "WRONG "
			errs = append(errs, fmt.Errorf("check failed: %s: %w", c.claim, err))
		}
		s.story.linef("%s%s", mark, c.claim)
	}
	return errors.Join(append(errs, s.showQueue(ctx))...)
}

// checkStates looks at how the instances ended.
func (s *stage) checkStates(ctx context.Context) error {
	want := []string{"MERGED", "MERGED", "MERGE_FAILED"}
	for i, p := range s.prs {
		in, err := s.prog.engine.Load(ctx, p.instance())
		if err != nil {
			return err
		}
		if in.State != want[i] {
			return fmt.Errorf("%s is %s (%s: %s), want %s", in.ID, in.State, in.Code, in.Message, want[i])
		}
		if in.Status == engine.Failed && !strings.Contains(in.Message, "greeting.txt") {
			return fmt.Errorf("the error of %s does not name greeting.txt: %s", in.ID, in.Message)
		}
	}
	return nil
}

// checkMerges asks git for the merge commits of main and what they merged.
func (s *stage) checkMerges(ctx context.Context) error {
	out, err := git(ctx, s.path(repoName), "", "rev-list", "--merges", "--first-parent", "--reverse", "--format=%P", "--no-commit-header", "main")
	if err != nil {
		return err
	}
	all, err := git(ctx, s.path(repoName), "", "rev-list", "--merges", "--count", "main")
	if err != nil {
		return err
	}
	lines := strings.Split(out, "\n")
	if len(lines) != 2 || all != "2" {
		return fmt.Errorf("there are %s merge commits, %d of them on main itself", all, len(lines))
	}
	for i, line := range lines {
		if _, head, _ := strings.Cut(line, " "); head != s.prs[i].head {
			return fmt.Errorf("merge %d has the parents %s, want the head of #%s, %s", i+1, line, s.prs[i].id, s.prs[i].head)
		}
	}
	return nil
}

// checkHistory counts how often the second pull request left MERGING.
func (s *stage) checkHistory(ctx context.Context) error {
	lines, err := s.prog.engine.History(ctx, s.prs[1].instance(), 0, 0)
	if err != nil {
		return err
	}
	merges := 0
	for _, h := range lines {
		if h.From == "MERGING" && h.Reason != engine.ReasonOperator {
			merges++
		}
	}
	if merges != 1 {
		return fmt.Errorf("its history has %d lines from MERGING, want 1", merges)
	}
	return nil
}

// event is the body of an event of pr-merge.
type event struct {
	PRID        string `json:"pr_id"`
	MergeSHA    string `json:"merge_sha"`
	FailedState string `json:"failed_state"`
	Code        string `json:"code"`
}

// events returns the messages in the queue as "type pr_id state".
func (s *stage) events(ctx context.Context) ([]string, error) {
	const most = 100
	list, err := s.prog.queue.Peek(ctx, most)
	if err != nil {
		return nil, err
	}
	words := make([]string, len(list))
	for i, d := range list {
		var body event
		if err := json.Unmarshal(d.Body, &body); err != nil {
			return nil, fmt.Errorf("event %s: %w", d.ID, err)
		}
		words[i] = fmt.Sprintf("%s #%s", d.Type, body.PRID)
		if body.FailedState != "" {
			words[i] += fmt.Sprintf(" in %s: %s", body.FailedState, body.Code)
		}
	}
	return words, nil
}

// checkQueue looks for the events of all ends, also of the one that an
// operator mended later.
func (s *stage) checkQueue(ctx context.Context) error {
	got, err := s.events(ctx)
	if err != nil {
		return err
	}
	for _, want := range []string{
		"PullRequestMerged #1", "PullRequestMergeFailed #2", "PullRequestMerged #2", "PullRequestMergeFailed #3",
	} {
		n := 0
		for _, e := range got {
			if e == want || strings.HasPrefix(e, want+" ") {
				n++
			}
		}
		if n != 1 {
			return fmt.Errorf("%q is there %d times, want once; the queue has %q", want, n, got)
		}
	}
	if len(got) != 4 {
		return fmt.Errorf("the queue has %q", got)
	}
	return nil
}

func (s *stage) showQueue(ctx context.Context) error {
	list, err := s.events(ctx)
	if err != nil {
		return err
	}
	s.story.title("In the queue")
	for _, e := range list {
		s.story.linef("%s", e)
	}
	return nil
}
