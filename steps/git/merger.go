package git

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/pawl-dev/pawl/engine"
)

// Step is the name that [Register] binds.
const Step = "git.merge"

// Config says where to merge and as whom. Repositories is required; every
// other zero field means the default named in its comment.
type Config struct {
	Repositories Repositories

	// Git is the program, a path or a name that is looked up in PATH.
	// Default: git.
	Git string

	// Name and Email are author and committer of every merge. To change them
	// changes the commit ids that a repeated attempt writes. Default: pawl and
	// pawl@localhost.
	Name, Email string
}

// Merger merges pull requests. It is safe for concurrent use, also of one
// repository, and by any number of processes.
type Merger struct {
	repos       Repositories
	path        string
	name, email string
}

// New finds git and checks its version, once. ctx bounds the check only.
func New(ctx context.Context, cfg Config) (*Merger, error) {
	m := &Merger{repos: cfg.Repositories, name: "pawl", email: "pawl@localhost"}
	if cfg.Name != "" {
		m.name = cfg.Name
	}
	if cfg.Email != "" {
		m.email = cfg.Email
	}
	var errs []error
	if cfg.Repositories == nil {
		errs = append(errs, errors.New("config: Repositories is nil; use git.Dir"))
	}
	if !validIdent(m.name) || !validIdent(m.email) {
		errs = append(errs, fmt.Errorf("config: the identity %q <%q> must be one line each, without < and >",
			m.name, m.email))
	}
	path, err := lookPath(cfg.Git)
	errs = append(errs, err)
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	m.path = path
	return m, m.checkVersion(ctx)
}

// Register binds the step git.merge, and what is asked after an unknown
// outcome of it, to m.
func Register(reg *engine.Registry, m *Merger) {
	engine.Register(reg, Step, m.Merge, engine.Handler{Codes: Codes})
	engine.Verify(reg, Step, m.VerifyMerge)
}

// lookPath returns the absolute path of git, since commands run in the
// directory of the repository.
func lookPath(name string) (string, error) {
	if name == "" {
		name = "git"
	}
	path, err := exec.LookPath(name)
	if err != nil {
		return "", fmt.Errorf("find git: %w", err)
	}
	return filepath.Abs(path)
}

func (m *Merger) checkVersion(ctx context.Context) error {
	r, err := m.run(ctx, invocation{dir: os.TempDir(), args: []string{"version"}})
	if err != nil {
		return fmt.Errorf("ask %s for its version: %w", m.path, err)
	}
	major, minor, ok := parseVersion(string(r.stdout))
	if !ok || r.code != 0 {
		return fmt.Errorf("ask %s for its version: it answered %q", m.path, printable(string(r.stdout), 80))
	}
	if major < 2 || major == 2 && minor < 38 {
		return fmt.Errorf("git 2.38 or newer is needed for merge-tree --write-tree; found %d.%d at %s",
			major, minor, m.path)
	}
	return nil
}

// parseVersion reads "git version 2.39.5 (Apple Git-154)" and its kin, of
// which only the first two numbers are alike everywhere.
func parseVersion(s string) (major, minor int, ok bool) {
	s, ok = strings.CutPrefix(s, "git version ")
	if !ok {
		return 0, 0, false
	}
	first, rest, ok := strings.Cut(strings.TrimSpace(s), ".")
	if !ok {
		return 0, 0, false
	}
	if end := strings.IndexFunc(rest, func(r rune) bool { return r < '0' || r > '9' }); end >= 0 {
		rest = rest[:end]
	}
	major, err1 := strconv.Atoi(first)
	minor, err2 := strconv.Atoi(rest)
	return major, minor, err1 == nil && err2 == nil && major >= 0
}

// validIdent says whether git takes s as it is: it drops some characters from
// the ends of a name in silence, and refuses a name that has nothing else.
func validIdent(s string) bool {
	return s == oneLine(s) && !strings.ContainsAny(s, "<>") && strings.Trim(s, " .,:;\"\\'") == s
}
