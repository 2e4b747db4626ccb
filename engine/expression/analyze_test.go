package expression_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-dev/pawl/engine/expression"
)

func analyze(tb testing.TB, src string) (*expression.Program, expression.Analysis) {
	tb.Helper()
	vars := schema()
	input := vars["input"]
	input.Fields["color"] = expression.Type{Kind: expression.String, Enum: []string{"red", "green"}}
	input.Fields["colors"] = expression.Type{
		Kind: expression.List, Elem: &expression.Type{Kind: expression.String, Enum: []string{"red", "green"}},
	}
	p, err := expression.Compile(src, expression.NewEnv(vars))
	if err != nil {
		tb.Fatalf("Compile(%s): %v", src, err)
	}
	return p, p.Analyze()
}

func TestPartial(t *testing.T) {
	total := []string{
		"input.id", "input.id == 1", "input.name == 'a' and not input.ok", "input.name + 'x'", "input.name < 'b'",
		"input.ratio > 2.5", "input.ratio > 1 and input.id <= input.ratio", "input.at < input.at", "input.wait >= duration('7d')",
		"len(input.tags) > 3", "len(input.name)", "upper(trim(input.name))", "string(input.id) + string(input.at)",
		"output.a", "output.a == 1", "output.a == 'x'", "output.a ?? 1", "output.a?.b?.n ?? 1", "output.a == nil",
		"(input.note ?? '') + 'x'", "input.note == nil", "input.maybe?.n ?? 0", "len(input.note ?? '')",
		"first(input.tags) ?? 'none'", "find(input.ids, # > 3) == nil", "min(input.ids) ?? 0", "max(1, input.id)",
		"any(input.ids, # > 3)", "all(input.items, .n == 1)", "count(input.tags, # == 'a') > 1", "filter(input.ids, # > 1)",
		"input.ok ? input.name : 'x'", "{a: input.id, b: [output.a]}", "input.name in input.tags", "'a' in input.more",
		"input.id in [1, 2]", "input.name matches '^a'", "input.name contains 'a'", "input.more.a", "input.more['a']",
		"input.name[0:1]", "input.tags[1:]", "input.id / 2", "input.id % 3", "float(input.id)", "true", "1 + 1", "duration('1h')",
		"input.items | len()", "-1", "round(input.id)",
	}
	partial := map[string]string{
		"input.id + 1":                    "9 input.id + 1 may be out of range",
		"output.a + 1":                    "may compute with what are no numbers",
		"output.a + 'x'":                  "output.a may not be string",
		"output.a > 1":                    "output.a may not be string or integer",
		"output.a.b":                      "output.a may not be an object",
		"output.a.b ?? 1":                 "output.a may not be an object",
		"output?.a.b ?? 1":                "output.a may not be an object",
		"output.a and input.ok":           "output.a may not be boolean",
		"input.ok and output.a":           "output.a may not be boolean",
		"not output.a":                    "output.a may not be boolean",
		"output.a ? 1 : 2":                "output.a may not be boolean",
		"len(output.a)":                   "output.a may not be string or list or object",
		"any(output.a, # == 1)":           "output.a may not be list",
		"any(input.many, # > 1)":          "# may not be string",
		"'x' in output.a":                 "output.a may not be a list or object",
		"output.a contains 'x'":           "output.a may not be string",
		"output.a matches 'x'":            "output.a may not be string",
		"string(output.a)":                "output.a may not be string",
		"input.id / input.id":             "input.id may be zero",
		"input.ratio / 2":                 "may be out of range",
		"input.id % 0":                    "0 may be zero",
		"input.id ** 2":                   "may be out of range",
		"input.ratio * 2":                 "may be out of range",
		"-input.id":                       "may be out of range",
		"input.at + input.wait":           "may be out of range",
		"input.wait * 2 > duration('1h')": "may be out of range",
		"input.at - input.at":             "may be out of range",
		"input.tags[0]":                   "input.tags may not have this item",
		"input.tags[-1] ?? 'x'":           "input.tags may not have this item",
		"int(input.name)":                 "input.name may not fit, or be no number",
		"int(input.ratio)":                "input.ratio may not fit",
		"float(input.name)":               "may not fit, or be no number",
		"duration(input.name)":            "input.name may be no duration",
		"first(input.tags)":               "first(input.tags) may find nothing",
		"upper(first(input.tags))":        "may find nothing",
		"last(input.many)":                "may find nothing",
		"find(input.ids, # > 3)":          "may find nothing",
		"min(input.ids) > 1":              "may find nothing",
		"sum(input.ids)":                  "sum(input.ids) may be out of range",
		"abs(input.id)":                   "abs(input.id) may be out of range",
		"input.maybe?.n == 1":             "input.maybe?.n may be absent",
		"input.any.a":                     "input.any may not be an object",
		"input.any[0]":                    "may not have this item",
		"{(output.a): 1}":                 "output.a may not be string",
		"input.tags[output.a:]":           "output.a may not be integer",
		"output.a[0:1]":                   "output.a may not be list or string",
		"1 / 0":                           "division by zero",
		"1 == 1 and int('x') == 1":        "no whole number",
		"max(output.a, 1)":                "output.a may not be integer",
		"find(input.items, .n == 1).n":    "may find nothing",
	}
	for _, src := range total {
		p, _ := analyze(t, src)
		if why, at, ok := p.Partial(); ok {
			t.Errorf("Partial of %s = %q at %d, want none", src, why, at)
		}
	}
	for src, want := range partial {
		p, _ := analyze(t, src)
		why, at, ok := p.Partial()
		if got := fmt.Sprint(at, " ", why); !ok || !strings.Contains(got, want) {
			t.Errorf("Partial of %s = %q, %t, want %q", src, got, ok, want)
		}
	}
}

