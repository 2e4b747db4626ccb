package definition_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-dev/pawl/engine/definition"
)

// vars are all variables, with the input of the frame.
func vars(tb testing.TB, d *definition.Definition) *definition.Vars {
	tb.Helper()
	return &definition.Vars{
		Input: mustInput(tb, d, input),
		Instance: definition.InstanceVars{
			ID: "frame/7", Workflow: "frame", Version: 3, StartedAt: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC),
		},
		Now:    time.Date(2026, 1, 2, 3, 5, 5, 0, time.UTC),
		States: map[string]any{"B": mustJSON(tb, `{"sha": "f00", "n": null}`)},
		Output: mustJSON(tb, `{"ok": true, "status": "green", "count": 3, "big": 12345678901234567890, "f": 1.50}`),
		Error:  &definition.ErrorVars{Code: "conflict", Message: "no", State: "A"},
	}
}

func TestValueJSON(t *testing.T) {
	tests := []struct{ name, value, want string }{
		{"Text", `hello "you"`, `"hello \"you\""`},
		{"TextKeepsAngleBrackets", `<a&b>`, `"<a&b>"`},
		{"TextUnicode", `"ключ\n\u0001"`, `"ключ\n\u0001"`},
		{"TextUnicodeKeepsAngleBrackets", `<ключ>`, `"<ключ>"`},
		{"Empty", `''`, `""`},
		{"Whole", `634866135153775564`, `634866135153775564`},
		{"Fraction", `1.10`, `1.10`},
		{"True", `true`, `true`},
		{"List", `[1, a, [true]]`, `[1,"a",[true]]`},
		{"EmptyMap", `{}`, `{}`},
		{"EmptyList", `[]`, `[]`},
		{"KeysAreSorted", `{b: 1, a: {d: 2, c: 3}}`, `{"a":{"c":3,"d":2},"b":1}`},
		{"ID", `${{ input.id }}`, `634866135153775564`},
		{"String", `${{ input.name }}`, `"Ann"`},
		{"Number", `${{ input.ratio }}`, `0.5`},
		{"Boolean", `${{ input.express }}`, `true`},
		{"TimestampAsItCame", `${{ input.ship_at }}`, `"2026-03-01T10:00:00+03:00"`},
		{"DurationAsItCame", `${{ input.window }}`, `"1h30m"`},
		{"Strings", `${{ input.tags }}`, `["a","b"]`},
		{"AbsentOptional", `${{ input.note ?? 'none' }}`, `"none"`},
		{
			"AnyKeepsDigits", `${{ input.any }}`,
			`{"digits":0.12345678901234567890,"f":1.25,"list":[1,"<"],"n":634866135153775564}`,
		},
		{"Sum", `${{ input.id + 1 }}`, `634866135153775565`},
		{"Join", `${{ input.name + '!' }}`, `"Ann!"`},
		{"Now", `${{ now - instance.started_at }}`, `"1m"`},
		{"InstanceID", `${{ instance.id }}`, `"frame/7"`},
		{"InstanceVersion", `${{ instance.version }}`, `3`},
		{"State", `${{ states.B.output.sha }}`, `"f00"`},
		{"StateNull", `${{ states.B.output.n }}`, `null`},
		{"StateThatDidNotRun", `${{ states.A?.output?.x ?? 'none' }}`, `"none"`},
		{
			"Mixed", `{z: "${{ input.name }}", a: [1, "${{ input.id }}"], k: "${{ {y: 1, x: 2} }}"}`,
			`{"a":[1,634866135153775564],"k":{"x":2,"y":1},"z":"Ann"}`,
		},
		{"MarkerAsText", `"${{ '${{ x' }}"`, `"${{ x"`},
		{"QuoteInside", `${{ 'a\' }} ${{ b' }}`, `"a' }} ${{ b"`},
		{"BracesInside", `"${{ {a: {b: 1}} }}"`, `{"a":{"b":1}}`},
		{"Ternary", `"${{ input.express ? 'fast' : 'slow' }}"`, `"fast"`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			d := mustParse(t, afterB(framed(tt.value, "${{ output.ok }}")))
			got, err := d.State("A").With.JSON(vars(t, d))
			if err != nil {
				t.Fatal(err)
			}
			if want := `{"v":` + tt.want + `}`; string(got) != want {
				t.Errorf("JSON() = %s, want %s", got, want)
			}
			if !json.Valid(got) {
				t.Errorf("JSON() = %s, which is not valid", got)
			}
		})
	}
}

func TestGuards(t *testing.T) {
	tests := []struct {
		guard string
		want  bool
	}{
		{"${{ output.status == 'green' }}", true},
		{"${{ output.status != 'green' }}", false},
		{"${{ output.count > 2 and output.f == 1.5 }}", true},
		{"${{ input.id == 634866135153775564 }}", true}, // case C20
		{"${{ input.id == 634866135153775563 }}", false},
		{"${{ input.any.n == 634866135153775564 }}", true},
		{"${{ 'a' in input.tags }}", true},
		{"${{ not output.ok }}", false},
		{`'${{ any(input.tags, hasPrefix(#, "b")) }}'`, true},
		{"${{ input.ship_at < now }}", false},
		{"${{ input.window == duration('90m') }}", true},
		{"${{ output.missing == nil }}", true},
		{"${{ input.name matches '^A' }}", true},
		{"${{ input.note == nil }}", true},
	}
	for _, tt := range tests {
		t.Run(tt.guard, func(t *testing.T) {
			d := mustParse(t, framed("x", tt.guard))
			got, err := d.State("A").Next[0].When.Bool(vars(t, d))
			if err != nil || got != tt.want {
				t.Errorf("Bool() = %t, %v, want %t", got, err, tt.want)
			}
		})
	}
}

