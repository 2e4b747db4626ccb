package pawlcmd_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	pawlcmd "github.com/pawl-dev/pawl/cmd"
	"github.com/pawl-dev/pawl/engine"
	"github.com/pawl-dev/pawl/engine/definition"
)

// odd has fields of every kind that a handler can have.
type odd struct {
	tinyInput
	Self   *odd               `json:"self,omitempty"`
	List   []tinyOutput       `json:"list"`
	Bytes  []byte             `json:"bytes"`
	Map    map[string]float64 `json:"map"`
	Any    any                `json:"any"`
	At     time.Time          `json:"at"`
	Number json.Number        `json:"number"`
	Hidden string             `json:"-"`
	Empty  struct{}           `json:"empty"`
}

// newOdd is a program with steps of many types, to be held against oddly.
func newOdd(t *testing.T) (*cli, *engine.Registry) {
	t.Helper()
	var reg *engine.Registry
	c := newTiny(t, new(bool))
	c.opts.Handlers = func(_ context.Context, s *pawlcmd.Setup) error {
		reg = s.Handlers
		none := func(context.Context, engine.Call[odd]) (struct{}, error) { return struct{}{}, errors.New("not run") }
		engine.Register(s.Handlers, "test.odd", none, engine.Handler{Codes: []string{"late", "early"}, NotIdempotent: true})
		free := func(context.Context, engine.Call[any]) (map[string]int, error) { return nil, errors.New("not run") }
		engine.Register(s.Handlers, "test.free", free, engine.Handler{})
		many := func(context.Context, []engine.Call[tinyInput]) []engine.Result[*odd] { return nil }
		engine.RegisterBatch(s.Handlers, "test.many", many, engine.Handler{})
		return nil
	}
	c.run(t, "manifest")
	return c, reg
}

// oddly is a workflow with many mistakes that only the steps' types show.
const oddly = `pawl: 1
workflow: oddly
version: 1
input: {id: string, text: string}
on_failure: {policy: mark_failed, to: BAD}
start: A
states:
  A:
    step: test.odd
    with: {id: "1", self: {id: 1, list: [{id: x, ix: 2}]}, list: {}, bytes: 1, map: 1, any: 1, at: x, empty: {a: 1}}
    next: B
    catch: {lat: C}
  B: {step: test.free, with: {x: 1}, batch: 5, next: [{when: "${{ states.A.output.id == output.id }}", to: C}, {to: C}]}
  C: {step: test.many, next: D}
  D: {step: test.fre, next: [{when: "${{ states.C.output.self.self.lst == 1 }}", to: GOOD}, {to: GOOD}]}
  GOOD: {end: succeeded, output: {x: "${{ states.C.output.idd }}"}}
  BAD: {end: failed}
`

// A manifest that went through a file is worth as much as the program.
func TestManifestFileIsAsGoodAsTheProgram(t *testing.T) {
	t.Parallel()
	c, reg := newOdd(t)
	text := c.must(t, "manifest")
	if again := c.must(t, "manifest", "-o", "json"); again != text {
		t.Errorf("manifest is not stable:\n%s\n%s", text, again)
	}
	read, err := definition.ReadManifest("m.json", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(reg.Manifest(), read); diff != "" {
		t.Errorf("the manifest changes on its way through a file (-want +got):\n%s", diff)
	}
	c.write(t, "m.json", text)
	c.in = oddly
	program := decode[findings](t, c.run(t, "validate", "-", "-o", "json").out)
	file := decode[findings](t, c.run(t, "validate", "-", "-o", "json", "--manifest", "DIR/m.json").out)
	if len(program.Findings) < 10 {
		t.Fatalf("the program finds only %+v", program.Findings)
	}
	if diff := cmp.Diff(program.Findings, file.Findings); diff != "" {
		t.Errorf("findings by the program and by its manifest differ (-program +file):\n%s", diff)
	}
}

// The stock program knows nothing of its user's steps, the file does.
func TestManifestInTheCurrentFolder(t *testing.T) {
	c := newTiny(t, new(bool))
	c.write(t, "mine.json", strings.Replace(c.must(t, "manifest"), "test.work", "my.work", 1))
	c.write(t, "pawl.manifest.json", strings.Replace(c.must(t, "manifest"), "test.work", "our.work", 1))
	c.write(t, "w/tiny.yaml", strings.Replace(tiny, "test.work", "our.work", 1))
	c.in = strings.Replace(tiny, "test.work", "my.work", 1)

	if a := c.run(t, "validate", "DIR/w"); a.code != 1 || !strings.Contains(a.err, "test.work [unknown-step]") {
		t.Errorf("validate elsewhere = %+v, want the steps of the program", a)
	}
	t.Chdir(c.dir)
	if a := c.run(t, "validate", "w"); a != (answer{out: "1 workflow, no errors, no warnings, 5 situations; steps of pawl.manifest.json\n"}) {
		t.Errorf("validate beside pawl.manifest.json = %+v, want the steps of the file", a)
	}
	got := decode[findings](t, c.must(t, "validate", "w", "-o", "json"))
	if got.Steps.From != "manifest" || got.Steps.File != "pawl.manifest.json" {
		t.Errorf("steps = %+v, want those of pawl.manifest.json", got.Steps)
	}
	if a := c.run(t, "validate", "-", "--manifest", "mine.json"); a.code != 0 {
		t.Errorf("validate --manifest mine.json = %+v, want the steps of that file", a)
	}
	c.write(t, "pawl.manifest.json", "")
	a := c.run(t, "validate", "w")
	if a.code != 2 || a.err != "tiny: pawl.manifest.json: the file is empty; write it with the command manifest\n" {
		t.Errorf("validate beside an empty pawl.manifest.json = %+v, want exit code 2 and what is wrong", a)
	}
}
