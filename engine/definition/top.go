package definition

import (
	"slices"
	"strings"
	"time"

	"gopkg.in/yaml.v3"
)

// languageVersion is the version of the language that this package reads.
const languageVersion = 1

const (
	maxWorkflow = 63
	maxLabels   = 8
	maxVersion  = 1<<31 - 1

	defaultTimeout   = 30 * time.Second
	defaultRetention = 30 * 24 * time.Hour
)

// draftDefaults is what defaults: says.
type draftDefaults struct {
	timeout time.Duration
	retry   draftRetry
}

// topFields is the table of the top level.
func topFields() []field[Definition] {
	return slices.Concat(headFields(), instanceFields(), []field[Definition]{
		{
			name: "on_failure", required: anyKind, shape: like("on_failure"),
			doc:  "What happens to an instance when a state fails and no catch: takes the error.",
			read: func(p *parser, d *Definition, n *yaml.Node) { d.OnFailure = p.onFailure(n) },
		},
		{
			name: "defaults", shape: like("defaults"),
			doc: "What holds for all steps that do not say otherwise.",
			read: func(p *parser, _ *Definition, n *yaml.Node) {
				readFields(p, block{node: n, name: "defaults", at: place(n)}, defaultFields(), &p.defaults)
			},
		},
		{
			name: "start", required: anyKind, shape: like("word"),
			doc:  "State in which instances begin. It cannot be an end.",
			read: func(p *parser, d *Definition, n *yaml.Node) { d.Start, p.starts = p.state("start", n), place(n) },
		},
		{
			name: "states", required: anyKind, shape: like("states"),
			doc:  "The states by name. Their order means nothing; start: and next: lead from one to another.",
			read: func(p *parser, _ *Definition, n *yaml.Node) { p.readStates(n) },
		},
	})
}

// headFields say what the workflow is and what it takes.
func headFields() []field[Definition] {
	return []field[Definition]{
		{
			name: "pawl", required: anyKind, shape: whole(languageVersion, languageVersion),
			doc:  "Version of the workflow language.",
			read: (*parser).language,
		},
		{
			name: "workflow", required: anyKind, shape: like("workflow"),
			doc:  "Name of the workflow: small letters, digits and single dashes. The file should be named like it.",
			read: (*parser).workflow,
		},
		{
			name: "version", required: anyKind, shape: whole(1, maxVersion),
			doc: "Version of this definition; raise it with every change. Instances stay on the version they have started with.",
			read: func(p *parser, d *Definition, n *yaml.Node) {
				d.Version = p.between("version", n, 1, maxVersion)
			},
		},
		{
			name: "description", shape: ofType("string"),
			doc:  "What the workflow is for.",
			read: func(p *parser, d *Definition, n *yaml.Node) { d.Description, _ = p.text("description", n) },
		},
		{
			name: "meta", shape: like("texts"),
			doc:  "Texts for people and tools, such as the owner or a link to a runbook. The engine does not read them.",
			read: func(p *parser, d *Definition, n *yaml.Node) { d.Meta = p.textMap("meta", n) },
		},
		{
			name: "input", shape: like("fields"),
			doc: "Fields of the start data and their types. A start with other fields, or without one that is not optional, is refused.",
			read: func(p *parser, d *Definition, n *yaml.Node) {
				d.Input, p.inputs = p.schema("input", n), keyPlaces(n)
			},
		},
	}
}

// instanceFields are the rules for the instances as a whole.
func instanceFields() []field[Definition] {
	return []field[Definition]{
		{
			name: "instance_key", shape: like("expression"),
			doc: "Expression for a text that only one instance has: a second start with it returns the first instance. " +
				"If absent, every start makes a new instance.",
			read: func(p *parser, d *Definition, n *yaml.Node) {
				d.InstanceKey = p.expr(n, want{name: "instance_key", place: atStart, text: true, example: "input.id"})
			},
		},
		{
			name: "labels", shape: like("labels"),
			doc:  "Texts to find instances by, eight at most.",
			read: (*parser).labels,
		},
		{
			name: "concurrency", shape: like("concurrency"),
			doc:  "Lets instances of this workflow that have the same key run only one at a time, from start to end.",
			read: func(p *parser, d *Definition, n *yaml.Node) { d.Concurrency = p.concurrency(n, atStart) },
		},
		{
			name: "deadline", shape: like("duration"),
			doc:  "Longest time from the start of an instance to its end. An instance that takes longer fails with the code deadline.",
			read: func(p *parser, d *Definition, n *yaml.Node) { d.Deadline = p.duration("deadline", n) },
		},
		{
			name: "retention", shape: like("retention"),
			doc: "How long instances are kept after their end.",
			read: func(p *parser, d *Definition, n *yaml.Node) {
				readFields(p, block{node: n, name: "retention", at: place(n)}, retentionFields(), &d.Retention)
			},
		},
	}
}

func retentionFields() []field[Retention] {
	return []field[Retention]{
		{
			name: "succeeded", shape: like("duration").or(defaultRetention),
			doc:  "How long an instance is kept that has succeeded.",
			read: func(p *parser, r *Retention, n *yaml.Node) { r.Succeeded = p.duration("succeeded", n) },
		},
		{
			name: "failed", shape: like("duration"),
			doc: "How long an instance is kept that has failed. If absent, for good.",
			read: func(p *parser, r *Retention, n *yaml.Node) {
				r.Failed, p.keeps = p.duration("failed", n), place(n)
			},
		},
	}
}

