package pawlcmd_test

import (
	"encoding/json"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// sarifLog has all the fields that pawl prints of the form of SARIF 2.1.0.
type sarifLog struct {
	Schema  string `json:"$schema"`
	Version string `json:"version"`
	Runs    []struct {
		Tool struct {
			Driver struct {
				Name    string `json:"name"`
				Version string `json:"version"`
				Rules   []struct {
					ID      string            `json:"id"`
					Short   map[string]string `json:"shortDescription"`
					Help    map[string]string `json:"help"`
					Default map[string]string `json:"defaultConfiguration"`
				} `json:"rules"`
			} `json:"driver"`
		} `json:"tool"`
		ColumnKind string        `json:"columnKind"`
		Results    []sarifResult `json:"results"`
	} `json:"runs"`
}

type sarifResult struct {
	RuleID    string            `json:"ruleId"`
	RuleIndex int               `json:"ruleIndex"`
	Level     string            `json:"level"`
	Message   map[string]string `json:"message"`
	Locations []struct {
		Physical struct {
			Artifact struct {
				URI string `json:"uri"`
			} `json:"artifactLocation"`
			Region struct {
				StartLine   int `json:"startLine"`
				StartColumn int `json:"startColumn"`
				EndLine     int `json:"endLine"`
				EndColumn   int `json:"endColumn"`
			} `json:"region"`
		} `json:"physicalLocation"`
	} `json:"locations"`
}

// mustSARIF reads the output of validate. A field that the type above has not
// is an error.
func mustSARIF(t *testing.T, text string) sarifLog {
	t.Helper()
	var log sarifLog
	dec := json.NewDecoder(strings.NewReader(text))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&log); err != nil {
		t.Fatalf("decode the SARIF: %v\n%s", err, text)
	}
	if log.Version != "2.1.0" || !strings.HasSuffix(log.Schema, "/sarif-schema-2.1.0.json") || len(log.Runs) != 1 {
		t.Fatalf("SARIF %q with %d runs and the schema %q, want 2.1.0 and one", log.Version, len(log.Runs), log.Schema)
	}
	return log
}

// checkSARIF holds a log against what its schema and the readers of SARIF ask.
func checkSARIF(t *testing.T, log sarifLog) {
	t.Helper()
	run := log.Runs[0]
	if run.Tool.Driver.Name != "pawl" || run.Tool.Driver.Version != "v0.0.0" || run.ColumnKind != "unicodeCodePoints" {
		t.Errorf("tool %s %s with columns in %s", run.Tool.Driver.Name, run.Tool.Driver.Version, run.ColumnKind)
	}
	if run.Results == nil {
		t.Error("results is null, want a list also if it is empty")
	}
	levels := []string{"warning", "error"}
	for i, r := range run.Tool.Driver.Rules {
		if r.ID == "" || r.Short["text"] == "" || r.Help["text"] == "" || !slices.Contains(levels, r.Default["level"]) {
			t.Errorf("rule %d = %+v, want an id, texts and a level", i, r)
		}
	}
	for _, r := range run.Results {
		if r.RuleIndex < 0 || r.RuleIndex >= len(run.Tool.Driver.Rules) || run.Tool.Driver.Rules[r.RuleIndex].ID != r.RuleID {
			t.Errorf("result %+v: ruleIndex is not that of the rule", r)
		}
		if !slices.Contains(levels, r.Level) || r.Message["text"] == "" || len(r.Locations) != 1 {
			t.Errorf("result %+v: want a level, a text and one place", r)
			continue
		}
		at := r.Locations[0].Physical
		if u, err := url.Parse(at.Artifact.URI); err != nil || u.String() != at.Artifact.URI || strings.Contains(at.Artifact.URI, `\`) {
			t.Errorf("%q is no URI: %v", at.Artifact.URI, err)
		}
		if g := at.Region; g.StartLine < 1 || g.StartColumn < 1 || g.EndLine != g.StartLine || g.EndColumn < g.StartColumn {
			t.Errorf("region %+v, want a part of a line", g)
		}
	}
}

func TestSARIF(t *testing.T) {
	c := newCLI(t)
	c.write(t, "w/ä b#%.yaml", strings.Replace(tiny, "next: GOOD", "next: GOD", 1))
	c.write(t, "w/a.yaml", "")
	c.write(t, "w/tiny.yaml", tiny)
	t.Chdir(c.dir)
	log := mustSARIF(t, c.run(t, "validate", "-o", "sarif", "w", "./w/../w/a.yaml").out)
	checkSARIF(t, log)
	type found struct{ rule, level, uri, text string }
	var got []found
	for _, r := range log.Runs[0].Results {
		got = append(got, found{r.RuleID, r.Level, r.Locations[0].Physical.Artifact.URI, r.Message["text"]})
	}
	want := []found{
		{"empty", "error", "w/a.yaml", "the file has no workflow; begin with pawl: 1"},
		{"unknown-step", "error", "w/tiny.yaml", log.Runs[0].Results[1].Message["text"]},
		{"file-name", "warning", "w/%C3%A4%20b%23%25.yaml", "the file of workflow tiny should be named tiny.yaml"},
		{"unknown-state", "error", "w/%C3%A4%20b%23%25.yaml", `there is no state "GOD"; did you mean "GOOD"?`},
	}
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(found{})); diff != "" {
		t.Errorf("results (-want +got):\n%s", diff)
	}
	at := log.Runs[0].Results[3].Locations[0].Physical.Region
	if at.StartLine != 13 || at.StartColumn != 11 || at.EndLine != 13 || at.EndColumn != 14 {
		t.Errorf("region of GOD = %+v, want 13:11 to 13:14", at)
	}
}

// Readers look for files in a copy of the repository.
func TestSARIFNamesFilesFromHere(t *testing.T) {
	c := newCLI(t)
	c.write(t, "w/a.yaml", "")
	c.write(t, "b c.yaml", "")
	t.Chdir(filepath.Join(c.dir, "w"))
	uri := func(arg string) string {
		log := mustSARIF(t, c.run(t, "validate", "-o", "sarif", arg).out)
		checkSARIF(t, log)
		return log.Runs[0].Results[0].Locations[0].Physical.Artifact.URI
	}
	if got := uri("DIR/w/a.yaml"); got != "a.yaml" {
		t.Errorf("a file below is %q, want a.yaml", got)
	}
	if got := uri("./../w/a.yaml"); got != "../w/a.yaml" {
		t.Errorf("a file of here is %q, want ../w/a.yaml", got)
	}
	if got := uri("../b c.yaml"); got != "../b%20c.yaml" {
		t.Errorf("a file beside is %q, want ../b%%20c.yaml", got)
	}
	if got := uri("DIR/b c.yaml"); got != "file://DIR/b%20c.yaml" {
		t.Errorf("a file elsewhere is %q, want a file: URI", got)
	}
	if got := uri("-"); got != "stdin" {
		t.Errorf("the standard input is %q, want stdin", got)
	}
}

func TestSARIFWithoutFindings(t *testing.T) {
	t.Parallel()
	c := newCLI(t)
	a := c.run(t, "validate", "-o", "sarif", "../workflows/outbox-delivery.yaml")
	if a.code != 0 || a.err != "" {
		t.Errorf("validate = %+v, want exit code 0", a)
	}
	log := mustSARIF(t, a.out)
	checkSARIF(t, log)
	if len(log.Runs[0].Results) != 0 {
		t.Errorf("results = %+v, want none", log.Runs[0].Results)
	}
}
