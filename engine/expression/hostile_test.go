package expression_test

import (
	"encoding/json"
	"errors"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-dev/pawl/engine/expression"
)

// hostile are values at the limits.
func hostile() (*expression.Env, map[string]any) {
	integer, number := expression.Type{Kind: expression.Integer}, expression.Type{Kind: expression.Number}
	at, wait := expression.Type{Kind: expression.Timestamp}, expression.Type{Kind: expression.Duration}
	text := expression.Type{Kind: expression.String}
	env := expression.NewEnv(map[string]expression.Type{
		"i": {Kind: expression.Object, Fields: map[string]expression.Type{
			"most": integer, "least": integer, "huge": number, "name": text, "ok": {Kind: expression.Boolean},
			"at": at, "late": at, "hour": wait, "longest": wait, "shortest": wait,
			"ints": {Kind: expression.List, Elem: &integer}, "floats": {Kind: expression.List, Elem: &number},
			"tags": {Kind: expression.List, Elem: &text}, "more": {Kind: expression.Object}, "digits": number,
		}},
		"o": {},
	})
	return env, map[string]any{
		"i": map[string]any{
			"most": math.MaxInt, "least": math.MinInt, "huge": math.MaxFloat64, "name": "Ännа", "ok": true,
			"at": time.Unix(0, 0).UTC(), "late": time.Date(9999, 12, 31, 23, 59, 0, 0, time.UTC), "hour": time.Hour,
			"longest": time.Duration(math.MaxInt64), "shortest": time.Duration(math.MinInt64),
			"ints": []any{1, 2, math.MaxInt}, "floats": []any{math.MaxFloat64, math.MaxFloat64},
			"tags": []any{"a", "b"}, "more": map[string]any{"a": 1}, "digits": json.Number("0.12345678901234567890123"),
		},
		"o": map[string]any{
			"least": math.MinInt, "list": []any{math.MaxInt, 1}, "f": 1e308, "floats": []any{1e308, 1e308}, "s": "x",
			"half": 1.5, "none": []any{}, "mixed": []any{1, "x"}, "m": map[string]any{"a": nil}, "yes": true, "one": 1,
		},
	}
}

