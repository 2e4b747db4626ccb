package definition

import (
	"path"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"
)

// parser turns one file into a definition. Its checks come in phases; an error
// in one of the first three stops the next, since it would only repeat it.
type parser struct {
	findings
	def *Definition

	defaults draftDefaults
	states   []*draftState
	starts   position            // of the value of start:
	inputs   map[string]position // of the names of input:
	keeps    position            // of the value of retention.failed
	limit    int                 // of states

	current string // the state that is read
	stored  bool   // see ParseStored

	targets  []target
	failures []target // of on_failure.to
	codes    []code
	exprs    []slot

	graph *graph // nil until phase 4 has found it sound
	flow  *flow  // of graph; nil until it is needed
}

// target is a place that names a state.
type target struct {
	name string
	at   position
}

// code is a place that names an error code.
type code struct {
	name string
	at   position
}

// Parse reads one workflow file. The definition is nil if the diagnostics
// hold an error, see [Diagnostics.Err]; they may hold warnings only. Handlers
// are not known here: see [Check].
//
// file is used for messages only. The workflow must be named like the file if
// that ends in .yaml.
func Parse(file string, src []byte) (*Definition, Diagnostics) {
	return newParser(file).run(src)
}

// ParseStored reads a definition that an earlier release has accepted. Checks
// that the language has got since then must not stop the instances that run on
// it, so only what cannot be run is an error.
func ParseStored(file string, src []byte) (*Definition, Diagnostics) {
	p := newParser(file)
	p.stored = true
	return p.run(src)
}

func newParser(file string) *parser {
	return &parser{findings: findings{file: file}, limit: maxStates}
}

func (p *parser) run(src []byte) (*Definition, Diagnostics) {
	p.def = &Definition{File: p.file, index: map[string]*State{}}
	p.def.Retention.Succeeded = defaultRetention
	p.parse(src)
	list := p.sorted()
	if p.failed() {
		return nil, list
	}
	p.def.Hash, p.def.Source = hash(p.def), slices.Clone(src)
	return p.def, list
}

func (p *parser) parse(src []byte) {
	p.form(src) // phases 1 and 2
	if p.failed() {
		return
	}
	p.checkNames() // phase 3
	if p.failed() {
		return
	}
	if p.stored {
		p.compileAll()
		return
	}
	p.checkGraph() // phase 4
	if !p.failed() {
		p.checkPolicy() // phase 5
	}
	p.compileAll() // phase 6
}

// form reads the YAML, phase 1, and the fields, phase 2. What they refuse is
// what [JSONSchema] should refuse, too.
func (p *parser) form(src []byte) {
	root := p.read(src)
	if root == nil {
		return
	}
	p.plainYAML(root, "the file", 0)
	if !p.failed() {
		p.readTop(root)
	}
}

// readTop reads the whole file.
func (p *parser) readTop(root *yaml.Node) {
	if root.Kind != yaml.MappingNode {
		p.errorf(place(root), "type", "the file must be a map that begins with pawl: 1, not %s", describe(root))
		return
	}
	readFields(p, block{node: root, name: "the workflow", at: place(root)}, topFields(), p.def)
	p.effective(stepRetry(), p.defaults.retry)
	for _, s := range p.states {
		p.resolve(s)
		p.def.States = append(p.def.States, s.State)
		p.def.index[s.Name] = s.State
	}
	p.fileName(root)
}

// fileName warns if the file does not bear the name of the workflow.
func (p *parser) fileName(root *yaml.Node) {
	base := path.Base(strings.ReplaceAll(p.file, `\`, "/"))
	ext := path.Ext(base)
	if ext != ".yaml" && ext != ".yml" || p.def.Workflow == "" || base == p.def.Workflow+".yaml" {
		return
	}
	at := place(root)
	for i := 0; i+1 < len(root.Content); i += 2 {
		if root.Content[i].Value == "workflow" {
			at = place(root.Content[i+1])
		}
	}
	p.warnf(at, "file-name", "the file of workflow %s should be named %s.yaml", p.def.Workflow, p.def.Workflow)
}
