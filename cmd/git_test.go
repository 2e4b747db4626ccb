package pawlcmd_test

import (
	"errors"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// git runs git in dir and returns what it says.
func git(t *testing.T, dir string, args ...string) string {
	t.Helper()
	return gitReads(t, dir, "", args...)
}

// gitReads is git with something to read.
func gitReads(t *testing.T, dir, stdin string, args ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "git", append([]string{"-C", dir}, args...)...)
	cmd.Env = append(environment("GIT_"), "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL="+os.DevNull)
	cmd.Stdin = strings.NewReader(stdin)
	out, err := cmd.Output()
	if err != nil {
		var errs []byte
		if exit, ok := errors.AsType[*exec.ExitError](err); ok {
			errs = exit.Stderr
		}
		t.Fatalf("git %s: %v\n%s", strings.Join(args, " "), err, errs)
	}
	return strings.TrimSpace(string(out))
}

// environment is that of the test without the variables of a prefix, which
// would change what a process does.
func environment(without string) []string {
	return slices.DeleteFunc(os.Environ(), func(v string) bool { return strings.HasPrefix(v, without) })
}
