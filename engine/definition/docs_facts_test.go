package definition

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-dev/pawl/engine/expression"
)

// docField is a field of the language, by the heading of its section.
type docField struct {
	heading  string
	name     string
	required bool
	standard any // what holds if it is absent; nil: see its section
}

func docFields[T any](before, after string, table []field[T]) (list []docField) {
	for _, f := range table {
		list = append(list, docField{before + f.name + after, f.name, f.required != 0, f.shape.standard})
	}
	return list
}

// allDocFields returns the fields of all tables of the language.
func allDocFields() []docField {
	list := slices.Concat(
		docFields("`", "`", topFields()),
		docFields("`retention.", "`", retentionFields()),
		docFields("`on_failure.", "`", failureFields()),
		docFields("`defaults.", "`", defaultFields()),
		docFields("`concurrency.", "`", concurrencyFields(atStart)),
		docFields("type `", "`", typeFields()),
		docFields("branch `", "`", branchFields()),
		docFields("retry `", "`", retryFields()),
		docFields("compensate `", "`", compensationFields()),
		docFields("wait `", "`", waitFields()),
		docFields("emit `", "`", emitFields()),
	)
	for _, f := range stateFields() {
		if f.kinds == anyKind {
			list = append(list, docField{"state `" + f.name + "`", f.name, false, nil})
			continue
		}
		for _, k := range kindNames() {
			if f.kinds&k.kind != 0 {
				list = append(list, docField{k.name + " `" + f.name + "`", f.name, f.required&k.kind != 0, f.shape.standard})
			}
		}
	}
	return list
}

// Each field of the tables has one section, with its type, its default, an
// example and the mistakes; and no section is about a field that is not there.
func TestDocHasEveryField(t *testing.T) {
	sections := readDoc(t, languageDoc)
	about := map[string]docSection{}
	heading := regexp.MustCompile("^([a-z]+ )?`[a-z_.]+`$")
	for _, s := range sections {
		if heading.MatchString(s.title) {
			if _, ok := about[s.title]; ok {
				t.Errorf("%s:%d: a second section %s", languageDoc, s.line, s.title)
			}
			about[s.title] = s
		}
	}
	for _, f := range allDocFields() {
		s, ok := about[f.heading]
		if !ok {
			t.Errorf("%s has no section %q", languageDoc, f.heading)
			continue
		}
		delete(about, f.heading)
		for _, want := range []string{"**Type:**", "**Mistakes:**"} {
			if !strings.Contains(s.prose, want) {
				t.Errorf("%s:%d: %s says nothing of its %s", languageDoc, s.line, f.heading, want)
			}
		}
		if strings.Contains(s.prose, "**Required.**") != f.required || strings.Contains(s.prose, "**Default:**") == f.required {
			t.Errorf("%s:%d: %s must say **Required.** (%t) or else its **Default:**", languageDoc, s.line, f.heading, f.required)
		}
		if !slices.ContainsFunc(s.blocks, func(b docBlock) bool {
			return b.lang == "yaml" && b.opts["wrong"] == "" && regexp.MustCompile(`\b`+f.name+`:`).MatchString(b.text)
		}) {
			t.Errorf("%s:%d: %s has no example", languageDoc, s.line, f.heading)
		}
	}
	for title, s := range about {
		t.Errorf("%s:%d: %s is no field of the language", languageDoc, s.line, title)
	}
}

// The defaults that the reference names are those of the program.
func TestDocDefaults(t *testing.T) {
	sections := readDoc(t, languageDoc)
	undo, short := undoRetry(), expression.FormatDuration
	wants := map[string]string{
		"`retention.succeeded`": short(defaultRetention),
		"`defaults.timeout`":    short(defaultTimeout),
		"compensate `retry`":    fmt.Sprintf("{max_attempts: %d, max_delay: %s}", undo.MaxAttempts, short(undo.MaxDelay)),
	}
	for _, f := range allDocFields() {
		switch v := f.standard.(type) {
		case nil:
		case time.Duration:
			wants[f.heading] = short(v)
		default:
			wants[f.heading] = fmt.Sprint(v)
		}
	}
	wants["retry `max_attempts`"] += fmt.Sprintf("`; of a compensation `%d", undo.MaxAttempts)
	wants["retry `max_delay`"] += "`; of a compensation `" + short(undo.MaxDelay)
	if len(wants) < 12 {
		t.Errorf("found only the defaults %v", wants)
	}
	for title, want := range wants {
		if s := section(t, sections, title); !strings.Contains(s.prose, "**Default:** `"+want+"`") {
			t.Errorf("%s:%d: %s does not name the default `%s`", languageDoc, s.line, title, want)
		}
	}
}

