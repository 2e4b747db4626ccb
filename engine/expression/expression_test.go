package expression_test

import (
	"encoding/json"
	"errors"
	"math"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-dev/pawl/engine/expression"
	"github.com/pawl-dev/pawl/internal/fuzztest"
)

func env() *expression.Env {
	text := expression.Type{Kind: expression.String}
	return expression.NewEnv(map[string]expression.Type{
		"input": {Kind: expression.Object, Fields: map[string]expression.Type{
			"id":    {Kind: expression.Integer},
			"name":  text,
			"ratio": {Kind: expression.Number},
			"ok":    {Kind: expression.Boolean},
			"at":    {Kind: expression.Timestamp},
			"for":   {Kind: expression.Duration},
			"tags":  {Kind: expression.List, Elem: &text},
			"more":  {Kind: expression.Object},
			"items": {Kind: expression.List},
		}},
		"output": {},
	})
}

func vars() map[string]any {
	return map[string]any{
		"input": map[string]any{
			"id": 7, "name": "Ann", "ratio": 2.5, "ok": true, "at": time.Unix(0, 0).UTC(), "for": time.Hour,
			"tags": []any{"a", "b"}, "more": map[string]any{"x": 1}, "items": []any{1, 2, 3},
		},
		"output": map[string]any{
			"status": "green", "n": 3, "f": 1.5, "max": math.MaxInt, "big": json.Number("99999999999999999999"),
			"nothing": nil, "text": "12", "yes": true,
		},
	}
}

func mustCompile(tb testing.TB, src string) *expression.Program {
	tb.Helper()
	p, err := expression.Compile(src, env())
	if err != nil {
		tb.Fatalf("Compile(%s): %v", src, err)
	}
	return p
}

func TestEval(t *testing.T) {
	tests := []struct {
		src  string
		want any
	}{
		{"input.id == 7", true},
		{"input.id + 1", 8},
		{"input.id * -2 - 1", -15},
		{"-input.id", -7},
		{"input.id / 2", 3.5},
		{"input.id % 4", 3},
		{"2 ** 10", 1024.0},
		{"input.ratio * 2", 5.0},
		{"output.n + 1", 4},
		{"output.f + output.n", 4.5},
		{"output.status + '!'", "green!"},
		{"9223372036854775806 + 1", math.MaxInt},
		{"-9223372036854775807 - 1", math.MinInt},
		{"3037000499 * 3037000499", 9223372030926249001},
		{"input.at + input.for", time.Unix(3600, 0).UTC()},
		{"input.for * 2", 2 * time.Hour},
		{"duration('7d1h')", 169 * time.Hour},
		{"len(input.tags)", 2},
		{"'b' in input.tags", true},
		{"'c' not in input.tags", true},
		{"all(input.items, # > 0)", true},
		{"count(input.items, # > 1)", 2},
		{"sum(input.items)", 6},
		{"first(input.tags) + last(input.tags)", "ab"},
		{"filter(input.items, # > 1)", []any{2, 3}},
		{"input.tags[-1]", "b"},
		{"input.name[0:1]", "A"},
		{"upper(trim(' x '))", "X"},
		{"input.name matches '^A.n$'", true},
		{"input.name contains 'n'", true},
		{"int('12') + int(2.9) + int(output.text)", 26},
		{"float('1.5')", 1.5},
		{"string(1000000.0) + string(input.id) + string(true) + string(input.for)", "10000007true1h"},
		{"string(input.at)", "1970-01-01T00:00:00Z"},
		{"string(output.big)", "99999999999999999999"},
		{"output.missing ?? 'none'", "none"},
		{"output?.a?.b?.c ?? 1", 1},
		{"output.missing == nil", true},
		{"input.ok ? 'yes' : 'no'", "yes"},
		{"{a: 1, 'b': [input.id]}", map[string]any{"a": 1, "b": []any{7}}},
		{"input['name']", "Ann"},
		{"input.tags | len()", 2},
		{"not input.ok or output.yes", true},
		{"max(1, input.id)", 7},
		{"abs(-2)", 2},
	}
	for _, tt := range tests {
		got, err := mustCompile(t, tt.src).Eval(vars())
		if diff := cmp.Diff(tt.want, got); diff != "" || err != nil {
			t.Errorf("%s: %v (-want +got):\n%s", tt.src, err, diff)
		}
	}
}

