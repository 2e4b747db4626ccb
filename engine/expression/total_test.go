package expression_test

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/pawl-dev/pawl/engine/expression"
)

// schema is the environment for random data: every kind, what may be absent,
// and an output of which nothing is known.
func schema() map[string]expression.Type {
	integer, text := expression.Type{Kind: expression.Integer}, expression.Type{Kind: expression.String}
	note := expression.Type{Kind: expression.String, Optional: true}
	item := expression.Type{Kind: expression.Object, Fields: map[string]expression.Type{"n": integer, "note": note}}
	return map[string]expression.Type{
		"input": {Kind: expression.Object, Fields: map[string]expression.Type{
			"id": integer, "ratio": {Kind: expression.Number}, "name": text, "ok": {Kind: expression.Boolean},
			"at": {Kind: expression.Timestamp}, "wait": {Kind: expression.Duration},
			"ids": {Kind: expression.List, Elem: &integer}, "tags": {Kind: expression.List, Elem: &text},
			"items": {Kind: expression.List, Elem: &item}, "many": {Kind: expression.List},
			"more": {Kind: expression.Object}, "any": {}, "note": note,
			"maybe": {Kind: expression.Object, Optional: true, Fields: map[string]expression.Type{"n": integer, "note": note}},
		}},
		"output": {Record: true},
	}
}

// world makes random data that fit schema.
type world struct{ *rand.Rand }

func (w world) pick(values ...any) any { return values[w.IntN(len(values))] }

func (w world) integer() int {
	return w.pick(0, 1, -1, 7, math.MaxInt, math.MinInt, w.IntN(100)).(int)
}

func (w world) number() any {
	return w.pick(0.0, 2.5, -1.0, math.MaxFloat64, -math.MaxFloat64, math.SmallestNonzeroFloat64, 7, math.MaxInt,
		json.Number("0.12345678901234567890123"), json.Number("99999999999999999999"), json.Number("1e999"))
}

func (w world) text() string {
	return w.pick("", "a", "12", "Ä-ö", "7d", "2026-01-01T00:00:00Z").(string)
}

func (w world) value(depth int) any {
	if depth == 0 {
		return w.pick(nil, true, w.integer(), w.number(), w.text())
	}
	switch w.IntN(3) {
	case 0:
		list := []any{}
		for range w.IntN(3) {
			list = append(list, w.value(depth-1))
		}
		return list
	case 1:
		m := map[string]any{}
		for _, k := range []string{"a", "b", "n"} {
			if w.IntN(2) == 0 {
				m[k] = w.value(depth - 1)
			}
		}
		return m
	}
	return w.value(0)
}

func (w world) list(item func() any) []any {
	list := []any{}
	for range w.IntN(4) {
		list = append(list, item())
	}
	return list
}

func (w world) item() any {
	m := map[string]any{"n": w.integer()}
	if w.IntN(2) == 0 {
		m["note"] = w.text()
	}
	return m
}

func (w world) vars() map[string]any {
	output := map[string]any{}
	for _, k := range []string{"a", "b", "n"} {
		if w.IntN(3) > 0 {
			output[k] = w.value(2)
		}
	}
	return map[string]any{
		"input": map[string]any{
			"id": w.integer(), "ratio": w.number(), "name": w.text(), "ok": w.IntN(2) == 0,
			"at":   w.pick(time.Unix(0, 0).UTC(), time.Date(9999, 12, 31, 23, 0, 0, 0, time.UTC), time.Time{}),
			"wait": w.pick(time.Hour, time.Duration(math.MaxInt64), time.Duration(math.MinInt64), time.Duration(0)),
			"ids":  w.list(func() any { return w.integer() }), "tags": w.list(func() any { return w.text() }),
			"items": w.list(w.item), "many": w.list(func() any { return w.value(1) }),
			"more": map[string]any{"a": w.value(1)}, "any": w.value(2),
			"note": w.pick(nil, w.text()), "maybe": w.pick(nil, w.item()),
		},
		"output": output,
	}
}

