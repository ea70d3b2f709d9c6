package testdb

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
)

// routerIn returns the command that runs the MySQL Router of Debian unstable in a directory. Like
// mysqld, it runs with the libraries among its packages.
func routerIn(ctx context.Context, home string, args ...string) *exec.Cmd {
	m := machines[runtime.GOARCH]
	libraries := filepath.Join(home, "usr/lib", m.triplet)
	run := []string{"--library-path", libraries + ":" + filepath.Join(home, "usr/lib/mysql-router"), filepath.Join(home, "usr/bin/mysqlrouter")}
	cmd := exec.CommandContext(ctx, filepath.Join(libraries, m.loader), append(run, args...)...) //nolint:gosec // a program of the cache
	cmd.Env = append(os.Environ(), "OPENSSL_CONF=/dev/null")
	return cmd
}

// provideRouter returns the directory of MySQL Router, and downloads it if it is missing. The
// caller has found MySQL, so there is a cache.
func (s Starter) provideRouter(ctx context.Context, logs string) (home string, err error) {
	home = mysqlHome() + ".router"
	return home, s.provide(ctx, unstable{
		label: "MySQL Router", name: "mysql-router", size: "25 MB", home: home,
		version: func(ctx context.Context, home string) *exec.Cmd { return routerIn(ctx, home, "--version") },
	}, logs)
}

// StartRouter starts MySQL Router with a configuration, which has a section DEFAULT, until stop is
// called. It downloads the program if it is missing. Its files and its log are in a directory.
func StartRouter(ctx context.Context, directory, config string) (stop func(), err error) {
	home, err := Starter{Log: os.Stderr, Install: true}.provideRouter(ctx, directory)
	if err != nil {
		return nil, fmt.Errorf("MySQL Router: %w", err)
	}
	own := "[DEFAULT]\nplugin_folder = " + filepath.Join(home, "usr/lib/mysqlrouter/plugin") + "\nruntime_folder = " + directory +
		"\ndata_folder = " + directory + "\nlogging_folder =\n"
	path := filepath.Join(directory, "mysqlrouter.conf")
	if err := os.WriteFile(path, []byte(strings.Replace(config, "[DEFAULT]\n", own, 1)), 0o600); err != nil {
		return nil, err
	}
	p, err := spawn(filepath.Join(directory, "mysqlrouter.log"), routerIn(context.WithoutCancel(ctx), home, "--config", path))
	if err != nil {
		return nil, err
	}
	return p.kill, nil
}
