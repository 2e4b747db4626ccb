package definition_test

import (
	"regexp"
	"strings"
	"testing"

	"github.com/pawl-dev/pawl/engine/definition"
)

func hashOf(t *testing.T, src string) string {
	t.Helper()
	d, list := definition.Parse("pr-merge", []byte(src))
	if d == nil {
		t.Fatalf("Parse: %v", list.Err())
	}
	return d.Hash
}

// edit replaces from, which must be there, in the shipped pr-merge.
func edit(t *testing.T, src, from, to string) string {
	t.Helper()
	if !strings.Contains(src, from) {
		t.Fatalf("%q is not in the file", from)
	}
	return strings.Replace(src, from, to, 1)
}

func TestHashIgnoresLayout(t *testing.T) {
	src := string(mustRead(t, "testdata/ok/pr-merge.yaml"))
	want := hashOf(t, src)
	if !regexp.MustCompile(`^[0-9a-f]{32}$`).MatchString(want) {
		t.Errorf("Hash = %q, want 32 hexadecimal digits", want)
	}
	comment := regexp.MustCompile(`(?m) +#.*$`)
	tests := []struct{ name, src string }{
		{"NoComments", comment.ReplaceAllString(src, "")},
		{"Quotes", edit(t, src, "start: VALIDATING", `start: "VALIDATING"`)},
		{"QuotedExpression", edit(t, src, "key: ${{ input.repo_id }}", `key: '${{input.repo_id}}'`)},
		{"BlankLines", strings.ReplaceAll(src, "\n    ", "\n\n    ")},
		{"OrderOfFields", edit(t, edit(t, src, "version: 1\n", ""), "deadline: 1h", "version: 1\ndeadline: 1h")},
		{"OrderOfInput", edit(t, edit(t, src, "  repo_id: string\n", ""),
			"  requested_by: string\n", "  requested_by: string\n  repo_id: string\n")},
		{"FlowForMap", edit(t, src, "    with:\n      repo_id: ${{ input.repo_id }}\n      sha: ${{ input.head_sha }}\n",
			"    with: {sha: \"${{ input.head_sha }}\", repo_id: \"${{ input.repo_id }}\"}\n")},
		{"SameDuration", edit(t, src, "deadline: 1h", "deadline: 60m")},
		{"DefaultWrittenOut", edit(t, src, "    next: INDEXING", "    timeout: 20s\n    next: INDEXING")},
		{"OneBranch", edit(t, src, "    next: INDEXING", "    next: [{to: INDEXING}]")},
		{"CRLF", strings.ReplaceAll(src, "\n", "\r\n")},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := hashOf(t, tt.src); got != want {
				t.Errorf("Hash = %s, want %s", got, want)
			}
		})
	}
}

func TestHashOfReorderedStatesIsTheSame(t *testing.T) {
	src := string(mustRead(t, "testdata/ok/pr-merge.yaml"))
	before, states, _ := strings.Cut(src, "states:\n")
	at := strings.Index(states, "\n  MERGING:")
	end := strings.Index(states, "\n  NOTIFYING:")
	moved := before + "states:\n" + states[:at] + states[end:] + states[at:end]
	if got, want := hashOf(t, moved), hashOf(t, src); got != want {
		t.Errorf("Hash = %s, want %s", got, want)
	}
}