// expr makes a random expression that often has the wanted kind, and often
// compiles.
func (w world) expr(kind expression.Kind, depth int) string {
	if w.IntN(12) == 0 { // something else
		kind = w.pick(expression.Any, expression.String, expression.Integer, expression.List).(expression.Kind)
	}
	forms := leaves()[kind]
	if depth > 0 && w.IntN(4) > 0 {
		forms = inner()[kind]
	}
	form := forms[w.IntN(len(forms))]
	for from, k := range map[string]expression.Kind{
		"I": expression.Integer, "N": expression.Number, "S": expression.String, "B": expression.Boolean,
		"T": expression.Timestamp, "D": expression.Duration, "L": expression.List, "O": expression.Object, "A": expression.Any,
	} {
		for strings.Contains(form, "<"+from+">") {
			form = strings.Replace(form, "<"+from+">", w.expr(k, depth-1), 1)
		}
	}
	return form
}

func leaves() map[expression.Kind][]string {
	return map[expression.Kind][]string{
		expression.Integer:   {"input.id", "7", "0", "input.maybe?.n", "len(input.tags)", "input.items[0].n"},
		expression.Number:    {"input.ratio", "2.5", "input.id"},
		expression.String:    {"input.name", "'a'", "input.note", "input['name']", "input.maybe?.note"},
		expression.Boolean:   {"input.ok", "true"},
		expression.Timestamp: {"input.at"},
		expression.Duration:  {"input.wait", "duration('7d')"},
		expression.List:      {"input.ids", "input.tags", "input.items", "input.many", "[1, 2]", "[]"},
		expression.Object:    {"input.more", "input.maybe", "input", "{a: 1}", "input.items[0]"},
		expression.Any: {
			"output", "output.a", "output.n", "input.any", "output.a.b", "output.a?.b", "output?.a?.b?.n", "input.any.a",
			"input.any?.a", "input.more.a", "nil", "input.many[0]", "output.b[0]", "output.b['a']",
		},
	}
}

func inner() map[expression.Kind][]string {
	return map[expression.Kind][]string{
		expression.Integer: {
			"<I> + <I>", "<I> - <I>", "<I> * <I>", "-<I>", "<I> % 3", "<I> % <I>", "abs(<I>)", "len(<S>)", "len(<L>)", "len(<A>)",
			"count(<L>, <B>)", "count(<L>, # == <A>)", "int(<A>)", "int(<S>)", "int(<N>)", "max(<I>, <I>)", "<L>[<I>]",
			"sum(<L>)", "sum(input.items, .n)", "(<I> ?? <I>)", "(<B> ? <I> : <I>)", "min(input.ids)", "find(input.ids, # > <I>)",
			"first(input.ids)", "+<I>",
		},
		expression.Number: {
			"<N> + <N>", "<N> * <N>", "<N> / <N>", "<I> / 2", "<N> ** <N>", "float(<A>)", "float(<I>)", "ceil(<N>)", "round(<I>)",
			"abs(<N>)", "min(<N>, <I>)", "-<N>", "(<N> ?? <N>)",
		},
		expression.String: {
			"<S> + <S>", "string(<I>)", "string(<A>)", "string(<T>)", "string(<N>)", "upper(<S>)", "trim(<S>)", "<S>[0:1]", "<S>[<I>:]",
			"(<S> ?? <S>)", "(<B> ? <S> : <S>)", "trimPrefix(<S>, <S>)", "<L>[0]", "last(input.tags)", "(first(input.tags) ?? <S>)",
			"(find(input.items, .n == <I>) ?? {note: 'x'}).note",
		},
		expression.Boolean: {
			"(<I> < <I>)", "(<N> < <N>)", "(<S> < <S>)", "(<T> < <T>)", "(<D> < <D>)", "(<A> < <A>)", "(<I> == <I>)", "(<S> == <S>)",
			"(<A> == <A>)", "(<S> != nil)", "(<A> == nil)", "(<B> and <B>)", "(<B> or <A>)", "(not <B>)", "(<S> in <L>)", "(<A> in <O>)",
			"(<S> in <O>)", "(<S> contains <S>)", "(<S> startsWith <A>)", "(<S> matches 'a+')", "any(<L>, # == <I>)", "all(<L>, <B>)",
			"any(input.items, .n == <I>)", "any(input.items, .note == <S>)", "any(input.ids, # > <I>)", "all(<A>, # == <A>)", "hasPrefix(<S>, <S>)",
			"(<I> < <I> < <I>)", "(<B> ?: <B>)", "none(input.tags, # == <S>)", "one(input.many, # == <A>)", "(<D> == <D>)", "(<N> == <I>)",
		},
		expression.Timestamp: {"(<T> + <D>)", "(<T> - <D>)", "(<B> ? <T> : <T>)", "(<D> + <T>)"},
		expression.Duration: {
			"(<T> - <T>)", "(<D> + <D>)", "(<D> - <D>)", "(<D> * <I>)", "(<N> * <D>)", "duration(<S>)", "abs(<D>)", "max(<D>, <D>)",
		},
		expression.List: {"filter(<L>, <B>)", "filter(<A>, # == 1)", "<L>[1:]", "<L>[<I>:<I>]", "[<A>, <I>]", "(<L> ?? <L>)", "[<S>, <S>]"},
		expression.Object: {
			"{a: <A>, b: <I>}", "(<O> ?? <O>)", "{(<S>): <A>}", "(find(input.items, .n == 1) ?? {n: 0})",
		},
		expression.Any: {
			"<O>.n", "<O>?.n", "<L>[<I>]", "<A>.a", "<A>?.a?.b", "first(<L>)", "(<A> ?? <A>)", "(<A> + <A>)", "(<A> * <N>)", "-<A>",
			"<A>[<A>]", "min(<L>)", "(last(<L>) ?? 1)", "<O>[<S>]", "<A>['a']", "find(<L>, <B>)", "(<A> - <D>)",
		},
	}
}

