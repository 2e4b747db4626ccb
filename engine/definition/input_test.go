package definition_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestReadInputConvertsBySchema(t *testing.T) {
	d := mustParse(t, framed("x", "${{ output.ok }}"))
	got := mustInput(t, d, `{"id": 1, "name": "Ann", "ratio": 2, "express": false, "ship_at": "2026-03-01T10:00:00Z",
		"window": "7d", "tags": [], "extra": {"n": 3}, "any": [1.5]}`)
	want := map[string]any{
		"id": 1, "name": "Ann", "ratio": 2.0, "express": false, "ship_at": time.Date(2026, 3, 1, 10, 0, 0, 0, time.UTC),
		"window": 7 * 24 * time.Hour, "tags": []any{}, "note": nil, "extra": map[string]any{"n": 3}, "any": []any{1.5},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("ReadInput (-want +got):\n%s", diff)
	}
}

func TestReadInputErrors(t *testing.T) {
	const fields = `id: integer
  name: {type: string, enum: [a, b]}
  ratio: number
  express: boolean
  ship_at: timestamp
  window: duration
  tags: list of string
  note: optional string
  extra: {type: object, fields: {city: string, zip: optional string}}
`
	before, rest, _ := strings.Cut(framed("x", "${{ output.ok }}"), "id: integer\n")
	_, after, _ := strings.Cut(rest, "any: any\n")
	d := mustParse(t, before+fields+after)

	const good = `{"id": 1, "name": "a", "ratio": 1, "express": true, "ship_at": "2026-03-01T10:00:00Z",
		"window": "1h", "tags": ["x"], "extra": {"city": "Omsk"}}`
	mustInput(t, d, good)

	tests := []struct{ name, from, to, want string }{
		{"Unknown", `"id": 1`, `"id": 1, "nane": 2`, `input.nane is not known; did you mean "name"?`},
		{"Missing", `"id": 1, `, ``, `input.id is missing; it must be integer`},
		{"Null", `"id": 1`, `"id": null`, `input.id must be integer, not null`},
		{"TextForInteger", `"id": 1`, `"id": "1"`, `input.id must be integer, not "1"`},
		{"FractionForInteger", `"id": 1`, `"id": 1.5`, `input.id must be integer, not 1.5`},
		{"TooLarge", `"id": 1`, `"id": 9223372036854775808`, `input.id must be integer, not 9223372036854775808`},
		{"Enum", `"name": "a"`, `"name": "c"`, `input.name must be string (one of a, b), not "c"`},
		{"TextForNumber", `"ratio": 1`, `"ratio": "x"`, `input.ratio must be number, not "x"`},
		{"TextForBoolean", `true`, `"yes"`, `input.express must be boolean, not "yes"`},
		{
			"Date", `"2026-03-01T10:00:00Z"`, `"2026-03-01"`,
			`input.ship_at must be timestamp (like 2026-01-31T12:00:00Z), not "2026-03-01"`,
		},
		{"NumberForDuration", `"1h"`, `3600`, `input.window must be duration (like 1h30m), not 3600`},
		{"Item", `["x"]`, `["x", 2]`, `input.tags[1] must be string, not 2`},
		{"NoList", `["x"]`, `"x"`, `input.tags must be list of string, not "x"`},
		{
			"Nested", `"city": "Omsk"`, `"town": "Omsk"`,
			"input.extra.town is not known; known: city, zip\ninput.extra.city is missing; it must be string",
		},
		{"NoObject", `{"city": "Omsk"}`, `[]`, `input.extra must be object, not a list`},
		{"TwiceWithQuotes", `"id": 1`, `"id": 1, "k\"": ":", "k\"": 2`, `input has the key "k\"" twice; remove one`},
		{"Twice", `"id": 1`, `"id": 1, "id": 2`, `input has the key "id" twice; remove one`},
		{"TwiceNested", `"city": "Omsk"`, `"city": "Omsk", "city": "Tver"`, `input has the key "city" twice; remove one`},
		{
			"TwiceAfterColons", `"name": "a"`, `"name": "a", "note": "\\\":::", "id": 3`,
			`input has the key "id" twice; remove one`,
		},
		{
			"Several", `"id": 1, "name": "a"`, `"name": 5`,
			"input.id is missing; it must be integer\ninput.name must be string (one of a, b), not 5",
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			raw := strings.Replace(good, tt.from, tt.to, 1)
			if raw == good {
				t.Fatalf("%q is not in the input", tt.from)
			}
			m, err := d.ReadInput([]byte(raw))
			if m != nil || fmt.Sprint(err) != tt.want {
				t.Errorf("ReadInput = %v, %v, want the error %s", m, err, tt.want)
			}
		})
	}
	for _, raw := range []string{
		`[]`, `null`, `"x"`, `{`, `{"id": 1} {}`,
		`{"id" 1}`, "{\"a\":" + strings.Repeat("[", 50000),
	} {
		if m, err := d.ReadInput([]byte(raw)); err == nil {
			t.Errorf("ReadInput(%.20s) = %v, want an error", raw, m)
		}
	}
}

func TestNoInputIsAnEmptyObject(t *testing.T) {
	before, rest, _ := strings.Cut(framed("x", "${{ output.ok }}"), "input:\n")
	_, after, _ := strings.Cut(rest, "any: any\n")
	d := mustParse(t, before+after)
	for _, raw := range []string{"", " ", "{}"} {
		m, err := d.ReadInput([]byte(raw))
		if err != nil || m == nil || len(m) != 0 {
			t.Errorf("ReadInput(%q) = %v, %v, want an empty map", raw, m, err)
		}
	}
	if _, err := d.ReadInput([]byte(`{"a": 1}`)); err == nil {
		t.Error("ReadInput took a field that the workflow does not have")
	}
}

func TestNumberKeepsItsDigits(t *testing.T) {
	d := mustParse(t, framed("${{ input.ratio }}", "${{ output.ok }}"))
	for _, n := range []string{"634866135153775564", "0.12345678901234567890", "1.5", "-2", "1e-7"} {
		v := vars(t, d)
		v.Input = mustInput(t, d, strings.Replace(input, `"ratio": 0.5`, `"ratio": `+n, 1))
		got, err := d.State("A").With.JSON(v)
		if want := `{"v":` + n + `}`; err != nil || string(got) != want {
			t.Errorf("JSON() = %s, %v, want %s", got, err, want)
		}
	}
}
