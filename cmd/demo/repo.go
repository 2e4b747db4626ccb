package demo

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
)

// repoID names the repository for the steps; it lies in repo.git.
const repoID = "demo/repo"

// pull is a pull request of the demo.
type pull struct {
	id      string // "1"
	title   string
	branch  string
	head    string // commit id
	pending int    // how often its CI answers that it is not ready
}

// pulls are the pull requests in the order in which their CI gets ready, so
// that the first and the third always meet in the same order.
func pulls() []*pull {
	return []*pull{
		{id: "1", title: "greet the world", branch: "greet-the-world"},
		{id: "2", title: "add a guide", branch: "add-a-guide", pending: 1},
		{id: "3", title: "greet in German", branch: "greet-in-german", pending: 2},
	}
}

// history of the repository, for git fast-import. The first and the third pull
// request change the same line.
const commits = `commit refs/heads/main
committer Ada <ada@localhost> 1767225600 +0000
data 13
First commit

M 100644 inline greeting.txt
data 6
Hello

commit refs/heads/greet-the-world
committer Ada <ada@localhost> 1767229200 +0000
data 16
Greet the world

from refs/heads/main
M 100644 inline greeting.txt
data 13
Hello, world

commit refs/heads/add-a-guide
committer Bob <bob@localhost> 1767232800 +0000
data 12
Add a guide

from refs/heads/main
M 100644 inline guide.md
data 22
# Guide
Say it aloud.

commit refs/heads/greet-in-german
committer Eve <eve@localhost> 1767236400 +0000
data 16
Greet in German

from refs/heads/main
M 100644 inline greeting.txt
data 10
Guten Tag

done
`

// makeRepo makes the bare repository and fills in the heads of prs.
func makeRepo(ctx context.Context, dir string, prs []*pull) error {
	if _, err := git(ctx, "", "", "init", "--quiet", "--bare", "--initial-branch=main", dir); err != nil {
		return err
	}
	if _, err := git(ctx, dir, commits, "fast-import", "--quiet", "--done"); err != nil {
		return err
	}
	for _, p := range prs {
		head, err := git(ctx, dir, "", "rev-parse", "--verify", "refs/heads/"+p.branch)
		if err != nil {
			return err
		}
		p.head = head
	}
	return nil
}

// git runs git in dir, with nothing of the user's configuration, and returns
// what it says.
func git(ctx context.Context, dir, stdin string, args ...string) (string, error) {
	if dir != "" {
		args = append([]string{"-C", dir}, args...)
	}
	cmd := exec.CommandContext(ctx, "git", args...)
	cmd.Stdin = strings.NewReader(stdin)
	cmd.Env = slices.DeleteFunc(os.Environ(), func(v string) bool { return strings.HasPrefix(v, "GIT_") })
	cmd.Env = append(cmd.Env, "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL="+os.DevNull, "LC_ALL=C")
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Run(); err != nil {
		return "", fmt.Errorf("git %s: %w: %s", strings.Join(args, " "), err, strings.TrimSpace(errs.String()))
	}
	return strings.TrimSpace(out.String()), nil
}