// A fault of the data is an error with the place in the file, never a value.
func TestFaultsNameThePlace(t *testing.T) {
	tests := []struct{ name, guard, want string }{
		{
			"FieldOfNil", "${{ output.a.b == 1 }}",
			"test:23:28: there is no b, since what it is a field of is absent; write ?.b ?? default [expr-fault]",
		},
		{"DivisionByZero", "${{ 1 / (output.count - 3) > 0 }}", "test:23:21: division by zero [expr-fault]"},
		{"Overflow", "${{ input.id * 1000 > 0 }}", "test:23:28: the result does not fit in a 64-bit integer [expr-fault]"},
		{"NotFinite", "${{ output.f * 1e308 * 10 > 0 }}", "test:23:36: the result is not a finite number [expr-fault]"},
		{
			"IndexOutOfRange", "${{ input.tags[7] == 'a' }}",
			"test:23:29: index out of range: 7 (array length is 2) [expr-fault]",
		},
		{
			"NotBoolean", "${{ output.status }}",
			`test:23:19: this must be true or false, but is the string "green" [expr-fault]`,
		},
		{"Absent", "${{ output.missing }}", "test:23:19: this must be true or false, but is absent [expr-fault]"},
		{
			"TextInAnd", "${{ output.status and true }}",
			"test:23:33: a value has another type than the expression needs (string, not bool) [expr-fault]",
		},
		{"TextAsNumber", "${{ output.status > 3 }}", "test:23:33: invalid operation: string > int [expr-fault]"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			d := mustParse(t, framed("x", tt.guard))
			got, err := d.State("A").Next[0].When.Bool(vars(t, d))
			if err == nil || got || err.Error() != tt.want {
				t.Errorf("Bool() = %t, %v, want the error %s", got, err, tt.want)
			}
		})
	}
}

func TestStateThatDidNotRunIsAFault(t *testing.T) {
	v := mustParse(t, afterB(framed("${{ states.B.output.sha }}", "${{ output.ok }}"))).State("A").With
	_, err := v.JSON(&definition.Vars{})
	if err == nil || !strings.HasPrefix(err.Error(), "test:21:") {
		t.Errorf("JSON() = %v, want an error at line 21", err)
	}
	if _, err := v.JSON(nil); err == nil {
		t.Error("JSON(nil) succeeded, want an error")
	}
}

func TestText(t *testing.T) {
	src := strings.Replace(framed("x", "${{ output.ok }}"), "start: A",
		"instance_key: ${{ input.name }}\nlabels: {a: fixed, b: \"${{ input.any.k }}\"}\nstart: A", 1)
	d := mustParse(t, src)
	v := vars(t, d)
	if got, err := d.InstanceKey.Text(v); got != "Ann" || err != nil {
		t.Errorf("Text() = %q, %v, want Ann", got, err)
	}
	if got, err := d.Labels[0].Value.Text(nil); got != "fixed" || err != nil {
		t.Errorf("Text() of a literal = %q, %v, want fixed", got, err)
	}
	got, err := d.Labels[1].Value.Text(v)
	if want := `test:17:28: this must be a string, but is absent [expr-fault]`; fmt.Sprint(err) != want {
		t.Errorf("Text() = %q, %v, want the error %s", got, err, want)
	}
}

func TestReadJSON(t *testing.T) {
	tests := []struct {
		raw  string
		want any
	}{
		{``, nil},
		{` null `, nil},
		{`7`, 7},
		{`-0`, negativeZero()},
		{`634866135153775564`, 634866135153775564},
		{`9223372036854775807`, 9223372036854775807},
		{`9223372036854775808`, json.Number("9223372036854775808")},
		{`1.5`, 1.5},
		{`1.50`, 1.5},
		{`1e3`, 1000.0},
		{`0.1`, 0.1},
		{`0.1234567890123456789`, json.Number("0.1234567890123456789")},
		{`1e400`, json.Number("1e400")},
		{`{"a": [1, {"b": 2.5}], "c": "x"}`, map[string]any{"a": []any{1, map[string]any{"b": 2.5}}, "c": "x"}},
	}
	for _, tt := range tests {
		got, err := definition.ReadJSON(json.RawMessage(tt.raw))
		if diff := cmp.Diff(tt.want, got); diff != "" || err != nil {
			t.Errorf("ReadJSON(%s): %v (-want +got):\n%s", tt.raw, err, diff)
		}
	}
	for _, raw := range []string{`{`, `1 2`, `{"a":1}x`, `nope`} {
		if v, err := definition.ReadJSON(json.RawMessage(raw)); err == nil {
			t.Errorf("ReadJSON(%s) = %v, want an error", raw, v)
		}
	}
}

func negativeZero() float64 {
	zero := 0.0
	return -zero
}

func TestValuesMayBeUsedAtOnce(t *testing.T) {
	const value = `{a: "${{ input.name }}", b: "${{ states.B.output.sha }}"}`
	d := mustParse(t, afterB(framed(value, "${{ output.count == 3 }}")))
	v := vars(t, d)
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 200 {
				got, err := d.State("A").With.JSON(v)
				if err != nil || string(got) != `{"v":{"a":"Ann","b":"f00"}}` {
					t.Errorf("JSON() = %s, %v", got, err)
					return
				}
				if ok, err := d.State("A").Next[0].When.Bool(v); !ok || err != nil {
					t.Errorf("Bool() = %t, %v", ok, err)
					return
				}
			}
		})
	}
	wg.Wait()
}
