package definition_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/pawl-dev/pawl/engine/definition"
)

// fact is one thing that YAML does, written into a place of frame, and what
// the language makes of it.
type fact struct {
	name  string // as YAML has it
	place string // a part of frame
	text  string // what stands there instead
	want  string // the findings without the file, or "ok" and the input of A
}

// Places of frame that facts are written to.
const (
	inValue   = "v: x" // line 21, the value at column 10
	inKey     = "v"    // the key at column 7
	inVersion = "version: 1"
	inStep    = "    next: DONE\n  DONE" // a field of state B, line 28
	inTop     = "start: A\n"             // a field of the workflow, line 16
)

// reading is what Parse makes of src, in one text.
func reading(src string) string {
	d, list := definition.Parse("test", []byte(src))
	var found []string
	for _, f := range list {
		found = append(found, strings.TrimPrefix(f.Error(), "test:"))
	}
	if d == nil {
		return strings.Join(found, "\n")
	}
	raw, err := d.State("A").With.JSON(nil)
	if err != nil {
		raw = []byte(err.Error())
	}
	return strings.Join(append(found, "ok "+string(raw)), "\n")
}

// checkFacts reads each fact with all line ends and byte order marks that
// editors write: none of them may change a message or its place.
func checkFacts(t *testing.T, facts []fact) {
	t.Helper()
	ok := framed("x", "${{ output.ok }}")
	for _, f := range facts {
		t.Run(f.name, func(t *testing.T) {
			src := f.text
			if f.place != "" {
				if strings.Count(ok, f.place) == 0 {
					t.Fatalf("%q is not in the frame", f.place)
				}
				src = strings.Replace(ok, f.place, f.text, 1)
			}
			crlf := strings.ReplaceAll(src, "\n", "\r\n")
			for name, variant := range map[string]string{
				"LF": src, "CRLF": crlf, "BOM and LF": "\uFEFF" + src, "BOM and CRLF": "\uFEFF" + crlf,
			} {
				if got := reading(variant); got != f.want {
					t.Errorf("with %s:\n got %s\nwant %s", name, got, f.want)
				}
			}
		})
	}
}

// value is a fact about the value v at 21:10.
func value(name, text, want string) fact { return fact{name, inValue, "v: " + text, want} }

// step is a fact about a field of state B at 28:5.
func step(name, text, want string) fact {
	return fact{name, inStep, "    " + text + "\n" + inStep, want}
}

