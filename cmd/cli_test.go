package pawlcmd_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/pawl-dev/pawl/internal/golden"
)

// TestOutput has the whole answer of commands in testdata/NAME.txt.
func TestOutput(t *testing.T) {
	t.Parallel()
	c := newCLI(t)
	openScene(t, c)
	c.write(t, "bad/unknown.yaml", strings.Replace(tiny, "test.work", "test.wrok", 1))
	c.write(t, "bad/tiny.yaml", strings.NewReplacer("next: GOOD", "nxt: GOOD", "id: integer", "id: '\x1b[31m\u202e'\t# 日本").Replace(tiny))
	c.write(t, "steps.json", `{"pawl_manifest": 1, "steps": {"test.wrok": {"input": [{"name": "ID", "type": {"kind": "integer"}}]}}}`)
	c.write(t, "steps_bad.json", `{"pawl_manifest": 1, "steps": {"test.wrok": {"input": [{"name": "ID", "type": {"kind": "int"}}]}}}`)
	c.write(t, "input.json", `{"pr_id":"42","repo_id":"other"}`)
	tests := []struct {
		name string
		args []string
	}{
		{"list", []string{"list"}},
		{"list_json", []string{"list", "--status", "failed", "-o", "json"}},
		{"list_label", []string{"list", "--label", "pr_id=43", "--label", "repo_id=org/app"}},
		{"list_none", []string{"list", "--state", "NOWHERE"}},
		{"list_page", []string{"list", "--limit", "2"}},
		{"list_all", []string{"list", "--limit", "2", "--all"}},
		{"list_bad_status", []string{"list", "--status", "broken"}},
		{"list_bad_label", []string{"list", "--label", "x"}},
		{"list_bad_limit", []string{"list", "--limit", "0"}},
		{"list_bad_flag", []string{"list", "--sate", "X"}},
		{"list_argument", []string{"list", "pr-merge"}},

		{"show_succeeded", []string{"show", "pr-merge/41"}},
		{"show_failed", []string{"show", "pr-merge/42"}},
		{"show_failed_json", []string{"show", "pr-merge/42", "-o", "json"}},
		{"show_outage", []string{"show", "pr-merge/43"}},
		{"show_leased", []string{"show", "pr-merge/44"}},
		{"show_queued", []string{"show", "pr-merge/45"}},
		{"show_parked", []string{"show", "pr-merge/46"}},
		{"show_new", []string{"show", "pr-merge/47"}},
		{"show_missing", []string{"show", "pr-merge/99"}},
		{"show_dash", []string{"show", "--", "-rf"}},
		{"show_no_id", []string{"show"}},
		{"show_two_ids", []string{"show", "a", "b"}},

		{"history", []string{"history", "pr-merge/42"}},
		{"history_json", []string{"history", "pr-merge/43", "-o", "json"}},
		{"history_new", []string{"history", "pr-merge/47"}},
		{"history_missing", []string{"history", "pr-merge/99"}},

		{"retry_dry_run", []string{"retry", "pr-merge/42", "--dry-run"}},
		{"retry_dry_run_json", []string{"retry", "pr-merge/42", "--dry-run", "-o", "json"}},
		{"retry_other_version", []string{"retry", "pr-merge/42", "--expect-version", "3"}},
		{"retry_bad_version", []string{"retry", "pr-merge/42", "--expect-version", "-3"}},
		{"retry_not_failed", []string{"retry", "pr-merge/41"}},
		{"retry_missing", []string{"retry", "pr-merge/99", "--actor", "ada"}},

		{"start_again", []string{"start", "pr-merge", "--input", prInput("41", "0123456789abcdef0123456789abcdef01234567")}},
		{"start_again_json", []string{"start", "pr-merge", "-o", "json", "--input", prInput("41", "0123456789abcdef0123456789abcdef01234567")}},
		{"start_other_input", []string{"start", "pr-merge", "--input", prInput("41", "ffffffffffffffffffffffffffffffffffffffff")}},
		{"start_bad_input", []string{"start", "pr-merge", "--input", "@DIR/input.json"}},
		{"start_not_json", []string{"start", "pr-merge", "--input", "{"}},
		{"start_no_file", []string{"start", "pr-merge", "--input", "@DIR/none.json"}},
		{"start_no_workflow", []string{"start", "pr-marge"}},
		{"start_no_argument", []string{"start"}},

		{"validate_ok", []string{"validate", "../workflows"}},
		{"validate_ok_json", []string{"validate", "../workflows/outbox-delivery.yaml", "-o", "json"}},
		{"validate_missing", []string{"validate", "DIR/none.yaml"}},
		{"validate_unknown_step", []string{"validate", "DIR/bad/unknown.yaml"}},
		{"validate_unknown_step_json", []string{"validate", "DIR/bad/unknown.yaml", "-o", "json"}},
		{"validate_folder", []string{"validate", "DIR/bad"}},
		{"validate_color", []string{"validate", "DIR/bad", "--color", "always"}},
		{"validate_bad_color", []string{"validate", "DIR/bad", "--color", "blue"}},
		{"validate_manifest", []string{"validate", "DIR/bad/unknown.yaml", "--manifest", "DIR/steps.json"}},
		{"validate_manifest_json", []string{"validate", "DIR/bad/unknown.yaml", "--manifest", "DIR/steps.json", "-o", "json"}},
		{"validate_bad_manifest", []string{"validate", "DIR/bad/unknown.yaml", "--manifest", "DIR/steps_bad.json"}},
		{"validate_no_manifest", []string{"validate", "DIR/bad/unknown.yaml", "--manifest", "DIR/none.json"}},
		{"validate_no_argument", []string{"validate"}},
		{"list_sarif", []string{"list", "-o", "sarif"}},
		{"manifest_argument", []string{"manifest", "x"}},

		{"explain_pr_merge", []string{"explain", "../workflows/pr-merge.yaml"}},
		{"explain_all_features", []string{"explain", "../engine/definition/testdata/all-features.yaml"}},
		{"explain_state", []string{"explain", "../workflows/pr-merge.yaml", "--state", "MERGING"}},
		{"explain_state_json", []string{"explain", "../workflows/pr-merge.yaml", "--state", "MERGED", "-o", "json"}},
		{"explain_no_state", []string{"explain", "../workflows/pr-merge.yaml", "--state", "MERGIN"}},
		{"explain_warning", []string{"explain", "DIR/bad/unknown.yaml", "--state", "GOOD"}},
		{"explain_errors", []string{"explain", "DIR/bad/tiny.yaml"}},
		{"explain_errors_json", []string{"explain", "DIR/bad/tiny.yaml", "-o", "json"}},
		{"explain_missing", []string{"explain", "DIR/none.yaml"}},
		{"explain_no_argument", []string{"explain"}},

		{"migrate", []string{"migrate"}},
		{"migrate_json", []string{"migrate", "-o", "json"}},
		{"no_store", []string{"list", "--store", "sqlite:DIR/none.db"}},
		{"no_folder", []string{"migrate", "--store", "sqlite:DIR/none/pawl.db"}},
		{"store_ydb", []string{"list", "--store", "grpcs://ydb.example.org:2135/db"}},
		{"store_unknown", []string{"list", "--store", "postgres://x"}},
		{"store_empty", []string{"list", "--store", "sqlite:"}},
		{"queue_sqs", []string{"list", "--queue", "sqs:x"}},
		{"workflows_missing", []string{"tick", "--workflows", "DIR/none"}},
		{"workflows_empty", []string{"tick", "--workflows", "DIR"}},
		{"tick_bad_budget", []string{"tick", "--budget", "0s"}},
		{"tick_bad_for", []string{"tick", "--for", "-5s"}},
		{"run_bad_every", []string{"run", "--every", "0s"}},
		{"list_all_after", []string{"list", "--all", "--after", "x"}},
		{"list_bad_cursor", []string{"list", "--after", "x"}},
		{"tick_bad_lease", []string{"tick", "--lease", "10ms"}},
		{"tick_every_alone", []string{"tick", "--every", "5s"}},
		{"tick_for_and_budget", []string{"tick", "--for", "5s", "--budget", "5s"}},
		{"unknown_command", []string{"lits"}},
		{"unknown_command_far", []string{"frobnicate"}},
		{"output_unknown", []string{"list", "-o", "xml"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := c.run(t, tt.args...)
			golden.Check(t, filepath.Join("testdata", tt.name+".txt"), transcript(tt.args, got))
			if wide := widest(got.out); !strings.Contains(strings.Join(tt.args, " "), "json") && wide > 80 {
				t.Errorf("the widest line has %d columns, want 80 at most", wide)
			}
		})
	}
}