// What cannot be computed is an error, not a value that a guard could take for
// an answer.
func TestEvalFaults(t *testing.T) {
	tests := []struct {
		src    string
		offset int
		want   string
	}{
		{"output.a.b == 1", 9, "cannot fetch b from <nil>"},
		{"1 / 0 > 3", 2, "division by zero"},
		{"0 / 0 == 1", 2, "division by zero"},
		{"input.id % 0", 9, "division by zero"},
		{"9223372036854775807 + 1", 20, "does not fit in a 64-bit integer"},
		{"-9223372036854775807 - 2", 21, "does not fit in a 64-bit integer"},
		{"output.max * 2 > 0", 11, "does not fit in a 64-bit integer"},
		{"output.max + input.id", 11, "does not fit in a 64-bit integer"},
		{"-(-9223372036854775807 - 1)", 0, "does not fit in a 64-bit integer"},
		{"(-9223372036854775807 - 1) * -1", 27, "does not fit in a 64-bit integer"},
		{"1e308 * 10 > 1", 6, "not a finite number"},
		{"10 ** 400 > 1", 3, "not a finite number"},
		{"float('NaN') > 1", 0, "no finite number"},
		{"float('Inf') > 1", 0, "no finite number"},
		{"int(1e300) > 1", 0, "does not fit in a 64-bit integer"},
		{"int('9223372036854775808')", 0, "no whole number of 64 bits"},
		{"int('1.5')", 0, "no whole number"},
		{"int(output.nothing)", 0, "nil is no number"},
		{"string(input.tags)", 0, "a list is no text"},
		{"duration('7')", 0, "needs a unit"},
		{"input.tags[2] == 'c'", 10, "index out of range"},
		{"output.status and true", 14, "string, not bool"},
		{"output.status > 1", 14, "string > int"},
		{"output.big > 1", 11, "json.Number"},
		{"output.nothing + 1", 15, ""},
		{"len(output.nothing)", 0, "invalid argument for len"},
	}
	for _, tt := range tests {
		got, err := mustCompile(t, tt.src).Eval(vars())
		e, ok := errors.AsType[*expression.Error](err)
		if !ok {
			t.Errorf("%s = %v, %v, want an error", tt.src, got, err)
			continue
		}
		if e.Rule != expression.RuleFault || e.Offset != tt.offset || !strings.Contains(e.Message, tt.want) {
			t.Errorf("%s: %s at %d: %q, want %q at %d", tt.src, e.Rule, e.Offset, e.Message, tt.want, tt.offset)
		}
		if strings.Contains(e.Message, "\n") {
			t.Errorf("%s: the message has several lines: %q", tt.src, e.Message)
		}
	}
}

