package workflows_test

import (
	"io/fs"
	"os"
	"strings"
	"testing"

	"github.com/pawl-dev/pawl/engine/definition"
	"github.com/pawl-dev/pawl/workflows"
)

// The shipped files are what users copy: not even a warning may stand in them.
func TestShippedWorkflowsAreClean(t *testing.T) {
	names, err := fs.Glob(workflows.FS, "*.yaml")
	if err != nil || len(names) < 2 {
		t.Fatalf("embedded files %v, %v, want at least two", names, err)
	}
	for _, name := range names {
		src, err := fs.ReadFile(workflows.FS, name)
		if err != nil {
			t.Fatal(err)
		}
		d, found := definition.Parse(name, src)
		if len(found) > 0 || d == nil {
			t.Errorf("Parse(%s) found %v, want nothing", name, found)
			continue
		}
		if d.Workflow+".yaml" != name {
			t.Errorf("%s holds the workflow %s", name, d.Workflow)
		}
		if d.InstanceKey == nil {
			t.Errorf("%s has no instance_key, so a start that is repeated runs twice", name)
		}
	}
}

// The first line tells editors of the schema, which is in the repository only.
func TestShippedWorkflowsNameTheirSchema(t *testing.T) {
	const schema = "../docs/pawl.schema.json"
	if _, err := os.Stat(schema); err != nil {
		t.Fatal(err)
	}
	names, err := fs.Glob(workflows.FS, "*.yaml")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		src, err := fs.ReadFile(workflows.FS, name)
		if line := "# yaml-language-server: $schema=" + schema; err != nil || !strings.HasPrefix(string(src), line+"\n") {
			t.Errorf("%s does not begin with %s, error %v", name, line, err)
		}
	}
}

// The engine turns emitted events into instances of the outbox workflow, so
// that must take just these fields.
func TestOutboxTakesAnEvent(t *testing.T) {
	src, err := fs.ReadFile(workflows.FS, "outbox-delivery.yaml")
	if err != nil {
		t.Fatal(err)
	}
	d, found := definition.Parse("outbox-delivery.yaml", src)
	if d == nil {
		t.Fatal(found)
	}
	in, err := d.ReadInput([]byte(`{"event_id": "e1", "event_type": "Merged", "key": "r1", "payload": {"id": 634866135153775564}}`))
	if err != nil {
		t.Fatal(err)
	}
	vars := &definition.Vars{Input: in}
	if key, err := d.InstanceKey.Text(vars); key != "e1" || err != nil {
		t.Errorf("instance key %q, %v, want e1", key, err)
	}
	got, err := d.State(d.Start).With.JSON(vars)
	want := `{"body":{"id":634866135153775564},"group":"r1","message_id":"e1","type":"Merged"}`
	if string(got) != want || err != nil {
		t.Errorf("with = %s, %v, want %s", got, err, want)
	}
}
