//go:build !unix

package git

import "os/exec"

// group does nothing: without process groups git itself is killed, and its
// children lose their pipes after cmd.WaitDelay.
func group(*exec.Cmd) {}

func reap(*exec.Cmd) {}

// cannotExist is covered by os.ErrNotExist.
func cannotExist(error) bool { return false }