func TestCompileErrors(t *testing.T) {
	tests := []struct {
		src    string
		rule   expression.Rule
		offset int
		want   string
	}{
		{"input.id ==", expression.RuleExpr, 10, "the expression ends too early"},
		{"inptu.id", expression.RuleExpr, 0, "unknown name inptu"},
		{"'ключ' + input.nane", expression.RuleExpr, 15, "unknown field nane"},
		{"input['nane']", expression.RuleExpr, 6, "unknown field nane"},
		{"input?.nane", expression.RuleExpr, 7, "unknown field nane"},
		{"input.id == 'x'", expression.RuleExpr, 9, "mismatched types int and string"},
		{"input.name + 1", expression.RuleExpr, 11, "mismatched types string and int"},
		{"9223372036854775808", expression.RuleExpr, 18, "does not fit in a 64-bit integer"},
		{"input.name ?? 'x' + 'y'", expression.RuleExpr, 18, "put it in parentheses"},
		{"input.name matches '('", expression.RuleExpr, 11, "missing closing )"},
		{"\xff", expression.RuleExpr, 0, "not valid UTF-8"},
		{"now()", expression.RuleForbidden, 0, "use the variable now"},
		{"foo(1)", expression.RuleForbidden, 0, "there is no function foo()"},
		{"map(input.tags, #)", expression.RuleForbidden, 0, "map() is not allowed"},
		{"reduce(input.items, #acc + #, 0)", expression.RuleForbidden, 0, "reduce() is not allowed"},
		{"keys(input.more)", expression.RuleForbidden, 0, "keys() is not allowed"},
		{"input.tags | join(',')", expression.RuleForbidden, 13, "join() is not allowed"},
		{"get(input, 'id')", expression.RuleForbidden, 0, "get() is not allowed"},
		{"1..3", expression.RuleForbidden, 1, "ranges"},
		{"let x = 1; x", expression.RuleForbidden, 4, "let is not allowed"},
		{"1; 2", expression.RuleForbidden, 0, "several expressions"},
		{"$env", expression.RuleForbidden, 0, "$env"},
		{"$env.input", expression.RuleForbidden, 0, "$env"},
		{"$env['input']", expression.RuleForbidden, 0, "$env"},
		{"input[input.name]", expression.RuleForbidden, 12, "computed field name"},
		{"b'x'", expression.RuleForbidden, 0, "byte strings"},
		{"input.at.Unix()", expression.RuleForbidden, 9, "methods are not allowed"},
		{"input.at.Unix", expression.RuleForbidden, 9, "methods are not allowed"},
		{"output.f()", expression.RuleForbidden, 7, "methods are not allowed"},
		{"all(input.items, any(input.tags, # == 'a'))", expression.RuleNested, 17, "predicate inside a predicate"},
		{"input.name matches input.name", expression.RuleRegex, 25, "the pattern of matches"},
		{strings.Repeat("x", 1001), expression.RuleSize, 0, "1001 characters"},
		{strings.Repeat("1+", 150) + "1", expression.RuleSize, 0, "more than 200 parts"},
	}
	for _, tt := range tests {
		p, err := expression.Compile(tt.src, env())
		e, ok := errors.AsType[*expression.Error](err)
		if p != nil || !ok {
			t.Errorf("Compile(%.40q) = %v, %v, want an error", tt.src, p, err)
			continue
		}
		if e.Rule != tt.rule || e.Offset != tt.offset || !strings.Contains(e.Message, tt.want) {
			t.Errorf("Compile(%.40q): %s at %d: %q, want %s at %d: %q",
				tt.src, e.Rule, e.Offset, e.Message, tt.rule, tt.offset, tt.want)
		}
	}
}

func TestUnknownNamesComeWithTheKnownOnes(t *testing.T) {
	tests := []struct {
		src, name string
		known     []string
		field     bool
	}{
		{"outptu", "outptu", []string{"input", "output"}, false},
		{"input.agse", "agse", []string{"at", "for", "id", "items", "more", "name", "ok", "ratio", "tags"}, true},
	}
	for _, tt := range tests {
		_, err := expression.Compile(tt.src, env())
		e, ok := errors.AsType[*expression.Error](err)
		if !ok {
			t.Fatalf("Compile(%s) = %v, want an *Error", tt.src, err)
		}
		if diff := cmp.Diff(tt.known, e.Known); diff != "" || e.Name != tt.name || e.Field != tt.field {
			t.Errorf("Compile(%s): name %q, field %t, known (-want +got):\n%s", tt.src, e.Name, e.Field, diff)
		}
	}
}

func TestFunctions(t *testing.T) {
	want := strings.Fields(`abs all any ceil count duration filter find first float floor hasPrefix hasSuffix int last
		len lower max min none one round string sum trim trimPrefix trimSuffix upper`)
	if diff := cmp.Diff(want, expression.Functions()); diff != "" || len(want) != 28 {
		t.Errorf("%d functions (-want +got):\n%s", len(want), diff)
	}
}

