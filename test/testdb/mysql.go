package testdb

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"syscall"
)

// mysql is a MySQL of Debian unstable, unpacked into a directory of the cache.
//
// No released Debian has MySQL 9; unstable does. Its packages need newer libraries than
// the system has. They are therefore not installed but unpacked, with every library down
// to the C library, and mysqld runs through the dynamic loader among them.
type mysql struct {
	home    string // the directory with the unpacked packages
	machine machine
	// settings is the option file; empty for none.
	settings string
	// within is a command that runs mysqld; empty for none.
	within []string
}

// machine is what the dynamic loader of a kind of computer is called, and Debian's name
// of the directory with its libraries.
type machine struct{ triplet, loader string }

var machines = map[string]machine{
	"amd64": {"x86_64-linux-gnu", "ld-linux-x86-64.so.2"},
	"arm64": {"aarch64-linux-gnu", "ld-linux-aarch64.so.1"},
}

func (mysql) name() string  { return MySQL }
func (mysql) label() string { return "MySQL" }

func (m mysql) initialize(ctx context.Context, options []string) *exec.Cmd {
	return m.run(ctx, append([]string{"--initialize-insecure"}, options...))
}

// run leaves the resolution of names on: it makes 127.0.0.1 localhost, and root is
// root@localhost. For the loopback address no name server is asked.
func (m mysql) run(ctx context.Context, options []string) *exec.Cmd {
	libraries := filepath.Join(m.home, "usr/lib", m.machine.triplet)
	defaults := "--no-defaults"
	if m.settings != "" {
		defaults = "--defaults-file=" + m.settings
	}
	args := []string{
		"--library-path", libraries, filepath.Join(m.home, "usr/sbin/mysqld"), defaults,
		"--basedir=" + filepath.Join(m.home, "usr"),
		"--lc-messages-dir=" + filepath.Join(m.home, "usr/share/mysql"),
		"--plugin-dir=" + filepath.Join(m.home, "usr/lib/mysql/plugin"),
		"--secure-file-priv=", // the default is a directory of the installed package
		"--mysqlx=OFF",        // a second protocol, on another port
	}
	args = slices.Concat(m.within, []string{filepath.Join(libraries, m.machine.loader)}, args, options)
	cmd := exec.CommandContext(ctx, args[0], args[1:]...)
	// The system's settings of OpenSSL are for the system's OpenSSL.
	cmd.Env = append(os.Environ(), "OPENSSL_CONF=/dev/null")
	return cmd
}

// cacheDir returns the directory for what is kept between runs.
func cacheDir() (string, error) {
	if dir := os.Getenv("MODERATO_CACHE"); dir != "" {
		return dir, nil
	}
	dir, err := os.UserCacheDir()
	if err != nil {
		return "", fmt.Errorf("set HOME or MODERATO_CACHE: %w", err)
	}
	return filepath.Join(dir, "moderato"), nil
}

// mysqlHome returns the directory of the unpacked packages in the cache.
func mysqlHome() string {
	dir, err := cacheDir()
	if err != nil {
		return ""
	}
	return filepath.Join(dir, "mysql", machines[runtime.GOARCH].triplet)
}

// provideMySQL returns MySQL, and downloads it if it is missing. Its errors say what to do.
func (s Starter) provideMySQL(ctx context.Context, logs string) (program, error) {
	machine, ok := machines[runtime.GOARCH]
	if !ok || runtime.GOOS != "linux" {
		return nil, fmt.Errorf("there is no download of it for %s/%s; set %s to your own servers to test on it", runtime.GOOS, runtime.GOARCH, Variable)
	}
	if _, err := cacheDir(); err != nil {
		return nil, err
	}
	m := mysql{home: mysqlHome(), machine: machine}
	err := s.provide(ctx, unstable{
		label: "MySQL", name: "mysql-server-core", size: "50 MB", home: m.home,
		version: func(ctx context.Context, home string) *exec.Cmd {
			cmd := mysql{home: home, machine: machine}.run(ctx, nil)
			cmd.Args = append(cmd.Args, "--version")
			return cmd
		},
	}, logs)
	return m, err
}

// lockCache creates a directory of the cache and waits for other runs that use it.
func lockCache(dir string) (unlock func(), err error) {
	if err := os.MkdirAll(dir, 0o750); err != nil {
		return nil, unwritable(dir, err)
	}
	lock, err := lockFile(filepath.Join(dir, "lock"), syscall.LOCK_EX)
	if err != nil {
		return nil, unwritable(dir, err)
	}
	return func() { _ = lock.Close() }, nil
}

func unwritable(dir string, err error) error {
	return fmt.Errorf("the cache %s cannot be written (%w); make it writable, or set MODERATO_CACHE to another directory", dir, err)
}

// lockFile opens a file and locks it, as flock(2) does. Closing the file releases the
// lock.
func lockFile(path string, how int) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	for {
		err = syscall.Flock(int(f.Fd()), how)
		if !errors.Is(err, syscall.EINTR) {
			break
		}
	}
	if err != nil {
		_ = f.Close()
		return nil, err
	}
	return f, nil
}
