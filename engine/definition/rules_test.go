package definition_test

import (
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/pawl-dev/pawl/engine/definition"
)

// elsewhere are the phases whose rules package engine emits.
func elsewhere(p definition.Phase) bool {
	return p == definition.PhaseModel || p == definition.PhaseLoad
}

func TestRulesAreThoseOfTheSource(t *testing.T) {
	rules, found := definition.Rules(), emitted(t)
	var known []string
	for _, r := range rules {
		if slices.Contains(known, r.ID) {
			t.Errorf("the rule %s is there twice", r.ID)
		}
		known = append(known, r.ID)
		if !slices.Contains(found, r.ID) && !elsewhere(r.Phase) {
			t.Errorf("the source never finds %s", r.ID)
		}
		if !strings.HasSuffix(r.Summary, ".") || r.Phase == "" {
			t.Errorf("%+v: want a phase, and a sentence as the summary", r)
		}
	}
	for _, id := range found {
		if !slices.Contains(known, id) {
			t.Errorf("Rules lacks %s", id)
		}
	}
}

// A rule is a warning if all its findings in the golden files are.
func TestRulesKnowTheWarnings(t *testing.T) {
	files, err := filepath.Glob("testdata/*/*.out")
	if err != nil {
		t.Fatal(err)
	}
	line := regexp.MustCompile(`(?m)^\S+:\d+:\d+: (warning: )?.* \[([a-z0-9.-]+)\]$`)
	found, failed := map[string]bool{}, map[string]bool{}
	for _, file := range files {
		for _, m := range line.FindAllStringSubmatch(string(mustRead(t, file)), -1) {
			found[m[2]] = true
			failed[m[2]] = failed[m[2]] || m[1] == ""
		}
	}
	if len(found) < 50 {
		t.Fatalf("the golden files show only %d rules", len(found))
	}
	for _, r := range definition.Rules() {
		if found[r.ID] && r.Warning == failed[r.ID] {
			t.Errorf("rule %s: Warning is %v, but the golden files have it as an error: %v", r.ID, r.Warning, failed[r.ID])
		}
	}
}
