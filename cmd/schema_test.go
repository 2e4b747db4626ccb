package pawlcmd_test

import (
	"testing"

	"github.com/pawl-dev/pawl/engine/definition"
)

// The schema goes to a file as it is, whatever the form of other answers.
func TestSchemaIsPrinted(t *testing.T) {
	t.Parallel()
	c := newCLI(t)
	for _, args := range [][]string{{"schema"}, {"schema", "-o", "json"}} {
		got := c.run(t, args...)
		if got.code != 0 || got.err != "" || got.out != string(definition.JSONSchema()) {
			t.Errorf("%v: code %d, error %q, %d bytes, want those of the schema", args, got.code, got.err, len(got.out))
		}
	}
	if got := c.run(t, "schema", "x"); got.code != 2 {
		t.Errorf("schema with an argument: code %d, want 2", got.code)
	}
}
