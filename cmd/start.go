package pawlcmd

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/pawl-dev/pawl/engine"
)

// startedJSON is the answer of start.
type startedJSON struct {
	ID      string `json:"id"`
	Created bool   `json:"created"`
	State   string `json:"state"`
	Status  string `json:"status"`
	Version int64  `json:"version"`
}

func startCommand(e *env) *cobra.Command {
	var req engine.StartRequest
	var input string
	c := &cobra.Command{
		Use:   "start WORKFLOW",
		Short: "Start an instance, or find the one that was started before",
		Long: "Start an instance. Where the workflow has an instance_key:, or with --key, a second start\n" +
			"with the same input finds the first one and changes nothing; one with another input is a\n" +
			"conflict. The id goes to the standard output. Ticks then advance it.",
		Example: "  " + e.opts.Name + ` start pr-merge --input '{"pr_id": "42", ...}'` + "\n" +
			"  " + e.opts.Name + " start pr-merge --input @pr.json",
		Args:              oneArg("the name of a workflow"),
		ValidArgsFunction: e.completeWorkflow,
		RunE: func(c *cobra.Command, args []string) error {
			raw, err := e.readInput(input)
			if err != nil {
				return err
			}
			req.Workflow, req.Input = args[0], raw
			return e.start(c.Context(), req)
		},
	}
	c.Flags().StringVar(&input, "input", "{}", "the input: `JSON`, @FILE, or - for the standard input")
	c.Flags().StringVar(&req.Key, "key", "", "instance key, for workflows without instance_key:")
	return c
}

// readInput returns the JSON that --input means.
func (e *env) readInput(text string) (json.RawMessage, error) {
	raw, from := []byte(text), "--input"
	file, isFile := strings.CutPrefix(text, "@")
	var err error
	switch {
	case text == "-":
		from = "standard input"
		// One byte more than is allowed shows that it is too much.
		raw, err = io.ReadAll(io.LimitReader(e.in, engine.MaxPayload+1))
	case isFile:
		from = file
		raw, err = os.ReadFile(file)
	}
	if err != nil {
		return nil, usagef("--input: %w", err)
	}
	raw = bytes.TrimPrefix(raw, []byte("\uFEFF"))
	if len(raw) > engine.MaxPayload {
		return nil, fmt.Errorf("%w: the input from %s is over the limit of %d bytes", engine.ErrTooLarge, from, engine.MaxPayload)
	}
	if err := json.Unmarshal(raw, new(json.RawMessage)); err != nil {
		return nil, usagef("%s is not JSON: %w", from, err)
	}
	return raw, nil
}

func (e *env) start(ctx context.Context, req engine.StartRequest) error {
	s, err := e.work(ctx, engine.Config{Logger: e.logger(quiet)})
	if err != nil {
		return err
	}
	return s.with(func() error {
		got, err := s.Start(ctx, req)
		if err != nil {
			return err
		}
		in := got.Instance
		if e.json() {
			return e.print(startedJSON{
				ID: in.ID, Created: got.Created, State: in.State, Status: string(in.Status), Version: in.Version,
			})
		}
		if got.Created {
			e.printf("%s created\n", printable(in.ID))
			return nil
		}
		e.printf("%s exists, state %s (%s)\n", printable(in.ID), in.State, in.Status)
		return nil
	})
}
