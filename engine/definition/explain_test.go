package definition_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"gopkg.in/yaml.v3"

	"github.com/pawl-dev/pawl/engine/definition"
	"github.com/pawl-dev/pawl/internal/golden"
)

// setting returns the setting of that path.
func setting(tb testing.TB, list []definition.Setting, path string) definition.Setting {
	tb.Helper()
	for _, s := range list {
		if s.Path == path {
			return s
		}
	}
	tb.Fatalf("there is no setting %s", path)
	return definition.Setting{}
}

// showSetting writes a setting in a line.
func showSetting(s definition.Setting) string {
	line := fmt.Sprintf("%s = %s (%s", s.Path, s.Value, s.From)
	if s.Line > 0 {
		line += fmt.Sprint(" ", s.Line)
	}
	line += ")"
	if s.Note != "" {
		line += " # " + s.Note
	}
	return line
}

// The whole list is for reading.
func TestExplain(t *testing.T) {
	for _, name := range []string{"ok/pr-merge", "ok/payment", "ok/message-delivery", "all-features"} {
		d, list := definition.Parse("x", mustRead(t, "testdata/"+name+".yaml"))
		if d == nil {
			t.Fatal(list)
		}
		var b strings.Builder
		for _, s := range d.Explain() {
			b.WriteString(showSetting(s) + "\n")
		}
		golden.Check(t, "testdata/explain/"+name[strings.LastIndex(name, "/")+1:]+".txt", []byte(b.String()))
	}
}

// Nothing that a file says is left out.
func TestExplainHasAllThatTheFileSays(t *testing.T) {
	src := mustRead(t, "testdata/all-features.yaml")
	var doc yaml.Node
	if err := yaml.Unmarshal(src, &doc); err != nil {
		t.Fatal(err)
	}
	list := mustParse(t, string(src)).Explain()
	covered := func(path string, line int) bool {
		return slices.ContainsFunc(list, func(s definition.Setting) bool {
			if strings.HasPrefix(path, "defaults.") {
				return s.From == definition.FromDefaults && s.Line == line
			}
			return s.Line == line && (s.Path == path || strings.HasPrefix(path, s.Path+".") || s.Path == path+".step")
		})
	}
	leaves := 0
	var walk func(path string, line int, whole bool, n *yaml.Node)
	walk = func(path string, line int, whole bool, n *yaml.Node) {
		if n.Kind == yaml.MappingNode {
			// A map may be shown as one value.
			whole = whole || slices.ContainsFunc(list, func(s definition.Setting) bool { return s.Path == path && s.Line == line })
			for i := 0; i+1 < len(n.Content); i += 2 {
				below, at := strings.TrimPrefix(path+"."+n.Content[i].Value, "."), n.Content[i+1].Line
				if whole {
					at = line
				}
				walk(below, at, whole, n.Content[i+1])
			}
			return
		}
		leaves++
		if path != "pawl" && !covered(path, line) && n.Kind == yaml.ScalarNode {
			t.Errorf("no setting shows %s of line %d", path, line)
		}
	}
	walk("", 0, false, doc.Content[0])
	if leaves < 100 {
		t.Errorf("only %d values were looked at", leaves)
	}
}

// A path is there once, and its origin and line fit together.
func TestExplainIsConsistent(t *testing.T) {
	for _, name := range []string{"ok/pr-merge", "ok/payment", "ok/message-delivery", "ok/outbox-delivery", "all-features"} {
		src := string(mustRead(t, "testdata/"+name+".yaml"))
		checkSettings(t, src, mustParse(t, src).Explain())
	}
}

func checkSettings(t *testing.T, src string, list []definition.Setting) {
	t.Helper()
	rows := strings.Split(src, "\n")
	seen := map[string]bool{}
	for _, s := range list {
		if seen[s.Path] {
			t.Errorf("%s is there twice", s.Path)
		}
		seen[s.Path] = true
		if s.Value == "" && s.From == definition.FromBuiltIn || strings.ContainsAny(s.Note, "\n") || s.Line > len(rows) {
			t.Errorf("incomplete: %s", showSetting(s))
		}
		switch s.From {
		case definition.FromFile, definition.FromDefaults, definition.FromWorkflow:
			if s.Line < 1 {
				t.Errorf("without a line: %s", showSetting(s))
			}
		case definition.FromBuiltIn:
			if s.Line != 0 {
				t.Errorf("with a line: %s", showSetting(s))
			}
		case definition.FromOthers:
		default:
			t.Errorf("unknown origin: %s", showSetting(s))
		}
	}
}