// These are the facts of yaml.v3 about scalars that the parser was chosen and
// bounded by.
func TestScalarsThatYAMLReadsInItsOwnWay(t *testing.T) {
	noJSON := " to YAML, but no number to JSON; quote it, or write it in plain decimal [literal]"
	old := func(word string) string {
		return "21:10: v: unquoted " + word + " is text here but a boolean to YAML 1.1 tools; write '" + word +
			"', or true or false [yaml-1.1-boolean]"
	}
	checkFacts(t, []fact{
		value("010 is the int 8", "010", "21:10: v is int 010"+noJSON),
		value("0o17 is an int", "0o17", "21:10: v is int 0o17"+noJSON),
		value("0x1F is an int", "0x1F", "21:10: v is int 0x1F"+noJSON),
		value("0b11 is an int", "0b11", "21:10: v is int 0b11"+noJSON),
		value("1_000 is an int", "1_000", "21:10: v is int 1_000"+noJSON),
		value("+1 is an int", "+1", "21:10: v is int +1"+noJSON),
		value("09 is a float", "09", "21:10: v is float 09"+noJSON),
		value(".5 is a float", ".5", "21:10: v is float .5"+noJSON),
		value(".inf is a float", ".inf", "21:10: v is float .inf"+noJSON),
		value(".NaN is a float", ".NaN", "21:10: v is float .NaN"+noJSON),
		value("1e3 is a float", "1e3", `ok {"v":1e3}`),
		value("1.10 is the float 1.1", "1.10", `ok {"v":1.10}`),
		value("an int of 30 digits keeps them", strings.Repeat("123", 10), `ok {"v":`+strings.Repeat("123", 10)+`}`),
		value("a quoted number is text", "'010'", `ok {"v":"010"}`),
		value("2024-01-02 is a date", "2024-01-02", "21:10: v is a date to YAML; quote it [literal]"),
		value("a time of day with a date is a date", "2024-01-02T03:04:05Z", "21:10: v is a date to YAML; quote it [literal]"),
		value("a quoted date is text", `"2024-01-02"`, `ok {"v":"2024-01-02"}`),
		value("12:30:45 is text", "12:30:45", `ok {"v":"12:30:45"}`),
		value("true is a boolean", "true", `ok {"v":true}`),
		value("True is a boolean", "True", "21:10: v: write true, or quote it [literal]"),
		value("TRUE is a boolean", "TRUE", "21:10: v: write true, or quote it [literal]"),
		value("a quoted boolean is text", "'true'", `ok {"v":"true"}`),
		value("yes is text, in YAML 1.1 a boolean", "yes", old("yes")),
		value("NO is text, in YAML 1.1 a boolean", "NO", old("NO")),
		value("on is text, in YAML 1.1 a boolean", "on", old("on")),
		value("off is text, in YAML 1.1 a boolean", "off", old("off")),
		value("y is text, in YAML 1.1 a boolean", "y", old("y")),
		value("n is text, in YAML 1.1 a boolean", "n", old("n")),
		value("a quoted yes is text", `"yes"`, `ok {"v":"yes"}`),
		value("null is nothing", "null", "21:10: v has no value; give one or remove it [empty]"),
		value("~ is nothing", "~", "21:10: v has no value; give one or remove it [empty]"),
		value("Null is nothing", "Null", "21:10: v has no value; give one or remove it [empty]"),
		{"an absent value is nothing", inValue, "v:", "21:9: v has no value; give one or remove it [empty]"},
		value("an item ~ is nothing, and maps of Go drop it", "[a, ~, b]", "21:14: item 2 has no value; give one or remove it [empty]"),
		value("an absent item is nothing", "\n        - a\n        -\n        - b", "23:10: item 2 has no value; give one or remove it [empty]"),
		value("a comma at the end adds no item", "[a, b, ]", `ok {"v":["a","b"]}`),
		value("<< is a merge key also as a value", "<<", "21:10: v is no data (!!merge); quote it [literal]"),
		value("# after a space is a comment", "a #b", `ok {"v":"a"}`),
		value("# without a space is text", "a#b", `ok {"v":"a#b"}`),
	})
}