func TestPartialNamesThePlace(t *testing.T) {
	p, _ := analyze(t, "'ключ' == input.name or output.a > 1")
	if why, at, ok := p.Partial(); !ok || at != 31 {
		t.Errorf("Partial = %q at %d, %t, want the field a at 31", why, at, ok)
	}
}

func TestNever(t *testing.T) {
	tests := map[string]string{
		"input.color == 'gren'":                      "15: input.color is never gren of [red green]",
		"'gren' != input.color":                      "0: input.color is never gren of [red green]",
		"input.color in ['red', 'blue', 'gren']":     "23: input.color is never blue of [red green], 31: input.color is never gren of [red green]",
		"'blue' in input.colors":                     "0: input.colors is never blue of [red green]",
		"any(input.colors, # == 'blue')":             "23: # is never blue of [red green]",
		"input.colors[0] == 'blue'":                  "19: input.colors[0] is never blue of [red green]",
		"(input.color ?? 'none') == 'blue'":          `27: input.color ?? "none" is never blue of [red green none]`,
		"(input.ok ? 'a' : 'b') == 'c'":              `26: input.ok ? "a" : "b" is never c of [a b]`,
		"(input.color ?? 'none') == 'none'":          "",
		"input.color == 'red'":                       "",
		"input.color == input.name":                  "",
		"input.color + '' == 'blue'":                 "",
		"'a' == 'b'":                                 "",
		"input.name == 'blue'":                       "",
		"(first(input.colors) ?? 'none') == 'blue'":  `35: first(input.colors) ?? "none" is never blue of [red green none]`,
		"input.color == 'blue' ? 'x' : 'y'":          "15: input.color is never blue of [red green]",
		"string(input.color) == 'blue'":              "23: string(input.color) is never blue of [red green]",
		"(input.color ?? input.name) == 'blue'":      "",
		"filter(input.colors, # != 'x') == ['blue']": "26: # is never x of [red green]",
	}
	for src, want := range tests {
		_, a := analyze(t, src)
		var got []string
		for _, n := range a.Never {
			got = append(got, fmt.Sprintf("%d: %s is never %s of %v", n.Offset, n.Name, n.Value, n.Enum))
		}
		if diff := cmp.Diff(want, strings.Join(got, ", ")); diff != "" {
			t.Errorf("%s (-want +got):\n%s", src, diff)
		}
	}
}

