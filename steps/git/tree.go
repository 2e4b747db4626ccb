package git

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/pawl-dev/pawl/engine"
)

const (
	maxFiles    = 20  // conflicted files that an error names
	maxFileName = 200 // bytes of each
)

// merged is a computed merge: its tree, or why there is none.
type merged struct {
	tree     string
	conflict error
}

// mergeTree computes the merge of the head into base. It writes objects but
// moves nothing.
func (j *job) mergeTree(ctx context.Context, base string) (merged, error) {
	r, err := j.git(ctx, "", "merge-tree", "--write-tree", "-z", "--name-only", base, j.head)
	if err != nil {
		return merged{}, err
	}
	tree, files, ok := parseMergeTree(r.stdout, r.cut)
	switch {
	case ok && r.code == 0:
		return merged{tree: tree}, nil
	case ok && r.code == 1 && len(files) > 0:
		return merged{conflict: conflict(files, r.cut)}, nil
	}
	// Exit 128 stands for unrelated histories as for a broken repository.
	failure := r.failed("merge-tree")
	ancestor, err := j.mergeBase(ctx, base)
	switch {
	case err != nil:
		return merged{}, err
	case ancestor == "":
		return merged{}, fail(codeUnrelated, errors.New("head and base have no common ancestor"))
	}
	return merged{}, engine.Definite(failure)
}

// file is a conflicted path and the kind of the conflict, if known.
type file struct{ name, kind string }

// parseMergeTree reads the output of merge-tree -z --name-only: the tree and
// the conflicted paths, each ended by NUL; after an empty path messages of the
// form: count, that many paths, kind, text. ok says that tree and paths are
// whole, or cut at our own bound.
func parseMergeTree(out []byte, cut bool) (tree string, files []file, ok bool) {
	fields := strings.Split(string(out), "\x00")
	last := len(fields) - 1 // what follows the last NUL: nothing, or after messages advice on submodules
	if last < 1 || !isHex(fields[0]) {
		return "", nil, false
	}
	tree, paths := fields[0], fields[1:last]
	end := slices.Index(paths, "")
	if end < 0 {
		ok, end = fields[last] == "" || cut, len(paths)
	} else {
		ok = true
	}
	kinds := conflictKinds(paths[min(end+1, len(paths)):])
	for _, name := range paths[:end] {
		files = append(files, file{name, kinds[name]})
	}
	return tree, files, ok
}

// conflictKinds reads the messages of merge-tree. A path has the kind that is
// named first; what cannot be read leaves paths without one.
func conflictKinds(fields []string) map[string]string {
	kinds := make(map[string]string)
	for len(fields) > 0 {
		n, err := strconv.Atoi(fields[0])
		if err != nil || n < 0 || n > len(fields)-3 {
			break
		}
		if kind, ok := strings.CutPrefix(fields[1+n], "CONFLICT ("); ok {
			for _, path := range fields[1 : 1+n] {
				if _, ok := kinds[path]; !ok {
					kinds[path] = strings.TrimSuffix(kind, ")")
				}
			}
		}
		fields = fields[n+3:]
	}
	return kinds
}

// conflict names the files, as many as an error can hold.
func conflict(files []file, cut bool) error {
	var b strings.Builder
	switch {
	case cut:
		fmt.Fprintf(&b, "conflicts in more than %d files: ", len(files))
	case len(files) == 1:
		b.WriteString("a conflict in ")
	default:
		fmt.Fprintf(&b, "conflicts in %d files: ", len(files))
	}
	for i, f := range files {
		if i == maxFiles {
			b.WriteString(", ...")
			break
		}
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString(quoteName(f.name))
		if f.kind != "" {
			fmt.Fprintf(&b, " (%s)", printable(f.kind, 60))
		}
	}
	b.WriteString("; merge the base branch into the head branch by hand")
	return errors.New(b.String())
}

// quoteName quotes the name of a file unless it is plain.
func quoteName(name string) string {
	if len(name) > maxFileName {
		name = strings.ToValidUTF8(name[:maxFileName], "") + "..."
	}
	odd := func(r rune) bool {
		return unicode.IsSpace(r) || !unicode.IsPrint(r) || r == unicode.ReplacementChar || strings.ContainsRune("\"'`,\\", r)
	}
	if strings.ContainsFunc(name, odd) {
		return strconv.Quote(name)
	}
	return name
}

// mergeBase returns the best common ancestor of base and head, "" if there is
// none. It is the head exactly if the head is an ancestor of base.
func (j *job) mergeBase(ctx context.Context, base string) (string, error) {
	r, err := j.git(ctx, "", "merge-base", base, j.head)
	if err != nil {
		return "", err
	}
	id := string(bytes.TrimSpace(r.stdout))
	switch {
	case r.code == 0 && isHex(id):
		return id, nil
	case r.code == 1 && len(r.stdout) == 0 && len(r.stderr) == 0:
		return "", nil
	}
	return "", engine.Definite(r.failed("merge-base"))
}