// Fields must not take what YAML makes of a text for what was meant.
func TestFieldsTakeNoCoercedValues(t *testing.T) {
	whole := func(what string) string { return "28:12: batch must be a whole number, not " + what + " [type]" }
	boolean := func(what string) string {
		return "28:19: irreversible must be true or false, not " + what + "; write true or false [type]"
	}
	old := func(word string) string {
		return "28:19: irreversible: unquoted " + word + " is text here but a boolean to YAML 1.1 tools; write '" + word +
			"', or true or false [yaml-1.1-boolean]"
	}
	checkFacts(t, []fact{
		step("3.5 decodes to the int 3", "batch: 3.5", whole("float 3.5")),
		step("3.0 decodes to the int 3", "batch: 3.0", whole("float 3.0")),
		step("1e1 decodes to the int 10", "batch: 1e1", whole("float 1e1")),
		step("010 decodes to the int 8", "batch: 010", whole("int 010")),
		step("0o17 decodes to the int 15", "batch: 0o17", whole("int 0o17")),
		step("0x1F decodes to the int 31", "batch: 0x1F", whole("int 0x1F")),
		step("1_0 decodes to the int 10", "batch: 1_0", whole("int 1_0")),
		step("+5 decodes to the int 5", "batch: +5", whole("int +5")),
		step("a count in quotes", "batch: '10'", whole(`the text "10"; write 10`)),
		step("a count of 20 digits", "batch: 99999999999999999999", whole("float 99999999999999999999")),
		step("a count that is .inf", "batch: .inf", whole("float .inf")),
		step("a count below zero", "batch: -1", "28:12: batch must be from 2 to 100, not -1 [range]"),
		step("an absent count", "batch:", "28:11: batch has no value; give one or remove it [empty]"),
		step("yes decodes to true", "irreversible: yes", old("yes")),
		step("on decodes to true", "irreversible: on", old("on")),
		step("y decodes to true", "irreversible: y", old("y")),
		step("a quoted yes decodes to true", `irreversible: "yes"`, boolean(`the text "yes"`)),
		step("a quoted true decodes to true", `irreversible: "true"`, boolean(`the text "true"`)),
		step("True decodes to true", "irreversible: True", boolean("boolean True")),
		step("1 for true", "irreversible: 1", boolean("int 1")),
		step("an expression for true", "irreversible: ${{ true }}", boolean("an expression")),
		step("backoff: .inf", "retry: {backoff: .inf}", "28:22: backoff must be a number, not float .inf [type]"),
		step("backoff: .nan", "retry: {backoff: .nan}", "28:22: backoff must be a number, not float .nan [type]"),
		step("backoff in quotes", "retry: {backoff: '2'}", `28:22: backoff must be a number, not the text "2" [type]`),
		{"1.10 decodes to the version 1.1", inVersion, "version: 1.10", "3:10: version must be a whole number, not float 1.10 [type]"},
		{"a version of 1.0", inVersion, "version: 1.0", "3:10: version must be a whole number, not float 1.0 [type]"},
		{"a version in quotes", inVersion, "version: '3'", `3:10: version must be a whole number, not the text "3"; write 3 [type]`},
		{"a version with a v", inVersion, "version: v1", `3:10: version must be a whole number, not the text "v1" [type]`},
		{"a version of 0", inVersion, "version: 0", "3:10: version must be from 1 to 2147483647, not 0 [range]"},
		{"a version of 2 to the 40", inVersion, "version: 1099511627776", "3:10: version must be from 1 to 2147483647, not 1099511627776 [range]"},
		{"a version that is a date", inVersion, "version: 2024-01-02", "3:10: version must be a whole number, not a date [type]"},
		{"pawl: in quotes", "pawl: 1", "pawl: '1'", `1:7: pawl must be a whole number, not the text "1"; write 1 [type]`},
		{"pawl: 1.0", "pawl: 1", "pawl: 1.0", "1:7: pawl must be a whole number, not float 1.0 [type]"},
		{"a number for a text", inTop, "description: 5\n" + inTop, "16:14: description must be a text, not int 5; quote it: '5' [type]"},
		{"a float for a text in a map", inTop, "meta: {v: 1.10}\n" + inTop, "16:11: v must be a text, not float 1.10; quote it: '1.10' [type]"},
		{"a date for a text", inTop, "description: 2024-01-02\n" + inTop, "16:14: description must be a text, not a date; quote it: '2024-01-02' [type]"},
		{"a boolean for a name", "workflow: frame", "workflow: true", "2:11: workflow must be a text, not boolean true; quote it: 'true' [type]"},
	})
}

func TestDurationsNeedAUnit(t *testing.T) {
	no := func(what string) string {
		return "28:14: timeout is not a duration: " + what + "; write it as 30s, 5m, 1h30m, 7d or 250ms [duration]"
	}
	checkFacts(t, []fact{
		step("600 decodes to 600ns", "timeout: 600", "28:14: timeout has no unit: 600; write 600s, 600m or 600h [duration]"),
		step("600 in quotes", "timeout: '600'", "28:14: timeout has no unit: 600; write 600s, 600m or 600h [duration]"),
		step("0", "timeout: 0", "28:14: timeout must be longer than zero, not 0 [duration]"),
		step("0s", "timeout: 0s", "28:14: timeout must be longer than zero, not 0s [duration]"),
		step("-5s decodes to a duration", "timeout: -5s", "28:14: timeout must be longer than zero, not -5s [duration]"),
		step("-5", "timeout: -5", "28:14: timeout must be longer than zero, not -5 [duration]"),
		step("-5 in quotes", "timeout: '-5'", "28:14: timeout must be longer than zero, not -5 [duration]"),
		step("1d is no duration to Go", "timeout: 1d", `ok {"v":"x"}`),
		step("1.5h is a duration to Go", "timeout: 1.5h", no(`the text "1.5h"`)),
		step("5us is a duration to Go", "timeout: 5us", no(`the text "5us"`)),
		step("12:30:45 is a number to YAML 1.1", "timeout: 12:30:45", no(`the text "12:30:45"`)),
		step("1e3", "timeout: 1e3", no("float 1e3")),
		step(".inf", "timeout: .inf", no("float .inf")),
		step("a date", "timeout: 2024-01-02", no("a date")),
		step("PT5M", "timeout: PT5M", no(`the text "PT5M"`)),
		step("30S", "timeout: 30S", no(`the text "30S"`)),
		step("a space before the unit", "timeout: 30 s", no(`the text "30 s"`)),
		step("units in another order", "timeout: 30s1m", no(`the text "30s1m"`)),
		step("a list", "timeout: [5s]", "28:14: timeout must be a duration, not a list; write it as 30s, 5m, 1h30m, 7d or 250ms [duration]"),
		step("nothing", "timeout:", "28:13: timeout has no value; give one or remove it [empty]"),
		step("initial_delay: 30", "retry: {initial_delay: 30}", "28:28: initial_delay has no unit: 30; write 30s, 30m or 30h [duration]"),
	})
}

