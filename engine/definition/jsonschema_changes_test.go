package definition_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"gopkg.in/yaml.v3"

	"github.com/pawl-dev/pawl/engine/definition"
)

// The schema and the parser agree about the file of all features after any one
// change. A sample of the changes is tried, the same in every run.
func TestJSONSchemaAgreesAboutChanges(t *testing.T) {
	t.Parallel()
	const rounds = 400
	s := compileSchema(t)
	doc := mustYAML(t, string(mustRead(t, "testdata/all-features.yaml")))
	all := changes(doc.Content[0], "", mustYAML(t, otherValues).Content[0].Content)
	taken := 0
	for _, i := range rand.New(rand.NewPCG(1, 2)).Perm(len(all))[:rounds] {
		src, data := all[i].in(t, doc)
		list := definition.ParseForm(src)
		if unseen("", list) != "" {
			continue
		}
		found, err := list.Err(), s.Validate(data)
		if (found == nil) != (err == nil) {
			t.Errorf("%s: the schema says %v, but the parser %v", all[i].name, err, found)
		}
		if found == nil {
			taken++
		}
	}
	if taken < rounds/10 || taken > rounds*9/10 {
		t.Errorf("%d of %d changes (of %d) are right, so this says little", taken, rounds, len(all))
	}
}

// change replaces what a map or list holds.
type change struct {
	name    string
	node    *yaml.Node
	content []*yaml.Node
}

// in returns doc with the change, as text and as data.
func (c change) in(tb testing.TB, doc *yaml.Node) ([]byte, any) {
	tb.Helper()
	before := c.node.Content
	c.node.Content = c.content
	src, err := yaml.Marshal(doc)
	var data any
	err = errors.Join(err, doc.Decode(&data))
	c.node.Content = before
	if err != nil {
		tb.Fatalf("%s: %v", c.name, err)
	}
	return src, asJSON(data)
}

// changes returns all changes of n, and of what it holds, by one field or item
// less, one more, or one of the values in the place of another.
func changes(n *yaml.Node, at string, values []*yaml.Node) []change {
	var list []change
	add := func(what string, content ...*yaml.Node) {
		list = append(list, change{what, n, content})
	}
	width := 1
	if n.Kind == yaml.MappingNode {
		width = 2
		for _, key := range []string{"colour", "step", "wait", "await", "end", "next", "to", "limit", "not-a-name", ""} {
			if !slices.ContainsFunc(n.Content, func(k *yaml.Node) bool { return k.Value == key }) {
				add(fmt.Sprintf("%s/%q added", at, key), append(slices.Clone(n.Content), text(key), text("FAILED"))...)
			}
		}
	}
	for i := 0; i < len(n.Content); i += width {
		name := fmt.Sprintf("%s/%s", at, n.Content[i].Value)
		add(name+" dropped", slices.Delete(slices.Clone(n.Content), i, i+width)...)
		for j, v := range values {
			changed := slices.Clone(n.Content)
			changed[i+width-1] = v
			add(fmt.Sprintf("%s set to value %d (%s)", name, j, v.Value), changed...)
		}
		list = append(list, changes(n.Content[i+width-1], name, values)...)
	}
	return list
}

func text(s string) *yaml.Node { return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: s} }

// otherValues are what a change puts in the place of a value.
const otherValues = `[
  0, 1, 7, -1, 5000, 1.5, true, ~, {}, [], [x], {x: 1}, {x: ""}, [[~]], "", x, "5", a-b, 5m, 0s, 1m1h,
  "${{ input.order_id }}", " ${{ 1 }} ", "a ${{ 1 }}", "${{ 1 }} ${{ 2 }}", "${{ '}}' + '${{' }}",
  none, queue, reject, forward, compensate, mark_failed, count, succeeded, failed, object, list of string, optional int,
  {type: object}, {for: 5m}, {until: 5m}, {for: 5m, until: "${{ now }}"}, {step: none}, {step: x}, {step: x, next: z},
  {end: failed}, {policy: forward}, {policy: forward, to: x}, {policy: compensate}, {timeout: 5m}, {key: "${{ 1 }}"},
  {max_attempts: 1}, {max_attempts: 2}, [{event: x}], [{event: x, key: 1}], [{to: x}], [{to: x}, {to: z}],
  [{when: "${{ true }}", to: x}], [{when: "${{ true }}", to: x}, {to: z}], [{when: x, to: x}, {to: z}]]`

// mustYAML returns the nodes of a text, without comments, which Marshal may put
// in a place where they break the file.
func mustYAML(tb testing.TB, src string) *yaml.Node {
	tb.Helper()
	var doc yaml.Node
	if err := yaml.Unmarshal([]byte(src), &doc); err != nil {
		tb.Fatal(err)
	}
	var strip func(n *yaml.Node)
	strip = func(n *yaml.Node) {
		n.HeadComment, n.LineComment, n.FootComment = "", "", ""
		for _, part := range n.Content {
			strip(part)
		}
	}
	strip(&doc)
	return &doc
}
