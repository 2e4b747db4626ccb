package pawlcmd

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/pawl-dev/pawl/engine"
	"github.com/pawl-dev/pawl/engine/definition"
	"github.com/pawl-dev/pawl/engine/diagram"
)

// graphJSON is the answer of graph.
type graphJSON struct {
	Workflow string `json:"workflow"`
	Version  int    `json:"version"`
	ID       string `json:"id,omitempty"` // of the instance whose way is drawn
	Format   string `json:"format"`
	Text     string `json:"text"`
}

// graphFormats are the values of --format, the default first.
func graphFormats() []string { return []string{"mermaid", "dot", "svg"} }

func graphCommand(e *env) *cobra.Command {
	var format, id string
	c := &cobra.Command{
		Use:   "graph FILE | --instance ID",
		Short: "Draw a workflow, or the way of an instance through it",
		Long: "Draw a workflow: as text for pages that render Mermaid, as text for Graphviz, or as an\n" +
			"SVG picture, which needs no other program. With --instance it draws the definition that\n" +
			"the instance runs on, and what has happened to it: the states that it passed are filled,\n" +
			"the ways that it took are thick and numbered.",
		Example: "  " + e.opts.Name + " graph workflows/pr-merge.yaml -f svg > pr-merge.svg\n" +
			"  " + e.opts.Name + " graph --instance pr-merge/42 -f svg > 42.svg",
		Args: func(_ *cobra.Command, args []string) error { return graphArgs(args, format, id) },
		RunE: func(c *cobra.Command, args []string) error {
			if id != "" {
				return e.graphInstance(c.Context(), id, format)
			}
			return e.graphFile(args[0], format)
		},
	}
	c.Flags().StringVarP(&format, "format", "f", graphFormats()[0], "form of the picture: "+strings.Join(graphFormats(), ", "))
	c.Flags().StringVar(&id, "instance", "", "draw the way of the instance `ID`")
	fixed(c, "format", graphFormats()...)
	asked(c, "instance", func(c *cobra.Command, prefix string) ([]string, cobra.ShellCompDirective) {
		return e.completeID()(c, nil, prefix)
	})
	return c
}

func graphArgs(args []string, format, id string) error {
	switch {
	case !slices.Contains(graphFormats(), format):
		return usagef("--format is %q; write mermaid, dot or svg", format)
	case id != "" && len(args) > 0:
		return usagef("graph: give a workflow file or --instance, not both; an instance has its definition in the store")
	case id == "" && len(args) == 0:
		return usagef("graph: give a workflow file, or --instance ID")
	case len(args) > 1:
		return usagef("graph: %d arguments, want a workflow file", len(args))
	}
	return nil
}

// graphFile draws the workflow of a file. Findings are printed as validate
// prints them; with an error among them there is nothing to draw.
func (e *env) graphFile(file, format string) error {
	src, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return usagef("graph: there is no file %s", file)
	}
	if err != nil {
		return err
	}
	s := parse(file, src)
	for _, d := range s.diags {
		e.hintf("%s", printable(d.Error()))
	}
	if s.diags.Err() != nil {
		return &silentError{code: exitFailed}
	}
	return e.printGraph(s.def, diagram.Options{}, format)
}

func (e *env) graphInstance(ctx context.Context, id, format string) error {
	return e.lookAt(ctx, id, func(s *session, in engine.Instance) error {
		def, err := s.Definition(ctx, in)
		if err != nil {
			return err
		}
		lines, err := allHistory(ctx, s.Engine, id)
		if err != nil {
			return e.explain(id, err)
		}
		return e.printGraph(def, instanceWay(in, lines), format)
	})
}

// instanceWay says what the lines of a history mean for the picture.
func instanceWay(in engine.Instance, lines []engine.History) diagram.Options {
	o := diagram.Options{Instance: in.ID, State: in.State, Failed: in.FailedState}
	if o.Failed != "" {
		o.Code = in.Code
	}
	for _, h := range lines {
		v := diagram.Visit{From: h.From, To: h.To, Code: h.Code}
		switch h.Reason {
		case engine.ReasonUndone:
			v.Undone = true
		case engine.ReasonOperator:
			v.Operator = true
		case engine.ReasonDone, engine.ReasonCaught, engine.ReasonElapsed, engine.ReasonSignal:
			// These are moves even if they lead to the state itself.
			o.Path = append(o.Path, v)
			continue
		case engine.ReasonUndo, engine.ReasonLate:
			continue // nothing is entered
		}
		if h.From != h.To || v.Undone {
			o.Path = append(o.Path, v)
		}
	}
	return o
}

func (e *env) printGraph(def *definition.Definition, o diagram.Options, format string) error {
	d := diagram.New(def, o)
	var text []byte
	switch format {
	case "dot":
		text = d.DOT()
	case "svg":
		text = d.SVG()
	default:
		text = d.Mermaid()
	}
	if e.json() {
		return e.print(graphJSON{Workflow: def.Workflow, Version: def.Version, ID: o.Instance, Format: format, Text: string(text)})
	}
	_, err := e.out.Write(text)
	return err
}
