package testdb

import (
	"path/filepath"
	"slices"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
)

func TestMirrorsMatchAptSources(t *testing.T) {
	const targets = `http://a.example/debian/ bookworm main
http://a.example/debian/ bookworm-updates main
http://a.example/debian-security/ bookworm-security main
http://b.example/debian stable main
http://b.example/debian stable contrib
https://apt.example/tools nodistro main
`
	got := mirrorsOf(targets, "bookworm")
	if want := []string{"http://a.example/debian", "http://b.example/debian"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

// TestServersInUseAreKept checks that a keeper stops only when no process uses its
// servers or looks for them.
func TestServersInUseAreKept(t *testing.T) {
	dir := t.TempDir()
	if err := writeState(dir, Found{Value: "mariadb=mysql://root@127.0.0.1:1/"}); err != nil {
		t.Fatal(err)
	}
	for _, lock := range []string{usersLock, startLock} {
		held, err := lockFile(filepath.Join(dir, lock), syscall.LOCK_SH)
		if err != nil {
			t.Fatal(err)
		}
		if claimStop(dir) {
			t.Errorf("the keeper stops while a process has %s", lock)
		}
		_ = held.Close()
	}
	if !claimStop(dir) {
		t.Error("the keeper of unused servers does not stop")
	}
}

func TestDeadKeeperIsReplaced(t *testing.T) {
	dir := t.TempDir()
	keeper, err := lockFile(filepath.Join(dir, keepLock), syscall.LOCK_EX)
	if err != nil {
		t.Fatal(err)
	}
	if !isKept(dir) {
		t.Error("a living keeper is taken for dead")
	}
	_ = keeper.Close()
	if isKept(dir) {
		t.Error("a dead keeper is taken for living")
	}
}

// TestStoppingKeeperIsReplaced looks for servers while a keeper stops: it has removed the
// state, but still lives. It will not write a state again.
func TestStoppingKeeperIsReplaced(t *testing.T) {
	dir := t.TempDir()
	stopping, err := lockFile(filepath.Join(dir, keepLock), syscall.LOCK_EX)
	if err != nil {
		t.Fatal(err)
	}
	var hasStopped atomic.Bool
	time.AfterFunc(100*time.Millisecond, func() {
		hasStopped.Store(true)
		_ = stopping.Close()
	})
	starts, want := 0, "mariadb=mysql://root@127.0.0.1:1/"
	found, err := awaitServers(dir, func(dir string) error {
		if starts++; !hasStopped.Load() {
			t.Error("another keeper is started while one lives")
		}
		time.AfterFunc(100*time.Millisecond, func() { _ = writeState(dir, Found{Value: want}) })
		return nil
	})
	if err != nil || found.Value != want || starts != 1 {
		t.Errorf("got %q, %v after %d starts, want %q after one", found.Value, err, starts, want)
	}
}
