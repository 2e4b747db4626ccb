package git

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/pawl-dev/pawl/engine"
)

// Repositories finds the directory of the bare repository with that id. Its
// error is taken as definite: nothing happened. It may carry a verdict of
// package engine, for example [engine.Permanent] for an unknown id. It is
// called once an attempt and must be safe for concurrent use.
type Repositories func(ctx context.Context, repoID string) (dir string, err error)

// Dir returns Repositories that keeps the repository org/repo in
// root/org/repo.git or root/org/repo, the first that exists. An id that leads
// out of root is refused; symbolic links are followed, since only who may
// write in root can make one. An id without a repository is a permanent error,
// unless root itself cannot be read: then its disk may come back.
func Dir(root string) Repositories {
	return func(_ context.Context, repoID string) (string, error) {
		if err := checkRepoID(repoID); err != nil {
			return "", engine.Permanent(err)
		}
		base, err := filepath.Abs(root)
		if err != nil {
			return "", err
		}
		for _, name := range []string{repoID + ".git", repoID} {
			dir := filepath.Join(base, filepath.FromSlash(name))
			_, err := os.Stat(filepath.Join(dir, "HEAD"))
			switch {
			case err == nil:
				return dir, nil
			case !errors.Is(err, os.ErrNotExist) && !cannotExist(err):
				return "", fmt.Errorf("look at repository %q: %w", repoID, err)
			}
		}
		if _, err := os.Stat(base); err != nil {
			return "", fmt.Errorf("look at the root of the repositories: %w", err)
		}
		return "", engine.Permanent(fmt.Errorf("no repository %q: there is neither %q nor %q below the root",
			repoID, repoID+".git", repoID))
	}
}

// checkRepoID refuses what is not a plain path below root. A .git in it would
// be the inside of a repository that has a work tree.
func checkRepoID(id string) error {
	segments := strings.FieldsFunc(id, func(r rune) bool { return r == '/' || r == filepath.Separator })
	plain := !slices.ContainsFunc(segments, func(s string) bool {
		return s == "." || s == ".." || strings.EqualFold(s, ".git")
	})
	switch {
	case len(id) > maxName:
		return fmt.Errorf("repo_id is %d bytes long, at most %d are allowed", len(id), maxName)
	case strings.ContainsRune(id, 0) || !plain || !filepath.IsLocal(filepath.FromSlash(id)):
		return fmt.Errorf("repo_id %q is not a path below the root of the repositories", id)
	}
	return nil
}
