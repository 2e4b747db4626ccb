package definition_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-dev/pawl/engine/definition"
)

func TestParseFillsTheModel(t *testing.T) {
	src := mustRead(t, "testdata/ok/pr-merge.yaml")
	d, list := definition.Parse("pr-merge.yaml", src)
	if d == nil || len(list) > 0 {
		t.Fatalf("Parse: %v", list)
	}
	if d.File != "pr-merge.yaml" || string(d.Source) != string(src) {
		t.Errorf("File = %q and %d bytes of source, want what was parsed", d.File, len(d.Source))
	}
	if d.Workflow != "pr-merge" || d.Version != 1 || d.Start != "VALIDATING" || d.Deadline != time.Hour {
		t.Errorf("got %s, version %d, start %s, deadline %s", d.Workflow, d.Version, d.Start, d.Deadline)
	}
	str := definition.Type{Kind: definition.String}
	wantInput := []definition.Field{
		{Name: "pr_id", Type: str},
		{Name: "repo_id", Type: str},
		{Name: "base", Type: str},
		{Name: "head_sha", Type: str},
		{Name: "requested_by", Type: str},
	}
	if diff := cmp.Diff(wantInput, d.Input); diff != "" {
		t.Errorf("Input (-want +got):\n%s", diff)
	}
	if want := (definition.Retention{Succeeded: 30 * 24 * time.Hour}); d.Retention != want {
		t.Errorf("Retention = %v, want %v", d.Retention, want)
	}
	failure := definition.OnFailure{Policy: definition.MarkFailed, To: "MERGE_FAILED"}
	if d.OnFailure != failure {
		t.Errorf("OnFailure = %v, want %v", d.OnFailure, failure)
	}
	var names []string
	for _, s := range d.States {
		names = append(names, s.Name)
	}
	if got, want := strings.Join(names, " "), "VALIDATING MERGING NOTIFYING INDEXING MERGED MERGE_FAILED"; got != want {
		t.Errorf("states %s, want %s", got, want)
	}
	if d.State("NOWHERE") != nil {
		t.Error("State of an unknown name is not nil")
	}
}

func TestParseFillsAStep(t *testing.T) {
	d, _ := definition.Parse("pr-merge.yaml", mustRead(t, "testdata/ok/pr-merge.yaml"))
	s := d.State("MERGING")
	if s.Kind != definition.StepState || s.Step != "git.merge" || !s.Irreversible ||
		s.Timeout != 45*time.Second || s.Batch != 0 {
		t.Errorf("got %+v", s)
	}
	if s.Concurrency == nil || s.Concurrency.Reject || s.Concurrency.Key == nil {
		t.Errorf("Concurrency = %+v, want a queue with a key", s.Concurrency)
	}
	if len(s.Catch) != 1 || len(s.Catch["merge_conflict"]) != 1 || s.Catch["merge_conflict"][0].To != "MERGE_FAILED" {
		t.Errorf("Catch = %v, want merge_conflict to MERGE_FAILED", s.Catch)
	}
	if len(s.Next) != 1 || s.Next[0].To != "NOTIFYING" || s.Next[0].When != nil {
		t.Errorf("Next = %v, want NOTIFYING", s.Next)
	}
	next := d.State("VALIDATING").Next
	if len(next) != 2 || next[0].To != "MERGING" || next[0].When == nil ||
		next[1].To != "MERGE_FAILED" || next[1].When != nil {
		t.Errorf("Next = %v, want a guard to MERGING, else MERGE_FAILED", next)
	}
	if s.OnFailure != d.OnFailure {
		t.Errorf("OnFailure = %v, want that of the workflow", s.OnFailure)
	}
	end := d.State("MERGE_FAILED")
	if end.Kind != definition.EndState || !end.Failed || len(end.Emit) != 1 ||
		end.Emit[0].Event != "PullRequestMergeFailed" {
		t.Errorf("got %+v, want a failed end that emits", end)
	}
}

func TestRetryIsOverriddenFieldByField(t *testing.T) {
	src := func(top, state string) string {
		s := framed("x", "${{ output.ok }}")
		s = strings.Replace(s, "start: A", top+"start: A", 1)
		return strings.Replace(s, "    step: b.do\n", "    step: b.do\n"+state, 1)
	}
	language := definition.Retry{
		MaxAttempts: 5, InitialDelay: 5 * time.Second, Backoff: 2, MaxDelay: 5 * time.Minute, Jitter: 0.2,
	}
	with := func(f func(r *definition.Retry)) definition.Retry {
		r := language
		f(&r)
		return r
	}
	tests := []struct {
		name, top, state string
		want             definition.Retry
		timeout          time.Duration
	}{
		{"Language", "", "", language, 30 * time.Second},
		{
			"Defaults", "defaults: {timeout: 1s, retry: {max_attempts: 3, jitter: 0}}\n", "",
			with(func(r *definition.Retry) { r.MaxAttempts, r.Jitter = 3, 0 }), time.Second,
		},
		{
			"State", "defaults: {timeout: 1s, retry: {max_attempts: 3, backoff: 1.5}}\n",
			"    timeout: 2s\n    retry: {max_attempts: 4, max_delay: 1h, outage: count, except: [bad, worse]}\n",
			with(func(r *definition.Retry) {
				r.MaxAttempts, r.Backoff, r.MaxDelay, r.CountOutage = 4, 1.5, time.Hour, true
				r.Except = []string{"bad", "worse"}
			}), 2 * time.Second,
		},
		{"OutageBack", "defaults: {retry: {outage: count}}\n", "    retry: {outage: wait}\n", language, 30 * time.Second},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := mustParse(t, src(tt.top, tt.state)).State("B")
			if diff := cmp.Diff(tt.want, s.Retry); diff != "" {
				t.Errorf("Retry (-want +got):\n%s", diff)
			}
			if s.Timeout != tt.timeout {
				t.Errorf("Timeout = %s, want %s", s.Timeout, tt.timeout)
			}
		})
	}
}

