package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
)

// runCommand runs the command and returns its exit code. A signal is passed on, and the
// command ends in its own time; a second signal kills it.
func runCommand(args []string, signals <-chan os.Signal) (exitCode int) {
	cmd := exec.CommandContext(context.Background(), args[0], args[1:]...) // signals end it
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	if err := cmd.Start(); err != nil {
		say(err)
		return 127
	}
	done := make(chan error, 1)
	go func() { done <- cmd.Wait() }()
	var got os.Signal
	for {
		select {
		case err := <-done:
			if got != nil {
				return codeOf(got)
			}
			return codeOfCommand(err)
		case s := <-signals:
			if got != nil {
				signalTree(cmd.Process.Pid, syscall.SIGKILL)
				return codeOf(s)
			}
			got = s
			signalTree(cmd.Process.Pid, s.(syscall.Signal))
		}
	}
}

// codeOf returns the exit code of a shell for a process that a signal ended.
func codeOf(s os.Signal) int { return 128 + int(s.(syscall.Signal)) }

func codeOfCommand(err error) int {
	var exit *exec.ExitError
	switch {
	case err == nil:
		return 0
	case !errors.As(err, &exit):
		say(err)
		return 1
	}
	if status, ok := exit.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		return codeOf(status.Signal())
	}
	return exit.ExitCode()
}

// signalTree sends a signal to a process and its descendants. The command alone is not
// enough: a shell, for example, acts on SIGINT only when the program that it runs has
// ended. A process group of its own, the usual way to reach all of them, would take the
// terminal away from the command.
func signalTree(pid int, s syscall.Signal) {
	children := childrenOf(pid)
	_ = syscall.Kill(pid, s)
	for _, child := range children {
		signalTree(child, s)
	}
}

// childrenOf returns the children of a process. It knows them on Linux only.
func childrenOf(pid int) []int {
	files, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", pid))
	var children []int
	for _, file := range files {
		text, _ := os.ReadFile(file)
		for _, field := range strings.Fields(string(text)) {
			if child, err := strconv.Atoi(field); err == nil {
				children = append(children, child)
			}
		}
	}
	return children
}