// widest counts runes: the scene has no wide ones.
func widest(s string) int {
	n := 0
	for line := range strings.Lines(s) {
		n = max(n, len([]rune(strings.TrimRight(line, "\n"))))
	}
	return n
}

// TestNoGoldenFileIsLeft finds files of tests that are gone.
func TestNoGoldenFileIsLeft(t *testing.T) {
	t.Parallel()
	src, err := os.ReadFile("cli_test.go")
	if err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob("testdata/*.txt")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".txt")
		if name != "demo" && !strings.Contains(string(src), `{"`+name+`",`) {
			t.Errorf("%s belongs to no test", file)
		}
	}
}

func TestEnvironmentSetsFlags(t *testing.T) {
	t.Parallel()
	c := newCLI(t)
	c.must(t, "migrate")
	c.env["PAWL_OUTPUT"] = "json"
	if got := c.must(t, "list"); !json.Valid([]byte(got)) {
		t.Errorf("with PAWL_OUTPUT=json list prints %q", got)
	}
	if a := c.run(t, "list", "-o", "table"); json.Valid([]byte(a.out)) && a.out != "" {
		t.Errorf("a flag does not win over its variable: %q", a.out)
	}
	c.env["PAWL_LOG_LEVEL"] = "loud"
	if a := c.run(t, "list"); a.code != 2 || !strings.Contains(a.err, `"loud"`) {
		t.Errorf("with PAWL_LOG_LEVEL=loud: %+v, want exit code 2 and the value", a)
	}
	delete(c.env, "PAWL_LOG_LEVEL")
	c.env["PAWL_CI_POLL"] = "often" // a flag of the program, not of the library
	if a := c.run(t, "list"); a.code != 2 || !strings.Contains(a.err, "PAWL_CI_POLL") {
		t.Errorf("with PAWL_CI_POLL=often: %+v, want exit code 2 and the name", a)
	}
}

