package pawlcmd

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/pawl-dev/pawl/engine/definition"
)

// source is a workflow file and what was found in it.
type source struct {
	file  string
	text  []byte
	def   *definition.Definition // nil if it has errors
	diags definition.Diagnostics
}

// definitions loads the workflows that this program runs.
func (e *env) definitions() ([]*definition.Definition, error) {
	list, err := e.sources()
	if err != nil {
		return nil, err
	}
	var errs []error
	defs := make([]*definition.Definition, 0, len(list))
	for _, s := range list {
		if err := s.diags.Err(); err != nil {
			errs = append(errs, err)
			continue
		}
		defs = append(defs, s.def)
	}
	return defs, errors.Join(errs...)
}

// sources reads the workflows of --workflows, else those in the program.
func (e *env) sources() ([]source, error) {
	if e.workflows == "" {
		return readDir(e.opts.Workflows, "")
	}
	info, err := os.Stat(e.workflows)
	if err != nil {
		return nil, usagef("--workflows: %w", err)
	}
	if !info.IsDir() {
		return nil, usagef("--workflows: %s is not a folder", e.workflows)
	}
	return readDir(os.DirFS(e.workflows), e.workflows)
}

// readDir reads the workflow files in the root of fsys, which is shown as dir.
func readDir(fsys fs.FS, dir string) ([]source, error) {
	entries, err := fs.ReadDir(fsys, ".")
	if err != nil {
		return nil, fmt.Errorf("read the workflows: %w", err)
	}
	var list []source
	for _, entry := range entries {
		if entry.IsDir() || !isWorkflowFile(entry.Name()) {
			continue
		}
		src, err := fs.ReadFile(fsys, entry.Name())
		if err != nil {
			return nil, fmt.Errorf("read the workflows: %w", err)
		}
		list = append(list, parse(filepath.Join(dir, entry.Name()), src))
	}
	if len(list) == 0 {
		if dir == "" {
			dir = "the program"
		}
		return nil, usagef("there are no workflow files (*.yaml) in %s", dir)
	}
	return list, nil
}

func isWorkflowFile(name string) bool {
	return slices.Contains([]string{".yaml", ".yml"}, path.Ext(name)) && !strings.HasPrefix(name, ".")
}

func parse(file string, src []byte) source {
	def, diags := definition.Parse(file, src)
	return source{file: file, text: src, def: def, diags: diags}
}