// What expr-lang computes wrongly, or not at all, at the limits.
func TestHostileFaults(t *testing.T) {
	env, vars := hostile()
	tests := []struct{ src, want string }{
		{"sum(i.ints)", "64-bit integer"},
		{"sum(o.list)", "64-bit integer"},
		{"sum(i.ints, # * 1)", "64-bit integer"},
		{"sum(i.floats) > 1", "not a finite number"},
		{"sum(o.floats) > 1", "not a finite number"},
		{"sum(o.mixed)", "int + string"},
		{"sum(o.s)", "a text is no list"},
		{"sum(o.absent)", "nil is no list"},
		{"abs(i.least)", "64-bit integer"},
		{"abs(o.least)", "64-bit integer"},
		{"abs(i.shortest)", "longer than 292 years"},
		{"abs(o.s)", "abs: a text is no number"},
		{"-o.least", "64-bit integer"},
		{"i.least * -1", "64-bit integer"},
		{"i.least / 0", "division by zero"},
		{"i.least % 0", "division by zero"},
		{"o.half % 2", "float64 % int"},
		{"i.huge * 10 > 1", "not a finite number"},
		{"{a: i.huge + i.huge}", "not a finite number"},
		{"[i.huge + i.huge]", "not a finite number"},
		{"0 ** -1 > 1", "not a finite number"},
		{"(-1) ** 0.5 == 1", "not a finite number"},

		{"i.late + i.hour", "not between the years"},
		{"i.at - i.longest - i.longest - i.longest - i.longest - i.longest - i.longest - i.longest", "not between the years"},
		{"(i.at + i.longest) - (i.at + i.shortest)", "longer than 292 years"},
		{"i.longest + i.hour", "longer than 292 years"},
		{"i.shortest - i.hour", "longer than 292 years"},
		{"i.shortest * -1", "longer than 292 years"},
		{"i.hour * i.most", "longer than 292 years"},
		{"i.most * i.hour", "longer than 292 years"},
		{"i.hour * i.huge", "longer than 292 years"},
		{"i.hour * (o.f * 1)", "longer than 292 years"},
		{"i.hour * i.hour", "nothing; multiply by a number"},
		{"i.hour + o.one", "duration + int"},
		{"i.at - o.absent", "timestamp - <nil>"},
		{"i.hour > o.one", "duration > int"},
		{"duration(o.one)", "a number is no text"},
		{"duration(i.name)", "a duration is written as"},

		{"i.tags[2]", "index out of range"},
		{"i.tags[-3]", "index out of range"},
		{"i.tags[i.most]", "index out of range"},
		{"i.tags[o.half]", "a number is no index"},
		{"i.tags[o.s]", "a field of a list"},
		{"o.list['a']", "a field of a list"},
		{"o.list[o.absent]", "nil is no index"},
		{"o.s[0]", "a text has no items"},
		{"o.s.a", "a field of a list or text does not exist"},
		{"o.m[o.one]", "a value has another type"},
		{"i.more[o.one]", "a value has another type"},
		{"o.absent[0]", "cannot fetch 0 from <nil>"},
		{"o.absent[0:1]", "nil has no parts"},
		{"i.tags[:o.half]", "a number is no index"},
		{"i.tags[o.absent:]", "nil is no index"},
		{"first(o.s)", "first: a text is no list"},
		{"last(o.one)", "last: a number is no list"},
		{"min(o.absent, 1)", "min: nil is no number"},
		{"max(o.mixed)", "max: a text is no number"},
		{"max(i.hour, o.one)", "int > duration"},
		{"len(o.one)", "invalid argument for len"},
		{"any(o.s, # == 'x')", "a text is no list"},
		{"filter(o.m, true)", "an object is no list"},
		{"find(i.ints, o.s)", "string, not bool"},
		{"'x' in o.yes", `"in" not defined on bool`},
		{"o.one in o.m", "a value has another type"},

		{"i.ok and o.s", "a text is not true or false"},
		{"o.yes or o.s or i.ok ? o.s and true : false", "string, not bool"},
		{"not o.s", "string, not bool"},
		{"o.s ? 1 : 2", "string, not bool"},
		{"+o.s", "a text is no number"},
		{"{(o.one): 1}", "int, not string"},
		{"upper(o.one)", "int, not string"},
		{"float('0x1p-2')", "no finite number"},
		{"float('1_0')", "no finite number"},
		{"float('1e999')", "no finite number"},
		{"int(i.huge)", "64-bit integer"},
		{"int(9223372036854775807.0)", "64-bit integer"},
	}
	for _, tt := range tests {
		p, err := expression.Compile(tt.src, env)
		if err != nil {
			t.Errorf("Compile(%s): %v", tt.src, err)
			continue
		}
		v, err := p.Eval(vars)
		e, ok := errors.AsType[*expression.Error](err)
		if !ok || e.Rule != expression.RuleFault || !strings.Contains(e.Message, tt.want) {
			t.Errorf("%s = %#v, %v, want the fault %q", tt.src, v, err, tt.want)
		}
		if why, _, partial := p.Partial(); !partial {
			t.Errorf("Partial of %s = %q, false, want true", tt.src, why)
		}
	}
}