func TestKeysThatYAMLReadsInItsOwnWay(t *testing.T) {
	no := func(what string) string { return "21:7: a key must be a plain name, not " + what + " [key-type]" }
	old := func(word string) string {
		return "21:7: warning: unquoted " + word + " is a name here but a boolean to YAML 1.1 tools; write '" + word +
			"' [yaml-1.1-boolean]\nok {\"" + word + `":"x"}`
	}
	braces := "21:7: a key must be a plain name; {{ }} is not an expression: write ${{ … }} [key-type]"
	checkFacts(t, []fact{
		{"the key null vanishes from maps of Go", inValue, "null: x", no("null; quote it: 'null'")},
		{"the key ~ vanishes from maps of Go", inValue, "~: x", no("null; quote it: '~'")},
		{"an absent key is null", inValue, "?\n      : x", "21:8: a key must be a plain name, not null [key-type]"},
		{"the key true is a boolean", inValue, "true: x", no("boolean true; quote it: 'true'")},
		{"the key 1 is an int", inValue, "1: x", no("int 1; quote it: '1'")},
		{"the key 1.5 is a float", inValue, "1.5: x", no("float 1.5; quote it: '1.5'")},
		{"the key 2024-01-01 is a date", inValue, "2024-01-01: x", no("a date; quote it: '2024-01-01'")},
		{"1 and \"1\" are one key to maps of Go", inValue, "1: x\n      \"1\": z", no("int 1; quote it: '1'")},
		{"a list can be a key", inValue, "[a]: x", no("a list")},
		{"a map can be a key", inValue, "{a: b}: x", braces},
		{"{{ x }} is a map that is a key", inValue, "{{ x }}: x", braces},
		{"an empty key", inValue, "'': x", "21:7: a key must not be empty; write a name [key-type]"},
		{"the key yes is text, in YAML 1.1 a boolean", inValue, "yes: x", old("yes")},
		{"the key on is text, in YAML 1.1 a boolean", inValue, "on: x", old("on")},
		{"the key y is text, in YAML 1.1 a boolean", inValue, "y: x", old("y")},
		{"a quoted key on", inValue, "'on': x", `ok {"on":"x"}`},
		{"a key behind ? is a key", inValue, "? v\n      : x", `ok {"v":"x"}`},
		{"the same key twice", inValue, "v: x\n      w: x\n      v: z", `23:7: "v" is written twice (first at line 21); remove one [duplicate-key]`},
		{"the same key twice, once in quotes", inValue, "v: x\n      'v': z", `22:7: "v" is written twice (first at line 21); remove one [duplicate-key]`},
		{"the same key twice in one line", inValue, "v: {a: 1, a: 2}", `21:17: "a" is written twice (first at line 21); remove one [duplicate-key]`},
		{"the same state twice", "  B:\n", "  A:\n", `26:3: "A" is written twice (first at line 18); remove one [duplicate-key]`},
		{"a state named true", "  B:\n", "  true:\n", "26:3: a key must be a plain name, not boolean true; quote it: 'true' [key-type]"},
		{"<< merges", inValue, "<<: {v: x}", "21:7: merge keys (<<) are not allowed; write the fields out, or use defaults: [yaml-merge]"},
		{
			"two << are an error of yaml.v3 without a column", inValue, "<<: {v: x}\n      <<: {w: x}",
			"21:7: merge keys (<<) are not allowed; write the fields out, or use defaults: [yaml-merge]\n" +
				"22:7: merge keys (<<) are not allowed; write the fields out, or use defaults: [yaml-merge]",
		},
		{"a quoted << is a key", inValue, "'<<': x", `ok {"<<":"x"}`},
	})
}

