package pawlcmd_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// The first workflow of the README runs as it stands, in a module of its own,
// and is as short as the README says.
func TestReadmeFirstWorkflow(t *testing.T) {
	if testing.Short() {
		t.Skip("it builds a program")
	}
	readme := mustRead(t, "../README.md")
	flow, code := block(t, readme, "yaml"), block(t, readme, "go")
	if n := strings.Count(flow+code, "\n"); n >= 40 {
		t.Errorf("workflow and handler have %d lines, the README is to show under 40", n)
	}
	dir := userModule(t, "greet")
	for name, text := range map[string]string{"greet.yaml": flow, "main.go": code} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	run := func(args ...string) (string, error) {
		t.Helper()
		cmd := exec.Command(args[0], args[1:]...)
		cmd.Dir = dir
		cmd.Env = moduleEnv()
		out, err := cmd.CombinedOutput()
		return string(out), err
	}
	if out, err := run("go", "build", "-o", "greet", "."); err != nil {
		t.Fatalf("build: %v\n%s", err, out)
	}
	for _, step := range []struct{ args, want string }{
		{"validate greet.yaml", "1 workflow, no errors, no warnings, 5 situations"},
		{`start greet --input {"name":"Ada"}`, "greet/Ada created"},
		{"tick", "Hello, Ada"},
		{"show greet/Ada", "GREETED (succeeded)"},
	} {
		out, err := run(append([]string{filepath.Join(dir, "greet")}, strings.Fields(step.args)...)...)
		if err != nil || !strings.Contains(out, step.want) {
			t.Errorf("%s: %v, want %q in:\n%s", step.args, err, step.want, out)
		}
	}
	// The mistake that the README shows has the message that it shows.
	wrong := strings.Replace(flow, "hello.say", "helo.say", 1)
	if err := os.WriteFile(filepath.Join(dir, "greet.yaml"), []byte(wrong), 0o600); err != nil {
		t.Fatal(err)
	}
	message := regexp.MustCompile(`(?m)^greet\.yaml:.*\[unknown-step\]$`).FindString(readme)
	out, err := run(filepath.Join(dir, "greet"), "validate", "greet.yaml")
	if err == nil || message == "" || !strings.Contains(out, message) {
		t.Errorf("validate: %v, want the message of the README, %q, in:\n%s", err, message, out)
	}
}

// block returns the first fenced block of the language.
func block(t *testing.T, text, language string) string {
	t.Helper()
	_, rest, ok := strings.Cut(text, "```"+language+"\n")
	body, _, closed := strings.Cut(rest, "```")
	if !ok || !closed {
		t.Fatalf("the README has no %s block", language)
	}
	return body
}

func mustRead(t *testing.T, name string) string {
	t.Helper()
	b, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// userModule makes a folder with a Go module of a user of pawl, who has this
// version of it.
func userModule(t *testing.T, name string) string {
	t.Helper()
	root, err := filepath.Abs("..")
	if err != nil {
		t.Fatal(err)
	}
	mod := strings.Replace(mustRead(t, filepath.Join(root, "go.mod")), "module github.com/pawl-dev/pawl", "module example.org/"+name, 1) +
		"\nrequire github.com/pawl-dev/pawl v0.0.0\nreplace github.com/pawl-dev/pawl => " + root + "\n"
	dir := t.TempDir()
	for file, text := range map[string]string{"go.mod": mod, "go.sum": mustRead(t, filepath.Join(root, "go.sum"))} {
		if err := os.WriteFile(filepath.Join(dir, file), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// moduleEnv is the environment of Go in such a module, without a network.
func moduleEnv() []string {
	return append(os.Environ(), "GOFLAGS=-mod=mod", "GOPROXY=off", "GOWORK=off")
}
