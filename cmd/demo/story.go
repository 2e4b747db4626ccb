package demo

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/pawl-dev/pawl/engine"
)

// story tells what happens, from the history of the instances.
type story struct {
	out   io.Writer
	begin time.Time
	dir   string // is left out of messages
	prs   []*pull
	told  map[string]int64 // instance -> last line told
	error map[*pull]string // the text told last

	commit *regexp.Regexp // a commit id, with its first digits as group 1
}

func newStory(out io.Writer, begin time.Time, dir string, prs []*pull) *story {
	return &story{
		out: out, begin: begin, dir: dir, prs: prs,
		told: make(map[string]int64), error: make(map[*pull]string),
		commit: regexp.MustCompile(`\b([0-9a-f]{7})[0-9a-f]{33}\b`),
	}
}

func (s *story) linef(format string, args ...any) { fmt.Fprintf(s.out, "  "+format+"\n", args...) }

func (s *story) title(text string) { fmt.Fprintf(s.out, "\n%s\n", text) }

func (s *story) opened(p *pull) {
	s.linef("#%s  %-18s branch %-16s head %.7s  = instance %s", p.id, p.title, p.branch, p.head, p.instance())
}

func (s *story) skipped(d time.Duration) { s.linef("~~ %s skipped", d.Round(time.Second/10)) }

// goOn tells the lines that are new.
func (s *story) goOn(ctx context.Context, eng *engine.Engine) error {
	type line struct {
		pr *pull
		engine.History
	}
	var lines []line
	for _, p := range s.prs {
		id := p.instance()
		found, err := eng.History(ctx, id, s.told[id], 0)
		if err != nil {
			return err
		}
		for _, h := range found {
			lines = append(lines, line{p, h})
			s.told[id] = h.Seq
		}
	}
	slices.SortStableFunc(lines, func(a, b line) int { return cmp.Compare(a.At.UnixMicro(), b.At.UnixMicro()) })
	for _, l := range lines {
		s.tell(l.pr, l.History)
	}
	return nil
}

// tell prints a line of history, and below it what it says beside its states.
func (s *story) tell(p *pull, h engine.History) {
	at := h.At.Sub(s.begin).Round(time.Second)
	what := h.From + " → " + h.To
	if h.From == h.To {
		what = h.To + ", " + h.Reason
	}
	if h.Code != "" {
		what = fmt.Sprintf("%-24s  attempt %d: %s", what, h.Attempt, h.Code)
	}
	s.linef("%02d:%02d  #%s  %s", at/time.Minute, at%time.Minute/time.Second, p.id, what)
	text := s.message(h)
	if text == s.error[p] {
		return // the same error again
	}
	s.error[p] = text
	for len(text) > 0 {
		var line string
		line, text = breakAt(text, 66)
		s.linef("           %s", line)
	}
}

// message is the first line of the text of h, without the folder of the demo
// and with commit ids as short as people write them.
func (s *story) message(h engine.History) string {
	text, _, _ := strings.Cut(h.Message, "\n")
	text = strings.ReplaceAll(text, s.dir+string(filepath.Separator), "")
	return s.commit.ReplaceAllString(text, "$1")
}

// breakAt cuts s at the last space within width.
func breakAt(s string, width int) (line, rest string) {
	if len(s) <= width {
		return s, ""
	}
	if cut := strings.LastIndexByte(s[:width], ' '); cut > 0 {
		return s[:cut], s[cut+1:]
	}
	return s, ""
}

// advice says how to look further.
func (s *story) advice(cfg Config, prs []*pull) {
	s.title("Look further")
	store := filepath.Join(cfg.Dir, storeName)
	s.linef("%s --store sqlite:%s list", cfg.Program, store)
	s.linef("%s --store sqlite:%s history %s", cfg.Program, store, prs[1].instance())
	s.linef("%s --store sqlite:%s show %s", cfg.Program, store, prs[2].instance())
	s.linef("git -C %s log --graph --oneline main", filepath.Join(cfg.Dir, repoName))
}
