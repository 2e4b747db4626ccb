package expression_test

import (
	"encoding/json"
	"errors"
	"math/rand/v2"
	"reflect"
	"testing"

	"github.com/pawl-dev/pawl/engine/expression"
	"github.com/pawl-dev/pawl/internal/fuzztest"
)

// Whatever the text and the data: an evaluation ends soon and without a panic,
// its value is data, and the same once more; what cannot fail by Analyze does
// not.
func FuzzEvaluate(f *testing.F) {
	for i, s := range []string{
		"input.id == 7", "output?.a ?? 'x'", "all(input.tags, # == 'a')", "sum(input.ids) + len(input.items)", "input.at + input.wait",
		"filter(input.items, .n > 1)[0].note ?? 'none'", "{a: input.id, b: [input.note]}", "input.ratio / 3 > output.n", "output.a.b[0]",
		"string(input.at) + upper(input.name)[1:]", "max(input.ids) % 7", "input.maybe?.n ?? -1", "input.name matches '^a+$'",
		"int(output.a) * float(output.b) ** 2", "duration('7d') * 3 < input.wait", "input.more.a in input.many", "not input.ok or output.n",
	} {
		f.Add(s, uint64(i))
	}
	env := expression.NewEnv(schema())
	f.Fuzz(func(t *testing.T, src string, seed uint64) {
		var p *expression.Program
		var err error
		fuzztest.Bounded(t, func() { p, err = expression.Compile(src, env) })
		if err != nil {
			return
		}
		var look expression.Analysis
		var partial bool
		fuzztest.Bounded(t, func() {
			look = p.Analyze()
			_, _, partial = p.Partial()
		})
		data := func() map[string]any { return world{rand.New(rand.NewPCG(seed, 1))}.vars() }
		var got any
		fuzztest.Bounded(t, func() { got, err = p.Eval(data()) })
		if _, ok := errors.AsType[*expression.Error](err); err != nil && !ok {
			t.Fatalf("%s: %v, want an *Error", src, err)
		}
		vars := data()
		again, errAgain := p.Eval(vars)
		if (err == nil) != (errAgain == nil) || err == nil && text(t, got) != text(t, again) {
			t.Errorf("%s = %v, %v, and then %v, %v", src, got, err, again, errAgain)
		}
		if !reflect.DeepEqual(vars, data()) {
			t.Errorf("%s has changed its data", src)
		}
		if len(look.Errors) > 0 || len(look.Absent) > 0 {
			return
		}
		if err != nil && !partial && !notAnObject(src, err) {
			t.Errorf("%s fails although Partial says that it cannot: %v", src, err)
		}
		if err == nil {
			if fit := misfit(got, look.Type); fit != "" {
				t.Errorf("%s is %s, but the value is %#v: %s", src, look.Type.Kind, got, fit)
			}
		}
	})
}

// text encodes a value.
func text(t *testing.T, v any) string {
	t.Helper()
	raw, err := json.Marshal(v)
	if err != nil {
		t.Errorf("the value is not data: %v", err)
	}
	return string(raw)
}
