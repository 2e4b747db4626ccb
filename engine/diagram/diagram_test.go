package diagram_test

import (
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/pawl-dev/pawl/engine/definition"
	"github.com/pawl-dev/pawl/engine/diagram"
	"github.com/pawl-dev/pawl/internal/golden"
)

// files are all workflows that are drawn here: those that pawl ships, the one
// with every field of the language, and those of testdata: tangle has cycles,
// crossings and three failed ends, hostile has text that is markup elsewhere.
func files(t *testing.T) []string {
	t.Helper()
	shipped, err := filepath.Glob("../../workflows/*.yaml")
	if err != nil || len(shipped) == 0 {
		t.Fatalf("no workflows: %v", err)
	}
	return append(shipped, "../definition/testdata/all-features.yaml", "testdata/tangle.yaml", "testdata/hostile.yaml")
}

func parse(t *testing.T, file string) *definition.Definition {
	t.Helper()
	src, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	def, diags := definition.Parse(filepath.Base(file), src)
	if err := diags.Err(); err != nil {
		t.Fatal(err)
	}
	return def
}

// TestGolden has the texts of each workflow in testdata/NAME.mmd and NAME.dot,
// and two pictures.
func TestGolden(t *testing.T) {
	for _, file := range files(t) {
		d := diagram.New(parse(t, file), diagram.Options{})
		name := filepath.Join("testdata", strings.TrimSuffix(filepath.Base(file), ".yaml"))
		golden.Check(t, name+".mmd", d.Mermaid())
		golden.Check(t, name+".dot", d.DOT())
		if slices.Contains([]string{"pr-merge", "all-features"}, filepath.Base(name)) {
			golden.Check(t, name+".svg", d.SVG())
		}
	}
}

// indexFailed is a pull request that was merged, but not indexed, twice.
func indexFailed() diagram.Options {
	return diagram.Options{
		Instance: "pr-merge/42", State: "MERGE_FAILED", Failed: "INDEXING", Code: "timeout",
		Path: []diagram.Visit{
			{From: "VALIDATING", To: "MERGING"},
			{From: "MERGING", To: "NOTIFYING"},
			{From: "NOTIFYING", To: "INDEXING"},
			{From: "INDEXING", To: "MERGE_FAILED", Code: "failed"},
			{From: "MERGE_FAILED", To: "INDEXING", Operator: true},
			{From: "INDEXING", To: "MERGE_FAILED", Code: "timeout"},
		},
	}
}

// undone is a payment of which everything was undone.
func undone() diagram.Options {
	return diagram.Options{
		Instance: "payment/7", State: "PAYMENT_FAILED", Failed: "NOTIFYING", Code: "failed",
		Path: []diagram.Visit{
			{From: "RESERVING", To: "WITHDRAWING"},
			{From: "WITHDRAWING", To: "NOTIFYING"},
			{From: "WITHDRAWING", To: "RESERVING", Undone: true},
			{From: "RESERVING", To: "PAYMENT_FAILED", Undone: true},
		},
	}
}

func TestGoldenInstance(t *testing.T) {
	for workflow, o := range map[string]diagram.Options{"pr-merge": indexFailed(), "payment": undone()} {
		d := diagram.New(parse(t, "../../workflows/"+workflow+".yaml"), o)
		golden.Check(t, "testdata/"+workflow+"-instance.mmd", d.Mermaid())
		golden.Check(t, "testdata/"+workflow+"-instance.dot", d.DOT())
	}
}

// element is a part of a picture.
type element struct {
	name, class string
	attrs       map[string]string
	title, text string
}

// elements reads a picture; each element has the title and text within it.
func elements(t *testing.T, svg []byte) []*element {
	t.Helper()
	dec := xml.NewDecoder(strings.NewReader(string(svg)))
	dec.Strict = true
	var list, open []*element
	for {
		token, err := dec.Token()
		if errors.Is(err, io.EOF) {
			return list
		}
		if err != nil {
			t.Fatalf("the picture is not XML: %v\n%s", err, svg)
		}
		switch token := token.(type) {
		case xml.StartElement:
			e := &element{name: token.Name.Local, attrs: map[string]string{}}
			for _, a := range token.Attr {
				e.attrs[a.Name.Local] = a.Value
			}
			e.class = e.attrs["class"]
			list, open = append(list, e), append(open, e)
		case xml.EndElement:
			open = open[:len(open)-1]
		case xml.CharData:
			for i, e := range open {
				if open[len(open)-1].name != "title" {
					e.text += string(token)
				} else if i == len(open)-2 {
					e.title += string(token)
				}
			}
		default:
			t.Errorf("the picture has %T, want elements and text only", token)
		}
	}
}

