package pawlcmd_test

import (
	"context"
	"fmt"
	"os"
	"testing/fstest"

	pawlcmd "github.com/pawl-dev/pawl/cmd"
	"github.com/pawl-dev/pawl/engine"
)

type greeting struct {
	Name string `json:"name"`
}

// greet is the step of the example.
func greet(_ context.Context, call engine.Call[greeting]) (greeting, error) {
	fmt.Println("hello,", call.In.Name)
	return call.In, nil
}

// A program with a step of its own. Its workflows would be an embed.FS, and
// main would be no more than
//
//	func main() { os.Exit(pawlcmd.Main(context.Background(), options())) }
func Example() {
	dir, err := os.MkdirTemp("", "greeter-")
	if err != nil {
		panic(err)
	}
	defer func() { _ = os.RemoveAll(dir) }()
	for _, args := range [][]string{
		{"start", "greet", "--key", "1", "--input", `{"name": "world"}`},
		{"tick"},
		{"list"},
	} {
		o := options()
		o.Args = append(args, "--store", "sqlite:"+dir+"/greeter.db")
		pawlcmd.Main(context.Background(), o)
	}
	// Output:
	// greet/1 created
	// hello, world
	// 1 claimed, 1 steps, 1 committed, 1 succeeded
	// ID       STATE    STATUS     ATTEMPT  NEXT    ERROR
	// greet/1  GREETED  succeeded  -        0s ago  -
}

func options() pawlcmd.Options {
	return pawlcmd.Options{
		Name: "greeter",
		Workflows: fstest.MapFS{"greet.yaml": {Data: []byte(`
pawl: 1
workflow: greet
version: 1
input: {name: string}
on_failure: {policy: mark_failed, to: RUDE}
start: GREETING
states:
  GREETING: {step: greet, next: GREETED}
  GREETED: {end: succeeded}
  RUDE: {end: failed}
`)}},
		Handlers: func(_ context.Context, s *pawlcmd.Setup) error {
			engine.Register(s.Handlers, "greet", greet, engine.Handler{})
			return nil
		},
		Getenv: func(string) string { return "" },
	}
}
