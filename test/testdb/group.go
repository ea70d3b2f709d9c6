package testdb

import (
	"context"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"syscall"
)

// small are the options of servers that run beside others on one machine. They do not
// change what the servers promise.
var small = []string{
	"--innodb-redo-log-capacity=8M",
	"--innodb-buffer-pool-size=64M",
	"--innodb-use-native-aio=0", // see throwAway
	"--loose-innodb-flush-method=nosync",
}

// everywhere lets root log in from other addresses than localhost.
const everywhere = "CREATE USER root@'%';\nGRANT ALL ON *.* TO root@'%' WITH GRANT OPTION;\n"

// Node is a MySQL server that can be killed and started again, such as a member of a
// replication group. Its user root has no password.
type Node struct {
	// Addr is the host:port on which the server listens.
	Addr string
	// Directory holds the data and the log.
	Directory string
	// Settings is the text of the server's option file.
	Settings string
	// Within is a command that runs the server, such as nsenter with its flags; empty for
	// none.
	Within []string

	program mysql
	server  *Server
}

// PrepareMySQL finds MySQL and gives each node a data directory. The error is a
// MySQLMissingError if there is no MySQL.
func PrepareMySQL(ctx context.Context, nodes []*Node) error {
	logs, err := os.MkdirTemp("", dataPrefix)
	if err != nil {
		return err
	}
	defer removeData(logs)
	found, err := Starter{Log: os.Stderr}.provideMySQL(ctx, logs)
	if err != nil {
		return MySQLMissingError(err.Error())
	}
	program := found.(mysql)
	template, err := dataTemplate(ctx, program, filepath.Join(logs, "log"))
	if err != nil {
		return err
	}
	for _, n := range nodes {
		n.program = program
		n.program.settings = filepath.Join(n.Directory, "my.cnf")
		n.program.within = n.Within
		if err := os.CopyFS(n.data(), os.DirFS(template)); err != nil {
			return fmt.Errorf("copy a data directory: %w", err)
		}
	}
	return nil
}

// dataTemplate returns a data directory to copy. It stays in the cache until MySQL has
// another version.
func dataTemplate(ctx context.Context, program mysql, log string) (string, error) {
	dir := program.home + ".data"
	unlock, err := lockCache(filepath.Dir(dir))
	if err != nil {
		return "", err
	}
	defer unlock()
	version := filepath.Join(dir, versionOf(ctx, program))
	if _, err := os.Stat(version); err == nil {
		return version, nil
	}
	removeData(dir)
	s := &Server{name: program.name(), label: program.label(), log: log}
	accounts := filepath.Join(filepath.Dir(log), "accounts.sql")
	if err := os.WriteFile(accounts, []byte(everywhere), 0o600); err != nil {
		return "", err
	}
	c := config{data: filepath.Join(dir, "new"), log: log, options: append(small[:len(small):len(small)], "--skip-log-bin", "--init-file="+accounts)}
	if err := s.initialize(ctx, program, c); err != nil {
		return "", err
	}
	// The servers make their own identifiers.
	_ = os.Remove(filepath.Join(c.data, "auto.cnf"))
	return version, os.Rename(c.data, version)
}

func (n *Node) data() string { return filepath.Join(n.Directory, "data") }

// Start starts the server, and returns when it accepts connections.
func (n *Node) Start(ctx context.Context) error {
	host, port, err := net.SplitHostPort(n.Addr)
	if err != nil {
		return err
	}
	if err := os.WriteFile(n.program.settings, []byte(n.Settings), 0o600); err != nil {
		return err
	}
	n.server, err = start(ctx, n.program, config{
		data: n.data(), log: filepath.Join(n.Directory, "log"), host: host, port: port,
		options: append(small[:len(small):len(small)], "--report-port="+port),
	})
	return err
}

// StartAll starts servers at the same time.
func StartAll(ctx context.Context, nodes []*Node) error {
	var starts sync.WaitGroup
	errs := make(chan error, len(nodes))
	for _, n := range nodes {
		starts.Go(func() { errs <- n.Start(ctx) })
	}
	starts.Wait()
	for range nodes {
		if err := <-errs; err != nil {
			return err
		}
	}
	return nil
}

// Kill kills the server, as kill -9 does.
func (n *Node) Kill() {
	if n.server != nil {
		n.server.Kill()
	}
}

// Pause suspends the server's process until Continue.
func (n *Node) Pause() { n.server.process.signal(syscall.SIGSTOP) }

// Continue continues a process that is suspended.
func (n *Node) Continue() { n.server.process.signal(syscall.SIGCONT) }

// Log returns the end of the server's log.
func (n *Node) Log() string { return lastLines(filepath.Join(n.Directory, "log")) }

// FreeAddr returns a loopback address on which nothing listens.
func FreeAddr(ctx context.Context) string {
	return net.JoinHostPort("127.0.0.1", strconv.Itoa(freePort(ctx)))
}