// Every change of meaning changes the hash, and no two do so alike.
func TestHashSeesEveryChange(t *testing.T) {
	// Some changes lead around MERGING.
	src := strings.ReplaceAll(string(mustRead(t, "testdata/ok/pr-merge.yaml")),
		"states.MERGING.output.merge_sha", "states.MERGING?.output?.merge_sha ?? 'none'")
	changes := [][2]string{
		{"version: 1", "version: 2"},
		{"description: Validate", "description: Check"},
		{"description: Validate", "meta: {owner: me}\ndescription: Validate"},
		{"  pr_id: string", "  pr_id: any"},
		{"  base: string", "  base: string\n  base2: string"},
		{"  requested_by: string", "  requested_by: optional string"},
		{"  requested_by: string", "  requested_by: {type: string, enum: [a]}"},
		{"  requested_by: string", "  requested_by: object"},
		{"  requested_by: string", "  requested_by: {type: object, fields: {}}"},
		{"  requested_by: string", "  requested_by: list of string"},
		{"instance_key: ${{ input.pr_id }}", "instance_key: ${{ input.repo_id }}"},
		{"  repo_id: ${{ input.repo_id }}\n", ""},
		{"deadline: 1h", "deadline: 2h"},
		{"deadline: 1h", "deadline: 1h\nretention: {failed: 90d}"},
		{"deadline: 1h", "deadline: 1h\nretention: {succeeded: 90d}"},
		{"deadline: 1h", "deadline: 1h\nconcurrency: {key: \"${{ input.base }}\"}"},
		{"deadline: 1h", "deadline: 1h\nconcurrency: {key: \"${{ input.base }}\", on_conflict: reject}"},
		{"  timeout: 20s", "  timeout: 21s"},
		{"backoff: 2", "backoff: 3"},
		{"backoff: 2", "jitter: 0.3"},
		{"max_delay: 2m", "outage: count"},
		{"max_delay: 2m", "max_delay: 3m"},
		{"retry: {max_attempts: 8}", "retry: {max_attempts: 9}"},
		{"retry: {max_attempts: 8}", "retry: {except: [x]}"},
		{"start: VALIDATING", "start: MERGING"},
		{"step: git.merge", "step: git.rebase"},
		{"irreversible: true", "irreversible: false"},
		{"    timeout: 45s", "    batch: 5"},
		{"output.status == 'green'", "output.status == 'red'"},
		{"        to: MERGING", "        to: NOTIFYING"},
		{"merge_conflict: MERGE_FAILED", "timeout: MERGE_FAILED"},
		{"merge_conflict: MERGE_FAILED", "merge_conflict: MERGED"},
		{"sha: ${{ input.head_sha }}", "sha: input"},
		{"sha: ${{ input.head_sha }}", "sha: 1"},
		{"sha: ${{ input.head_sha }}", "sha: '1'"},
		{"sha: ${{ input.head_sha }}", "sha: []"},
		{"sha: ${{ input.head_sha }}", "sha: {}"},
		{"sha: ${{ input.head_sha }}", "sha: {'${{': input.head_sha}"},
		{"      on_conflict: queue", "      on_conflict: queue\n    title: Merge"},
		{"    end: failed", "    end: failed\n    output: {a: 1}"},
		{"event: PullRequestMerged\n", "event: Merged\n"},
		{"        key: ${{ input.repo_id }}\n", ""},
		{"    next: MERGED", "    next: MERGE_FAILED\n" +
			"    on_failure: {policy: mark_failed, to: MERGE_FAILED}\n    catch: {any: MERGED}"},
	}
	seen := map[string]string{hashOf(t, src): "the file itself"}
	for _, c := range changes {
		changed := edit(t, src, c[0], c[1])
		if c[0] == "start: VALIDATING" { // what is not reachable any more has to go
			before, rest, _ := strings.Cut(changed, "  VALIDATING:\n")
			changed = before + rest[strings.Index(rest, "  MERGING:\n"):]
		}
		if c[1] == "        to: NOTIFYING" {
			changed = strings.Replace(changed, "      - to: MERGE_FAILED\n", "      - to: MERGING\n", 1)
		}
		h := hashOf(t, changed)
		if other, ok := seen[h]; ok {
			t.Errorf("%q has the hash of %s", c[1], other)
		}
		seen[h] = c[1]
	}
}

// The hash of a stored definition must not change by a release of pawl: an
// instance would not find its definition any more.
func TestHashStays(t *testing.T) {
	want := map[string]string{
		"pr-merge":        "4da003686ee621f598248906601ecf14",
		"outbox-delivery": "3633788542942c0864e96c4ce4f7bdbc",
	}
	for name, hash := range want {
		if got := hashOf(t, string(mustRead(t, "testdata/ok/"+name+".yaml"))); got != hash {
			t.Errorf("hash of %s = %s, want %s", name, got, hash)
		}
	}
}