func defaultFields() []field[draftDefaults] {
	return []field[draftDefaults]{
		{
			name: "timeout", shape: like("duration").or(defaultTimeout),
			doc:  "Longest time of one attempt.",
			read: func(p *parser, d *draftDefaults, n *yaml.Node) { d.timeout = p.duration("timeout", n) },
		},
		{
			name: "retry", shape: like("retry"),
			doc:  "When a failed attempt is repeated, and how often. The retry: of a state overrides it field by field.",
			read: func(p *parser, d *draftDefaults, n *yaml.Node) { d.retry = p.retry(n) },
		},
	}
}

func (p *parser) language(_ *Definition, n *yaml.Node) {
	if v, ok := p.whole("pawl", n); ok && v != languageVersion {
		p.errorf(place(n), "language-version", "language version %d is not known; this engine reads %d", v, languageVersion)
	}
}

func (p *parser) workflow(d *Definition, n *yaml.Node) {
	s, ok := p.word("workflow", n)
	switch {
	case !ok:
	case len(s) > maxWorkflow:
		p.errorf(place(n), "name",
			"the name of the workflow has %d characters, the limit is %d; shorten it", len(s), maxWorkflow)
	case !workflowPattern.MatchString(s):
		hint := ""
		mended := strings.ReplaceAll(strings.ToLower(notNameChars.ReplaceAllString(s, "-")), "_", "-")
		if workflowPattern.MatchString(mended) {
			hint = " (" + mended + ")"
		}
		p.errorf(place(n), "name",
			"%q cannot name a workflow; use small letters, digits and single dashes%s", shorten(s), hint)
	default:
		d.Workflow = s
	}
}

func (p *parser) labels(d *Definition, n *yaml.Node) {
	if n.Kind != yaml.MappingNode {
		p.errorf(place(n), "type", "labels must be a map, not %s", describe(n))
		return
	}
	if count := len(n.Content) / 2; count > maxLabels {
		p.errorf(place(n), "range", "there are %d labels, the limit is %d; remove some", count, maxLabels)
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, value := n.Content[i], n.Content[i+1]
		if p.name(key) {
			v := p.value(value, want{name: key.Value, place: atStart, text: true})
			d.Labels = append(d.Labels, Label{Name: key.Value, Value: v})
		}
	}
}

// draftFailure is on_failure: as it is read.
type draftFailure struct {
	OnFailure
	at position
}

func failureFields() []field[draftFailure] {
	return []field[draftFailure]{
		{
			name: "policy", required: anyKind, shape: only(policies()...),
			doc: "mark_failed: end at once; an operator can retry the failed step. " +
				"compensate: first undo what was done, the last step first. forward: never give up, retry until it works.",
			read: func(p *parser, f *draftFailure, n *yaml.Node) {
				s, _ := p.oneOf("policy", n, policies()...)
				f.Policy = Policy(s)
			},
		},
		{
			name: "to", shape: like("word"),
			doc: "State with end: failed in which the instance ends. Policy forward has none, the others need it.",
			read: func(p *parser, f *draftFailure, n *yaml.Node) {
				f.To, f.at = p.state("on_failure.to", n), place(n)
			},
		},
	}
}

func policies() []string { return []string{string(MarkFailed), string(Compensate), string(Forward)} }

func (p *parser) onFailure(n *yaml.Node) OnFailure {
	var f draftFailure
	b := block{node: n, name: "on_failure", at: place(n)}
	readFields(p, b, failureFields(), &f)
	switch {
	case f.To != "" && f.Policy == Forward:
		p.errorf(f.at, "on-failure", "policy forward never gives up, so it leads nowhere; remove to:")
	case f.To != "":
		p.failures = append(p.failures, target{f.To, f.at})
	case n.Kind == yaml.MappingNode && f.at == position{} && f.Policy != Forward:
		p.missing(b, "to")
	}
	return f.OnFailure
}

// draftConcurrency is concurrency: as it is read.
type draftConcurrency struct {
	Concurrency
	place availability
}

// concurrencyFields is the table of the concurrency: of the workflow or, on
// entry, of a state.
func concurrencyFields(where availability) []field[draftConcurrency] {
	conflict := field[draftConcurrency]{
		name: "on_conflict", shape: only("queue", "reject").or("queue"),
		doc:  "What happens to a start while another instance holds the key. queue: it waits in line. reject: it is refused.",
		read: (*parser).onConflict,
	}
	if where != atStart {
		conflict.shape = only("queue").or("queue")
		conflict.doc = "What happens while another instance holds the key. queue: the instance waits in line."
	}
	return []field[draftConcurrency]{
		{
			name: "key", required: anyKind, shape: like("expression"),
			doc: "Expression for a text that one instance at a time can hold.",
			read: func(p *parser, c *draftConcurrency, n *yaml.Node) {
				c.Key = p.expr(n, want{name: "key", place: c.place, text: true, example: "input.id"})
			},
		},
		conflict,
	}
}

func (p *parser) onConflict(c *draftConcurrency, n *yaml.Node) {
	s, ok := p.oneOf("on_conflict", n, "queue", "reject")
	c.Reject = s == "reject"
	if ok && c.Reject && c.place != atStart {
		p.errorf(place(n), "enum",
			"on_conflict of a state can only be queue; reject belongs to the concurrency of the workflow")
	}
}

func (p *parser) concurrency(n *yaml.Node, where availability) *Concurrency {
	c := draftConcurrency{place: where}
	readFields(p, block{node: n, name: "concurrency", at: place(n)}, concurrencyFields(where), &c)
	return &c.Concurrency
}
