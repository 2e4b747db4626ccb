package definition_test

import (
	"os"
	"strings"
	"testing"

	"github.com/pawl-dev/pawl/engine/definition"
)

// frame is a small workflow; parts of it are replaced by tests.
const frame = `pawl: 1
workflow: frame
version: 1
input:
  id: integer
  name: string
  ratio: number
  express: boolean
  ship_at: timestamp
  window: duration
  tags: list of string
  note: optional string
  extra: optional object
  any: any
on_failure: {policy: mark_failed, to: FAILED}
start: A
states:
  A:
    step: a.do
    with:
      v: VALUE
    next:
      - when: GUARD
        to: B
      - to: DONE
  B:
    step: b.do
    next: DONE
  DONE: {end: succeeded}
  FAILED: {end: failed}
`

// framed puts a value and a guard into frame.
func framed(value, guard string) string {
	return strings.NewReplacer("VALUE", value, "GUARD", guard).Replace(frame)
}

// afterB puts B before A in frame, so that A may use the output of B.
func afterB(src string) string {
	return strings.NewReplacer("start: A", "start: B", "next: DONE", "next: A").Replace(src)
}

// withValue returns the value, which stands in with: of a state.
func withValue(tb testing.TB, value string) *definition.Value {
	tb.Helper()
	return mustParse(tb, framed(value, "${{ output.ok }}")).State("A").With
}

func withGuard(tb testing.TB, guard string) *definition.Value {
	tb.Helper()
	return mustParse(tb, framed("x", guard)).State("A").Next[0].When
}

func mustParse(tb testing.TB, src string) *definition.Definition {
	tb.Helper()
	d, list := definition.Parse("test", []byte(src))
	if d == nil {
		tb.Fatalf("Parse: %v\n%s", list.Err(), src)
	}
	return d
}

func mustRead(tb testing.TB, file string) []byte {
	tb.Helper()
	src, err := os.ReadFile(file)
	if err != nil {
		tb.Fatal(err)
	}
	return src
}

func mustJSON(tb testing.TB, raw string) any {
	tb.Helper()
	v, err := definition.ReadJSON([]byte(raw))
	if err != nil {
		tb.Fatal(err)
	}
	return v
}

// input is start data for frame.
const input = `{"id": 634866135153775564, "name": "Ann", "ratio": 0.5, "express": true,
	"ship_at": "2026-03-01T10:00:00+03:00", "window": "1h30m", "tags": ["a", "b"],
	"any": {"n": 634866135153775564, "f": 1.25, "digits": 0.12345678901234567890, "list": [1, "<"]}}`

func mustInput(tb testing.TB, d *definition.Definition, raw string) map[string]any {
	tb.Helper()
	in, err := d.ReadInput([]byte(raw))
	if err != nil {
		tb.Fatal(err)
	}
	return in
}