func TestDefaultsMayStandBehindTheStates(t *testing.T) {
	d := mustParse(t, framed("x", "${{ output.ok }}")+"defaults: {timeout: 3s}\n")
	if got := d.State("B").Timeout; got != 3*time.Second {
		t.Errorf("Timeout = %s, want 3s", got)
	}
}

func TestEveryTypeCanBeWritten(t *testing.T) {
	str := definition.Type{Kind: definition.String}
	tests := []struct {
		text string
		want definition.Type
	}{
		{"string", str},
		{"optional integer", definition.Type{Kind: definition.Integer, Optional: true}},
		{"list of number", definition.Type{Kind: definition.List, Elem: &definition.Type{Kind: definition.Number}}},
		{"optional list of any", definition.Type{
			Kind: definition.List, Optional: true, Elem: &definition.Type{Kind: definition.Any},
		}},
		{
			"{type: string, enum: [a, b], description: Either.}",
			definition.Type{Kind: definition.String, Enum: []string{"a", "b"}},
		},
		{"{type: optional object, fields: {s: string}}", definition.Type{
			Kind: definition.Object, Optional: true, Fields: []definition.Field{{Name: "s", Type: str}},
		}},
		{"{type: list of object, fields: {s: string}}", definition.Type{
			Kind: definition.List,
			Elem: &definition.Type{Kind: definition.Object, Fields: []definition.Field{{Name: "s", Type: str}}},
		}},
		{"boolean", definition.Type{Kind: definition.Boolean}},
		{"timestamp", definition.Type{Kind: definition.Timestamp}},
		{"duration", definition.Type{Kind: definition.Duration}},
		{"object", definition.Type{Kind: definition.Object}},
	}
	for _, tt := range tests {
		src := strings.Replace(framed("x", "${{ output.ok }}"), "  any: any\n", "  any: any\n  t: "+tt.text+"\n", 1)
		d := mustParse(t, src)
		if diff := cmp.Diff(tt.want, d.Input[len(d.Input)-1].Type); diff != "" {
			t.Errorf("type %s (-want +got):\n%s", tt.text, diff)
		}
	}
}

// What a place does not know must not compile there.
func TestVariablesAreKnownOnlyInTheirPlaces(t *testing.T) {
	places := []struct{ name, from, to, known string }{
		{"InstanceKey", "start: A", "instance_key: EXPR\nstart: A", "input instance now"},
		{"Label", "start: A", "labels: {a: 'EXPR'}\nstart: A", "input instance now"},
		{"TopConcurrency", "start: A", "concurrency: {key: 'EXPR'}\nstart: A", "input instance now"},
		{"With", "      v: x", "      v: EXPR", "input instance now states"},
		{"StateConcurrency", "    step: b.do", "    step: b.do\n    concurrency: {key: 'EXPR'}", "input instance now states"},
		{"Guard", "- to: DONE", "- {when: 'EXPR', to: B}\n      - to: DONE", "input instance now states output"},
		{
			"CatchGuard", "    step: b.do", "    step: b.do\n    catch: {any: [{when: 'EXPR', to: DONE}, {to: FAILED}]}",
			"input instance now states error",
		},
		{"Emit", "    step: b.do", "    step: b.do\n    emit: [{event: E, payload: 'EXPR'}]", "input instance now states"},
		{"OutputOfSuccess", "{end: succeeded}", "{end: succeeded, output: {a: 'EXPR'}}", "input instance now states"},
		{"OutputOfFailure", "{end: failed}", "{output: {a: 'EXPR'}, end: failed}", "input instance now states error"},
		{
			"EmitOfFailure", "{end: failed}", "{emit: [{event: E, key: 'EXPR'}], end: failed}",
			"input instance now states error",
		},
	}
	use := map[string]string{
		"input": "string(input.id)", "instance": "instance.id", "now": "string(now)",
		"states": `string(states.B?.output?.x ?? "")`, "output": "string(output.x)", "error": "error.code",
	}
	for _, p := range places {
		for name, expr := range use {
			guard := strings.Contains(p.to, "when:")
			if guard {
				expr += ` == "x"`
			}
			src := framed("x", "${{ output.ok }}")
			if p.name == "With" {
				src = framed("${{ "+expr+" }}", "${{ output.ok }}")
			} else {
				src = edit(t, src, p.from, strings.Replace(p.to, "EXPR", "${{ "+expr+" }}", 1))
			}
			d, list := definition.Parse("test", []byte(afterB(src)))
			known := strings.Contains(" "+p.known+" ", " "+name+" ")
			if known && d == nil {
				t.Errorf("%s does not know %s: %v", p.name, name, list)
			}
			if !known && (d != nil || !strings.Contains(list.Err().Error(), ": unknown name "+name+";")) {
				t.Errorf("%s knows %s: %v", p.name, name, list)
			}
		}
	}
}
