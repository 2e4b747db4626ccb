package pawlcmd

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"

	"github.com/pawl-dev/pawl/engine"
	"github.com/pawl-dev/pawl/engine/definition"
)

// sarif is the form of --output that only validate has, and the annotation of
// the commands that have it.
const sarif = "sarif"

// stdinName is the file name of the standard input. It has no .yaml, since the
// name of a workflow cannot be held against it.
const stdinName = "stdin"

// maxStdin is far more than the largest workflow.
const maxStdin = 1 << 20

type validateFlags struct {
	manifest    string
	strict      bool
	unusedInput bool
}

func validateCommand(e *env) *cobra.Command {
	var f validateFlags
	c := &cobra.Command{
		Use:   "validate FILE|DIR|-...",
		Short: "Check workflow files, also against the steps they use",
		Long: "Check workflow files, those in folders (*.yaml), or - for the standard input: their form,\n" +
			"names, graph and expressions, and whether the steps take what the workflow gives them.\n\n" +
			"The steps are those of the file that --manifest names; else of " + manifestName + " in the\n" +
			"current folder, if there is one; else those of this program. If there are none at all, what\n" +
			"needs them is not checked, and a note says so. The command manifest makes such a file.\n\n" +
			"Findings go to the standard error, one a line, as file:line:col: message [rule], on a terminal\n" +
			"with the line that they are about; the number of them goes to the standard output. The exit\n" +
			"code is 1 if there is an error, or with --strict a warning.",
		Example: "  " + e.opts.Name + " validate workflows/\n" +
			"  " + e.opts.Name + " validate --strict -o sarif workflows/ > pawl.sarif",
		Annotations:       map[string]string{sarif: "yes"},
		Args:              someArgs("a file or a folder"),
		ValidArgsFunction: cobra.FixedCompletions([]string{"yaml", "yml"}, cobra.ShellCompDirectiveFilterFileExt),
		RunE:              func(c *cobra.Command, args []string) error { return e.validate(c.Context(), f, args) },
	}
	fs := c.Flags()
	fs.StringVar(&f.manifest, "manifest", "", "`FILE` with the manifest of the steps")
	fs.BoolVar(&f.strict, "strict", false, "fail on warnings too")
	fs.BoolVar(&f.unusedInput, "unused-input", false, "warn of inputs that the workflow does not use")
	_ = c.MarkFlagFilename("manifest", "json") // the flag is there
	return c
}

func (e *env) validate(ctx context.Context, f validateFlags, args []string) error {
	list, err := e.readArgs(args)
	if err != nil {
		return err
	}
	known, err := e.knownSteps(ctx, f.manifest)
	if err != nil {
		return err
	}
	r := report{steps: known, strict: f.strict}
	for _, s := range list {
		r.files = append(r.files, f.check(s, known.manifest))
	}
	r.together()
	if known.manifest == nil {
		e.hintf("note: steps, inputs and codes are not checked: this program has no steps, and there is no %s", manifestName)
	}
	switch e.output {
	case "json":
		err = e.print(r.json())
	case sarif:
		err = e.print(e.sarif(&r))
	default:
		e.printFindings(&r)
	}
	if err == nil && r.failed() {
		err = &silentError{code: exitFailed}
	}
	return err
}

// check adds to what parsing has found in a file all that the other checks
// find.
func (f validateFlags) check(s source, manifest definition.Manifest) checked {
	c := checked{source: s}
	if s.def != nil {
		c.diags = append(c.diags, definition.Check(s.def, manifest)...)
		if f.unusedInput {
			c.diags = append(c.diags, definition.Unused(s.def)...)
		}
		model := engine.Explore(s.def)
		c.diags, c.situations = append(c.diags, model.Findings...), model.Situations
	}
	c.diags.Locate(s.text)
	return c
}

// together adds what is found when the files are held against each other.
func (r *report) together() {
	var defs []*definition.Definition
	for _, f := range r.files {
		if f.def != nil && f.file != stdinName { // that one may be a new text of a file
			defs = append(defs, f.def)
		}
	}
	for _, d := range definition.CheckAll(defs) {
		at := slices.IndexFunc(r.files, func(f checked) bool { return f.file == d.File })
		r.files[at].diags = append(r.files[at].diags, d)
		r.files[at].diags.Locate(r.files[at].text)
	}
}

// readArgs parses the named files, those in the named folders, and the
// standard input for "-".
func (e *env) readArgs(args []string) ([]source, error) {
	var list []source
	for i, arg := range args {
		if slices.Contains(args[:i], arg) {
			continue // it was named twice
		}
		more, err := e.readArg(arg)
		if err != nil {
			return nil, err
		}
		for _, s := range more {
			same := func(other source) bool { return filepath.Clean(other.file) == filepath.Clean(s.file) }
			if !slices.ContainsFunc(list, same) {
				list = append(list, s)
			}
		}
	}
	return list, nil
}

func (e *env) readArg(arg string) ([]source, error) {
	if arg == "-" {
		src, err := io.ReadAll(io.LimitReader(e.in, maxStdin))
		return []source{parse(stdinName, src)}, err
	}
	info, err := os.Stat(arg)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, usagef("validate: there is no file or folder %s", arg)
	}
	if err != nil {
		return nil, err
	}
	if info.IsDir() {
		return readDir(os.DirFS(arg), arg)
	}
	src, err := os.ReadFile(arg)
	return []source{parse(arg, src)}, err
}