// A picture brings all that it needs, and text is text.
func TestSVGIsPlain(t *testing.T) {
	allowed := map[string][]string{
		"svg":    {"xmlns", "width", "height", "viewBox", "role", "font-family"},
		"title":  {},
		"g":      {"class"},
		"rect":   {"class", "x", "y", "width", "height", "rx", "fill", "stroke", "stroke-width"},
		"path":   {"d", "fill", "stroke", "stroke-width", "stroke-dasharray"},
		"circle": {"cx", "cy", "r", "fill"},
		"text":   {"x", "y", "font-size", "fill", "text-anchor", "font-weight", "space"},
	}
	for _, file := range files(t) {
		svg := diagram.New(parse(t, file), diagram.Options{}).SVG()
		for _, e := range elements(t, svg) {
			names, ok := allowed[e.name]
			if !ok {
				t.Errorf("%s: the picture has an element %s", file, e.name)
			}
			for name, value := range e.attrs {
				if !slices.Contains(names, name) || strings.Contains(value, "url(") {
					t.Errorf("%s: the picture has an attribute %s=%q of %s", file, name, value, e.name)
				}
			}
		}
	}
}

// What is cut in the picture is whole in a tooltip.
func TestTooltipsHaveAllOfIt(t *testing.T) {
	def := parse(t, "testdata/hostile.yaml")
	svg := diagram.New(def, diagram.Options{}).SVG()
	titles := map[string]bool{}
	for _, e := range elements(t, svg) {
		for line := range strings.Lines(e.title) {
			titles[strings.TrimSuffix(line, "\n")] = true
		}
	}
	for _, want := range []string{
		`line two of <two> & "three" ]]> -->`,
		"1. `code` **bold** $$x^2$$ #quot; &lt; \\N \\G \\l ]]> |pipe| {curly} %% ; end",
		"input.t == \"--> o--o |x| [y] {z} (q) %% ;\"",
		"</title><script>alert(1)</script>",
	} {
		if !titles[want] {
			t.Errorf("no tooltip has the line %q", want)
		}
	}
	if strings.ContainsRune(string(svg), '\u202e') {
		t.Error("the picture has a character that turns the direction of text")
	}
}

// What a reader must be able to tell apart.
func TestSVGOfPRMerge(t *testing.T) {
	svg := diagram.New(parse(t, "../../workflows/pr-merge.yaml"), diagram.Options{}).SVG()
	all := elements(t, svg)
	classes := map[string]string{} // of edges, by their title
	for _, e := range all {
		if strings.HasPrefix(e.class, "edge") {
			first, _, _ := strings.Cut(e.title, "\n")
			classes[e.class+": "+first] = e.title
		}
		if e.class == "state" && strings.HasPrefix(e.title, "MERGING\n") && !strings.Contains(e.text, "irreversible") {
			t.Error("MERGING is not marked as irreversible")
		}
	}
	for _, want := range []string{
		"edge next: VALIDATING → MERGING", "edge next: VALIDATING → MERGE_FAILED", "edge next: INDEXING → MERGED",
		"edge catch: MERGING → MERGE_FAILED", "edge on-failure: MERGING → MERGE_FAILED", "edge on-failure: INDEXING → MERGE_FAILED",
	} {
		if _, ok := classes[want]; !ok {
			t.Errorf("there is no %q in %v", want, classes)
		}
	}
	if len(classes) != 10 {
		t.Errorf("there are %d edges, want 10", len(classes))
	}
}

var (
	dotString    = `"(?:[^"\\\n]|\\.)*"`
	dotMarkup    = `<(?:<b>|</b>|<br/>|<font point-size="10"(?: color="#[0-9a-f]{6}")?>|</font>|[^<>"\n])*>`
	dotStatement = regexp.MustCompile(`^  (?:graph|node|edge|` + dotString + `(?: -> ` + dotString + `)?)` +
		` \[[a-z]+=(?:` + dotString + `|` + dotMarkup + `)(?:, [a-z]+=(?:` + dotString + `|` + dotMarkup + `))*\];$`)
)

