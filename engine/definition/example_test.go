package definition_test

import (
	"fmt"

	"github.com/pawl-dev/pawl/engine/definition"
)

const greet = `pawl: 1
workflow: greet
version: 1
input:
  name: string
on_failure: {policy: mark_failed, to: FAILED}
start: GREETING
states:
  GREETING:
    step: mail.send
    with:
      to: ${{ input.name }}
      subject: Hello
    next:
      - when: ${{ output.bounced }}
        to: FAILED
      - to: DONE
  DONE: {end: succeeded}
  FAILED: {end: failed}
`

// A definition evaluates the input of a step and its guards; it knows nothing
// of engines and stores.
func ExampleParse() {
	d, found := definition.Parse("greet.yaml", []byte(greet))
	if err := found.Err(); err != nil {
		fmt.Println(err)
		return
	}
	input, err := d.ReadInput([]byte(`{"name": "Ann"}`))
	if err != nil {
		fmt.Println(err)
		return
	}
	s := d.State(d.Start)
	with, err := s.With.JSON(&definition.Vars{Input: input})
	fmt.Println(s.Step, string(with), err)

	output, err := definition.ReadJSON([]byte(`{"bounced": true}`))
	if err != nil {
		fmt.Println(err)
		return
	}
	bounced, err := s.Next[0].When.Bool(&definition.Vars{Input: input, Output: output})
	fmt.Println(s.Next[0].To, bounced, err)
	// Output:
	// mail.send {"subject":"Hello","to":"Ann"} <nil>
	// FAILED true <nil>
}

// All mistakes come at once, with their places and how to mend them.
func ExampleParse_mistakes() {
	_, found := definition.Parse("a.yaml", []byte("pawl: 1\nworkflow: a\nversion: '1'\ndedline: 1h\nstart: A\n"+
		"on_failure: {policy: mark-failed, to: B}\nstates:\n  A: {step: x, next: B}\n  B: {end: failed}\n"))
	fmt.Println(found.Err())
	// Output:
	// a.yaml:3:10: version must be a whole number, not the text "1"; write 1 [type]
	// a.yaml:4:1: unknown field "dedline"; did you mean "deadline"? [unknown-field]
	// a.yaml:6:22: unknown policy "mark-failed"; write mark_failed [enum]
}

func ExampleCheck() {
	d, _ := definition.Parse("greet.yaml", []byte(greet))
	text := definition.Type{Kind: definition.String}
	fmt.Println(definition.Check(d, definition.Manifest{
		"mail.send": {Input: []definition.Field{{Name: "to", Type: text}, {Name: "body", Type: text}}},
	}).Err())
	// Output:
	// greet.yaml:12:7: mail.send needs the input "body"; add it to with: [with-missing]
	// greet.yaml:13:7: mail.send has no input "subject"; known: to, body [with-unknown]
}

func ExampleDefinition_ReadInput() {
	d, _ := definition.Parse("greet.yaml", []byte(greet))
	_, err := d.ReadInput([]byte(`{"nane": "Ann"}`))
	fmt.Println(err)
	// Output:
	// input.nane is not known; did you mean "name"?
	// input.name is missing; it must be string
}