// Whatever is computed is data that JSON can hold, and an expression that has
// no fault by Analyze never fails.
func TestTotalExpressionsNeverFail(t *testing.T) {
	env := expression.NewEnv(schema())
	w := world{rand.New(rand.NewPCG(1, 2))}
	kinds := []expression.Kind{
		expression.Integer, expression.Number, expression.String, expression.Boolean, expression.Timestamp,
		expression.Duration, expression.List, expression.Object, expression.Any,
	}
	const rounds = 2000
	compiled, total := 0, 0
	for i := range rounds {
		src := w.expr(kinds[i%len(kinds)], 3)
		p, err := expression.Compile(src, env)
		if err != nil {
			continue
		}
		compiled++
		look := p.Analyze()
		if len(look.Errors) > 0 || len(look.Absent) > 0 {
			continue
		}
		_, _, partial := p.Partial()
		if !partial {
			total++
		}
		for range 8 {
			vars := w.vars()
			v, err := p.Eval(vars)
			if err != nil && !partial && !notAnObject(src, err) {
				t.Fatalf("%s fails although Partial says that it cannot: %v", src, err)
			}
			if err == nil {
				if fit := misfit(v, look.Type); fit != "" {
					t.Fatalf("%s is %s, but the value is %#v: %s", src, look.Type.Kind, v, fit)
				}
			}
		}
	}
	if compiled < rounds/4 || total < rounds/15 {
		t.Fatalf("only %d expressions compile, and %d of them cannot fail: the test has lost its strength", compiled, total)
	}
}

// notAnObject allows for what Partial does not count: x?.y where x is there,
// but no object.
func notAnObject(src string, err error) bool {
	return strings.Contains(src, "?.") &&
		(strings.Contains(err.Error(), "cannot fetch") || strings.Contains(err.Error(), "a field of a list or text"))
}

// misfit says what of v does not fit the type, or JSON.
func misfit(v any, t expression.Type) string {
	if _, err := json.Marshal(v); err != nil {
		return err.Error()
	}
	fits := true
	switch v := v.(type) {
	case nil:
		fits = t.Optional || t.Kind == expression.Any || t.Kind == expression.Nil
	case int, json.Number:
		fits = t.Kind == expression.Integer || t.Kind == expression.Number || t.Kind == expression.Any
	case float64:
		fits = t.Kind == expression.Number || t.Kind == expression.Any
	case string:
		fits = t.Kind == expression.String || t.Kind == expression.Any
	case bool:
		fits = t.Kind == expression.Boolean || t.Kind == expression.Any
	case time.Time:
		fits = t.Kind == expression.Timestamp || t.Kind == expression.Any
	case time.Duration:
		fits = t.Kind == expression.Duration || t.Kind == expression.Any
	case map[string]any:
		fits = t.Kind == expression.Object || t.Kind == expression.Any
	case []any:
		if t.Kind != expression.List && t.Kind != expression.Any {
			return "a list"
		}
		for _, item := range v {
			if t.Elem != nil {
				if why := misfit(item, *t.Elem); why != "" {
					return "item: " + why
				}
			}
		}
	default:
		return "no data"
	}
	if !fits {
		return fmt.Sprintf("a %T", v)
	}
	return ""
}
