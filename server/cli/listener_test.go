package cli_test

import (
	"bufio"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// patience is how long a test waits for expected output.
const patience = 30 * time.Second

// listener is a long-running command whose lines a test reads as they are printed.
type listener struct {
	cmd   *exec.Cmd
	lines chan string // of stdout and stderr
}

// listen starts a command in its own process group, like a terminal.
func listen(t *testing.T, cmd *exec.Cmd) *listener {
	t.Helper()
	l := &listener{cmd: cmd, lines: make(chan string, 10_000)}
	var reading sync.WaitGroup
	// One pipe for each stream: curl prints its progress on one while events arrive on
	// the other.
	out, outEnd := pipe(t)
	errs, errsEnd := pipe(t)
	for _, r := range []io.ReadCloser{out, errs} {
		reading.Go(func() {
			defer func() { _ = r.Close() }()
			for s := bufio.NewScanner(r); s.Scan(); {
				l.lines <- s.Text()
			}
		})
	}
	go func() { reading.Wait(); close(l.lines) }()
	cmd.Stdout, cmd.Stderr, cmd.SysProcAttr = outEnd, errsEnd, &syscall.SysProcAttr{Setpgid: true}
	err := cmd.Start()
	_, _ = outEnd.Close(), errsEnd.Close()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.signal(syscall.SIGKILL) })
	return l
}

func pipe(t *testing.T) (read, write *os.File) {
	t.Helper()
	read, write, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	return read, write
}

// signal sends a signal to the process group, like Ctrl-C, and returns the exit code.
func (l *listener) signal(s syscall.Signal) int {
	if l.cmd.ProcessState == nil {
		_ = syscall.Kill(-l.cmd.Process.Pid, s)
	}
	return l.wait()
}

// wait waits for the command to end, and returns the exit code.
func (l *listener) wait() int {
	if l.cmd.ProcessState == nil {
		_ = l.cmd.Wait()
	}
	return l.cmd.ProcessState.ExitCode()
}

// next returns the next line; ok is false at the end.
func (l *listener) next(t *testing.T) (string, bool) {
	t.Helper()
	return l.before(t, time.After(patience))
}

func (l *listener) before(t *testing.T, deadline <-chan time.Time) (string, bool) {
	t.Helper()
	select {
	case line, ok := <-l.lines:
		return line, ok
	case <-deadline:
		t.Fatalf("%v does not say what it should", l.cmd.Args)
		return "", false
	}
}

// until reads up to a line that contains a text, and returns all lines it read.
// Heartbeats do not extend its deadline.
func (l *listener) until(t *testing.T, text string) []string {
	t.Helper()
	deadline := time.After(patience)
	var read []string
	for {
		line, ok := l.before(t, deadline)
		if !ok {
			t.Fatalf("%v ended without %q:\n%s", l.cmd.Args, text, strings.Join(read, "\n"))
		}
		if read = append(read, line); strings.Contains(line, text) {
			return read
		}
	}
}