// Where a value comes from, one edit of pr-merge at a time.
func TestExplainNamesTheOrigin(t *testing.T) {
	tests := []struct {
		name  string
		edits []string
		want  []string
	}{
		{
			"AsShipped", nil, []string{
				"deadline = 1h (file @deadline: 1h@)",
				"retention.failed = for ever (built-in)",
				"states.MERGING.timeout = 45s (file @timeout: 45s@)",
				"states.NOTIFYING.timeout = 20s (defaults @timeout: 20s@)",
				"states.MERGING.retry.max_attempts = 5 (defaults @retry: {max_attempts: 5@)",
				"states.INDEXING.retry.max_attempts = 8 (file @retry: {max_attempts: 8@)",
				"states.INDEXING.retry.max_delay = 2m (defaults @retry: {max_attempts: 5@)",
				"states.MERGING.retry.outage = wait (built-in)",
				"states.MERGING.retry.delays = 5s 10s 20s 40s (computed)",
				"states.MERGING.worst_case = 5m (computed)",
				"states.INDEXING.retry.delays = 5s 10s 20s 40s 1m20s 2m 2m (computed)",
				"states.INDEXING.worst_case = 12m35s (computed)",
				"states.MERGING.on_failure.policy = mark_failed (workflow @policy: mark_failed@)",
				"states.MERGING.on_failure.to = MERGE_FAILED (workflow @to: MERGE_FAILED@)",
				"states.MERGING.errors = merge_conflict at once to MERGE_FAILED; the rest, out of attempts, to on_failure (computed)",
				"states.NOTIFYING.errors = all, out of attempts, to on_failure (computed)",
				"states.MERGING.undone = never (computed)",
			},
		},
		{
			"WithoutDefaults",
			[]string{"defaults:\n  timeout: 20s\n  retry: {max_attempts: 5, initial_delay: 5s, backoff: 2, max_delay: 2m}\n", ""},
			[]string{
				"states.NOTIFYING.timeout = 30s (built-in)",
				"states.NOTIFYING.retry.max_attempts = 5 (built-in)",
				"states.NOTIFYING.retry.max_delay = 5m (built-in)",
				"states.INDEXING.retry.max_attempts = 8 (file @retry: {max_attempts: 8@)",
			},
		},
		{
			"AtMostOnce",
			[]string{"    irreversible: true ", "    at_most_once: true\n    irreversible: true "},
			[]string{
				"states.MERGING.at_most_once = true (file @at_most_once: true@)",
				"states.MERGING.retry.max_attempts = 1 (computed @at_most_once: true@)",
				"states.MERGING.retry.delays = none (computed)",
				"states.MERGING.worst_case = 45s (computed)",
			},
		},
		{
			"Policies",
			[]string{"    timeout: 45s\n    retry", "    on_failure: {policy: forward}\n    catch: {timeout: MERGED, any: MERGED}\n    timeout: 45s\n    retry"},
			[]string{
				"states.INDEXING.on_failure.policy = forward (file @on_failure: {policy: forward@)",
				"states.INDEXING.worst_case = without end (computed)",
				"states.INDEXING.errors = timeout, out of attempts, to MERGED; the rest, out of attempts, to MERGED (computed)",
				"states.INDEXING.catch.any = MERGED (file @catch: {timeout: MERGED@)",
			},
		},
		{
			"Except",
			[]string{"retry: {max_attempts: 8}", "retry: {max_attempts: 8, except: [gone, lost], outage: count, jitter: 0}"},
			[]string{
				"states.INDEXING.retry.except = gone, lost (file @except: [gone@)",
				"states.INDEXING.retry.outage = count (file @except: [gone@)",
				"states.INDEXING.retry.jitter = 0 (file @except: [gone@)",
				"states.INDEXING.errors = gone, lost at once to on_failure; the rest, out of attempts, to on_failure (computed)",
			},
		},
		{
			"Long",
			[]string{"retry: {max_attempts: 8}", "retry: {max_attempts: 1000, backoff: 1.5}"},
			[]string{
				"states.INDEXING.retry.delays = 5s 7s500ms 11s250ms 16s875ms 25s313ms 37s969ms 56s953ms 1m25s430ms, then 991 times 2m (computed)",
			},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			src := string(mustRead(t, "testdata/ok/pr-merge.yaml"))
			for i := 0; i < len(tt.edits); i += 2 {
				src = edit(t, src, tt.edits[i], tt.edits[i+1])
			}
			list := mustParse(t, src).Explain()
			for _, want := range tt.want {
				want = withLine(t, want, src)
				path, _, _ := strings.Cut(want, " = ")
				s := setting(t, list, path)
				s.Note = ""
				if got := showSetting(s); got != want {
					t.Errorf("got %s\nwant %s", got, want)
				}
			}
		})
	}
}

