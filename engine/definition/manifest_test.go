package definition_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-dev/pawl/engine/definition"
)

func TestManifestFileKeepsAll(t *testing.T) {
	want := manifest()
	want["none.known"] = definition.HandlerInfo{}
	want["none.there"] = definition.HandlerInfo{Input: []definition.Field{}, Output: []definition.Field{}}
	want["a.undo"] = definition.HandlerInfo{
		Compensates: "none.known",
		Input: []definition.Field{
			{Name: "free", Type: definition.Type{Kind: definition.Object}},
			{Name: "bare", Type: definition.Type{Kind: definition.Object, Fields: []definition.Field{}}},
			{Name: "list", Type: definition.Type{Kind: definition.List}},
			{Name: "a<b", Type: definition.Type{Kind: definition.String, Enum: []string{"x", "y"}}},
		},
	}
	text, err := want.JSON()
	if err != nil {
		t.Fatal(err)
	}
	got, err := definition.ReadManifest("m.json", text)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("ReadManifest (-want +got):\n%s", diff)
	}
	if again, err := got.JSON(); err != nil || string(again) != string(text) {
		t.Errorf("the text changes when it is written again: %v\n%s\n%s", err, text, again)
	}
	if empty, err := definition.Manifest(nil).JSON(); err != nil || string(empty) != "{\n  \"pawl_manifest\": 1,\n  \"steps\": {}\n}\n" {
		t.Errorf("JSON of no manifest = %q, %v", empty, err)
	}
}

func TestReadManifestErrors(t *testing.T) {
	step := func(text string) string { return `{"pawl_manifest": 1, "steps": {"a.b": ` + text + `}}` }
	input := func(text string) string { return step(`{"input": [` + text + `]}`) }
	tests := []struct{ name, text, want string }{
		{"Empty", " \n", "m.json: the file is empty; write it with the command manifest"},
		{"UTF16", "\xff\xfe{\x00}\x00", "m.json: the file is not UTF-8; store it as UTF-8"},
		{"NotJSON", "{\n \"é\": tru}", "m.json:2:10: this is not JSON: invalid character '}' in literal true (expecting 'e')"},
		{"Cut", `{"pawl_manifest": 1,`, "m.json: the file ends in the middle; write it again with the command manifest"},
		{"TwoValues", "{} {}", "m.json: there is more than one value"},
		{"OtherFile", `{"openapi": "3"}`, `m.json: the file is no manifest, which begins with {"pawl_manifest": 1; write it with the command manifest`},
		{"List", "[]", `m.json: the file is no manifest, which begins with {"pawl_manifest": 1; write it with the command manifest`},
		{
			"Version", `{"pawl_manifest": 2}`,
			"m.json: pawl_manifest is 2, but this program reads version 1; write the file again with the command manifest",
		},
		{"NoSteps", `{"pawl_manifest": 1}`, `m.json: the file has no "steps"`},
		{"UnknownField", `{"pawl_manifest": 1, "stps": {}}`, `m.json: unknown field "stps"`},
		{"StepsType", `{"pawl_manifest": 1, "steps": []}`, "m.json: steps cannot be a list"},
		{"StepTwice", `{"pawl_manifest": 1, "steps": {"a": {}, "a": {}}}`, `m.json: the key "a" is there twice; remove one`},
		{"StepName", `{"pawl_manifest": 1, "steps": {"": {}}}`, `m.json: step "": a step needs a name`},
		{"StepField", step(`{"inptu": []}`), `m.json: step "a.b": unknown field "inptu"`},
		{"StepType", step(`{"batch": "yes"}`), `m.json: step "a.b": batch cannot be a string`},
		{"FieldName", input(`{"type": {"kind": "any"}}`), `m.json: step "a.b": a field of input has no name`},
		{
			"FieldTwice", input(`{"name": "x", "type": {"kind": "any"}}, {"name": "x", "type": {"kind": "any"}}`),
			`m.json: step "a.b": input.x is there twice; remove one`,
		},
		{
			"Kind", input(`{"name": "x", "type": {"kind": "sting"}}, {"name": "y", "type": {"kind": "int"}}`),
			`m.json: step "a.b": input.x has the unknown kind "sting"; did you mean "string"?` + "\n" +
				`m.json: step "a.b": input.y has the unknown kind "int"; ` +
				"known: string, integer, number, boolean, timestamp, duration, object, any, list",
		},
		{
			"NoKind", input(`{"name": "x", "type": {}}`),
			`m.json: step "a.b": input.x has no kind; known: string, integer, number, boolean, timestamp, duration, object, any, list`,
		},
		{
			"KindWithin", step(`{"output": [{"name": "x", "type": {"kind": "list", "elem":
				{"kind": "object", "fields": [{"name": "y", "type": {"kind": "lst"}}]}}}]}`),
			`m.json: step "a.b": output.x[].y has the unknown kind "lst"; did you mean "list"?`,
		},
		{
			"Elem", input(`{"name": "x", "type": {"kind": "string", "elem": {"kind": "any"}}}`),
			`m.json: step "a.b": input.x has an elem, but only a list has one`,
		},
		{
			"Fields", input(`{"name": "x", "type": {"kind": "string", "fields": []}}`),
			`m.json: step "a.b": input.x has fields, but only an object has them`,
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			m, err := definition.ReadManifest("m.json", []byte(tt.text))
			if err == nil || err.Error() != tt.want {
				t.Errorf("ReadManifest(%s) = %v,\n%v, want\n%s", tt.text, m, err, tt.want)
			}
		})
	}
	if _, err := definition.ReadManifest("m.json", []byte("\uFEFF"+step(`{"input": null}`))); err != nil {
		t.Errorf("ReadManifest of a file with a byte order mark: %v", err)
	}
	if _, err := definition.ReadManifest("m.json", []byte(strings.Repeat("[", 1<<20))); err == nil {
		t.Error("ReadManifest took a million brackets")
	}
}