func TestKind(t *testing.T) {
	tests := map[string]expression.Kind{
		"input.id": expression.Integer, "input.id + 1": expression.Integer,
		"(input.id + 1) * 2 - input.id": expression.Integer,
		"-(input.id + 1)":               expression.Integer, "(input.id + 1) / 2 + 1": expression.Number,
		"string(1) + 'x'": expression.String, "input.id / 2": expression.Number,
		"input.ratio + 1": expression.Number, "input.name + 'x'": expression.String, "input.id > 1": expression.Boolean,
		"input.at": expression.Timestamp, "input.for": expression.Duration, "input.tags": expression.List,
		"input.tags[0]": expression.String, "input.more": expression.Object, "input.more.x": expression.Any,
		"output": expression.Any, "output.x + 1": expression.Any, "string(output.x)": expression.String,
		"nil": expression.Nil, "input.ok ? 1 : 'x'": expression.Any, "int(output.x)": expression.Integer,
		"{a: 1}": expression.Object, "[1]": expression.List,
		"duration('1s')": expression.Duration, "input.items[0]": expression.Any,
	}
	for src, want := range tests {
		if got := mustCompile(t, src).Kind(); got != want {
			t.Errorf("Kind of %s = %s, want %s", src, got, want)
		}
	}
}

func TestRefs(t *testing.T) {
	p := mustCompile(t, "(output?.a.b ?? input.name) + string(input['id']) + upper(input.name)")
	want := []expression.Ref{
		{Path: []string{"output", "a", "b"}, At: []int{1, 9, 11}, Safe: []bool{false, true, false}, Default: true},
		{Path: []string{"input", "name"}, At: []int{16, 22}, Safe: []bool{false, false}},
		{Path: []string{"input", "id"}, At: []int{37, 43}, Safe: []bool{false, false}},
		{Path: []string{"input", "name"}, At: []int{58, 64}, Safe: []bool{false, false}},
	}
	if diff := cmp.Diff(want, p.Refs()); diff != "" {
		t.Errorf("Refs (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"input", "output"}, p.Names()); diff != "" {
		t.Errorf("Names (-want +got):\n%s", diff)
	}
	if !mustCompile(t, "nil != input.name").Refs()[0].Default {
		t.Error("a comparison with nil does not count as a default")
	}
}

func TestConstant(t *testing.T) {
	tests := []struct {
		src       string
		value, ok bool
	}{
		{"true", true, true},
		{"1 == 2", false, true},
		{"'a' in ['a']", true, true},
		{"input.ok", false, false},
		{"input.ok or true", false, false},
		{"1 / 0 > 1", false, false},
		{"1", false, false},
	}
	for _, tt := range tests {
		if value, ok := mustCompile(t, tt.src).Constant(); value != tt.value || ok != tt.ok {
			t.Errorf("Constant of %s = %t, %t, want %t, %t", tt.src, value, ok, tt.value, tt.ok)
		}
	}
}

func TestProgramsMayBeUsedAtOnce(t *testing.T) {
	p := mustCompile(t, "all(input.items, # > 0) and output.n + input.id == 10")
	faulty := mustCompile(t, "output.a.b == 1")
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 500 {
				if v, err := p.Eval(vars()); v != true || err != nil {
					t.Errorf("Eval() = %v, %v", v, err)
					return
				}
				if v, err := faulty.Eval(vars()); err == nil {
					t.Errorf("Eval() = %v, want an error", v)
					return
				}
			}
		})
	}
	wg.Wait()
}