func TestTagsAnchorsAndAliasesAreRefused(t *testing.T) {
	not := func(tag, word string) string {
		return "21:10: YAML tag " + tag + ` is not allowed; YAML takes a leading "!" as a tag; for "not" write ${{ not ` + word + " }} [yaml-tag]"
	}
	gone := func(tag string) string { return "21:10: YAML tag " + tag + " is not allowed; remove it [yaml-tag]" }
	anchor := "anchors (&a) are not allowed; write the value out where it is used, or use defaults: [yaml-anchor]"
	checkFacts(t, []fact{
		value("!done is a tag of an empty text", "!done", not("!done", "done")),
		value("!output.red is a tag", "!output.red", not("!output.red", "output.red")),
		value("! done is the text done", "! done", not("!", "done")),
		value("! 'done' is the text done", "! 'done'", gone("!")),
		value("! [a] is a list", "! [a]", gone("!")),
		value("! {a: b} is a map", "! {a: b}", gone("!")),
		value("!x [a] is a list with a tag", "!x [a]", gone("!x")),
		value("!!str 3 is a text", "!!str 3", gone("!!str")),
		value("!!int '3' is an int", "!!int '3'", gone("!!int")),
		value("!!binary decodes", "!!binary aGk=", gone("!!binary")),
		value("!<tag:yaml.org,2002:str> x is a text", "!<tag:yaml.org,2002:str> x", gone("!!str")),
		value("a quoted ! is text", `"!done"`, `ok {"v":"!done"}`),
		value("a ! behind the first letter is text", "a!b", `ok {"v":"a!b"}`),
		value("&a is an anchor", "&a x", "21:10: "+anchor),
		{"*a is the value of the anchor a", inValue, "v: &a x\n      w: *a", "21:10: " + anchor + "\n22:10: aliases (*a) are not allowed; write the value out [yaml-alias]"},
		value("an alias without its anchor is an error without a line", "*a", "21:10: aliases (*a) are not allowed; write the value out [yaml-alias]"),
		{"an anchor of a key", inValue, "&a v: x", "21:7: anchors (&a) are not allowed; remove it [yaml-anchor]"},
		{"an alias as a key", inValue, "v: &a x\n      *a : z", "21:10: " + anchor + "\n22:7: aliases (*a) are not allowed; write the value out [yaml-alias]"},
		{
			"x-base: &b {…} with <<: *b", inTop, "x-base: &a {timeout: 5s}\n" + inTop,
			"16:9: " + anchor,
		},
		value("a quoted * is text", "'*a'", `ok {"v":"*a"}`),
		value("a quoted & is text", "'&a'", `ok {"v":"&a"}`),
	})
}

