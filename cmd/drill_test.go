package pawlcmd_test

import (
	"cmp"
	"context"
	"math/rand/v2"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"syscall"
	"testing"
	"time"
)

// drillRounds is how many rounds TestKillDrill has. CI sets PAWL_DRILL_ROUNDS
// to 20.
func drillRounds(t *testing.T) int {
	t.Helper()
	text := cmp.Or(os.Getenv("PAWL_DRILL_ROUNDS"), "3")
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 {
		t.Fatalf("PAWL_DRILL_ROUNDS is %q, want a number from 1", text)
	}
	return n
}

// TestKillDrill runs pawl as a process on twenty pull requests of one
// repository, kills it at random moments with SIGKILL, and starts it again.
// In the end each is merged exactly once. A failed round is repeated by
// PAWL_DRILL_SEED, which gives the same moments again.
func TestKillDrill(t *testing.T) {
	t.Parallel()
	first := uint64(time.Now().UnixNano())
	if text := os.Getenv("PAWL_DRILL_SEED"); text != "" {
		var err error
		if first, err = strconv.ParseUint(text, 10, 64); err != nil {
			t.Fatal(err)
		}
	}
	for i := range drillRounds(t) {
		seed := first + uint64(i)
		t.Run("seed"+strconv.FormatUint(seed, 10), func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, 20)
			killRound(t, w, rand.New(rand.NewPCG(seed, 1)))
			w.waitForEnd(t)
			w.check(t)
		})
	}
}

// killRound kills the process a few times. A moment is so many lines of
// history and a few milliseconds, so that all steps and commits get their
// share, however fast the machine is.
func killRound(t *testing.T, w *world, rnd *rand.Rand) {
	t.Helper()
	const lines = 4 * 20 // of all pull requests together
	kills := 1 + rnd.IntN(3)
	moment := 0
	for range kills {
		moment += rnd.IntN(lines / kills)
		later := time.Duration(rnd.IntN(40)) * time.Millisecond
		p := w.spawn(t)
		w.waitForLines(t, moment)
		wait(t.Context(), later)
		t.Logf("SIGKILL after %d lines and %s, at %d lines", moment, later, w.lines(t))
		p.kill(t)
	}
	w.spawn(t)
}

// TestManyProcesses runs several processes on one store, without kills: each
// step has its effect once per attempt.
func TestManyProcesses(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("there is no SIGTERM to stop a process in order")
	}
	for _, n := range []int{2, 4} {
		t.Run(strconv.Itoa(n), func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, 20)
			w.lease = "20s" // nobody dies, so no lease may run out
			procs := make([]*process, n)
			for i := range procs {
				procs[i] = w.spawn(t)
			}
			w.waitForEnd(t)
			for i, p := range procs {
				if err := p.stop(); err != nil {
					t.Errorf("process %d after SIGTERM: %v, want exit code 0\n%s", i, err, p.log())
				}
			}
			w.check(t)
			w.checkAsked(t)
		})
	}
}

// process is a running pawl.
type process struct {
	cmd  *exec.Cmd
	logs string // file
	done chan error
}

// spawn starts "pawl run" in a process of its own.
func (w *world) spawn(t *testing.T) *process {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	f, err := os.CreateTemp(w.dir, "log-*")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	p := &process{logs: f.Name(), done: make(chan error, 1)}
	p.cmd = exec.Command(exe, "run", "--every", "50ms", "--lease", w.lease)
	p.cmd.Env = append(environment("PAWL_"), beASubcommand+"=1", "GORACE=exitcode=66")
	for name, value := range w.cli.env {
		p.cmd.Env = append(p.cmd.Env, name+"="+value)
	}
	p.cmd.Stdout, p.cmd.Stderr = f, f
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() { p.done <- p.cmd.Wait() }()
	t.Cleanup(func() {
		_ = p.cmd.Process.Kill() // it has ended, or the test has failed
		<-p.done
	})
	w.procs = append(w.procs, p)
	return p
}

// kill ends the process as a power cut would.
func (p *process) kill(t *testing.T) {
	t.Helper()
	if err := p.cmd.Process.Kill(); err != nil {
		t.Fatalf("kill: %v\n%s", err, p.log())
	}
	p.done <- <-p.done
}

// stop asks the process to end in order.
func (p *process) stop() error {
	if err := p.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		return err
	}
	err := <-p.done
	p.done <- nil // for the cleanup
	return err
}

func (p *process) log() string {
	b, err := os.ReadFile(p.logs)
	if err != nil {
		return err.Error()
	}
	const most = 4000
	return string(b[max(len(b)-most, 0):])
}

// wait waits for d, or until ctx ends.
func wait(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}

// until polls cond. It fails the test when it does not come true in time.
func until(t *testing.T, within time.Duration, cond func() bool, dump func() string) {
	t.Helper()
	deadline := time.Now().Add(within)
	for !cond() {
		if time.Now().After(deadline) || t.Context().Err() != nil {
			t.Fatalf("not within %s\n%s", within, dump())
		}
		wait(t.Context(), 5*time.Millisecond)
	}
}
