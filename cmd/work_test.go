package pawlcmd_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"testing/fstest"
	"unicode/utf8"

	pawlcmd "github.com/pawl-dev/pawl/cmd"
	"github.com/pawl-dev/pawl/engine"
)

// tiny is a workflow of one step.
const tiny = `pawl: 1
workflow: tiny
version: 1
input:
  id: integer
  fail: optional boolean
on_failure: {policy: mark_failed, to: BAD}
start: WORK
states:
  WORK:
    step: test.work
    retry: {max_attempts: 1}
    next: GOOD
  GOOD:
    end: succeeded
    output:
      id: ${{ states.WORK.output.id }}
  BAD:
    end: failed
`

type tinyInput struct {
	ID   int64 `json:"id"`
	Fail *bool `json:"fail,omitempty"`
}

type tinyOutput struct {
	ID int64 `json:"id"`
}

// newTiny returns a program with a step of its own, which fails while *broken.
func newTiny(t *testing.T, broken *bool) *cli {
	t.Helper()
	c := newCLI(t)
	c.opts = pawlcmd.Options{
		Name: "tiny", Clock: noon,
		Workflows: fstest.MapFS{"tiny.yaml": {Data: []byte(tiny)}},
		Handlers: func(_ context.Context, s *pawlcmd.Setup) error {
			engine.Register(s.Handlers, "test.work", func(_ context.Context, call engine.Call[tinyInput]) (tinyOutput, error) {
				if *broken {
					return tinyOutput{}, engine.Permanent(errors.New("it is broken"))
				}
				return tinyOutput(struct{ ID int64 }{call.In.ID}), nil
			}, engine.Handler{})
			return nil
		},
	}
	return c
}

func TestProgramOfOneStep(t *testing.T) {
	t.Parallel()
	broken := true
	c := newTiny(t, &broken)
	const input = `{"id": 634866135153775564}`
	if got := c.must(t, "start", "tiny", "--key", "a", "--input", input); got != "tiny/a created\n" {
		t.Errorf("start = %q", got)
	}
	if got, want := c.must(t, "tick"), "1 claimed, 1 steps, 1 committed, 1 failed\n"; got != want {
		t.Errorf("tick = %q, want %q", got, want)
	}
	broken = false
	if got := c.must(t, "retry", "tiny/a", "--reason", "mended", "--actor", "ada"); !strings.HasPrefix(got, "tiny/a: WORK (test.work) runs again") {
		t.Errorf("retry = %q", got)
	}
	got := decode[map[string]any](t, c.must(t, "tick", "-o", "json"))
	if got["succeeded"] != 1.0 || got["failed"] != 0.0 {
		t.Errorf("report = %v, want one succeeded", got)
	}
	if got, want := c.must(t, "tick", "--for", "50ms", "--every", "10ms"), "0 claimed, 0 steps, 0 committed\n"; got != want {
		t.Errorf("ticks with nothing to do = %q, want %q", got, want)
	}
	in := decode[struct {
		State         string
		Input, Output json.RawMessage
	}](t, c.must(t, "show", "tiny/a", "-o", "json"))
	if in.State != "GOOD" || !strings.Contains(string(in.Output), "634866135153775564") {
		t.Errorf("instance = %s %s, want GOOD and all digits", in.State, in.Output)
	}
}

// TestOddIDs sends ids through start, list, show, history and retry. C19.
func TestOddIDs(t *testing.T) {
	t.Parallel()
	broken := true
	c := newTiny(t, &broken)
	keys := []string{
		"org/repo#42", "a%2Fb", "a/b", "x y", "..", "ё/😀", "-rf", "'; DROP", `"q"`, "a~2", "$(x)", "日本", "é", "e\u0301",
		strings.Repeat("k", engine.MaxKey),
	}
	want := map[string]string{} // id -> key
	for _, key := range keys {
		got := decode[struct {
			ID      string
			Created bool
		}](t, c.must(t, "start", "tiny", "--input", `{"id":1}`, "-o", "json", "--key="+key))
		if !got.Created || want[got.ID] != "" {
			t.Errorf("start of %q = %+v, want a new id", key, got)
		}
		want[got.ID] = key
	}
	c.must(t, "tick")
	list := decode[listed](t, c.must(t, "list", "-o", "json", "--all"))
	if len(list.Instances) != len(keys) {
		t.Errorf("list has %d instances, want %d", len(list.Instances), len(keys))
	}
	table := c.must(t, "list")
	for _, in := range list.Instances {
		if _, ok := want[in.ID]; !ok {
			t.Errorf("list has %q, which was not started", in.ID)
		}
		if !strings.Contains(table, "\n"+in.ID) {
			t.Errorf("the table does not show %q", in.ID)
		}
		if got := decode[struct{ ID, Key string }](t, c.must(t, "show", "-o", "json", "--", in.ID)); got.ID != in.ID || got.Key != want[in.ID] {
			t.Errorf("show of %q = %+v", in.ID, got)
		}
		if got := c.must(t, "show", "--", in.ID); !strings.HasPrefix(got, in.ID+"\n") {
			t.Errorf("show of %q begins with %.80q", in.ID, got)
		}
		if got := decode[story](t, c.must(t, "history", "-o", "json", "--", in.ID)); got.ID != in.ID || len(got.Transitions) == 0 {
			t.Errorf("history of %q = %+v", in.ID, got)
		}
		if got := decode[struct{ ID string }](t, c.must(t, "retry", "-o", "json", "--", in.ID)); got.ID != in.ID {
			t.Errorf("retry of %q = %+v", in.ID, got)
		}
	}
}

func TestRefusedKeys(t *testing.T) {
	t.Parallel()
	broken := false
	c := newTiny(t, &broken)
	for _, key := range []string{"a\nb", "a\x00b", "a\xffb", "\u0085", strings.Repeat("k", 2048)} {
		a := c.run(t, "start", "tiny", "--input", `{"id":1}`, "--key", key)
		if a.code != 2 || a.out != "" || strings.Count(a.err, "\n") != 1 || !utf8.ValidString(a.err) {
			t.Errorf("start with the key %.20q = %+v, want exit code 2 and one line", key, a)
		}
	}
}

func TestSetupErrorsAreReported(t *testing.T) {
	t.Parallel()
	broken := false
	c := newTiny(t, &broken)
	c.opts.Handlers = func(_ context.Context, s *pawlcmd.Setup) error {
		s.AtEnd(func() error { return errors.New("closed") })
		return errors.New("no such thing")
	}
	for _, args := range [][]string{{"tick"}, {"validate", "cli_test.go"}} {
		a := c.run(t, args...)
		if a.code != 1 || !strings.Contains(a.err, "no such thing") || !strings.Contains(a.err, "closed") {
			t.Errorf("%v = %+v, want exit code 1 and both errors", args, a)
		}
	}
	c.opts.Handlers = nil
	if a := c.run(t, "tick"); a.code != 1 || !strings.Contains(a.err, "test.work") {
		t.Errorf("tick without the step = %+v, want exit code 1 and its name", a)
	}
}
