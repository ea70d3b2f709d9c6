package testdb

import (
	"fmt"
	"os"
	"os/exec"
	"syscall"
)

// process is a running program that leads a process group of its own.
type process struct {
	cmd  *exec.Cmd
	done chan struct{} // closed when the program has ended
	err  error         // how the program ended; valid after done
}

// spawn starts a program that writes its output to a new log file.
func spawn(log string, cmd *exec.Cmd) (*process, error) {
	out, err := os.Create(log)
	if err != nil {
		return nil, err
	}
	defer func() { _ = out.Close() }()
	cmd.Stdout, cmd.Stderr = out, out
	cmd.SysProcAttr = inOwnGroup()
	cmd.Env = append(cmd.Environ(), "LC_ALL=C")
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("start %s: %w", cmd.Path, err)
	}
	p := &process{cmd: cmd, done: make(chan struct{})}
	go func() {
		p.err = cmd.Wait()
		close(p.done)
	}()
	return p, nil
}

func (p *process) hasEnded() bool {
	select {
	case <-p.done:
		return true
	default:
		return false
	}
}

// kill kills the process with its whole group, and waits for it.
func (p *process) kill() {
	p.signal(syscall.SIGKILL)
	<-p.done
}

// signal sends a signal to the process with its whole group.
func (p *process) signal(s syscall.Signal) { _ = syscall.Kill(-p.cmd.Process.Pid, s) }

// stop asks the process to end, and waits for it.
func (p *process) stop() {
	_ = p.cmd.Process.Signal(syscall.SIGTERM)
	<-p.done
}
