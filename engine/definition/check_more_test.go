package definition_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-dev/pawl/engine/definition"
)

// The engine's own step is always there, takes anything and gives nothing.
func TestNoop(t *testing.T) {
	src := strings.Replace(framed("x", "${{ input.express }}"), "step: a.do", "step: "+definition.Noop, 1)
	src = strings.Replace(src, "step: b.do\n", "step: pawl.noop\n    with: {any: thing}\n", 1)
	m := definition.Manifest{}
	if found := definition.Check(mustParse(t, src), m); len(found) > 0 || len(m) > 0 {
		t.Errorf("Check found %v, and the manifest has become %v; want nothing", found, m)
	}
}

// What has been accepted by an earlier release is still read.
func TestStoredDefinitionsAreNotJudgedByNewRules(t *testing.T) {
	for _, edit := range []string{
		"v: VALUE=v: ${{ count(input.tags) }}",
		"v: VALUE=v: \"${{ {a: 1, a: 2} }}\"",
		"v: VALUE=v: ${{ now + duration('5') }}",
		"v: VALUE=v: ${{ sum(input.tags) }}",
		"v: VALUE=v: ${{ input.window * input.window }}",
		"name: string=name: {type: string, enum: [a, b]}@v: VALUE=v: \"${{ input.name == 'c' }}\"",
		"any: any=any: {type: list of object, fields: {s: optional string}}@v: VALUE=v: \"${{ all(input.any, .s == 'x') }}\"",
		"step: b.do=step: b.do\n    batch: 2\n    at_most_once: true",
	} {
		src := frame
		for change := range strings.SplitSeq(edit, "@") {
			from, to, _ := strings.Cut(change, "=")
			src = strings.Replace(src, from, to, 1)
		}
		src = strings.NewReplacer("VALUE", "x", "GUARD", "${{ input.express }}").Replace(src)
		if d, _ := definition.Parse("test", []byte(src)); d != nil {
			t.Errorf("%s: Parse takes it, so the test is no use", edit)
		}
		if d, list := definition.ParseStored("test", []byte(src)); d == nil {
			t.Errorf("%s: ParseStored: %v", edit, list)
		}
	}
}

func TestCheckAll(t *testing.T) {
	parse := func(file, name string, version int, more string) *definition.Definition {
		src := strings.NewReplacer("workflow: frame", "workflow: "+name, "version: 1", fmt.Sprint("version: ", version)).
			Replace(framed("x", "${{ input.express }}"))
		d, list := definition.Parse(file, []byte(src+more))
		if d == nil {
			t.Fatal(list)
		}
		return d
	}
	a := parse("flows/a.yaml", "a", 1, "")
	tests := []struct {
		name string
		with *definition.Definition
		want string
	}{
		{"another workflow", parse("flows/b.yaml", "b", 1, ""), ""},
		{
			"the same folder", parse("flows/a.yml", "a", 2, ""),
			"flows/a.yml:2:1: workflow a is in the file flows/a.yaml already; rename one of them [name-clash]",
		},
		{"another folder, another version", parse("old/a.yaml", "a", 2, ""), ""},
		{"another folder, a copy", parse("old/a.yaml", "a", 1, "# a comment\n"), ""},
		{"another folder, the same version", func() *definition.Definition {
			src := strings.Replace(framed("z", "${{ input.express }}"), "workflow: frame", "workflow: a", 1)
			d, _ := definition.Parse("old/a.yaml", []byte("# changed\n"+src))
			return d
		}(), "old/a.yaml:3:1: version 1 of a is in the file flows/a.yaml already, with other content; write version: 2 [name-clash]"},
	}
	for _, tt := range tests {
		got := strings.TrimSuffix(string(lines(definition.CheckAll([]*definition.Definition{a, tt.with}))), "\n")
		if got != tt.want {
			t.Errorf("%s: %q, want %q", tt.name, got, tt.want)
		}
	}
}

const waiting = `pawl: 1
workflow: waiting
version: 1
on_failure: {policy: mark_failed, to: FAILED}
start: A
states:
  A:
    await:
      yes:
        - {when: "${{ output.payload.at < now and output.payload.grace > duration('1h') }}", to: B}
        - {to: FAILED}
    payload:
      at: timestamp
      grace: duration
      count: integer
      by: optional string
  B:
    step: b.do
    with:
      late: ${{ now - states.A.output.payload.at > states.A.output.payload.grace }}
      by: ${{ states.A.output.payload.by ?? 'nobody' }}
    next: DONE
  DONE: {end: succeeded}
  FAILED: {end: failed}
`

