package definition

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"gopkg.in/yaml.v3"

	"github.com/pawl-dev/pawl/engine/expression"
)

// Setting is an effective value of a workflow, or a fact that follows from
// several of them.
type Setting struct {
	Path  string // of the field, such as states.MERGING.retry.max_attempts
	Value string // for people; texts of the file as JSON, expressions in ${{ }}
	From  Origin
	Line  int    // in the file; 0 if the value is not there
	Note  string // what it means, if that is not plain; may be empty
}

// Origin says where an effective value comes from.
type Origin string

// The origins of values.
const (
	FromFile     Origin = "file"     // it is written at its place
	FromDefaults Origin = "defaults" // it is written in defaults:
	FromWorkflow Origin = "workflow" // a state has it from the top level
	FromBuiltIn  Origin = "built-in" // the file does not say it
	FromOthers   Origin = "computed" // it follows from other settings
)

// Explain returns every setting of the workflow with where it comes from, in
// the order of the language, the states in the order of the file.
func (d *Definition) Explain() []Setting {
	x := newExplainer(d)
	x.top()
	for _, s := range d.States {
		x.state(s)
	}
	return x.list
}

// explainer makes the list of settings.
type explainer struct {
	def    *Definition
	lines  map[string]int // of what the file says, by path
	graph  *graph
	pre    []bool // states that can run before an irreversible one has
	post   []bool // states that can run after one has
	undoes bool   // some failure is compensated
	list   []Setting
}

func newExplainer(d *Definition) *explainer {
	x := &explainer{def: d, lines: map[string]int{}, graph: newGraph(d)}
	if doc, err := decode(yaml.NewDecoder(strings.NewReader(withoutBOM(d.Source)))); err == nil && !nothing(doc) {
		x.walk("", doc.Content[0])
	}
	x.pre = x.graph.beforePivot()
	var behind []int
	for i, s := range d.States {
		if s.Irreversible {
			behind = append(behind, x.graph.success[i]...)
		}
		x.undoes = x.undoes || s.OnFailure.Policy == Compensate
	}
	x.undoes = x.undoes || d.OnFailure.Policy == Compensate
	x.post = reach(x.graph.all(), behind...)
	return x
}

// walk remembers the lines of what is below n. An item of a list has its
// number, from 1, for a name.
func (x *explainer) walk(path string, n *yaml.Node) {
	x.lines[path] = n.Line
	switch n.Kind {
	case yaml.MappingNode:
		for i := 0; i+1 < len(n.Content); i += 2 {
			x.walk(joined(path, n.Content[i].Value), n.Content[i+1])
		}
	case yaml.SequenceNode:
		for i, item := range n.Content {
			x.walk(joined(path, fmt.Sprint(i+1)), item)
		}
	case yaml.DocumentNode, yaml.ScalarNode, yaml.AliasNode:
	}
}

func joined(path, name string) string {
	if path == "" {
		return name
	}
	return path + "." + name
}

// add adds what is written at path, or else is built in.
func (x *explainer) add(path, value, note string) {
	x.inherit(path, value, note, "", FromBuiltIn)
}

// inherit adds what is written at path, or else at another place.
func (x *explainer) inherit(path, value, note, other string, from Origin) {
	s := Setting{Path: path, Value: value, From: FromBuiltIn, Note: note}
	if line, ok := x.lines[path]; ok {
		s.From, s.Line = FromFile, line
	} else if line, ok := x.lines[other]; ok && other != "" {
		s.From, s.Line = from, line
	}
	x.list = append(x.list, s)
}

// fact adds what follows from other settings.
func (x *explainer) fact(path, value, note string) {
	x.list = append(x.list, Setting{Path: path, Value: value, From: FromOthers, Note: note})
}

// top explains the top level.
func (x *explainer) top() {
	d := x.def
	x.add("workflow", d.Workflow, "")
	x.add("version", fmt.Sprint(d.Version), "")
	x.texts("", "", d.Description, d.Meta)
	x.fields("input", d.Input, "a start takes no data")
	if d.InstanceKey == nil {
		x.add("instance_key", "generated", "every start makes a new instance")
	} else {
		x.add("instance_key", show(d.InstanceKey), "a second start with the same key finds the first instance")
	}
	for _, l := range d.Labels {
		x.add("labels."+l.Name, show(l.Value), "")
	}
	x.concurrency("", d.Concurrency)
	x.add("deadline", orNone(d.Deadline), x.deadlineNote())
	x.add("retention.succeeded", orEver(d.Retention.Succeeded), "")
	x.add("retention.failed", orEver(d.Retention.Failed), "")
	x.add("on_failure.policy", string(d.OnFailure.Policy), "")
	if d.OnFailure.To != "" {
		x.add("on_failure.to", d.OnFailure.To, "also after the deadline, and when an operator cancels")
	}
	x.add("start", d.Start, "")
}

func (x *explainer) deadlineNote() string {
	if x.def.Deadline == 0 {
		return "an instance may take as long as it takes"
	}
	return "of the whole instance, from its start; no catch: takes the code deadline"
}

// texts explains the fields for people.
func (x *explainer) texts(prefix, title, description string, meta map[string]string) {
	if title != "" {
		x.add(joined(prefix, "title"), title, "")
	}
	if description != "" {
		x.add(joined(prefix, "description"), strings.Join(strings.Fields(description), " "), "")
	}
	for _, name := range slices.Sorted(maps.Keys(meta)) {
		x.add(joined(prefix, "meta."+name), meta[name], "")
	}
}

// fields explains a schema.
func (x *explainer) fields(path string, fields []Field, none string) {
	if len(fields) == 0 {
		x.add(path, "none", none)
	}
	for _, f := range fields {
		note := ""
		if f.Type.Optional {
			note = "may be absent"
		}
		x.add(joined(path, f.Name), showType(f.Type), note)
	}
}

// concurrency explains the key that an instance, or a state, holds.
func (x *explainer) concurrency(prefix string, c *Concurrency) {
	path := joined(prefix, "concurrency")
	if c == nil {
		x.add(path, "none", "")
		return
	}
	held := "held from the start to the end of an instance"
	if prefix != "" {
		held = "held while an instance is in this state"
	}
	x.add(path+".key", show(c.Key), held)
	if c.Reject {
		x.add(path+".on_conflict", "reject", "a start fails while another instance holds the key")
		return
	}
	x.add(path+".on_conflict", "queue", "first come, first served")
}

func orNone(d time.Duration) string {
	if d == 0 {
		return "none"
	}
	return expression.FormatDuration(d)
}

func orEver(d time.Duration) string {
	if d == 0 {
		return "for ever"
	}
	return expression.FormatDuration(d)
}
