//go:build unix

package git

import (
	"errors"
	"os/exec"
	"syscall"
)

// group gives git a process group of its own, so that its children end with
// it and a ^C at the terminal does not reach it. It is asked to end, not
// killed: a killed git leaves its lock files behind. What does not listen is
// killed after cmd.WaitDelay.
func group(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGTERM) }
}

// reap kills what is left of the group of an ended git.
func reap(cmd *exec.Cmd) {
	_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) // mostly there is nobody left
}

// cannotExist says that a part of a path is a file, or too long for one.
func cannotExist(err error) bool {
	return errors.Is(err, syscall.ENOTDIR) || errors.Is(err, syscall.ENAMETOOLONG)
}