// The types of a payload are known to expressions, so the values must have
// them, too.
func TestReadOutputConvertsThePayload(t *testing.T) {
	d := mustParse(t, strings.Replace(waiting, "      yes:", "      'yes':", 1))
	raw := `{"signal": "yes", "payload": {"at": "2026-03-01T10:00:00Z", "grace": "2h", "count": 7}}`
	out, err := d.State("A").ReadOutput([]byte(raw))
	at := time.Date(2026, 3, 1, 10, 0, 0, 0, time.UTC)
	want := any(map[string]any{
		"signal":  "yes",
		"payload": map[string]any{"at": at, "grace": 2 * time.Hour, "count": 7, "by": nil},
	})
	if diff := cmp.Diff(want, out); diff != "" || err != nil {
		t.Fatalf("ReadOutput: %v (-want +got):\n%s", err, diff)
	}
	vars := &definition.Vars{Now: at.Add(3 * time.Hour), Output: out, States: map[string]any{"A": out}}
	if ok, err := d.State("A").Signals[0].Next[0].When.Bool(vars); !ok || err != nil {
		t.Errorf("guard = %t, %v, want true", ok, err)
	}
	if with, err := d.State("B").With.JSON(vars); string(with) != `{"by":"nobody","late":true}` || err != nil {
		t.Errorf("with = %s, %v", with, err)
	}
	if out, err := d.State("B").ReadOutput([]byte(`{"n": 1}`)); cmp.Diff(any(map[string]any{"n": 1}), out) != "" || err != nil {
		t.Errorf("ReadOutput of a step = %v, %v", out, err)
	}
}

func TestReadPayloadRefuses(t *testing.T) {
	d := mustParse(t, strings.Replace(waiting, "      yes:", "      'yes':", 1))
	for raw, want := range map[string]string{
		`{"at": "yesterday", "grace": "2h", "count": 7}`:                      `payload.at must be timestamp (like 2026-01-31T12:00:00Z), not "yesterday"`,
		`{"at": "2026-03-01T10:00:00Z", "grace": "2h", "count": 7, "b": "x"}`: "payload.b is not known",
		``:                   "payload.at is missing",
		`[]`:                 "payload must be an object, not a list",
		`{`:                  "payload is not valid JSON",
		`{"by": 1, "by": 2}`: `payload has the key "by" twice`,
	} {
		if got, err := d.State("A").ReadPayload([]byte(raw)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("ReadPayload(%s) = %v, %v, want an error with %q", raw, got, err, want)
		}
		if _, err := d.State("A").ReadOutput([]byte(`{"signal": "yes", "payload": ` + raw + `}`)); err == nil {
			t.Errorf("ReadOutput with the payload %s has no error", raw)
		}
	}
}

func TestValuePartial(t *testing.T) {
	with := map[string]string{
		"x": "", "${{ input.id }}": "", "[1, \"${{ output.x }}\"]": "unknown", "{a: \"${{ input.id + 1 }}\"}": "input.id + 1 may be out of range",
		"[a, \"${{ input.tags[0] }}\"]": "input.tags may not have this item", "${{ input.note ?? '' }}": "", "${{ input.any }}": "",
		"${{ 1 + 1 }}": "", "${{ input.any.x }}": "input.any may not be an object",
	}
	for value, want := range with {
		if want == "unknown" {
			continue
		}
		if why, partial := withValue(t, value).Partial(); why != want || partial != (want != "") {
			t.Errorf("Partial of %s = %q, %t, want %q", value, why, partial, want)
		}
	}
	guards := map[string]string{
		"${{ output.ok }}": "when may be no boolean", "${{ output.ok == true }}": "", "${{ input.express }}": "",
		"${{ input.id > 3 and input.name == 'x' }}": "", "${{ output.a.b == 1 }}": "output.a may not be an object",
		"${{ output.a?.b == 1 }}": "", "${{ output.n > 1 }}": "output.n may not be string or integer or number or timestamp or duration",
	}
	for guard, want := range guards {
		if why, partial := withGuard(t, guard).Partial(); why != want || partial != (want != "") {
			t.Errorf("Partial of the guard %s = %q, %t, want %q", guard, why, partial, want)
		}
	}
	if why, partial := (*definition.Value)(nil).Partial(); partial {
		t.Errorf("Partial of no value = %q, true", why)
	}
	d := mustParse(t, strings.Replace(framed("x", "${{ input.express }}"), "start: A",
		"instance_key: ${{ input.name }}\nlabels: {a: \"${{ input.any }}\", b: \"${{ input.express ? input.name : nil }}\"}\nstart: A", 1))
	if why, partial := d.InstanceKey.Partial(); partial {
		t.Errorf("Partial of the key = %q, true", why)
	}
	if why, _ := d.Labels[0].Value.Partial(); why != "a may be no string" {
		t.Errorf("Partial of the label a = %q", why)
	}
	if why, _ := d.Labels[1].Value.Partial(); why != "b may be no string" {
		t.Errorf("Partial of the label b = %q", why)
	}
}

// Wait states need values of their types.
func TestWaitPartial(t *testing.T) {
	for value, want := range map[string]string{
		"{for: 10m}": "", "{for: \"${{ input.window }}\"}": "for may be a duration below zero", "{for: \"${{ duration('5m') }}\"}": "",
		"{until: \"${{ input.ship_at }}\"}": "", "{until: \"${{ input.any }}\"}": "until may be no timestamp",
	} {
		src := strings.Replace(framed("x", "${{ input.express }}"), "  B:\n    step: b.do\n", "  B:\n    wait: "+value+"\n", 1)
		w := mustParse(t, src).State("B").Wait
		v := w.For
		if v == nil {
			v = w.Until
		}
		if why, partial := v.Partial(); why != want || partial != (want != "") {
			t.Errorf("Partial of %s = %q, %t, want %q", value, why, partial, want)
		}
	}
}