// TestLookingNeedsNoSettings looks at instances with workflow files that are
// broken.
func TestLookingNeedsNoSettings(t *testing.T) {
	t.Parallel()
	c := newCLI(t)
	openScene(t, c)
	c.write(t, "bad/pr-merge.yaml", "not a workflow")
	c.env["PAWL_WORKFLOWS"] = filepath.Join(c.dir, "bad")
	c.must(t, "list")
	c.must(t, "show", "pr-merge/42")
	c.must(t, "history", "pr-merge/42")
	c.must(t, "migrate")
	c.must(t, "retry", "pr-merge/42", "--reason", "mended", "--actor", "ada")
	got := decode[story](t, c.must(t, "history", "pr-merge/42", "-o", "json"))
	last := got.Transitions[len(got.Transitions)-1]
	if last.To != "INDEXING" || last.Reason != "operator" {
		t.Errorf("last line after retry = %+v, want the operator's, to INDEXING", last)
	}
	if a := c.run(t, "tick"); a.code != 1 || !strings.Contains(a.err, "pr-merge.yaml:1:1") {
		t.Errorf("tick with a broken workflow = %+v, want exit code 1 and the place", a)
	}
	if a := c.run(t, "retry", "pr-merge/42"); a.code != 3 {
		t.Errorf("second retry = %+v, want exit code 3", a)
	}
}

// TestMissingSettingsCostNoAttempts ticks without --ci-url.
func TestMissingSettingsCostNoAttempts(t *testing.T) {
	t.Parallel()
	c := newCLI(t)
	c.must(t, "start", "pr-merge", "--input", prInput("1", "0123456789abcdef0123456789abcdef01234567"))
	a := c.run(t, "tick")
	if a.code != 0 || !strings.Contains(a.out, "ci.check is down") || !strings.Contains(a.out, "--ci-url") {
		t.Fatalf("tick = %+v, want the step down and what to set", a)
	}
	in := decode[struct{ Status, State string }](t, c.must(t, "show", "pr-merge/1", "-o", "json"))
	if in.Status != "running" || in.State != "VALIDATING" {
		t.Errorf("instance = %+v, want it running in VALIDATING", in)
	}
}

func TestStartReadsStandardInput(t *testing.T) {
	t.Parallel()
	c := newCLI(t)
	c.in = prInput("7", "0123456789abcdef0123456789abcdef01234567")
	if got := c.must(t, "start", "pr-merge", "--input", "-"); got != "pr-merge/7 created\n" {
		t.Errorf("start = %q", got)
	}
	c.in = `{"pr_id":"` + strings.Repeat("x", 70_000) + `"}`
	if a := c.run(t, "start", "pr-merge", "--input", "-"); a.code != 2 || !strings.Contains(a.err, "65536") {
		t.Errorf("start with a large input = %+v, want exit code 2 and the limit", a)
	}
}

func TestCompletion(t *testing.T) {
	t.Parallel()
	c := newCLI(t)
	openScene(t, c)
	tests := []struct {
		name string
		args []string
		want []string
	}{
		{"Workflow", []string{"start", ""}, []string{"message-delivery", "outbox-delivery", "payment", "pr-merge"}},
		{"WorkflowPrefix", []string{"start", "pr"}, []string{"pr-merge"}},
		{"State", []string{"list", "--state", "MERGE"}, []string{"MERGED", "MERGE_FAILED"}},
		{"Status", []string{"list", "--status", ""}, []string{
			"running", "queued", "waiting", "stuck", "compensating", "compensation_failed", "succeeded", "failed", "parked",
		}},
		{"FailedIDs", []string{"retry", ""}, []string{"pr-merge/42", "pr-merge/46"}},
		{"IDPrefix", []string{"show", "pr-merge/43"}, []string{"pr-merge/43"}},
		{"Output", []string{"list", "-o", ""}, []string{"table", "json"}},
		{"OutputOfValidate", []string{"validate", "-o", ""}, []string{"table", "json", "sarif"}},
		{"Color", []string{"validate", "--color", ""}, []string{"auto", "always", "never"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := c.must(t, append([]string{"__complete"}, tt.args...)...)
			want := strings.Join(tt.want, "\n") + "\n:4\n"
			if got != want {
				t.Errorf("completions = %q, want %q", got, want)
			}
		})
	}
	for _, shell := range []string{"bash", "zsh", "fish", "powershell"} {
		if got := c.must(t, "completion", shell); !strings.Contains(got, "pawl") {
			t.Errorf("completion %s prints %q", shell, got)
		}
	}
}
