package pawlcmd

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/pawl-dev/pawl/engine/definition"
)

// explainedJSON is the answer of explain.
type explainedJSON struct {
	File     string        `json:"file"`
	Workflow string        `json:"workflow"`
	Version  int           `json:"version"`
	Settings []settingJSON `json:"settings"`
}

type settingJSON struct {
	Path  string            `json:"path"`
	Value string            `json:"value"`
	From  definition.Origin `json:"from"`           // file, defaults, workflow, built-in or computed
	Line  int               `json:"line,omitempty"` // in the file, if the value is there
	Note  string            `json:"note,omitempty"`
}

func explainCommand(e *env) *cobra.Command {
	var state string
	c := &cobra.Command{
		Use:   "explain FILE",
		Short: "Show what is in force in a workflow, and where it comes from",
		Long: "Show every setting of a workflow file as it is in force, and where it comes from: a line of\n" +
			"the file, its defaults:, its top level (of what a state does not say itself), or the language\n" +
			"(built-in). What follows from several settings is computed: the delays between the attempts\n" +
			"of a step, how long they can take at most, where its errors lead, and whether it is undone.",
		Example: "  " + e.opts.Name + " explain workflows/pr-merge.yaml --state MERGING",
		Args:    oneArg("a workflow file"),
		RunE:    func(_ *cobra.Command, args []string) error { return e.explainFile(args[0], state) },
		ValidArgsFunction: cobra.FixedCompletions([]string{"yaml", "yml"},
			cobra.ShellCompDirectiveFilterFileExt),
	}
	c.Flags().StringVar(&state, "state", "", "only this `STATE`")
	asked(c, "state", func(c *cobra.Command, prefix string) ([]string, cobra.ShellCompDirective) {
		return e.complete(c, e.stateNames, prefix)
	})
	return c
}

func (e *env) explainFile(file, state string) error {
	src, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return usagef("explain: there is no file %s", file)
	}
	if err != nil {
		return err
	}
	s := parse(file, src)
	if s.def == nil {
		return e.refuse(s)
	}
	for _, d := range s.diags {
		e.hintf("%s", printable(d.Error()))
	}
	if state != "" && s.def.State(state) == nil {
		return usagef("explain: workflow %s has no state %s; it has %s", s.def.Workflow, state, strings.Join(stateList(s.def), ", "))
	}
	list := slices.DeleteFunc(s.def.Explain(), func(s definition.Setting) bool {
		return state != "" && !strings.HasPrefix(s.Path, "states."+state+".")
	})
	if !e.json() {
		e.printSettings(s.def, list)
		return nil
	}
	out := explainedJSON{File: file, Workflow: s.def.Workflow, Version: s.def.Version}
	for _, s := range list {
		out.Settings = append(out.Settings, settingJSON(s))
	}
	return e.print(out)
}

// refuse prints what is wrong with a file, as validate does.
func (e *env) refuse(s source) error {
	r := report{files: []checked{{source: s}}, steps: knownSteps{From: "nothing"}}
	if !e.json() {
		e.printFindings(&r)
	} else if err := e.print(r.json()); err != nil {
		return err
	}
	return &silentError{code: exitFailed}
}

func stateList(d *definition.Definition) []string {
	names := make([]string, 0, len(d.States))
	for _, s := range d.States {
		names = append(names, s.Name)
	}
	return names
}

// group are the settings of a state, or of the top level.
type group struct {
	title string
	rows  [][3]string // name, origin, value with note
}

// printSettings prints settings for people, a block for the top level and for
// each state.
func (e *env) printSettings(d *definition.Definition, list []definition.Setting) {
	var groups []group
	for _, s := range list {
		title, name := "workflow", s.Path
		if rest, ok := strings.CutPrefix(s.Path, "states."); ok {
			state, field, _ := strings.Cut(rest, ".")
			title, name = fmt.Sprintf("%s (%s)", state, d.State(state).Kind), field
		}
		if len(groups) == 0 || groups[len(groups)-1].title != title {
			groups = append(groups, group{title: title})
		}
		text := s.Value
		if s.Note != "" {
			text += " (" + s.Note + ")"
		}
		g := &groups[len(groups)-1]
		g.rows = append(g.rows, [3]string{printable(name), origin(s), text})
	}
	e.printf("%s version %d\n", d.Workflow, d.Version)
	for _, g := range groups {
		e.printf("\n%s\n", g.title)
		e.printRows(g.rows)
	}
}

// printRows prints rows of a name, an origin and a value, which is broken into
// lines if it is too long.
func (e *env) printRows(rows [][3]string) {
	const indent, least = 2, 24 // least is what a value gets in any case
	var names, origins int
	for _, r := range rows {
		names, origins = max(names, columns(r[0])), max(origins, columns(r[1]))
	}
	before := indent + names + gap + origins + gap
	for _, r := range rows {
		head := strings.Repeat(" ", indent) + pad(r[0], names+gap) + pad(r[1], origins+gap)
		for _, line := range wrap(r[2], max(e.width()-before, least)) {
			e.printf("%s\n", strings.TrimRight(head+line, " "))
			head = strings.Repeat(" ", before)
		}
	}
}

// origin says where a setting comes from, in few columns.
func origin(s definition.Setting) string {
	switch {
	case s.Line == 0:
		return string(s.From)
	case s.From == definition.FromFile:
		return fmt.Sprintf("line %d", s.Line)
	default:
		return fmt.Sprintf("%s %d", s.From, s.Line)
	}
}
