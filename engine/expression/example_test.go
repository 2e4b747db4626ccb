package expression_test

import (
	"errors"
	"fmt"

	"github.com/pawl-dev/pawl/engine/expression"
)

func ExampleCompile() {
	env := expression.NewEnv(map[string]expression.Type{
		"input":  {Kind: expression.Object, Fields: map[string]expression.Type{"amount": {Kind: expression.Integer}}},
		"output": {}, // only the data tells
	})
	p, err := expression.Compile("output.status == 'green' and input.amount > 100", env)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(p.Kind(), p.Names())
	fmt.Println(p.Eval(map[string]any{
		"input":  map[string]any{"amount": 200},
		"output": map[string]any{"status": "green"},
	}))

	_, err = expression.Compile("input.amont > 100", env)
	if e, ok := errors.AsType[*expression.Error](err); ok {
		fmt.Println(e.Offset, e.Message, e.Known)
	}
	// Output:
	// boolean [input output]
	// true <nil>
	// 6 unknown field amont [amount]
}
