package pawlcmd

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/spf13/cobra"

	"github.com/pawl-dev/pawl/engine"
	"github.com/pawl-dev/pawl/engine/definition"
)

// findingJSON is a finding of validate.
type findingJSON struct {
	File     string `json:"file"`
	Line     int    `json:"line"`
	Column   int    `json:"column"`
	Severity string `json:"severity"` // error or warning
	Rule     string `json:"rule"`
	Message  string `json:"message"`
}

// validatedJSON is the answer of validate.
type validatedJSON struct {
	Files    []validatedFileJSON `json:"files"`
	Findings []findingJSON       `json:"findings"`
}

type validatedFileJSON struct {
	File     string `json:"file"`
	OK       bool   `json:"ok"`
	Workflow string `json:"workflow,omitempty"`
	Version  int    `json:"version,omitempty"`
	Hash     string `json:"hash,omitempty"`
}

func validateCommand(e *env) *cobra.Command {
	return &cobra.Command{
		Use:   "validate FILE|DIR...",
		Short: "Check workflow files, also against the steps of this program",
		Long: "Check workflow files: their form, names, graph and expressions, and whether the steps\n" +
			"of this program take what the workflow gives them. Findings go to the standard error,\n" +
			"one a line, as file:line:col: message [rule]. The exit code is 1 if there is an error.",
		Example: "  " + e.opts.Name + " validate workflows/",
		Args:    someArgs("a file or a folder"),
		RunE:    func(c *cobra.Command, args []string) error { return e.validate(c.Context(), args) },
	}
}

func (e *env) validate(ctx context.Context, args []string) error {
	list, err := readArgs(args)
	if err != nil {
		return err
	}
	manifest, err := e.manifest(ctx)
	if err != nil {
		return err
	}
	failed := false
	for i, s := range list {
		if s.def != nil {
			list[i].diags = append(list[i].diags, definition.Check(s.def, manifest)...)
		}
		failed = failed || list[i].diags.Err() != nil
	}
	if e.json() {
		err = e.print(validated(list))
	} else {
		e.printFindings(list)
	}
	if err == nil && failed {
		err = &silentError{code: exitFailed}
	}
	return err
}

// manifest describes the steps of this program, without a store.
func (e *env) manifest(ctx context.Context) (definition.Manifest, error) {
	setup := &Setup{Handlers: &engine.Registry{}, Getenv: e.opts.Getenv, Logger: e.logger(quiet), Clock: e.opts.Clock}
	err := e.opts.Handlers(ctx, setup)
	for _, f := range setup.closers {
		err = errors.Join(err, f())
	}
	if err != nil {
		return nil, fmt.Errorf("set up the steps: %w", err)
	}
	return setup.Handlers.Manifest(), nil
}

// readArgs parses the named files and those in the named folders.
func readArgs(args []string) ([]source, error) {
	var list []source
	for _, arg := range args {
		info, err := os.Stat(arg)
		if errors.Is(err, fs.ErrNotExist) {
			return nil, usagef("validate: there is no file or folder %s", arg)
		}
		if err != nil {
			return nil, err
		}
		if info.IsDir() {
			more, err := readDir(os.DirFS(arg), arg)
			if err != nil {
				return nil, err
			}
			list = append(list, more...)
			continue
		}
		src, err := os.ReadFile(arg)
		if err != nil {
			return nil, err
		}
		list = append(list, parse(arg, src))
	}
	return list, nil
}

func (e *env) printFindings(list []source) {
	for _, s := range list {
		for _, d := range s.diags {
			fmt.Fprintln(e.err, printable(d.Error()))
		}
		if s.diags.Err() == nil {
			e.printf("%s: ok, %s version %d\n", s.file, s.def.Workflow, s.def.Version)
		}
	}
}

func validated(list []source) validatedJSON {
	out := validatedJSON{Files: []validatedFileJSON{}, Findings: []findingJSON{}}
	for _, s := range list {
		file := validatedFileJSON{File: s.file, OK: s.diags.Err() == nil}
		if s.def != nil {
			file.Workflow, file.Version, file.Hash = s.def.Workflow, s.def.Version, s.def.Hash
		}
		out.Files = append(out.Files, file)
		for _, d := range s.diags {
			severity := "error"
			if d.Warning {
				severity = "warning"
			}
			out.Findings = append(out.Findings, findingJSON{
				File: d.File, Line: d.Line, Column: d.Col, Severity: severity, Rule: d.Rule, Message: d.Message,
			})
		}
	}
	return out
}