// withLine puts the line where text stands in src for @text@.
func withLine(tb testing.TB, want, src string) string {
	tb.Helper()
	before, rest, ok := strings.Cut(want, "@")
	if !ok {
		return want
	}
	text, after, _ := strings.Cut(rest, "@")
	above, _, ok := strings.Cut(src, text)
	if !ok {
		tb.Fatalf("%q is not in the workflow", text)
	}
	return before + fmt.Sprint(strings.Count(above, "\n")+1) + after
}

// A failure means something else before and behind the irreversible state.
func TestExplainSaysWhatIsUndone(t *testing.T) {
	const src = `pawl: 1
workflow: trip
version: 1
input: {id: string}
instance_key: ${{ input.id }}
on_failure: {policy: compensate, to: FAILED}
start: HOTEL
states:
  HOTEL: {step: s.hotel, compensate: s.no_hotel, next: FLIGHT}
  FLIGHT:
    step: s.flight
    compensate: {step: s.no_flight, timeout: 2m, retry: {max_attempts: 7}}
    next: [{when: "${{ output.ok }}", to: PAY}, {to: ASK}]
  ASK: {await: {go: PAY}, next: PAY}
  PAY: {step: s.pay, irreversible: true, next: MAIL}
  MAIL: {step: s.mail, next: DONE}
  DONE: {end: succeeded}
  FAILED: {end: failed}
`
	list := mustParse(t, strings.Replace(src, ", next: PAY}\n  PAY", "}\n  PAY", 1)).Explain()
	for _, want := range []string{
		"states.HOTEL.compensate.step = s.no_hotel (file 9)",
		"states.HOTEL.compensate.retry.max_attempts = 20 (built-in) # the first one included",
		"states.HOTEL.compensate.retry.max_delay = 10m (built-in)",
		"states.HOTEL.compensate.with = the recorded input and output of the step (built-in)",
		"states.HOTEL.undone = by s.no_hotel (computed) # if the step has run, or may have, and a failure is compensated before an irreversible state has run",
		"states.FLIGHT.compensate.step = s.no_flight (file 12)",
		"states.FLIGHT.compensate.timeout = 2m (file 12) # of one attempt",
		"states.FLIGHT.compensate.retry.max_attempts = 7 (file 12) # the first one included",
		"states.FLIGHT.next = PAY when output.ok; else ASK (file 13)",
		"states.HOTEL.on_failure.policy = compensate (workflow 6) # what was done is undone, last first, and then the instance ends",
		"states.PAY.on_failure.policy = compensate (workflow 6) # what was done before is undone, last first, unless this step may have happened",
		"states.PAY.undone = never (computed) # the step is irreversible: once it has run, or may have, nothing is undone any more",
		"states.MAIL.on_failure.policy = compensate (workflow 6) # an irreversible state has run before, so nothing is undone: the instance ends at once",
		"states.MAIL.undone = never (computed) # it runs only after an irreversible state",
		"states.ASK.timeout = none (built-in) # waits until a signal comes",
		"states.ASK.await.go = PAY (file 14)",
	} {
		path, _, _ := strings.Cut(want, " = ")
		if got := showSetting(setting(t, list, path)); got != want {
			t.Errorf("got %s\nwant %s", got, want)
		}
	}
}