// The reference lists each rule under its phase, with a message that the
// program really prints.
func TestDocHasEveryRule(t *testing.T) {
	headings := map[Phase]string{
		PhaseYAML: "YAML", PhaseFields: "Fields", PhaseNames: "Names", PhaseGraph: "Graph", PhasePolicy: "Failure policy",
		PhaseExpressions: "Expressions in a file", PhaseHandlers: "Steps of the program", PhaseModel: "Model check",
		PhaseLoad: "When a program opens a store", PhaseRun: "At run time",
	}
	printed := printedMessages(t)
	sections := readDoc(t, languageDoc)
	told := map[string]bool{}
	for _, title := range headings {
		for _, row := range section(t, sections, title).cells() {
			told[title+": "+row[0]] = true
		}
	}
	for _, r := range Rules() {
		name := headings[r.Phase] + ": " + r.ID
		if !told[name] {
			t.Errorf("%s does not list the rule %s under %q", languageDoc, r.ID, headings[r.Phase])
			continue
		}
		delete(told, name)
		for _, row := range section(t, sections, headings[r.Phase]).cells() {
			if row[0] != r.ID {
				continue
			}
			if strings.HasPrefix(row[1], "warning") != r.Warning {
				t.Errorf("%s: is the rule %s a warning? %t", languageDoc, r.ID, r.Warning)
			}
			if !printed[row[2]+" ["+r.ID+"]"] {
				t.Errorf("%s: no golden file has the message of the rule %s:\n%s", languageDoc, r.ID, row[2])
			}
		}
	}
	for name := range told {
		t.Errorf("%s lists the rule %s, which does not exist", languageDoc, name)
	}
}

// printedMessages returns the messages with their rules, but without their
// places, that the golden files and the other tests of this package and of the
// engine have.
func printedMessages(t *testing.T) map[string]bool {
	t.Helper()
	list := map[string]bool{}
	// No test needs so many situations.
	model, err := os.ReadFile("../model.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range regexp.MustCompile(`"(the model check stopped after )%d( .*)"`).FindAllStringSubmatch(string(model), -1) {
		list[m[1]+"20000"+m[2]+" [model-size]"] = true
	}
	message := regexp.MustCompile(`:\d+:\d+: (?:warning: )?(.*? \[[a-z0-9.-]+\])`)
	for _, pattern := range []string{"testdata/*/*.out", "../testdata/model/*.out", "*_test.go", "../*_test.go"} {
		files, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range files {
			text, err := os.ReadFile(f)
			if err != nil {
				t.Fatal(err)
			}
			for _, m := range message.FindAllStringSubmatch(string(text), -1) {
				list[m[1]] = true
			}
		}
	}
	return list
}

// The tables of expressions are computed.
func TestDocExpressions(t *testing.T) {
	sections := readDoc(t, languageDoc)
	frame := docFrame(t, sections)
	functions := section(t, sections, "Functions")
	eval := func(expr string) (string, error) {
		value := "WORK:\n  step: mail.send\n  with:\n    v: '${{ " + strings.ReplaceAll(expr, "'", "''") + " }}'\n  next: DONE\n"
		d, list := Parse("order.yaml", []byte(frame.complete(docBlock{form: "states", text: value})))
		if len(list) > 0 {
			return "", list.Err()
		}
		input, err := d.ReadInput(json.RawMessage(functions.blocks[0].text))
		if err != nil {
			return "", err
		}
		got, err := d.State("WORK").With.JSON(&Vars{Input: input})
		return strings.TrimSuffix(strings.TrimPrefix(string(got), `{"v":`), "}"), err
	}
	var names []string
	for _, row := range functions.cells() {
		expr, want := row[0], row[len(row)-1]
		if len(row) == 3 {
			names = append(names, row[0])
			expr = row[1]
			if !strings.HasPrefix(expr, row[0]+"(") {
				t.Errorf("the example of %s is %s", row[0], expr)
			}
		}
		if got, err := eval(expr); got != want || err != nil {
			t.Errorf("%s gives %s, %v, not %s", expr, got, err, want)
		}
	}
	slices.Sort(names)
	if diff := cmp.Diff(expression.Functions(), names); diff != "" {
		t.Errorf("the functions of the reference (-program +doc):\n%s", diff)
	}
	faults := section(t, sections, "What cannot be computed").cells()
	for _, row := range faults {
		_, err := eval(row[0])
		if d, ok := err.(*Diagnostic); !ok || d.Message != row[1] || d.Rule != "expr-fault" { //nolint:errorlint // it is not wrapped
			t.Errorf("%s gives the error %v, not %s", row[0], err, row[1])
		}
	}
	if len(faults) < 5 {
		t.Errorf("found only %d faults", len(faults))
	}
}