func TestAbsent(t *testing.T) {
	tests := map[string]string{
		"input.note":                             "0: input.note",
		"'x' + input.note":                       "6: input.note",
		"input.note ?? 'x'":                      "",
		"(input.note ?? 'x') + 'y'":              "",
		"input.note == nil or input.note != nil": "",
		"nil != input.note":                      "",
		"input.note == 'x'":                      "0: input.note",
		"input.maybe.n ?? 1":                     "0: input.maybe?.n",
		"input.maybe?.n":                         "0: input.maybe?.n",
		"input.maybe?.n ?? 1":                    "",
		"input.maybe?.note ?? 1":                 "",
		"(input.maybe ?? {}) == {}":              "",
		"input.maybe?.note":                      "0: input.maybe?.note",
		"any(input.items, .note == 'x')":         "17: #.note",
		"any(input.items ?? [], .note == 'x')":   "23: #.note",

		"any(input.ok ? [] : input.items, .note == 'x')": "33: #.note",
		"any(input.items, (.note ?? '') == 'x')":         "",
		"input.items[0].note":                            "0: input.items[0].note",
		"{a: [input.note]}":                              "5: input.note",
		"upper(input['note'])":                           "6: input.note",
		"input.ok ? input.note : ''":                     "11: input.note",
		"(input.ok ? input.note : nil) ?? ''":            "",
		"output.note == 1 and output.maybe.x > 1":        "",
	}
	for src, want := range tests {
		_, a := analyze(t, src)
		var got []string
		for _, x := range a.Absent {
			got = append(got, fmt.Sprintf("%d: %s%s", x.Offset, x.Name, x.Rest))
		}
		if diff := cmp.Diff(want, strings.Join(got, ", ")); diff != "" {
			t.Errorf("%s (-want +got):\n%s", src, diff)
		}
	}
}

// What can be computed, but is surely a slip.
func TestAnalyzeErrors(t *testing.T) {
	tests := map[string]string{
		"{a: 1, b: 2, a: 3}":                    "13 a is given twice in this object; remove one",
		"count(input.ids)":                      "0 count needs a condition: count(list, # > 1)",
		"input.at + duration('7')":              `20 duration "7": a duration needs a unit: d, h, m, s or ms`,
		"input.wait * input.wait":               "11 a duration times a duration is nothing; multiply by a number",
		"sum(input.tags)":                       "0 sum adds up numbers, not values of type string",
		"sum(input.items, .note ?? '')":         "0 sum adds up numbers, not values of type string",
		"sum([true])":                           "0 sum adds up numbers, not values of type boolean",
		"max(input.wait, output.a, [1])":        "",
		"'a' in input.at":                       "4 a timestamp has nothing in it; compare it by < or >",
		"count([input.ok])":                     "",
		"count(input.many)":                     "",
		"sum(input.many)":                       "",
		"max(input.wait, [1])":                  "0 max compares durations with durations, and numbers with numbers",
		"min([input.wait], [1])":                "0 min compares durations with durations, and numbers with numbers",
		"any(input.tags, # in input.tags[1:])":  "",
		"input.wait * 2 == duration('1h') * .5": "",
	}
	for src, want := range tests {
		if strings.Contains(src, ".5") {
			src = strings.Replace(src, "* .5", "* 0.5", 1)
		}
		_, a := analyze(t, src)
		got := ""
		if len(a.Errors) > 0 {
			got = fmt.Sprint(a.Errors[0].Offset, " ", a.Errors[0])
		}
		if got != want {
			t.Errorf("Analyze(%s) has the error %q, want %q", src, got, want)
		}
	}
}

func TestAnalyzeType(t *testing.T) {
	tests := map[string]string{
		"input.ok ? 'none' : 'all'":    "string [none all]",
		"input.color":                  "string [red green]",
		"upper(input.color)":           "string []",
		"input.note":                   "optional string []",
		"input.note ?? ''":             "string []",
		"input.ok ? input.note : nil":  "optional string []",
		"input.maybe?.n":               "optional integer []",
		"input.id > 1":                 "boolean []",
		"output.a":                     "any []",
		"first(input.colors)":          "optional string [red green]",
		"filter(input.ids, # > 1)":     "list []",
		"input.ok ? 1 : 'x'":           "any []",
		"input.at - input.at":          "duration []",
		"(input.ok ? {a: 1} : {}).a":   "optional integer []",
		"input.ok ? {a: 1} : {b: 'x'}": "object []",
	}
	for src, want := range tests {
		_, a := analyze(t, src)
		got := fmt.Sprint(a.Type.Kind, " ", a.Type.Enum)
		if a.Type.Optional {
			got = "optional " + got
		}
		if got != want {
			t.Errorf("the type of %s is %s, want %s", src, got, want)
		}
	}
}

func TestFields(t *testing.T) {
	tests := map[string]string{
		"states.A.output.x + states['B']?.output ?? states.A.output": "A B",
		"input.a + states.C":       "C",
		"any(states.D, .x == #.y)": "D",
		"states":                   "",
		"states.":                  "",
		"a.states.E":               "",
	}
	for src, want := range tests {
		if got := strings.Join(expression.Fields(src, "states"), " "); got != want {
			t.Errorf("Fields(%s) = %q, want %q", src, got, want)
		}
	}
}
