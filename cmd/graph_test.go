package pawlcmd_test

import (
	"encoding/xml"
	"errors"
	"io"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/pawl-dev/pawl/engine"
	"github.com/pawl-dev/pawl/internal/golden"
	"github.com/pawl-dev/pawl/store/sqlitestore"
)

// TestGraph has the whole answer of graph in testdata/graph/NAME.txt.
func TestGraph(t *testing.T) {
	t.Parallel()
	c := newCLI(t)
	openScene(t, c)
	c.write(t, "errors.yaml", strings.Replace(tiny, "next: GOOD", "nxt: GOOD", 1))
	tests := []struct {
		name string
		args []string
	}{
		{"mermaid", []string{"graph", "../workflows/pr-merge.yaml"}},
		{"dot", []string{"graph", "../workflows/outbox-delivery.yaml", "-f", "dot"}},
		{"json", []string{"graph", "../workflows/outbox-delivery.yaml", "-o", "json"}},
		{"instance", []string{"graph", "--instance", "pr-merge/42"}},
		{"instance_new", []string{"graph", "--instance", "pr-merge/47", "-f", "dot"}},
		{"instance_json", []string{"graph", "--instance", "pr-merge/41", "-o", "json"}},
		{"instance_missing", []string{"graph", "--instance", "pr-merge/99"}},
		{"format", []string{"graph", "../workflows/pr-merge.yaml", "-f", "png"}},
		{"missing", []string{"graph", "DIR/none.yaml"}},
		{"errors", []string{"graph", "DIR/errors.yaml"}},
		{"no_argument", []string{"graph"}},
		{"two_files", []string{"graph", "a.yaml", "b.yaml"}},
		{"both", []string{"graph", "a.yaml", "--instance", "pr-merge/42"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			golden.Check(t, filepath.Join("testdata", "graph", tt.name+".txt"), transcript(tt.args, c.run(t, tt.args...)))
		})
	}
}

// The pictures themselves are tested where they are drawn.
func TestGraphSVG(t *testing.T) {
	t.Parallel()
	c := newCLI(t)
	openScene(t, c)
	for _, args := range [][]string{{"../workflows/pr-merge.yaml"}, {"--instance", "pr-merge/42"}} {
		svg := c.must(t, append([]string{"graph", "-f", "svg"}, args...)...)
		dec := xml.NewDecoder(strings.NewReader(svg))
		var err error
		for err == nil {
			_, err = dec.Token()
		}
		if !errors.Is(err, io.EOF) || !strings.HasPrefix(svg, "<svg ") || !strings.Contains(svg, "irreversible</text>") {
			t.Errorf("graph %v prints %v\n%s", args, err, svg)
		}
		if taken := strings.Contains(svg, "taken"); taken != (args[0] == "--instance") {
			t.Errorf("graph %v: ways that were taken are shown: %t", args, taken)
		}
	}
}

// An instance is drawn on its own definition: neither the workflows of the
// program nor the steps are needed.
func TestGraphOfAPinnedInstance(t *testing.T) {
	t.Parallel()
	c := newCLI(t)
	openScene(t, c)
	c.write(t, "other/pr-merge.yaml", "not a workflow")
	c.env["PAWL_WORKFLOWS"] = filepath.Join(c.dir, "other")
	got := c.must(t, "graph", "--instance", "pr-merge/42")
	if !strings.Contains(got, "s_INDEXING") || !strings.Contains(got, ":::fault") {
		t.Errorf("graph prints\n%s", got)
	}
}

// Retried by an operator, an instance goes on: the second failure is another
// move on the same way.
func TestGraphOfARetry(t *testing.T) {
	t.Parallel()
	c := newCLI(t)
	openScene(t, c)
	c.must(t, "retry", "pr-merge/42", "--reason", "mended", "--actor", "ada")
	got := c.must(t, "graph", "--instance", "pr-merge/42")
	if !strings.Contains(got, "#5 an operator moved it from MERGE_FAILED to INDEXING") || strings.Contains(got, ":::fault") {
		t.Errorf("graph prints\n%s", got)
	}
}

func TestGraphCompletion(t *testing.T) {
	t.Parallel()
	c := newCLI(t)
	openScene(t, c)
	if got := c.must(t, "__complete", "graph", "-f", ""); got != "dot\nmermaid\nsvg\n:4\n" && got != "mermaid\ndot\nsvg\n:4\n" {
		t.Errorf("completions of -f = %q", got)
	}
	if got := c.must(t, "__complete", "graph", "--instance", "pr-merge/43"); got != "pr-merge/43\n:4\n" {
		t.Errorf("completions of --instance = %q", got)
	}
}

// What was undone is not a way that was taken: the failure leads to the end.
func TestGraphOfAnUndoneInstance(t *testing.T) {
	t.Parallel()
	c := newCLI(t)
	c.must(t, "start", "payment", "--input", `{"payment_id":"7","account_id":"a","merchant_id":"m","amount_minor":100,"currency":"EUR"}`)
	st, err := sqlitestore.Open(t.Context(), filepath.Join(c.dir, "pawl.db"), sqlitestore.Options{Clock: noon})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = st.Close() })
	s := &scene{store: st}
	const id = "payment/7"
	s.pass(t, id, "WITHDRAWING", "ledger.withdraw", 50, time.Second)
	s.pass(t, id, "NOTIFYING", "merchant.notify", 40, time.Second)
	for _, h := range []struct {
		reason, state string
		status        engine.Status
	}{
		{engine.ReasonUndo, "WITHDRAWING", engine.Compensating},
		{engine.ReasonUndone, "RESERVING", engine.Compensating},
		{engine.ReasonUndone, "PAYMENT_FAILED", engine.Failed},
	} {
		s.write(t, id, engine.History{At: at(30), Reason: h.reason, Code: "failed"}, func(in *engine.Instance) {
			in.State, in.Status, in.FailedState, in.Code = h.state, h.status, "NOTIFYING", "failed"
		})
	}
	got := c.must(t, "graph", "--instance", id)
	for _, want := range []string{
		"undone #35;3: ledger.refund_withdraw", "undone #35;4: ledger.release_reserve",
		`s_NOTIFYING -.->|"#35;4"| s_PAYMENT_FAILED`, `s_RESERVING -.-> s_PAYMENT_FAILED`,
	} {
		if !strings.Contains(got, want) {
			t.Errorf("graph prints no %q:\n%s", want, got)
		}
	}
}
