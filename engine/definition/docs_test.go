package definition

import (
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// The documents in docs/ are held against the program: each example is checked,
// each field and rule must be told of, and each link must lead somewhere.

const (
	languageDoc = "../../docs/language.md"
	guideDoc    = "../../docs/writing-workflows.md"
)

// docBlock is a fenced block of a document.
type docBlock struct {
	line int
	lang string
	form string            // how a fragment is completed: top, states, state, retry; empty: a whole file
	opts map[string]string // wrong=RULE, policy=POLICY
	text string
}

// docSection is a heading with what stands below it, up to the next one.
type docSection struct {
	title  string
	line   int
	prose  string // without the blocks
	blocks []docBlock
}

func readDoc(t *testing.T, file string) []docSection {
	t.Helper()
	src, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	sections := []docSection{{}}
	var open *docBlock
	for i, l := range strings.Split(string(src), "\n") {
		last := &sections[len(sections)-1]
		switch fence := strings.HasPrefix(l, "```"); {
		case open != nil && fence:
			last.blocks = append(last.blocks, *open)
			open = nil
		case open != nil:
			open.text += l + "\n"
		case fence:
			open = newDocBlock(i+1, strings.Fields(l[3:]))
		case strings.HasPrefix(l, "#"):
			sections = append(sections, docSection{title: strings.TrimLeft(l, "# "), line: i + 1})
		default:
			last.prose += l + "\n"
		}
	}
	if open != nil {
		t.Fatalf("%s:%d: the block is not closed", file, open.line)
	}
	return sections
}

func newDocBlock(line int, info []string) *docBlock {
	b := &docBlock{line: line, opts: map[string]string{}}
	for i, word := range info {
		name, value, ok := strings.Cut(word, "=")
		switch {
		case i == 0:
			b.lang = word
		case ok:
			b.opts[name] = value
		default:
			b.form = word
		}
	}
	return b
}

// cells returns the table rows of a section, without the heads.
func (s docSection) cells() [][]string {
	var rows [][]string
	for l := range strings.Lines(s.prose) {
		l = strings.TrimSpace(l)
		if !strings.HasPrefix(l, "| `") {
			continue
		}
		row := strings.Split(strings.Trim(l, "|"), " | ")
		for i, c := range row {
			row[i] = strings.Trim(strings.TrimSpace(c), "`")
		}
		rows = append(rows, row)
	}
	return rows
}

func section(t *testing.T, sections []docSection, title string) docSection {
	t.Helper()
	i := slices.IndexFunc(sections, func(s docSection) bool { return s.title == title })
	if i < 0 {
		t.Fatalf("there is no section %q", title)
	}
	return sections[i]
}

// Each example is accepted; each mistake gives the rule that it is marked with
// and the messages that stand below it.
func TestDocExamples(t *testing.T) {
	sections := readDoc(t, languageDoc)
	frame := docFrame(t, sections)
	count := 0
	for _, s := range sections {
		for i, b := range s.blocks {
			if b.lang != "yaml" {
				continue
			}
			count++
			src := b.text
			switch b.form {
			case "":
			case "frame":
				src = frame.complete(docBlock{form: "top"})
			default:
				src = frame.complete(b)
			}
			got := findIn(src)
			if b.opts["wrong"] == "" {
				if len(got) > 0 {
					t.Errorf("%s:%d: the example is not right:\n%s\n%s", languageDoc, b.line, texts(got, b.form == ""), src)
				}
				continue
			}
			for _, d := range got {
				if d.Rule != b.opts["wrong"] {
					t.Errorf("%s:%d: found the rule %s, want only %s", languageDoc, b.line, d.Rule, b.opts["wrong"])
				}
			}
			if i+1 == len(s.blocks) || s.blocks[i+1].lang != "text" {
				t.Errorf("%s:%d: no text block with the message follows", languageDoc, b.line)
			} else if diff := cmp.Diff(s.blocks[i+1].text, texts(got, b.form == "")); diff != "" {
				t.Errorf("%s:%d: the message (-doc +real):\n%s\n%s", languageDoc, b.line, diff, src)
			}
		}
	}
	if count < 80 {
		t.Errorf("found only %d examples", count)
	}
}

// The stages of the guide are whole files; cmd/docs_test.go runs them.
func TestGuideExamples(t *testing.T) {
	count := 0
	for _, s := range readDoc(t, guideDoc) {
		for _, b := range s.blocks {
			if b.lang != "yaml" || b.form != "" || b.opts["wrong"] != "" {
				continue
			}
			count++
			if _, list := Parse("order.yaml", []byte(b.text)); len(list) > 0 {
				t.Errorf("%s:%d: the example is not right:\n%s", guideDoc, b.line, texts(list, true))
			}
		}
	}
	if count < 5 {
		t.Errorf("found only %d examples", count)
	}
}

// findIn returns what Parse and Check find in a file, which is named like its
// workflow.
func findIn(src string) Diagnostics {
	file := "order.yaml"
	if m := regexp.MustCompile(`(?m)^workflow: (\S+)$`).FindStringSubmatch(src); m != nil {
		file = m[1] + ".yaml"
	}
	d, list := Parse(file, []byte(src))
	if d == nil {
		return list
	}
	return append(list, Check(d, docManifest())...)
}

func texts(list Diagnostics, whole bool) string {
	var b strings.Builder
	for _, d := range list {
		if whole {
			fmt.Fprintln(&b, d)
		} else {
			fmt.Fprintf(&b, "%s [%s]\n", d.Message, d.Rule)
		}
	}
	return b.String()
}

// docManifest has the steps of the shop that the documents speak of.
func docManifest() Manifest {
	fields := func(kind TypeKind, names ...string) (list []Field) {
		for _, n := range names {
			list = append(list, Field{Name: n, Type: Type{Kind: kind}})
		}
		return list
	}
	charge := append(fields(String, "order_id"), fields(Integer, "amount")...)
	receipt := fields(String, "receipt")
	return Manifest{
		"stock.reserve": {},
		"stock.release": {Compensates: "stock.reserve"},
		"card.charge":   {Codes: []string{"card_declined"}, Input: charge, Output: receipt},
		"card.refund":   {Compensates: "card.charge", Input: charge, Output: receipt},
		"parcel.send":   {Codes: []string{"address_unknown"}},
		"risk.check":    {Output: fields(Integer, "score")},
		"mail.send":     {},
		"labels.print":  {Batch: true},
	}
}

// frameEntries is a block map by its entries, in order: the top level of a file,
// or its states.
type frameEntries struct {
	keys []string
	text map[string]string
}

// docFrame returns the head of the small workflow around the fragments of the
// reference.
func docFrame(t *testing.T, sections []docSection) frameEntries {
	t.Helper()
	for _, s := range sections {
		for _, b := range s.blocks {
			if b.form == "frame" {
				return entries(b.text)
			}
		}
	}
	t.Fatal("the reference shows no frame")
	return frameEntries{}
}

// entries splits the text of a block map. It does not parse it, since fragments
// may be wrong.
func entries(text string) frameEntries {
	f := frameEntries{text: map[string]string{}}
	key := ""
	for l := range strings.Lines(text) {
		if name, _, ok := strings.Cut(l, ":"); ok && !strings.HasPrefix(l, " ") {
			key = name
			f.keys = append(f.keys, key)
		}
		f.text[key] += l
	}
	return f
}

func (f *frameEntries) set(key, text string) {
	if _, ok := f.text[key]; !ok {
		f.keys = append(f.keys, key)
	}
	f.text[key] = text
}

func (f frameEntries) String() string {
	var b strings.Builder
	for _, k := range f.keys {
		b.WriteString(f.text[k])
	}
	return b.String()
}

func (f frameEntries) clone() frameEntries {
	c := frameEntries{text: map[string]string{}}
	for _, k := range f.keys {
		c.set(k, f.text[k])
	}
	return c
}

// complete makes a whole file of a fragment.
func (f frameEntries) complete(b docBlock) string {
	f = f.clone()
	policy := b.opts["policy"]
	if policy == "" {
		policy = "mark_failed"
		if regexp.MustCompile(`(?m)\bcompensate\b`).MatchString(b.text) {
			policy = "compensate"
		}
	}
	f.set("on_failure", "on_failure: {policy: "+policy+", to: FAILED}\n")
	states := entries("")
	start := "WORK"
	switch b.form {
	case "retry":
		states.set("WORK", "WORK:\n  step: parcel.send\n  retry:\n"+indent(b.text, "    ")+"  next: DONE\n")
	case "state":
		states.set("WORK", "WORK:\n"+indent(completeState(b.text), "  "))
		if strings.Contains(b.text, "end:") {
			states.set("BEFORE", "BEFORE:\n  step: stock.reserve\n  compensate: none\n  next: [{when: '${{ output.ok }}', to: WORK}, {to: DONE}]\n")
			start = "BEFORE"
		}
	case "states":
		states = entries(b.text)
		start = states.keys[0]
	default:
		states.set("WORK", "WORK:\n  step: stock.reserve\n  compensate: none\n  next: DONE\n")
	}
	f.set("start", "start: "+start+"\n")
	addStubs(&states)
	f.set("states", "states:\n"+indent(states.String(), "  "))
	if b.form == "top" {
		for _, k := range entries(b.text).keys {
			f.set(k, entries(b.text).text[k])
		}
	}
	text := f.String()
	if !strings.Contains(text, "policy: compensate") {
		text = strings.ReplaceAll(text, "    compensate: none\n", "")
	}
	return text
}

// completeState adds the fields that a state must have.
func completeState(text string) string {
	has := entries(text).text
	_, step := has["step"]
	_, wait := has["wait"]
	_, next := has["next"]
	if (step || wait) && !next {
		text += "next: DONE\n"
	}
	return text
}

// addStubs adds the well-known states that a fragment names and does not have.
func addStubs(states *frameEntries) {
	step := func(name string) string { return name + ":\n  step: stock.reserve\n  compensate: none\n  next: DONE\n" }
	text := states.String() + " FAILED"
	named := func(name string) bool { return regexp.MustCompile(`\b` + name + `\b`).MatchString(text) }
	for _, name := range []string{"CHARGING", "REVIEW", "SENDING"} {
		if _, ok := states.text[name]; !ok && named(name) {
			states.set(name, step(name))
			text += " DONE"
		}
	}
	for name, kind := range map[string]string{"DONE": "succeeded", "FAILED": "failed", "CANCELLED": "failed", "STOPPED": "failed"} {
		if _, ok := states.text[name]; !ok && named(name) {
			states.set(name, name+": {end: "+kind+"}\n")
		}
	}
}

func indent(text, by string) string {
	var b strings.Builder
	for l := range strings.Lines(text) {
		b.WriteString(by + l)
	}
	return b.String()
}
