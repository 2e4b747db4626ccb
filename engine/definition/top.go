package definition

import (
	"strings"
	"time"

	"gopkg.in/yaml.v3"
)

// languageVersion is the version of the language that this package reads.
const languageVersion = 1

const (
	maxWorkflow = 63
	maxLabels   = 8

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
	return []field[Definition]{
		{name: "pawl", required: anyKind, read: (*parser).language},
		{name: "workflow", required: anyKind, read: (*parser).workflow},
		{name: "version", required: anyKind, read: func(p *parser, d *Definition, n *yaml.Node) {
			d.Version = p.between("version", n, 1, 1<<31-1)
		}},
		{name: "description", read: func(p *parser, d *Definition, n *yaml.Node) {
			d.Description, _ = p.text("description", n)
		}},
		{name: "meta", read: func(p *parser, d *Definition, n *yaml.Node) { d.Meta = p.textMap("meta", n) }},
		{name: "input", read: func(p *parser, d *Definition, n *yaml.Node) { d.Input = p.schema("input", n) }},
		{name: "instance_key", read: func(p *parser, d *Definition, n *yaml.Node) {
			d.InstanceKey = p.expr(n, want{name: "instance_key", place: atStart, text: true, example: "input.id"})
		}},
		{name: "labels", read: (*parser).labels},
		{name: "concurrency", read: func(p *parser, d *Definition, n *yaml.Node) {
			d.Concurrency = p.concurrency(n, atStart)
		}},
		{name: "deadline", read: func(p *parser, d *Definition, n *yaml.Node) { d.Deadline = p.duration("deadline", n) }},
		{name: "retention", read: func(p *parser, d *Definition, n *yaml.Node) {
			readFields(p, block{node: n, name: "retention", at: place(n)}, retentionFields(), &d.Retention)
		}},
		{name: "on_failure", required: anyKind, read: func(p *parser, d *Definition, n *yaml.Node) {
			d.OnFailure = p.onFailure(n)
		}},
		{name: "defaults", read: func(p *parser, _ *Definition, n *yaml.Node) {
			readFields(p, block{node: n, name: "defaults", at: place(n)}, defaultFields(), &p.defaults)
		}},
		{name: "start", required: anyKind, read: func(p *parser, d *Definition, n *yaml.Node) {
			d.Start, p.starts = p.state("start", n), place(n)
		}},
		{name: "states", required: anyKind, read: func(p *parser, _ *Definition, n *yaml.Node) { p.readStates(n) }},
	}
}

func retentionFields() []field[Retention] {
	return []field[Retention]{
		{name: "succeeded", read: func(p *parser, r *Retention, n *yaml.Node) { r.Succeeded = p.duration("succeeded", n) }},
		{name: "failed", read: func(p *parser, r *Retention, n *yaml.Node) { r.Failed = p.duration("failed", n) }},
	}
}

func defaultFields() []field[draftDefaults] {
	return []field[draftDefaults]{
		{name: "timeout", read: func(p *parser, d *draftDefaults, n *yaml.Node) { d.timeout = p.duration("timeout", n) }},
		{name: "retry", read: func(p *parser, d *draftDefaults, n *yaml.Node) { d.retry = p.retry(n) }},
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
		{name: "policy", required: anyKind, read: func(p *parser, f *draftFailure, n *yaml.Node) {
			s, _ := p.oneOf("policy", n, string(MarkFailed), string(Compensate), string(Forward))
			f.Policy = Policy(s)
		}},
		{name: "to", read: func(p *parser, f *draftFailure, n *yaml.Node) {
			f.To, f.at = p.state("on_failure.to", n), place(n)
		}},
	}
}

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

func concurrencyFields() []field[draftConcurrency] {
	return []field[draftConcurrency]{
		{name: "key", required: anyKind, read: func(p *parser, c *draftConcurrency, n *yaml.Node) {
			c.Key = p.expr(n, want{name: "key", place: c.place, text: true, example: "input.id"})
		}},
		{name: "on_conflict", read: func(p *parser, c *draftConcurrency, n *yaml.Node) {
			s, ok := p.oneOf("on_conflict", n, "queue", "reject")
			c.Reject = s == "reject"
			if ok && c.Reject && c.place != atStart {
				p.errorf(place(n), "enum",
					"on_conflict of a state can only be queue; reject belongs to the concurrency of the workflow")
			}
		}},
	}
}

func (p *parser) concurrency(n *yaml.Node, where availability) *Concurrency {
	c := draftConcurrency{place: where}
	readFields(p, block{node: n, name: "concurrency", at: place(n)}, concurrencyFields(), &c)
	return &c.Concurrency
}
