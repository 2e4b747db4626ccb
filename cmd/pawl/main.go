// Command pawl runs the workflows that pawl ships, or those of a folder, with
// pawl's own steps. A program with steps of its own is written the same way,
// see package pawlcmd.
package main

import (
	"context"
	"os"

	pawlcmd "github.com/pawl-dev/pawl/cmd"
)

func main() {
	var steps pawlcmd.Shipped
	os.Exit(pawlcmd.Main(context.Background(), pawlcmd.Options{
		Flags:    steps.Flags,
		Handlers: steps.Handlers,
	}))
}
