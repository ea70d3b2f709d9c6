package main

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"
)

func TestExitCodeIsThatOfCommand(t *testing.T) {
	for script, want := range map[string]int{"exit 0": 0, "exit 3": 3, "kill -KILL $$": 128 + 9} {
		if got := runCommand([]string{"sh", "-c", script}, nil); got != want {
			t.Errorf("%s: exit code %d, want %d", script, got, want)
		}
	}
	if got := runCommand([]string{"no-such-command"}, nil); got != 127 {
		t.Errorf("a command that does not exist: exit code %d, want 127", got)
	}
}

// TestSignalReachesProcessTree sends a signal to a shell that waits for another shell.
func TestSignalReachesProcessTree(t *testing.T) {
	dir := t.TempDir()
	started, ended := filepath.Join(dir, "started"), filepath.Join(dir, "ended")
	script := "sh -c 'trap \"touch " + ended + "; exit\" TERM; touch " + started + "; while :; do sleep 0.05; done'; true"
	signals, code := make(chan os.Signal, 1), make(chan int)
	go func() { code <- runCommand([]string{"sh", "-c", script}, signals) }()
	for deadline := time.Now().Add(10 * time.Second); time.Now().Before(deadline); time.Sleep(10 * time.Millisecond) {
		if _, err := os.Stat(started); err == nil {
			break
		}
	}
	signals <- syscall.SIGTERM
	if got := <-code; got != 128+15 {
		t.Errorf("exit code %d, want %d", got, 128+15)
	}
	// The inner shell may outlive the outer one for a moment.
	for deadline := time.Now().Add(10 * time.Second); ; time.Sleep(10 * time.Millisecond) {
		if _, err := os.Stat(ended); err == nil {
			return
		}
		if time.Now().After(deadline) {
			t.Fatal("the descendant did not get the signal")
		}
	}
}
