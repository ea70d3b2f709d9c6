package testdb

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"syscall"
	"time"
)

// Shared servers are started by the first test process that needs some, and used by all
// test processes of a user. A keeper, which is a process of its own, runs them until
// nobody has used them for a while. The processes coordinate through files that they
// lock; the kernel releases the locks of a process that ends in any way.
const (
	startLock = "start.lock" // held while someone looks for the servers, starts or stops them
	keepLock  = "keep.lock"  // held by the keeper as long as it lives
	usersLock = "users.lock" // shared by the processes that use the servers
	stateFile = "servers.json"
)

const (
	idleTime = 5 * time.Minute
	// keeperTimeout bounds how long a test waits for the keeper to start the servers.
	keeperTimeout = 2*startTimeout + 10*time.Second
)

// Found are the servers that a keeper runs.
type Found struct {
	Value        string // of Variable
	MySQLProblem string // why there is no MySQL; empty if there is one
	Error        string // why there are no servers

	use *os.File // locked as long as this process uses the servers
}

// Shared returns the shared servers, and starts them if they do not run. The servers run
// at least as long as the calling process. Programs that are missing are not installed.
var Shared = sync.OnceValues(shared)

func shared() (Found, error) {
	dir, err := sharedDir()
	if err != nil {
		return Found{}, err
	}
	start, err := lockFile(filepath.Join(dir, startLock), syscall.LOCK_EX)
	if err != nil {
		return Found{}, unwritable(dir, err)
	}
	defer func() { _ = start.Close() }()
	found, err := awaitServers(dir, startKeeper)
	if err != nil {
		return Found{}, err
	}
	found.use, err = lockFile(filepath.Join(dir, usersLock), syscall.LOCK_SH)
	return found, err
}

func sharedDir() (string, error) {
	cache, err := cacheDir()
	if err != nil {
		return "", err
	}
	dir := filepath.Join(cache, "testdb")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", unwritable(dir, err)
	}
	return dir, nil
}

// isKept reports whether a keeper lives.
func isKept(dir string) bool {
	lock, err := lockFile(filepath.Join(dir, keepLock), syscall.LOCK_SH|syscall.LOCK_NB)
	if err != nil {
		return errors.Is(err, syscall.EWOULDBLOCK)
	}
	_ = lock.Close()
	return false
}

// startKeeper builds and starts a keeper, which outlives this process.
func startKeeper(dir string) error {
	ctx := context.Background() // the keeper outlives the test

	_ = os.Remove(filepath.Join(dir, stateFile))
	program := filepath.Join(dir, "with-databases")
	// Without the flags of the test: the keeper needs no race detector.
	build := exec.CommandContext(ctx, "go", "build", "-buildvcs=false", "-o", program, "github.com/moderato-live/moderato/test/testdb/with-databases")
	build.Env = append(build.Environ(), "GOFLAGS=")
	if out, err := build.CombinedOutput(); err != nil {
		return fmt.Errorf("build the keeper of the test databases: %w\n%s", err, out)
	}
	log, err := os.Create(filepath.Join(dir, "log"))
	if err != nil {
		return unwritable(dir, err)
	}
	defer func() { _ = log.Close() }()
	keeper := exec.CommandContext(ctx, program, "--keep")
	keeper.Dir, keeper.Stderr = dir, log
	keeper.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := keeper.Start(); err != nil {
		return fmt.Errorf("start the keeper of the test databases: %w", err)
	}
	go func() { _ = keeper.Wait() }()
	return nil
}

// awaitServers returns the servers when a keeper runs them, and starts a keeper if there is
// none. A keeper that stops removes the state first, and lives until its servers have
// stopped. So a keeper without a state may end without ever writing one. The caller holds
// startLock.
func awaitServers(dir string, start func(dir string) error) (Found, error) {
	isStarted := false
	for deadline := time.Now().Add(keeperTimeout); time.Now().Before(deadline); time.Sleep(50 * time.Millisecond) {
		// A keeper that was started just now may not have its lock yet.
		if !isStarted && !isKept(dir) {
			if err := start(dir); err != nil {
				return Found{}, err
			}
			isStarted, deadline = true, time.Now().Add(keeperTimeout)
		}
		found, err := readState(dir)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		return found, err
	}
	return Found{}, fmt.Errorf("the test databases did not start; see %s", filepath.Join(dir, "log"))
}

// readState returns the servers that the keeper has started, or its error. The error is
// fs.ErrNotExist while the keeper starts or stops.
func readState(dir string) (Found, error) {
	text, err := os.ReadFile(filepath.Join(dir, stateFile))
	if err != nil {
		return Found{}, err
	}
	var found Found
	if err := json.Unmarshal(text, &found); err != nil {
		return Found{}, fmt.Errorf("%s in %s: %w", stateFile, dir, err)
	}
	if found.Error != "" {
		return Found{}, errors.New(found.Error)
	}
	return found, nil
}

// Keep runs the shared servers until nobody has used them for some minutes.
func Keep(ctx context.Context) error {
	dir, err := sharedDir()
	if err != nil {
		return err
	}
	alive, err := lockFile(filepath.Join(dir, keepLock), syscall.LOCK_EX|syscall.LOCK_NB)
	if err != nil {
		return fmt.Errorf("another keeper runs: %w", err)
	}
	defer func() { _ = alive.Close() }()
	servers, err := Starter{Log: os.Stderr}.Start(ctx)
	if err != nil {
		return errors.Join(err, writeState(dir, Found{Error: err.Error()}))
	}
	defer servers.Close()
	defer func() { _ = os.Remove(filepath.Join(dir, stateFile)) }()
	if err := writeState(dir, Found{Value: servers.Value(), MySQLProblem: servers.MySQLProblem}); err != nil {
		return err
	}
	return servers.keep(ctx, dir)
}

// writeState makes the state appear at once.
func writeState(dir string, found Found) error {
	text, err := json.Marshal(found)
	if err != nil {
		return err
	}
	path := filepath.Join(dir, stateFile)
	if err := os.WriteFile(path+".new", text, 0o600); err != nil {
		return err
	}
	return os.Rename(path+".new", path)
}

// keep returns when the servers are unused for idleTime, or when one has ended.
func (s *Servers) keep(ctx context.Context, dir string) error {
	tick := time.NewTicker(2 * time.Second)
	defer tick.Stop()
	for used := time.Now(); ; {
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
		if err := s.Check(); err != nil {
			return err
		}
		if isUsed(dir) {
			used = time.Now()
		} else if time.Since(used) > idleTime && claimStop(dir) {
			return nil
		}
	}
}

// isUsed reports whether a process uses the servers.
func isUsed(dir string) bool {
	lock, err := lockFile(filepath.Join(dir, usersLock), syscall.LOCK_EX|syscall.LOCK_NB)
	if err != nil {
		return true
	}
	_ = lock.Close()
	return false
}

// claimStop removes the state, unless a process has begun to use the servers or looks
// for them. A process that looks for them later starts another keeper.
func claimStop(dir string) bool {
	start, err := lockFile(filepath.Join(dir, startLock), syscall.LOCK_EX|syscall.LOCK_NB)
	if err != nil {
		return false
	}
	defer func() { _ = start.Close() }()
	return !isUsed(dir) && os.Remove(filepath.Join(dir, stateFile)) == nil
}
