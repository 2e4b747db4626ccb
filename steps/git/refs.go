package git

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/pawl-dev/pawl/engine"
)

// maxName bounds the names in the input, so that none is too long for a
// command line or a path.
const maxName = 1024

// tip is what a branch points to.
type tip struct{ commit, tree string }

// refs reads the branches of the job that exist. A pattern of for-each-ref
// without a star is a full name, so a tag of the same name is not seen.
func (j *job) refs(ctx context.Context) (map[string]tip, error) {
	names := []string{j.baseRef}
	if j.headRef != "" && j.headRef != j.baseRef {
		names = append(names, j.headRef)
	}
	args := []string{"for-each-ref", "--format=%(refname)%00%(objectname)%00%(tree)"}
	r, err := j.git(ctx, "", append(args, names...)...)
	if err != nil {
		return nil, err
	}
	tips := make(map[string]tip)
	for line := range strings.Lines(string(r.stdout)) {
		f := strings.Split(strings.TrimSuffix(line, "\n"), "\x00")
		if len(f) == 3 && slices.Contains(names, f[0]) {
			tips[f[0]] = tip{f[1], f[2]}
		}
	}
	// A broken ref is left out with a warning: that is no proof of its absence.
	if r.code != 0 || len(tips) < len(names) && len(r.stderr) > 0 {
		return nil, engine.Definite(r.failed("for-each-ref"))
	}
	return tips, nil
}

// findHead makes sure that the head is a commit of the repository. ids of the
// repository are as long as base.
func (j *job) findHead(ctx context.Context, base string) error {
	if len(j.head) != len(base) {
		return engine.Permanent(fmt.Errorf("head_sha has %d digits, the repository's ids have %d", len(j.head), len(base)))
	}
	out, err := j.read(ctx, j.head+"\n", "cat-file", "--batch-check")
	if err != nil {
		return err
	}
	f := strings.Fields(string(out))
	switch {
	case len(f) == 2 && f[1] == "missing":
		return fail(codeHeadGone, fmt.Errorf("commit %s is %w", j.head, errHeadGone))
	case len(f) != 3 || f[0] != j.head:
		return engine.Definite(fmt.Errorf("git cat-file answered %q", printable(string(out), maxText)))
	case f[1] != "commit":
		return engine.Permanent(fmt.Errorf("head_sha %s is a %s, not a commit", j.head, printable(f[1], maxText)))
	}
	j.headSeen = true
	return nil
}

// publish moves the base branch to commit if both branches still are what was
// says. If they are not, it returns what they are now.
func (j *job) publish(ctx context.Context, was map[string]tip, commit string) (now map[string]tip, err error) {
	var in strings.Builder
	// Exactly what was reviewed: the head branch is held still as well.
	if head, ok := was[j.headRef]; ok && j.headRef != j.baseRef {
		fmt.Fprintf(&in, "verify %s\x00%s\x00", j.headRef, head.commit)
	}
	old := was[j.baseRef].commit
	fmt.Fprintf(&in, "update %s\x00%s\x00%s\x00", j.baseRef, commit, old)
	r, err := j.git(ctx, in.String(), "update-ref", "-m", "pawl: merge "+j.head, "--stdin", "-z")
	if err != nil || r.code == 0 {
		return nil, err
	}
	// One exit code stands for a moved branch, a lock, a full disk and a hook
	// that said no. What the refs say counts.
	failure := r.failed("update-ref")
	now, err = j.refs(ctx)
	switch {
	case err != nil:
		return nil, fmt.Errorf("%w; then: %v", failure, err) // %v: its verdict is not about the update
	case now[j.baseRef].commit == commit:
		return nil, nil
	case now[j.baseRef] == was[j.baseRef] && now[j.headRef] == was[j.headRef]:
		return nil, engine.Definite(failure)
	}
	return now, nil
}

// checkRef applies the rules of git check-ref-format to a full name.
func checkRef(field, ref string) error {
	bad := len(ref) > maxName || strings.Contains(ref, "..") || strings.Contains(ref, "@{") ||
		strings.HasSuffix(ref, ".") || strings.ContainsFunc(ref, func(r rune) bool {
		return r <= ' ' || r == 0x7f || strings.ContainsRune(`~^:?*[\`, r)
	})
	for part := range strings.SplitSeq(ref, "/") {
		bad = bad || part == "" || strings.HasPrefix(part, ".") || strings.HasSuffix(part, ".lock")
	}
	if bad {
		return fmt.Errorf("%s: %q is not a valid name of a ref", field, printable(ref, maxText))
	}
	return nil
}

// isHex says whether s is a full object id.
func isHex(s string) bool {
	return (len(s) == 40 || len(s) == 64) && strings.Trim(s, "0123456789abcdefABCDEF") == ""
}