// The codes of the engine are all there, and whether catch: can name them.
func TestDocCodes(t *testing.T) {
	rows := section(t, readDoc(t, languageDoc), "Error codes").cells()
	for _, row := range rows {
		code, caught := row[0], row[2] == "yes"
		if !ReservedCode(code) || slices.Contains(catchable(), code) != caught || PastCatch(code) != (row[2] == "no") {
			t.Errorf("the reference says of the code %s: in catch %s", code, row[2])
		}
	}
	if want := len(catchable()) + len(uncatchable()); len(rows) != want {
		t.Errorf("the reference has %d codes, the engine %d", len(rows), want)
	}
}

// The limits that the reference names are those of the program.
func TestDocLimits(t *testing.T) {
	s := section(t, readDoc(t, languageDoc), "Limits")
	for _, want := range []string{
		fmt.Sprintf("%d KiB, %d levels deep, %d states", maxFile>>10, maxDepth, maxStates),
		fmt.Sprintf("%d characters; of a workflow %d", maxName, maxWorkflow),
		fmt.Sprintf("| labels | %d |", maxLabels),
		fmt.Sprintf("%s characters, %d parts; %s of them", thousands(expression.MaxLength), expression.MaxNodes, thousands(maxExprs)),
	} {
		if !strings.Contains(s.prose, want) {
			t.Errorf("%s:%d: the limits lack %q", languageDoc, s.line, want)
		}
	}
}

// thousands writes a number as the documents do.
func thousands(n int) string { return fmt.Sprintf("%d,%03d", n/1000, n%1000) }

// The reserved fields are all there.
func TestDocReserved(t *testing.T) {
	s := section(t, readDoc(t, languageDoc), "Reserved names")
	for name := range reserved() {
		if !strings.Contains(s.prose, "`"+name+"`") {
			t.Errorf("%s:%d: the reserved field %s is missing", languageDoc, s.line, name)
		}
	}
}

// Links within the documents lead to a heading, others to a file.
func TestDocLinks(t *testing.T) {
	link := regexp.MustCompile(`\]\(([^)#\s]*)(#[^)\s]*)?\)`)
	for _, file := range []string{languageDoc, guideDoc} {
		for _, s := range readDoc(t, file) {
			for _, m := range link.FindAllStringSubmatch(s.prose, -1) {
				if strings.Contains(m[1], "://") {
					continue
				}
				to := file
				if m[1] != "" {
					to = filepath.Join(filepath.Dir(file), m[1])
				}
				if _, err := os.Stat(to); err != nil {
					t.Errorf("%s: section %q links to %s: %v", file, s.title, m[1], err)
				} else if m[2] != "" && !anchors(t, to)[m[2][1:]] {
					t.Errorf("%s: section %q links to %s, which is no heading", file, s.title, m[0])
				}
			}
		}
	}
}

// anchors returns the names that the headings of a document have in links.
func anchors(t *testing.T, file string) map[string]bool {
	t.Helper()
	names := map[string]bool{}
	drop := regexp.MustCompile(`[^a-z0-9_\- ]`)
	for _, s := range readDoc(t, file) {
		names[strings.ReplaceAll(drop.ReplaceAllString(strings.ToLower(s.title), ""), " ", "-")] = true
	}
	return names
}
