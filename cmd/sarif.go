package pawlcmd

import (
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/pawl-dev/pawl/engine/definition"
)

// The form in which tools that check files hand their findings to other tools:
// Static Analysis Results Interchange Format, version 2.1.0.
const (
	sarifVersion = "2.1.0"
	sarifSchema  = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
)

type sarifLog struct {
	Schema  string     `json:"$schema"`
	Version string     `json:"version"`
	Runs    []sarifRun `json:"runs"`
}

type sarifRun struct {
	Tool       sarifTool     `json:"tool"`
	ColumnKind string        `json:"columnKind"`
	Results    []sarifResult `json:"results"`
}

type sarifTool struct {
	Driver sarifDriver `json:"driver"`
}

type sarifDriver struct {
	Name    string      `json:"name"`
	Version string      `json:"version"`
	Rules   []sarifRule `json:"rules"`
}

type sarifRule struct {
	ID      string      `json:"id"`
	Short   sarifText   `json:"shortDescription"`
	Help    sarifText   `json:"help"`
	Default sarifConfig `json:"defaultConfiguration"`
}

type sarifText struct {
	Text string `json:"text"`
}

type sarifConfig struct {
	Level string `json:"level"`
}

type sarifResult struct {
	RuleID    string          `json:"ruleId"`
	RuleIndex int             `json:"ruleIndex"` // -1 if the rule is not in the list
	Level     string          `json:"level"`
	Message   sarifText       `json:"message"`
	Locations []sarifLocation `json:"locations"`
}

type sarifLocation struct {
	Physical sarifPhysical `json:"physicalLocation"`
}

type sarifPhysical struct {
	Artifact sarifArtifact `json:"artifactLocation"`
	Region   sarifRegion   `json:"region"`
}

type sarifArtifact struct {
	URI string `json:"uri"`
}

type sarifRegion struct {
	StartLine   int `json:"startLine"`
	StartColumn int `json:"startColumn"`
	EndLine     int `json:"endLine"`
	EndColumn   int `json:"endColumn"`
}

// checkOutput refuses --output sarif where there are no findings to print.
func (e *env) checkOutput(c *cobra.Command) error {
	if e.output == sarif && c.Annotations[sarif] == "" {
		return usagef("--output sarif is for validate; for %s write table or json", c.Name())
	}
	return nil
}

func (e *env) sarif(r *report) sarifLog {
	rules := definition.Rules()
	run := sarifRun{
		Tool: sarifTool{Driver: sarifDriver{Name: e.opts.Name, Version: e.version()}},
		// Columns are counted in characters.
		ColumnKind: "unicodeCodePoints",
		Results:    []sarifResult{},
	}
	for _, rule := range rules {
		run.Tool.Driver.Rules = append(run.Tool.Driver.Rules, sarifRule{
			ID:      rule.ID,
			Short:   sarifText{Text: rule.Summary},
			Help:    sarifText{Text: fmt.Sprintf("The rule %s is described in docs/language.md of pawl.", rule.ID)},
			Default: sarifConfig{Level: level(rule.Warning)},
		})
	}
	for _, f := range r.files {
		for _, d := range f.diags {
			run.Results = append(run.Results, sarifResult{
				RuleID:    d.Rule,
				RuleIndex: slices.IndexFunc(rules, func(r definition.Rule) bool { return r.ID == d.Rule }),
				Level:     level(d.Warning),
				Message:   sarifText{Text: d.Message},
				Locations: []sarifLocation{{Physical: sarifPhysical{
					Artifact: sarifArtifact{URI: artifact(d.File)},
					Region:   sarifRegion{StartLine: d.Line, StartColumn: d.Col, EndLine: d.EndLine, EndColumn: d.EndCol},
				}}},
			})
		}
	}
	return sarifLog{Schema: sarifSchema, Version: sarifVersion, Runs: []sarifRun{run}}
}

// level is the word for an error or a warning.
func level(warning bool) string {
	if warning {
		return "warning"
	}
	return "error"
}

// artifact returns a file as a URI: relative to the current folder if it is
// below it, since readers look for it in a copy of the repository.
func artifact(file string) string {
	if filepath.IsAbs(file) {
		folder, err := os.Getwd()
		rel, relErr := filepath.Rel(folder, file)
		if err != nil || relErr != nil || rel == ".." || strings.HasPrefix(rel, ".."+string(filepath.Separator)) {
			path := filepath.ToSlash(file)
			if !strings.HasPrefix(path, "/") {
				path = "/" + path // of a drive
			}
			return (&url.URL{Scheme: "file", Path: path}).String()
		}
		file = rel
	}
	return (&url.URL{Path: filepath.ToSlash(filepath.Clean(file))}).String()
}
