package pawlcmd_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	pawlcmd "github.com/pawl-dev/pawl/cmd"
)

// beASubcommand makes the test binary the program pawl, for tests that need
// real processes.
const beASubcommand = "PAWL_TEST_BE_PAWL"

func TestMain(m *testing.M) {
	if os.Getenv(beASubcommand) != "" {
		var steps pawlcmd.Shipped
		os.Exit(pawlcmd.Main(context.Background(), pawlcmd.Options{Flags: steps.Flags, Handlers: steps.Handlers}))
	}
	os.Exit(m.Run())
}

// noon is the time of all tests that do not need another one.
func noon() time.Time { return time.Date(2026, 3, 29, 12, 0, 0, 0, time.UTC) }

// cli is the program pawl in this process, in a folder of its own.
type cli struct {
	dir  string
	opts pawlcmd.Options
	env  map[string]string
	in   string
}

// newCLI returns pawl with its own steps.
func newCLI(t *testing.T) *cli {
	t.Helper()
	var steps pawlcmd.Shipped
	dir := t.TempDir()
	return &cli{
		dir:  dir,
		env:  map[string]string{"PAWL_STORE": "sqlite:" + filepath.Join(dir, "pawl.db")},
		opts: pawlcmd.Options{Version: "v0.0.0", Flags: steps.Flags, Handlers: steps.Handlers, Clock: noon},
	}
}

// answer is what a command came to.
type answer struct {
	code     int
	out, err string
}

// run runs a command. DIR in an argument is the folder of the test.
func (c *cli) run(t *testing.T, args ...string) answer {
	t.Helper()
	var out, errs bytes.Buffer
	o := c.opts
	o.Stdin, o.Stdout, o.Stderr = strings.NewReader(c.in), &out, &errs
	o.Getenv = func(name string) string { return c.env[name] }
	o.Args = make([]string, len(args))
	for i, a := range args {
		o.Args[i] = strings.ReplaceAll(a, "DIR", c.dir)
	}
	code := pawlcmd.Main(t.Context(), o)
	return answer{code: code, out: c.plain(out.String()), err: c.plain(errs.String())}
}

// plain takes out of an output what differs from run to run, or is not for
// people to read.
func (c *cli) plain(s string) string {
	s = strings.ReplaceAll(s, c.dir, "DIR")
	s = regexp.MustCompile(`(hash": "|definition )[0-9a-f]{12,}`).ReplaceAllString(s, "${1}HASH")
	return regexp.MustCompile(`--after \S+`).ReplaceAllString(s, "--after CURSOR")
}

// must runs a command that has to succeed, and returns its standard output.
func (c *cli) must(t *testing.T, args ...string) string {
	t.Helper()
	a := c.run(t, args...)
	if a.code != 0 {
		t.Fatalf("pawl %s: exit code %d\n%s%s", strings.Join(args, " "), a.code, a.out, a.err)
	}
	return a.out
}

// transcript shows a command as in a terminal session.
func transcript(args []string, a answer) []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, "$ pawl %s\n", strings.Join(args, " "))
	fmt.Fprintf(&b, "%s", a.out)
	if a.err != "" {
		fmt.Fprintf(&b, "--- standard error\n%s", a.err)
	}
	fmt.Fprintf(&b, "--- exit code %d\n", a.code)
	return b.Bytes()
}

// decode reads the JSON that a command printed.
func decode[T any](t *testing.T, text string) T {
	t.Helper()
	var v T
	if err := json.Unmarshal([]byte(text), &v); err != nil {
		t.Fatalf("decode the output: %v\n%s", err, text)
	}
	return v
}

// listed is a part of what list prints.
type listed struct {
	Instances []struct {
		ID, Workflow, State, Status string
	}
	Next string
}

// story is a part of what history prints.
type story struct {
	ID          string
	Transitions []struct {
		Seq                    int64
		From, To, Reason, Code string
		Attempt                int
	}
}

// write makes a file in the folder of the test.
func (c *cli) write(t *testing.T, name, text string) {
	t.Helper()
	file := filepath.Join(c.dir, name)
	if err := os.MkdirAll(filepath.Dir(file), 0o750); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}