// Every statement is a line, every value is quoted.
func TestDOTSyntax(t *testing.T) {
	for _, file := range files(t) {
		lines := strings.Split(string(diagram.New(parse(t, file), diagram.Options{}).DOT()), "\n")
		n := len(lines)
		if !regexp.MustCompile(`^digraph `+dotString+` \{$`).MatchString(lines[0]) || lines[n-2] != "}" || lines[n-1] != "" {
			t.Errorf("%s: the text begins with %q and ends with %q", file, lines[0], lines[n-2:])
		}
		for _, line := range lines[1 : n-2] {
			if !dotStatement.MatchString(line) {
				t.Errorf("%s: not a statement: %s", file, line)
			}
		}
	}
}

var mermaidStatement = regexp.MustCompile(`^  (?:` + strings.Join([]string{
	`%% [^{}]*`,
	`start\(\(" "\)\):::start --> s_\w+`,
	`s_\w+(?:\["TEXT"\]|\[\["TEXT"\]\]|\(\["TEXT"\]\)):::\w+`,
	`s_\w+ (?:-->|==>|-\.->)(?:\|"TEXT"\|)? s_\w+`,
	`linkStyle \d+ [a-z0-9#:,\- ]+`,
	`classDef \w+ [a-z0-9#:,\- ]+`,
}, "|") + `)$`)

// Text can neither end its quotes nor begin markup.
func TestMermaidSyntax(t *testing.T) {
	text := regexp.MustCompile(`"(?:<b>|</b>|<br/>|<small>|</small>|#\d+;|[^"<>&#` + "`" + `\\|{}%;$*~])*"`)
	for _, file := range files(t) {
		lines := strings.Split(string(diagram.New(parse(t, file), diagram.Options{}).Mermaid()), "\n")
		if lines[3] != "flowchart TB" || lines[len(lines)-1] != "" {
			t.Errorf("%s: the text begins with %q", file, lines[:4])
		}
		for _, line := range lines[4 : len(lines)-1] {
			plain := line
			if !strings.Contains(line, "%%") && !strings.Contains(line, `(" ")`) {
				plain = text.ReplaceAllString(line, `"TEXT"`)
			}
			if !mermaidStatement.MatchString(plain) {
				t.Errorf("%s: not a statement: %s", file, line)
			}
		}
	}
}

// Each edge of the definition is in each form, and no other.
func TestFormsAgree(t *testing.T) {
	for _, file := range files(t) {
		d := diagram.New(parse(t, file), diagram.Options{})
		var fromSVG, fromDOT, fromMermaid []string
		for _, e := range elements(t, d.SVG()) {
			if strings.HasPrefix(e.class, "edge") {
				first, _, _ := strings.Cut(e.title, "\n")
				fromSVG = append(fromSVG, first)
			}
		}
		for _, m := range regexp.MustCompile(`(?m)^  "(\w+)" -> "(\w+)" `).FindAllStringSubmatch(string(d.DOT()), -1) {
			fromDOT = append(fromDOT, m[1]+" → "+m[2])
		}
		for _, m := range regexp.MustCompile(`(?m)^  s_(\w+) [-=.]+>.* s_(\w+)$`).FindAllStringSubmatch(string(d.Mermaid()), -1) {
			fromMermaid = append(fromMermaid, m[1]+" → "+m[2])
		}
		for _, list := range [][]string{fromSVG, fromDOT, fromMermaid} {
			slices.Sort(list)
		}
		if len(fromSVG) == 0 || !slices.Equal(fromSVG, fromDOT) || !slices.Equal(fromSVG, fromMermaid) {
			t.Errorf("%s: edges of the SVG %v,\nof the DOT %v,\nof the Mermaid text %v", file, fromSVG, fromDOT, fromMermaid)
		}
	}
}

func Example() {
	src, err := os.ReadFile("../../workflows/outbox-delivery.yaml")
	if err != nil {
		fmt.Println(err)
		return
	}
	def, diags := definition.Parse("outbox-delivery.yaml", src)
	if err := diags.Err(); err != nil {
		fmt.Println(err)
		return
	}
	text := diagram.New(def, diagram.Options{}).Mermaid()
	for line := range strings.Lines(string(text)) {
		if strings.Contains(line, ">") && !strings.Contains(line, "[") {
			fmt.Print(line)
		}
	}
	// Output:
	// start((" ")):::start --> s_PENDING
	//   s_PENDING --> s_PUBLISHED
	//   s_PENDING -.-> s_FAILED
}
