package search

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"time"
)

// GitSource reads the files of bare git repositories, by the git program. It
// leaves out symbolic links and submodules, and the content of files that are
// too large is never read. It writes nothing.
type GitSource struct {
	// Dir returns the folder of a bare repository, or of the .git of another.
	// It is required.
	Dir func(ctx context.Context, repoID string) (string, error)

	// Git is the program. Default: "git".
	Git string

	// MaxFile is the size in bytes above which a file is left out.
	// Default: 1 MiB.
	MaxFile int
}

var _ History = GitSource{}

// killDelay is how long a killed git may keep its pipes open.
const killDelay = 5 * time.Second

// Files implements [Source].
func (g GitSource) Files(ctx context.Context, repoID, sha string, visit func(path string, content []byte) error) error {
	if !commitID(sha) { // it might be taken for an option
		return fmt.Errorf("%q is not a commit", sha)
	}
	dir, err := g.Dir(ctx, repoID)
	if err != nil {
		return fmt.Errorf("find the repository: %w", err)
	}
	tree, err := g.output(ctx, dir, "ls-tree", "-r", "-l", "-z", "--full-tree", sha)
	if err != nil {
		return err
	}
	blobs, err := parseTree(tree, g.maxFile())
	if err != nil || len(blobs) == 0 {
		return err
	}
	return g.read(ctx, dir, blobs, visit)
}

// Contains implements [History].
func (g GitSource) Contains(ctx context.Context, repoID, commit, ancestor string) (bool, error) {
	if !commitID(commit) || !commitID(ancestor) {
		return false, fmt.Errorf("%q or %q is not a commit", commit, ancestor)
	}
	dir, err := g.Dir(ctx, repoID)
	if err != nil {
		return false, fmt.Errorf("find the repository: %w", err)
	}
	_, err = g.output(ctx, dir, "merge-base", "--is-ancestor", ancestor, commit)
	switch exit, ok := errors.AsType[*exec.ExitError](err); {
	case err == nil:
		return true, nil
	case ctx.Err() == nil && ok && exit.Exited():
		// 1 says no; 128 says that one of them is gone, so it is in no history.
		return false, nil
	default:
		return false, err
	}
}

func (g GitSource) maxFile() int64 {
	if g.MaxFile <= 0 {
		return 1 << 20
	}
	return int64(g.MaxFile)
}

// blob is a file in a tree.
type blob struct{ id, path string }

// parseTree reads the lines "mode type id size<TAB>path<NUL>" of git ls-tree
// and keeps the plain files up to a size.
func parseTree(tree []byte, maxFile int64) ([]blob, error) {
	var blobs []blob
	for entry := range strings.SplitSeq(string(bytes.TrimSuffix(tree, []byte{0})), "\x00") {
		if entry == "" {
			continue // an empty tree
		}
		head, path, _ := strings.Cut(entry, "\t")
		f := strings.Fields(head)
		if len(f) != 4 || path == "" {
			return nil, fmt.Errorf("git ls-tree: cannot read the line %q", entry)
		}
		if f[0] != "100644" && f[0] != "100755" && f[0] != "100664" {
			continue // a link, or a submodule
		}
		size, err := strconv.ParseInt(f[3], 10, 64)
		if err != nil {
			return nil, fmt.Errorf("git ls-tree: cannot read the line %q", entry)
		}
		if size <= maxFile {
			blobs = append(blobs, blob{id: f[2], path: path})
		}
	}
	return blobs, nil
}

// read hands the content of blobs to visit. It asks git for one after the
// other, so neither side waits for the other's full pipe.
func (g GitSource) read(ctx context.Context, dir string, blobs []blob, visit func(string, []byte) error) error {
	running, kill := context.WithCancel(ctx)
	defer kill()
	cmd, stderr := g.command(running, dir, "cat-file", "--batch")
	in, err := cmd.StdinPipe()
	if err != nil {
		return fmt.Errorf("git cat-file: %w", err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return fmt.Errorf("git cat-file: %w", err)
	}
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("git cat-file: %w", err)
	}
	content := bufio.NewReaderSize(out, 64<<10)
	var buf bytes.Buffer
	for _, b := range blobs {
		err := ctx.Err()
		if err == nil {
			err = ask(in, content, &buf, b.id)
		}
		if err != nil {
			kill()
			_ = cmd.Wait()
			return failed(ctx, "cat-file", fmt.Errorf("read %q: %w", b.path, err), stderr)
		}
		if err := visit(b.path, buf.Bytes()); err != nil {
			kill()
			_ = cmd.Wait()
			return err
		}
	}
	_ = in.Close()
	if err := cmd.Wait(); err != nil {
		return failed(ctx, "cat-file", err, stderr)
	}
	return nil
}

// ask reads one blob into buf. The answer is "id type size", a line end, the
// content and another line end.
func ask(in io.Writer, out *bufio.Reader, buf *bytes.Buffer, id string) error {
	if _, err := io.WriteString(in, id+"\n"); err != nil {
		return err
	}
	head, err := out.ReadString('\n')
	if err != nil {
		return err
	}
	f := strings.Fields(head)
	if len(f) != 3 || f[0] != id || f[1] != "blob" {
		return fmt.Errorf("git answered %q", head)
	}
	size, err := strconv.ParseInt(f[2], 10, 64)
	if err != nil {
		return fmt.Errorf("git answered %q", head)
	}
	buf.Reset()
	if _, err := io.CopyN(buf, out, size); err != nil {
		return err
	}
	_, err = out.Discard(1)
	return err
}

// output runs git and returns what it writes.
func (g GitSource) output(ctx context.Context, dir string, args ...string) ([]byte, error) {
	cmd, stderr := g.command(ctx, dir, args...)
	out, err := cmd.Output()
	if err != nil {
		return nil, failed(ctx, args[0], err, stderr)
	}
	return out, nil
}

// command prepares git on a repository. Nothing in the environment can point
// it elsewhere, and no object is replaced by another.
func (g GitSource) command(ctx context.Context, dir string, args ...string) (*exec.Cmd, *bytes.Buffer) {
	name := g.Git
	if name == "" {
		name = "git"
	}
	var stderr bytes.Buffer
	cmd := exec.CommandContext(ctx, name, append([]string{"--git-dir=" + dir}, args...)...)
	cmd.Stderr = &stderr
	cmd.WaitDelay = killDelay
	for _, entry := range os.Environ() {
		if !strings.HasPrefix(entry, "GIT_") {
			cmd.Env = append(cmd.Env, entry)
		}
	}
	cmd.Env = append(cmd.Env, "LC_ALL=C", "GIT_NO_REPLACE_OBJECTS=1", "GIT_TERMINAL_PROMPT=0")
	return cmd, &stderr
}

// failed tells what git said, or why it was killed.
func failed(ctx context.Context, command string, err error, stderr *bytes.Buffer) error {
	if ctx.Err() != nil {
		return fmt.Errorf("git %s: %w", command, context.Cause(ctx))
	}
	text := strings.TrimSpace(stderr.String())
	if text == "" {
		return fmt.Errorf("git %s: %w", command, err)
	}
	return fmt.Errorf("git %s: %w: %.500s", command, err, text)
}
