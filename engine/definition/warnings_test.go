package definition_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/pawl-dev/pawl/engine/definition"
)

// rulesOf returns the rules of the findings, in their order.
func rulesOf(list definition.Diagnostics) string {
	rules := make([]string, len(list))
	for i, d := range list {
		rules[i] = d.Rule
	}
	return strings.Join(rules, " ")
}

// Each row changes a shipped file just as far as a rule bears, and a little
// further.
func TestWhereRulesBegin(t *testing.T) {
	const (
		pr, payment = "testdata/ok/pr-merge.yaml", "testdata/ok/payment.yaml"
		message     = "testdata/ok/message-delivery.yaml"
		features    = "testdata/all-features.yaml"

		approval = "    timeout: 3d\n"
		cooling  = "wait: {for: 10m}"
		top      = "on_failure:\n  policy: mark_failed\n"
	)
	tests := []struct{ name, file, from, to, want string }{
		{"DeadlineEqual", pr, "deadline: 1h", "deadline: 12m35s", ""},
		{"DeadlineShorter", pr, "deadline: 1h", "deadline: 12m34s999ms", "deadline"},
		{"DeadlineOfTwo", pr, "deadline: 1h", "deadline: 2m", "deadline deadline deadline deadline"},
		{"NoDeadline", pr, "deadline: 1h\n", "", ""},
		{"AwaitEqual", features, approval, "    timeout: 14d\n", ""},
		{"AwaitLonger", features, approval, "    timeout: 14d1ms\n", "deadline"},
		{"WaitEqual", features, cooling, "wait: {for: 14d}", ""},
		{"WaitLonger", features, cooling, "wait: {for: 14d1ms}", "deadline"},
		{"WaitByExpression", features, cooling, `wait: {for: "${{ input.window }}"}`, ""},

		{"RetentionEqual", pr, top, "retention: {failed: 1d}\n" + top, ""},
		{"RetentionShorter", pr, top, "retention: {failed: 23h59m59s999ms}\n" + top, "retention"},
		{"RetentionOfSuccess", pr, top, "retention: {succeeded: 1s}\n" + top, ""},
		{"RetentionWithoutMarkFailed", payment, "deadline: 15m", "retention: {failed: 1s}\ndeadline: 15m", ""},
		{"RetentionWithOwnMarkFailed", message, "start: SENDING", "retention: {failed: 1s}\nstart: SENDING", "retention"},
		{"RetentionWithForward", pr, top + "  to: MERGE_FAILED\n", "retention: {failed: 1s}\non_failure: {policy: forward}\n", ""},

		{"NoneIsEnough", payment, "    compensate: ledger.release_reserve", "    compensate: none", ""},
		{
			"PolicyOfAStateOnly", pr, "    retry: {max_attempts: 8}", "    on_failure: {policy: compensate, to: MERGE_FAILED}",
			"compensate-missing compensate-after-pivot",
		},
		{"NoKeyAndNoPivot", payment, "instance_key: ${{ input.payment_id }}\n", "", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			src := edit(t, string(mustRead(t, tt.file)), tt.from, tt.to)
			_, list := definition.Parse("x", []byte(src))
			if got := rulesOf(list); got != tt.want {
				t.Errorf("Parse found %v, want %q", list, tt.want)
			}
		})
	}
}