func TestHostileValues(t *testing.T) {
	env, vars := hostile()
	tests := []struct {
		src  string
		want any
	}{
		{"sum(i.ints, # - #)", 0},
		{"sum(i.tags, len(#))", 2},
		{"sum(o.none)", 0},
		{"sum(i.floats, 0.5)", 1.0},
		{"o.list | filter(# == 1) | sum()", 1},
		{"abs(i.most)", math.MaxInt},
		{"abs(-2.5)", 2.5},
		{"abs(i.hour - i.hour - i.hour)", time.Hour},
		{"i.least % -1", 0},
		{"i.least / -1", 9223372036854775808.0},
		{"i.at + i.hour - i.hour == i.at", true},
		{"i.at - i.shortest > i.at", true},
		{"i.hour * 1.5", 90 * time.Minute},
		{"0.5 * i.hour", 30 * time.Minute},
		{"i.hour * o.half", 90 * time.Minute},
		{"max(i.hour, i.longest) == i.longest", true},
		{"i.name[1:3]", "nn"},
		{"i.name[:1]", "Ä"},
		{"i.name[-1:]", "а"},
		{"i.name[3:1]", ""},
		{"i.name[:100]", "Ännа"},
		{"o.s[i.least:i.most]", "x"},
		{"i.tags[1:]", []any{"b"}},
		{"o.list[i.least:-1]", []any{math.MaxInt}},
		{"first(o.none)", nil},
		{"last(o.absent) ?? 'none'", "none"},
		{"max(1, 2.5)", 2.5},
		{"max(i.ints, 0)", math.MaxInt},
		{"min(o.none) ?? 0", 0},
		{"o?.absent?.x?.y", nil},
		{"o.absent?.[0]", nil},
		{"'a' in o.m", true},
		{"'x' in o.absent", false},
		{"o.absent matches 'x'", false},
		{"i.tags == ['a', 'b']", true},
		{"ceil(1.2) + floor(o.half) + round(2.5)", 6.0},
		{"+o.one", 1},
		{"any(i.tags, # in i.tags)", true},
		{"if i.ok { 1 } else { 2 }", 1},
		{"i.digits < 0.5 and 0 < i.digits and i.digits >= i.digits", true},
		{"max(i.digits, 0)", json.Number("0.12345678901234567890123")},
		{"ceil(i.digits)", 1.0},
		{"1 < (2 * sum(i.tags, len(#))) < 5", true},
		{"1 < ((o.one + 1) * 2) < 4", false},
		{"1 <= o.one < 2 <= 3", true},
		{"(i.ok and o.yes) ?: false", true},
	}
	for _, tt := range tests {
		p, err := expression.Compile(tt.src, env)
		if err != nil {
			t.Errorf("Compile(%s): %v", tt.src, err)
			continue
		}
		got, err := p.Eval(vars)
		if diff := cmp.Diff(tt.want, got); diff != "" || err != nil {
			t.Errorf("%s: %v (-want +got):\n%s", tt.src, err, diff)
		}
	}
}

// The checks that stand in for operators must not hide what the checker of
// expr-lang finds in what they are given.
func TestErrorsInsideOfCheckedOperations(t *testing.T) {
	env, _ := hostile()
	for src, want := range map[string]string{
		"(i.name == 1 ? 1 : 2) + 1":      "mismatched types string and int",
		"(i.name == 1 ? 1 : 2) > 1":      "mismatched types string and int",
		"abs(i.name == 1 ? 1 : 2)":       "mismatched types string and int",
		"-(i.name == 1 ? 1 : 2)":         "mismatched types string and int",
		"sum(i.ints, i.name == 1 ? 1:2)": "mismatched types string and int",
		"o.x[i.nope:]":                   "unknown field nope",
		"o.x[1:upper(1)]":                "cannot use int",
		"i.name[i.name:]":                "non-integer slice index string",
		"i.hour / 2":                     "mismatched types duration and int",
		"i.hour == 5":                    "mismatched types duration and int",
		"i.at * 2":                       "mismatched types timestamp and int",
		"i.at > i.hour":                  "mismatched types timestamp and duration",
		"-i.hour":                        "mismatched type duration",
		"len(nil)":                       "invalid argument for len (type nil)",
		"max(i.name)":                    "invalid argument for max",
		"max()":                          "not enough arguments",
		"abs(i.tags)":                    "invalid argument for abs",
		"first(1)":                       "cannot get first element",
		"1e999":                          "does not fit in a 64-bit float",
		"sum(i.ints, #acc)":              "write # for the item",
		"count(i.ints, #index > 0)":      "write # for the item",
		"sum(i.ints, #index)":            "write # for the item",
		"#":                              "unexpected token",
		"i.name[0]":                      "undefined",
	} {
		p, err := expression.Compile(src, env)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("Compile(%s) = %v, %v, want an error with %q", src, p, err, want)
		}
	}
}

// expr-lang puts x twice into the tree of x ?: y, and y into that of x < y < z.
func TestNodesInTwoPlacesStayFew(t *testing.T) {
	env, _ := hostile()
	for name, form := range map[string]string{
		"Elvis": "(%s ?: true)", "Comparison": "(1 < %s < 3)", "Both": "(1 < (%s ?: 2) < 3)", "Ternary": "(%s ? : 1)",
	} {
		src := "i.ok"
		for range 25 { // more would be refused as they are
			src = strings.Replace(form, "%s", src, 1)
		}
		if got := expression.Fields(src, "i"); got != nil {
			t.Errorf("%s: Fields = %v, want nothing", name, got)
		}
		_, err := expression.Compile(src, env)
		if e, ok := errors.AsType[*expression.Error](err); !ok || e.Rule != expression.RuleSize {
			t.Errorf("%s: Compile = %v, want too many parts", name, err)
		}
	}
}