// Whatever the text: no panic, an error has an offset within it, a program
// can be run, its error is an *Error, and its result is data that JSON can
// hold and not much larger than what it was made of.
func FuzzCompile(f *testing.F) {
	for _, s := range []string{
		"input.id == 7", "output?.a ?? 'x'", "all(input.tags, # == 'a')", "now()", "1..2", "input.", "'\\u", "{a: [1]}",
		"-1 ** 2", "input.name matches '('", "let x = 1; x", "$env['input']", "output.n + 1 / 0", "sum(input.items, #index)",
		"1..1000000", "sum(input.items, sum(input.items, #))", "reduce(1..15, #acc + #acc, input.name)", "repeat('a', 3000)",
		"map(input.items, input.name + input.name)", "input.tags | join(input.name)", "toJSON(output)", "keys(output)",
		"9223372036854775807 + 1", "-9223372036854775808", "0x7fffffffffffffff * output.n", "output.max * -1", "abs(-output.max - 1)",
		"input.id % 0", "0 / 0 == 1", "1e308 * 10", "(-1) ** 0.5", "1e999", "float('NaN')", "int('1_0')", "output.big + 1",
		"input.at + input.for * 1e9", "input.at - (input.at - duration('106751d'))", "input.for * input.for", "input.for * 0.5",
		"input.name[1:]", "output.status[0]", "input.tags[output.n]", "input.tags[-99]", "first(output.status)", "output.items['a']",
		"output.yes and output.status", "+output.text", "{(output.n): 1}", "{a: 1, a: 2}", "count(input.tags)", "max(1, 2.5) == 2",
		"(input.name == 1 ? 1 : 2) + 1", "any(input.items, # in input.items)", "find(output.items, # == nil)?.x", "if input.ok { 1 } else { 2 }",
		"input . name", "input?.['id']", "::len(input.tags)", "(input?.name).x", "not not not input.ok", "1 < 2 < 3", "`raw`", "\"\\ud800\"",
		"input.pr-id", "input.not", "input.in", strings.Repeat("(", 300), strings.Repeat("-", 300) + "1", strings.Repeat("[", 300),
		strings.Repeat("input.name + ", 60) + "''", "/* */ 1", "1 // x", "all(input.tags, # matches '(a+)+$')",
	} {
		f.Add(s)
	}
	e, data := env(), vars()
	size := len(encode(f, data))
	f.Fuzz(func(t *testing.T, src string) {
		fuzztest.Bounded(t, func() { compileAndRun(t, src, e, data, size) })
	})
}

func compileAndRun(t *testing.T, src string, e *expression.Env, data map[string]any, size int) {
	t.Helper()
	expression.Fields(src, "input") // of any text
	p, err := expression.Compile(src, e)
	if err != nil {
		ee, ok := errors.AsType[*expression.Error](err)
		if !ok || ee.Message == "" || strings.Contains(ee.Message, "\n") || ee.Offset < 0 || ee.Offset > len([]rune(src)) {
			t.Errorf("Compile(%q) = %#v, want an *Error with an offset in the text", src, err)
		}
		return
	}
	if n := len([]rune(src)); n > expression.MaxLength {
		t.Errorf("Compile takes %d characters", n)
	}
	look := p.Analyze()
	why, at, partial := p.Partial()
	if at < 0 || at > len([]rune(src)) || partial != (why != "") {
		t.Errorf("Partial(%q) = %q at %d, %t", src, why, at, partial)
	}
	v, err := p.Eval(data)
	if _, ok := errors.AsType[*expression.Error](err); err != nil && !ok {
		t.Errorf("Eval(%q) = %v, %v, want an *Error", src, v, err)
	}
	if err != nil {
		if sound := len(look.Errors) == 0 && len(look.Absent) == 0; sound && !partial && !notAnObject(src, err) {
			t.Errorf("Eval(%q) fails although Partial says that it cannot: %v", src, err)
		}
		return
	}
	if n := len(encode(t, v)); n > expression.MaxNodes*(size+len(src)) {
		t.Errorf("Eval(%q) gives %d bytes of %d", src, n, size)
	}
}

func encode(tb testing.TB, v any) []byte {
	tb.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		tb.Fatalf("the result is no data: %v", err)
	}
	return b
}

func BenchmarkCompile(b *testing.B) {
	e := env()
	for b.Loop() {
		if _, err := expression.Compile("output.status == 'green' and input.id > 3", e); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkEval(b *testing.B) {
	p, data := mustCompile(b, "output.status == 'green' and input.id > 3"), vars()
	b.ReportAllocs()
	for b.Loop() {
		if v, err := p.Eval(data); v != true || err != nil {
			b.Fatal(v, err)
		}
	}
}