func TestWaysToWriteAnOutputThatMayBeAbsent(t *testing.T) {
	tests := []struct{ expr, want string }{
		{"states.B?.output?.x ?? 'none'", ""},
		{"states.B?.output?.x == nil", ""},
		{"nil != states.B?.output?.x", ""},
		{"states.B?.output ?? {}", ""},
		{"states.B?.output?.x.y ?? 'none'", ""},
		{"(states.B?.output?.x ?? [1])[0]", ""},
		{"(states.B?.output?.x ?? 1) + (states.B?.output?.y ?? 1)", ""},
		{"states.A.output.x + (states.B?.output?.y ?? 1)", ""},
		{"states.A?.output?.x ?? 1", ""}, // not needed, but no harm

		{"states.B.output.x", "states.B?.output?.x ?? default"},
		{"states.B.output", "states.B?.output ?? default"},
		{"states.B.output.x ?? 'none'", "states.B?.output?.x ?? default"},
		{"states.B.output?.x ?? 'none'", "states.B?.output?.x ?? default"},
		{"states?.B.output?.x ?? 'none'", "states.B?.output?.x ?? default"},
		{"states.B?.output.x ?? 'none'", "states.B?.output?.x ?? default"},
		{"states.B?.output?.x", "states.B?.output?.x ?? default"},
		{"states.B?.output?.x == 1", "states.B?.output?.x ?? default"},
		{"[1, states.B.output.x.y]", "states.B?.output?.x?.y ?? default"},
		{"states.B.output.x[0].y", "states.B?.output?.x ?? default"},
		{"states.B.output['a-b'].c", "states.B?.output ?? default"},
		{"states.B?.output ?? states.B.output", "states.B?.output ?? default"},
	}
	for _, tt := range tests {
		t.Run(tt.expr, func(t *testing.T) {
			// A leads to C over B or past it.
			src := strings.NewReplacer("next: DONE\n", "next: C\n", "- to: DONE", "- to: C").
				Replace(framed("x", "${{ output.ok }}"))
			src = strings.Replace(src, "  DONE:", "  C:\n    step: c.do\n    next: DONE\n    with:\n      v: \"${{ "+
				strings.ReplaceAll(tt.expr, `"`, `\"`)+" }}\"\n  DONE:", 1)
			d, list := definition.Parse("test", []byte(src))
			if tt.want == "" {
				if len(list) > 0 {
					t.Errorf("Parse found %v, want nothing", list)
				}
				return
			}
			if d != nil || len(list) != 1 || list[0].Rule != "state-order" ||
				!strings.HasSuffix(list[0].Message, "; write "+tt.want) {
				t.Fatalf("Parse found %v, want state-order with %s", list, tt.want)
			}
			// What the message says must do.
			mended := regexp.MustCompile(`v: .*\n  DONE:`).ReplaceAllLiteralString(src,
				"v: ${{ "+strings.ReplaceAll(tt.want, "default", "'x'")+" }}\n  DONE:")
			if d, list := definition.Parse("test", []byte(mended)); d == nil {
				t.Errorf("Parse of the mended file found %v", list)
			}
		})
	}
}

// Rules about the graph, the policy and the order came after the first
// releases, so a stored file that breaks them must still load.
func TestStoredFilesAreSparedTheRulesOfMeaning(t *testing.T) {
	n := 0
	for _, rule := range []string{
		"unreachable-state", "no-end", "no-success", "irreversible-cycle", "irreversible-compensate",
		"compensate-missing", "compensate-after-pivot", "compensate-unused", "state-order",
	} {
		files, err := filepath.Glob("testdata/err/" + rule + "*.yaml")
		if err != nil || len(files) == 0 {
			t.Fatalf("no test files of %s: %v", rule, err)
		}
		for _, file := range files {
			src, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if d, list := definition.ParseStored("stored", src); d == nil {
				t.Errorf("%s: ParseStored found %v", file, list)
			}
			n++
		}
	}
	if n < 25 {
		t.Errorf("only %d files", n)
	}
}

func TestAllFeaturesAreClean(t *testing.T) {
	d, list := definition.Parse("all-features.yaml", mustRead(t, "testdata/all-features.yaml"))
	if d == nil || len(list) > 0 {
		t.Errorf("Parse found %v, want nothing", list)
	}
}

func TestUnusedInput(t *testing.T) {
	all := "unused-input unused-input unused-input unused-input unused-input unused-input unused-input unused-input " +
		"unused-input unused-input"
	tests := []struct{ name, from, to, want string }{
		{"Nothing", "", "", all},
		{"OneInAGuard", "output.ok", "input.express", all[:len(all)-len(" unused-input")]},
		{"OneTwice", "output.ok", "input.id > 1 and input.id < 7", all[:len(all)-len(" unused-input")]},
		{"NameOfAnOutput", "output.ok", "output.express", all},
		{"WholeInput", "v: x", "v: ${{ input }}", ""},
		{"StepWithoutWith", "    with:\n      v: b\n", "", ""},
		{"NoInput", "input:\n", "meta:\n", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			src := edit(t, framed("x", "${{ output.ok }}"), "    step: b.do\n", "    step: b.do\n    with:\n      v: b\n")
			d := mustParse(t, edit(t, src, tt.from, tt.to))
			if got := rulesOf(definition.Unused(d)); got != tt.want {
				t.Errorf("Unused() = %v, want %q", definition.Unused(d), tt.want)
			}
		})
	}
}