func TestOneDocumentPerFile(t *testing.T) {
	ok := framed("x", "${{ output.ok }}")
	second := func(line int) string {
		return fmt.Sprintf("%d:1: a second YAML document starts here; one file holds one workflow [multi-document]", line)
	}
	directive := func(text string) string {
		return "1:1: YAML directives (" + text + ") are not allowed; remove this line [yaml-syntax]"
	}
	const nothing = "1:1: the file has no workflow; begin with pawl: 1 [empty]"
	checkFacts(t, []fact{
		{"--- and a second document, which Unmarshal ignores", "", ok + "---\nx: 1\n", second(31)},
		{"--- and the same document", "", ok + "---\n" + ok, second(31)},
		{"--- and nothing", "", ok + "---\n", second(31)},
		{"... and a second document, which Unmarshal ignores", "", ok + "...\nx: 1\n", second(31)},
		{"... and garbage", "", ok + "...\n]]\n", second(31)},
		{"... and garbage in one line", "", ok + "... garbage\n", second(31)},
		{"--- in the middle", inTop, "---\n" + inTop, second(16)},
		{"--- before the document", "", "---\n" + ok, `ok {"v":"x"}`},
		{"... behind the document", "", ok + "...\n", `ok {"v":"x"}`},
		{"... and a comment", "", ok + "...\n# the end\n", `ok {"v":"x"}`},
		{"%YAML 1.1, which is ignored", "", "%YAML 1.1\n---\n" + ok, directive("%YAML 1.1")},
		{"%YAML 1.2, which cannot be read", "", "%YAML 1.2\n---\n" + ok, directive("%YAML 1.2")},
		{"%TAG, which is ignored", "", "%TAG ! tag:x,2000:\n---\n" + ok, directive("%TAG ! tag:x,2000:")},
		{"%YAML behind a comment", "", "# x\n\n%YAML 1.2\n---\n" + ok, "3" + directive("%YAML 1.2")[1:]},
		{"an empty file is no error", "", "", nothing},
		{"a blank file is no error", "", " \n\n", nothing},
		{"a file of comments is no error", "", "# x\n# y\n", nothing},
		{"an empty document is no error", "", "---\n", nothing},
		{"an absent value at the end stands behind it", "", "pawl:", "1:6: pawl has no value; give one or remove it [empty]"},
		{"an absent value of an absent key stands behind the end", "", "? ?%", "1:5: ?% has no value; give one or remove it [empty]"},
		{"a null document is no error", "", "~\n", nothing},
		{"pawl:1 without a space is a text", "", "pawl:1\n", `1:1: the file must be a map that begins with pawl: 1, not the text "pawl:1" [type]`},
		{"a list is a document", "", "- pawl: 1\n", "1:1: the file must be a map that begins with pawl: 1, not a list [type]"},
	})
}

// The YAML parser gives no column, often the wrong line, and for an
// indentation the first line of the block.
func TestSyntaxErrorsHaveTheirPlace(t *testing.T) {
	const neighbours = "look at this line and its neighbours"
	cannot := func(what string) string { return "YAML cannot read this (" + what + "); " + neighbours }
	columns := ", and whether they begin in the same column as the lines they belong to [yaml-syntax]"
	const unquoted = "an unquoted value cannot begin with "
	checkFacts(t, []fact{
		{"a tab for the indent", "    step: b.do", "\tstep: b.do", "27:1: a tab indents this line; use spaces [yaml-syntax]"},
		{"a tab behind spaces", "    step: b.do", "  \t  step: b.do", "27:3: a tab indents this line; use spaces [yaml-syntax]"},
		{"a tab alone in a line", inTop, "\t\n" + inTop, "16:1: a tab indents this line; use spaces [yaml-syntax]"},
		{"a tab behind the colon", "step: b.do", "step:\tb.do", `ok {"v":"x"}`},
		{"a line too far left", "    step: b.do\n", "   step: b.do\n", "28:5: " + cannot("mapping values are not allowed in this context") + " [yaml-syntax]"},
		{"a line too far right", "    next: DONE\n  DONE", "     next: DONE\n  DONE", "28:6: " + cannot("mapping values are not allowed in this context") + " [yaml-syntax]"},
		{"a line between two indents", "  DONE: {end: s", " DONE: {end: s", "29:2: " + cannot("did not find expected key") + columns},
		{"a line between two indents behind a long one", "  DONE: {end: s", "  # " + strings.Repeat("long ", 1000) + "\n DONE: {end: s", "30:2: " + cannot("did not find expected key") + columns},
		{"an item too far left", "      - to: DONE", "     - to: DONE", "25:6: " + cannot("did not find expected key") + columns},
		{"text behind a quoted text", "step: b.do", `step: "b".do`, "28:5: " + cannot("did not find expected key") + columns},
		value("a quote that is not closed", "'x", "21:10: this quote may not be closed (line 21: found unexpected end of stream); close it [yaml-syntax]"),
		value("a bracket that is not closed", "[a", "21:7: "+cannot("did not find expected ',' or ']'")+" [yaml-syntax]"),
		value("a brace that is not closed", "{a: b", "21:7: "+cannot("did not find expected ',' or '}'")+" [yaml-syntax]"),
		value("two commas", "[a, , b]", "21:7: "+cannot("did not find expected node content")+" [yaml-syntax]"),
		value("a wrong escape", `"\q"`, "21:7: "+cannot("found unknown escape character")+" [yaml-syntax]"),
		value("a colon in a plain text", "a: b", "21:7: "+cannot("mapping values are not allowed in this context")+" [yaml-syntax]"),
		value("@ begins no text", "@x", "21:10: "+unquoted+"@; put it in quotes [yaml-syntax]"),
		value("` begins no text", "`x", "21:10: "+unquoted+"`; put it in quotes [yaml-syntax]"),
		value("% begins no text", "%x", "21:10: "+unquoted+"%; put it in quotes [yaml-syntax]"),
		value("NUL", "a\x00b", "21:11: this is a control character (U+0000); remove it [yaml-syntax]"),
		value("DEL", "ё\x7f", "21:11: this is a control character (U+007F); remove it [yaml-syntax]"),
		value("a carriage return alone ends a line", "a\rb", "21:11: this character is a line break to YAML only (U+000D); remove it [yaml-syntax]"),
		value("U+2028 ends a line", "a\u2028b", "21:11: this character is a line break to YAML only (U+2028); remove it [yaml-syntax]"),
		value("half a surrogate pair", "\xed\xa0\x80", "21:10: this is not UTF-8; store the file as UTF-8 [yaml-syntax]"),
		{"a byte order mark in the middle", inTop, "\uFEFF" + inTop, "1:1: the workflow needs the field \"start\"; add it [missing-field]\n" +
			"16:1: unknown field \"\\ufeffstart\"; did you mean \"start\"? [unknown-field]"},
	})
}

