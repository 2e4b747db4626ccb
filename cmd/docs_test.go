package pawlcmd_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// The guide to writing workflows is a session: its program is built, its files
// are written one after another, and its commands print what it shows.
func TestGuide(t *testing.T) {
	if testing.Short() {
		t.Skip("it builds a program")
	}
	guide := mustRead(t, "../docs/writing-workflows.md")
	s := &shopSession{dir: userModule(t, "shop")}
	s.write(t, "outbox-delivery.yaml", mustRead(t, "../workflows/outbox-delivery.yaml"))
	for i, b := range fenced(guide) {
		if b.info == "go" {
			s.write(t, fmt.Sprintf("code%d.go", i), b.text)
		}
	}
	if out := s.sh(t, "go build -o shop ."); out != "" {
		t.Fatalf("build: %s", out)
	}
	ran := map[string]int{}
	for _, b := range fenced(guide) {
		ran[b.info]++
		switch b.info {
		case "yaml":
			s.write(t, "order.yaml", b.text)
		case "console":
			s.console(t, b.text)
		case "text":
			s.mistake(t, b)
		case "mermaid":
			if diff := cmp.Diff(b.text, s.sh(t, "./shop graph order.yaml")); diff != "" {
				t.Errorf("the picture (-guide +real):\n%s", diff)
			}
		}
	}
	if ran["yaml"] < 8 || ran["console"] < 12 || ran["text"] < 8 || ran["mermaid"] == 0 {
		t.Errorf("the guide has the blocks %v, which are fewer than it had", ran)
	}
}

// shopSession is a terminal session in a folder of its own.
type shopSession struct{ dir string }

func (s *shopSession) write(t *testing.T, name, text string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(s.dir, name), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// sh runs a line of a shell and returns all that it printed.
func (s *shopSession) sh(t *testing.T, line string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "sh", "-c", line)
	cmd.Dir = s.dir
	cmd.Env = append(moduleEnv(), "PAWL_LOG_LEVEL=error")
	out, _ := cmd.CombinedOutput() // what it prints says whether it failed
	return string(out)
}

// console runs the commands of a block and compares what they print. A "…"
// stands for any text.
func (s *shopSession) console(t *testing.T, text string) {
	t.Helper()
	for _, part := range strings.Split("\n"+text, "\n$ ")[1:] {
		line, want, _ := strings.Cut(part, "\n")
		if want != "" && !strings.HasSuffix(want, "\n") {
			want += "\n"
		}
		got := s.sh(t, line)
		pattern := strings.ReplaceAll(regexp.QuoteMeta(want), "…", "(?s:.*?)")
		if !regexp.MustCompile("^" + pattern + "$").MatchString(got) {
			t.Errorf("$ %s (-guide +real):\n%s", line, cmp.Diff(want, got))
		}
	}
}

// mistake changes the present file as the comment before the block says, and
// compares what validate finds then.
func (s *shopSession) mistake(t *testing.T, b fencedBlock) {
	t.Helper()
	m := regexp.MustCompile(`^<!-- mistake: (.*) => (.*) -->$`).FindStringSubmatch(b.before)
	if m == nil {
		t.Errorf("no comment tells what the mistake is that gives:\n%s", b.text)
		return
	}
	right := mustRead(t, filepath.Join(s.dir, "order.yaml"))
	if strings.Count(right, m[1]) != 1 {
		t.Errorf("the file has not exactly one %q", m[1])
	}
	s.write(t, "order.yaml", strings.Replace(right, m[1], strings.ReplaceAll(m[2], `\n`, "\n"), 1))
	defer s.write(t, "order.yaml", right)
	if diff := cmp.Diff(b.text, s.sh(t, "./shop validate order.yaml 2>&1 >found")); diff != "" {
		t.Errorf("the mistake %s (-guide +real):\n%s", m[0], diff)
	}
}

// fencedBlock is a fenced block of a document.
type fencedBlock struct {
	info   string // after the fence
	text   string
	before string // the line in front of the fence
}

func fenced(text string) []fencedBlock {
	var list []fencedBlock
	var open *fencedBlock
	before := ""
	for l := range strings.Lines(text) {
		switch fence := strings.HasPrefix(l, "```"); {
		case open != nil && fence:
			list = append(list, *open)
			open = nil
		case open != nil:
			open.text += l
		case fence:
			open = &fencedBlock{info: strings.TrimSpace(l[3:]), before: before}
		}
		before = strings.TrimSpace(l)
	}
	return list
}
