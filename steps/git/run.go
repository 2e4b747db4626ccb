package git

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"time"
	"unicode"

	"github.com/pawl-dev/pawl/engine"
)

const (
	maxStdout = 4 << 20         // bytes kept; a longer output sets result.cut
	maxStderr = 16 << 10        // bytes kept
	killDelay = 2 * time.Second // from the request to end to the kill
	maxText   = 400             // bytes of git's own words in an error
)

// invocation is one run of git.
type invocation struct {
	dir   string
	stdin string
	env   []string // besides the pinned ones
	args  []string // the first is the subcommand
}

// result is what a git that came to its own end has left.
type result struct {
	stdout, stderr []byte
	code           int
	cut            bool // stdout was longer than maxStdout
}

// settings are given to every git. A merge that the engine records must
// outlive a power cut, so objects and refs are synced. A lock that a living
// git holds is waited for, a stale one is not worth longer.
const settings = "core.fsync=objects,reference core.filesRefLockTimeout=1000 " +
	"i18n.commitEncoding=UTF-8 i18n.logOutputEncoding=UTF-8 protocol.allow=never"

// run runs git. Its error means that git did not come to an end of its own: it
// is a definite one if git did not start, else nobody knows what git has done.
func (m *Merger) run(ctx context.Context, inv invocation) (result, error) {
	args := []string{"--git-dir=."}
	for s := range strings.FieldsSeq(settings) {
		args = append(args, "-c", s)
	}
	cmd := exec.CommandContext(ctx, m.path, append(args, inv.args...)...)
	cmd.Dir = inv.dir
	cmd.Env = append(environment(), inv.env...)
	cmd.Stdin = strings.NewReader(inv.stdin)
	stdout, stderr := &bounded{left: maxStdout}, &bounded{left: maxStderr}
	cmd.Stdout, cmd.Stderr = stdout, stderr
	cmd.WaitDelay = killDelay
	group(cmd)

	name := "git " + inv.args[0]
	if err := cmd.Start(); err != nil {
		return result{}, engine.Definite(fmt.Errorf("start %s: %w", name, err))
	}
	err := cmd.Wait()
	if ctx.Err() != nil {
		reap(cmd)
	}
	r := result{stdout: stdout.buf.Bytes(), stderr: stderr.buf.Bytes(), cut: stdout.cut}
	exit, ok := errors.AsType[*exec.ExitError](err)
	switch {
	case err == nil:
		return r, nil
	case ctx.Err() != nil:
		return r, fmt.Errorf("%s was stopped: %w", name, context.Cause(ctx))
	case errors.Is(err, exec.ErrWaitDelay): // git ended well; what a hook has started holds the pipe
		return r, nil
	case ok && exit.ExitCode() >= 0 && exit.ExitCode() <= maxExit:
		r.code = exit.ExitCode()
		return r, nil
	default:
		return r, fmt.Errorf("%s did not end by itself: %w", name, err)
	}
}

// maxExit is the highest exit code that git gives itself: 128 for fatal, 129
// for a wrong option. A shell around it reports a killed git by a higher one.
const maxExit = 129

// environment is all that git gets to know of this process. Without HOME there
// are no attributes of the user either.
func environment() []string {
	env := []string{
		"LC_ALL=C",
		"GIT_CONFIG_NOSYSTEM=1",
		"GIT_CONFIG_GLOBAL=/dev/null",
		"GIT_ATTR_NOSYSTEM=1",
		"GIT_TERMINAL_PROMPT=0",
		"GIT_NO_REPLACE_OBJECTS=1",
		"GIT_NO_LAZY_FETCH=1",
		"GIT_OPTIONAL_LOCKS=0",
	}
	for _, name := range []string{"PATH", "TMPDIR", "TEMP", "TMP", "SYSTEMROOT"} {
		if v, ok := os.LookupEnv(name); ok {
			env = append(env, name+"="+v)
		}
	}
	return env
}

// failed describes a git that ended with an exit code. It carries no verdict.
func (r result) failed(sub string) error {
	text := r.reason()
	if strings.Contains(text, ".lock': File exists") {
		text += "; if no git runs in the repository, a crash left the lock: remove the file"
	}
	return fmt.Errorf("git %s ended with %d: %s", sub, r.code, text)
}

// reason returns the line of stderr that says why: the last words of a dying
// git start with fatal, and what comes after that line is advice.
func (r result) reason() string {
	first := ""
	for line := range strings.Lines(string(r.stderr)) {
		line = strings.TrimSpace(line)
		if strings.HasPrefix(line, "fatal: ") || strings.HasPrefix(line, "error: ") {
			return printable(line, maxText)
		}
		if first == "" {
			first = line
		}
	}
	if first == "" {
		return "it gave no reason"
	}
	return printable(first, maxText)
}

// printable makes s fit for a log line of at most about n bytes.
func printable(s string, n int) string {
	s = strings.Map(func(r rune) rune {
		if r == unicode.ReplacementChar || !unicode.IsPrint(r) {
			return '?'
		}
		return r
	}, strings.TrimSpace(s))
	if len(s) > n {
		s = strings.ToValidUTF8(s[:n], "") + "..."
	}
	return s
}

// bounded keeps the first bytes and drops the rest, so that a talkative git
// neither blocks nor fills the memory.
type bounded struct {
	buf  bytes.Buffer
	left int
	cut  bool
}

// Write implements io.Writer. It never fails.
func (b *bounded) Write(p []byte) (int, error) {
	n := min(len(p), b.left)
	b.cut = b.cut || n < len(p)
	b.left -= n
	b.buf.Write(p[:n])
	return len(p), nil
}
