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

// manifestName is the manifest that validate finds by itself.
const manifestName = "pawl.manifest.json"

// knownSteps are the steps that workflows are held against.
type knownSteps struct {
	// From is "manifest", "program" or "nothing".
	From string `json:"from"`
	// File is that of the manifest.
	File string `json:"file,omitempty"`

	manifest definition.Manifest // nil if From is nothing
}

func manifestCommand(e *env) *cobra.Command {
	return &cobra.Command{
		Use:   "manifest",
		Short: "Print what the steps of this program take and give",
		Long: "Print the manifest of this program as JSON: its steps with the names and types of their inputs\n" +
			"and outputs and the codes they fail with. With it, validate checks workflows where the\n" +
			"program is not at hand; it finds " + manifestName + " in the current folder by itself.",
		Example: "  " + e.opts.Name + " manifest > " + manifestName,
		Args:    noArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			m, err := e.manifest(c.Context())
			if err != nil {
				return err
			}
			text, err := m.JSON()
			if err != nil {
				return err
			}
			_, err = e.out.Write(text)
			return err
		},
	}
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

// knownSteps returns the steps of the named manifest, else of the one in the
// current folder, else of this program. The file goes first, since the program
// may be the stock pawl, which knows nothing of its user's own steps.
func (e *env) knownSteps(ctx context.Context, file string) (knownSteps, error) {
	if file == "" {
		if _, err := os.Stat(manifestName); err == nil {
			file = manifestName
		}
	}
	if file != "" {
		m, err := readManifest(file)
		return knownSteps{From: "manifest", File: file, manifest: m}, err
	}
	m, err := e.manifest(ctx)
	if len(m) == 0 {
		return knownSteps{From: "nothing"}, err
	}
	return knownSteps{From: "program", manifest: m}, err
}

func readManifest(file string) (definition.Manifest, error) {
	src, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, usagef("--manifest: there is no file %s", file)
	}
	if err != nil {
		return nil, usagef("the manifest: %w", err)
	}
	m, err := definition.ReadManifest(file, src)
	if err != nil {
		return nil, usage(err)
	}
	return m, nil
}