// What columns count, and how lines are counted, is the same for all kinds of
// text around.
func TestColumnsCountRunes(t *testing.T) {
	checkFacts(t, []fact{
		{"columns count runes", inValue, `"ключ→": &a x`, "21:16: anchors (&a) are not allowed; write the value out where it is used, or use defaults: [yaml-anchor]"},
		{"an emoji is one column", inValue, `"😀": &a x`, "21:12: anchors (&a) are not allowed; write the value out where it is used, or use defaults: [yaml-anchor]"},
		{"a byte order mark is no column", "pawl: 1", "pawl: ! 1", `1:7: YAML tag ! is not allowed; YAML takes a leading "!" as a tag; for "not" write ${{ not 1 }} [yaml-tag]`},
		{"a block text counts lines", inTop, "description: |\n  a\n\n  b\nmeta: 1\n" + inTop, "20:7: meta must be a map of texts, not int 1 [type]"},
		{"an item of a flow list has its place", inValue, "v: [a,\n        b, &a c]", "22:12: anchors (&a) are not allowed; write the value out where it is used, or use defaults: [yaml-anchor]"},
	})
}

// Typing errors are found at every level, also in maps that take any key for
// a name. Case C23.
func TestTypingErrorsAreNotTakenForNames(t *testing.T) {
	const retry = "; known: max_attempts, initial_delay, backoff, max_delay, jitter, except, outage [unknown-field]"
	checkFacts(t, []fact{
		step("retyr:", "retyr: {max_attempts: 3}", `28:5: unknown field "retyr" in state B (step); did you mean "retry"? [unknown-field]`),
		step("max_atempts:", "retry: {max_atempts: 3}", `28:13: unknown field "max_atempts" in retry; did you mean "max_attempts"? [unknown-field]`),
		step("initial: of another language", "retry: {initial: 30s}", `28:13: unknown field "initial" in retry`+retry),
		step("factor: of another language", "retry: {factor: 2}", `28:13: unknown field "factor" in retry`+retry),
		{"staets:", "states:", "staets:", "1:1: the workflow needs the field \"states\"; add it [missing-field]\n" +
			`17:1: unknown field "staets"; did you mean "states"? [unknown-field]`},
		step("max_attempts: 0", "retry: {max_attempts: 0}", "28:27: max_attempts counts the first try, so 0 would never run the step; write 1 for no retries [retry]"),
		step("max_attempts: -1", "retry: {max_attempts: -1}", "28:27: max_attempts cannot be unlimited (-1); write a number up to 1000 [retry]"),
		step("max_attempts: null", "retry: {max_attempts: null}", "28:27: max_attempts has no value; give one or remove it [empty]"),
		step("max_attempts: 3.5", "retry: {max_attempts: 3.5}", "28:27: max_attempts must be a whole number, not float 3.5 [type]"),
	})
}
