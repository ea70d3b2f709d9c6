package testdb

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// mariadb is the MariaDB of the system's packages.
type mariadb struct{}

// mariadb-install-db calls my_print_defaults, which Debian keeps in the package of the
// client.
var (
	mariadbPackages = []string{"mariadb-server-core", "mariadb-client-core"}
	mariadbPrograms = []string{"mariadbd", "mariadb-install-db", "my_print_defaults"}
)

func (mariadb) name() string  { return MariaDB }
func (mariadb) label() string { return "MariaDB" }

// initialize gives root no password. By default, only the system's root could log in as
// root, and only through the socket.
func (mariadb) initialize(ctx context.Context, options []string) *exec.Cmd {
	args := []string{"--no-defaults", "--auth-root-authentication-method=normal", "--skip-test-db"}
	return exec.CommandContext(ctx, find("mariadb-install-db"), append(args, options...)...)
}

// run skips the resolution of names, because root may log in from 127.0.0.1 by that name.
func (mariadb) run(ctx context.Context, options []string) *exec.Cmd {
	args := []string{"--no-defaults", "--skip-name-resolve"}
	return exec.CommandContext(ctx, find("mariadbd"), append(args, options...)...)
}

// find returns the path of a program, or its name if it is missing. Servers are in sbin,
// which is not in the PATH of ordinary users.
func find(name string) string {
	for _, dir := range []string{"", "/usr/local/sbin", "/usr/sbin", "/sbin"} {
		if path, err := exec.LookPath(filepath.Join(dir, name)); err == nil {
			return path
		}
	}
	return name
}

func missingPrograms() []string {
	var missing []string
	for _, name := range mariadbPrograms {
		if _, err := exec.LookPath(find(name)); err != nil {
			missing = append(missing, name)
		}
	}
	return missing
}

// provideMariaDB returns MariaDB, and installs it if it is missing.
func (s Starter) provideMariaDB(ctx context.Context, logs string) (program, error) {
	missing := missingPrograms()
	if len(missing) > 0 && s.Install {
		s.say("installing %s (missing: %s)", strings.Join(mariadbPackages, " "), strings.Join(missing, " "))
		if err := installPackages(ctx, filepath.Join(logs, "install-mariadb.log"), mariadbPackages...); err != nil {
			s.say("%v", err)
		}
		missing = missingPrograms()
	}
	if len(missing) > 0 {
		return nil, fmt.Errorf("MariaDB is missing (%s). On Debian or Ubuntu: sudo apt-get update && sudo apt-get install --no-install-recommends %s",
			strings.Join(missing, ", "), strings.Join(mariadbPackages, " "))
	}
	return mariadb{}, nil
}

// StartMariaDB starts a MariaDB on a data directory that is kept, and creates the
// directory if there is none. The options are those of mariadbd.
func StartMariaDB(ctx context.Context, data, log string, options ...string) (*Server, error) {
	logs, err := os.MkdirTemp("", dataPrefix)
	if err != nil {
		return nil, err
	}
	defer removeData(logs)
	db, err := Starter{Log: os.Stderr, Install: true}.provideMariaDB(ctx, logs)
	if err != nil {
		return nil, err
	}
	return start(ctx, db, config{data: data, log: log, options: options})
}
