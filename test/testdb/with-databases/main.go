// With-databases runs a command with a fresh MariaDB and a fresh MySQL, which live as
// long as the command.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"

	"github.com/moderato-live/moderato/test/testdb"
)

const usage = `Usage: with-databases COMMAND [ARGUMENT...]
       with-databases --tidb COMMAND [ARGUMENT...]
       with-databases --prepare

Starts a fresh MariaDB and a fresh MySQL on free ports of 127.0.0.1, runs
COMMAND with their addresses in MODERATO_TEST_MYSQL, as in

  mariadb=mysql://root@127.0.0.1:21213/ mysql=mysql://root@127.0.0.1:28017/

(root has no password), stops the servers, removes their data and exits with
the exit code of COMMAND. If MODERATO_TEST_MYSQL is set already, it starts
nothing and only runs COMMAND.

--tidb runs COMMAND on TiDB alone: on the cluster of MODERATO_TEST_TIDB, or
on the tidb-server beside this program, which "make tidb" builds.

--prepare only installs and downloads what the servers need.

MariaDB is installed from the system's packages. MySQL is downloaded from
Debian unstable into a cache, through the Debian mirrors of apt's own sources,
and never installed. Without MariaDB nothing runs; without MySQL the command
runs on MariaDB alone and a warning ends the output.

Environment:
  MODERATO_TEST_MYSQL     servers to use instead of starting any
  MODERATO_TEST_TIDB      a TiDB cluster for --tidb, as user@host:port
  MODERATO_REQUIRE_MYSQL  1: exit with an error when MySQL is not available;
                          CI=true does the same
  MODERATO_CACHE          cache, default ${XDG_CACHE_HOME:-~/.cache}/moderato;
                          delete mysql/ in it to get a newer MySQL
`

func main() {
	os.Exit(run(os.Args[1:]))
}

func run(args []string) (exitCode int) {
	signals := make(chan os.Signal, 8)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	mode := ""
	if len(args) > 0 {
		mode = args[0]
	}
	switch mode {
	case "":
		fmt.Fprint(os.Stderr, usage)
		return 2
	case "-h", "--help":
		fmt.Print(usage)
		return 0
	case "--prepare":
		return untilSignal(signals, prepare)
	case "--keep": // for package testdb
		return untilSignal(signals, testdb.Keep)
	}
	if os.Getenv(testdb.Variable) != "" {
		return runCommand(args, signals)
	}
	start := testdb.Starter{Log: os.Stderr, Install: true}.Start
	if mode == "--tidb" {
		args, start = args[1:], startTiDB
		_ = os.Setenv(testdb.SQLiteVariable, testdb.None)
	}
	return runWithServers(args, start, signals)
}

func say(err error) { fmt.Fprintln(os.Stderr, "testdb:", err) }

// untilSignal runs do, and cancels it on the first signal.
func untilSignal(signals <-chan os.Signal, do func(context.Context) error) (exitCode int) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	var err error
	done := make(chan struct{})
	go func() {
		err = do(ctx)
		close(done)
	}()
	select {
	case <-done:
		if err != nil {
			say(err)
			return 1
		}
		return 0
	case s := <-signals:
		cancel()
		<-done
		return codeOf(s)
	}
}

// prepare treats a missing MySQL as a warning, unless it is required.
func prepare(ctx context.Context) error {
	err := testdb.Starter{Log: os.Stderr, Install: true}.Prepare(ctx)
	if missing := testdb.MySQLMissingError(""); errors.As(err, &missing) && !testdb.IsRequired() {
		say(missing)
		return nil
	}
	return err
}

// startTiDB starts the tidb-server that lies beside this program.
func startTiDB(ctx context.Context) (*testdb.Servers, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	return testdb.Starter{Log: os.Stderr}.StartTiDB(ctx, filepath.Join(filepath.Dir(self), "tidb-server"))
}

func runWithServers(args []string, start func(context.Context) (*testdb.Servers, error), signals <-chan os.Signal) (exitCode int) {
	var servers *testdb.Servers
	// Also after a signal: the servers may have been ready by then.
	defer func() {
		if servers != nil {
			servers.Close()
		}
	}()
	code := untilSignal(signals, func(ctx context.Context) (err error) {
		servers, err = start(ctx)
		return err
	})
	if code != 0 {
		return code
	}
	missing := testdb.MySQLMissingError(servers.MySQLProblem)
	if missing != "" {
		say(missing)
	}
	_ = os.Setenv(testdb.Variable, servers.Value())
	code = runCommand(args, signals)
	if err := servers.Check(); err != nil { // the command's own output cannot tell this
		say(err)
	}
	if missing != "" {
		say(missing) // again at the end, where it cannot be overlooked
		if testdb.IsRequired() && code == 0 {
			code = 1
		}
	}
	return code
}
