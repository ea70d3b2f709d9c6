package testdb

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// The names of the servers, as in Variable.
const (
	MariaDB = "mariadb"
	MySQL   = "mysql"
)

const (
	startTimeout = 2 * time.Minute
	maxPorts     = 5 // ports that a server tries
)

// program is an installed database server.
type program interface {
	name() string
	label() string
	// initialize returns the command that creates a data directory, and run the command
	// that starts a server on it. The options are common to all programs.
	initialize(ctx context.Context, options []string) *exec.Cmd
	run(ctx context.Context, options []string) *exec.Cmd
}

// config says how to run a server.
type config struct {
	data    string // the data directory; created if it does not exist
	log     string
	options []string
	env     []string // added to the environment of this process
	// host and port are where the server listens; empty for a free port of 127.0.0.1.
	host, port string
}

// throwAway are the options for data that nobody keeps. The tests are not about
// durability or the server's insight into itself, and their data is small.
var throwAway = []string{
	"--skip-log-bin",
	"--innodb-flush-log-at-trx-commit=0",
	"--innodb-doublewrite=OFF",
	"--innodb-buffer-pool-size=128M",
	"--performance-schema=OFF",
	"--loose-innodb-flush-method=nosync", // loose: a server that no longer has the option starts too
	// The kernel limits asynchronous requests of all processes together, and a data
	// directory in memory has no use for them.
	"--innodb-use-native-aio=0",
	"--max-connections=500",
}

// Server is a running database server. Its user root has no password.
type Server struct {
	Addr    string // host:port
	Version string

	name, label string
	log         string
	process     *process
}

// Kill ends the server at once.
func (s *Server) Kill() { s.process.kill() }

// Stop shuts the server down in an orderly way.
func (s *Server) Stop() { s.process.stop() }

func (s *Server) failure(what string) error {
	return fmt.Errorf("%s %s; the end of its log:\n%s", s.label, what, lastLines(s.log))
}

// start starts a server, and returns when it accepts connections. It creates the data
// directory if there is none.
func start(ctx context.Context, p program, c config) (*Server, error) {
	s := &Server{name: p.name(), label: p.label(), log: c.log}
	if err := s.initialize(ctx, p, c); err != nil {
		return nil, err
	}
	for range maxPorts {
		err := s.launch(ctx, p, c)
		if err == nil {
			err = s.waitReady(ctx, c)
		}
		if !errors.Is(err, errPortTaken) {
			return s, err
		}
	}
	return nil, s.failure("found no free port")
}

func (s *Server) initialize(ctx context.Context, p program, c config) error {
	if err := os.MkdirAll(c.temporary(), 0o700); err != nil {
		return fmt.Errorf("%s: %w", s.label, err)
	}
	if _, err := os.Stat(filepath.Join(c.data, "mysql")); err == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	var err error
	// A command that is not bound to the context: kill ends the whole group.
	if s.process, err = spawn(c.log, p.initialize(context.WithoutCancel(ctx), c.common())); err != nil {
		return err
	}
	select {
	case <-s.process.done:
	case <-ctx.Done():
		s.process.kill()
	}
	if s.process.err != nil {
		return s.failure("could not create its data directory")
	}
	return nil
}

// common returns the options for both creating the data directory and running on it.
func (c config) common() []string {
	options := append([]string{"--datadir=" + c.data, "--tmpdir=" + c.temporary()}, c.options...)
	if os.Geteuid() == 0 {
		options = append(options, "--user=root") // servers refuse to run as root unless told to
	}
	return options
}

// temporary is the directory of temporary files. Servers must not share one: MariaDB removes
// the temporary tables that it finds there when it starts.
func (c config) temporary() string { return c.data + ".tmp" }

// pidFile is created by the server when it listens.
func (c config) pidFile() string { return filepath.Join(c.data, "server.pid") }

func (s *Server) launch(ctx context.Context, p program, c config) error {
	host, port := c.host, c.port
	if host == "" {
		host, port = "127.0.0.1", strconv.Itoa(freePort(ctx))
	}
	s.Addr = net.JoinHostPort(host, port)
	return s.relaunch(ctx, p, c)
}

// relaunch runs the server at its address.
func (s *Server) relaunch(ctx context.Context, p program, c config) error {
	host, port, err := net.SplitHostPort(s.Addr)
	if err != nil {
		return err
	}
	_ = os.Remove(c.pidFile()) // of a server that was killed
	options := append(c.common(),
		// The path of a socket is limited to some 100 characters: this one is relative
		// to the data directory.
		"--socket=server.sock", "--pid-file="+c.pidFile(), "--bind-address="+host, "--port="+port)
	cmd := p.run(context.WithoutCancel(ctx), options)
	if len(c.env) > 0 {
		cmd.Env = append(cmd.Environ(), c.env...)
	}
	s.process, err = spawn(c.log, cmd)
	return err
}

// freePort returns a port on which nothing listens, from below the range from which the
// kernel takes the ports of outgoing connections. Another process may still be faster to
// take it: then the server fails to start, and tries another.
func freePort(ctx context.Context) int {
	dialer := net.Dialer{Timeout: time.Second}
	for {
		port := 20000 + rand.IntN(12000)
		conn, err := dialer.DialContext(ctx, "tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
		if err != nil {
			return port
		}
		_ = conn.Close()
	}
}

var errPortTaken = errors.New("the port is taken")

// waitReady waits until the server accepts connections.
func (s *Server) waitReady(ctx context.Context, c config) error {
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for {
		select {
		case <-s.process.done:
			if text, _ := os.ReadFile(c.log); strings.Contains(string(text), "Bind on TCP/IP port") {
				return errPortTaken
			}
			return s.failure("did not start")
		case <-ctx.Done():
			s.process.kill()
			return s.failure(fmt.Sprintf("did not accept connections within %v", startTimeout))
		case <-tick.C:
			// The pid file comes after the port is taken, so that it is this server
			// that answers there.
			if info, err := os.Stat(c.pidFile()); err != nil || info.Size() == 0 {
				continue
			}
			if s.Version = greeting(ctx, s.Addr); s.Version != "" {
				return nil
			}
		}
	}
}

// greeting returns the version in the greeting that a MySQL server sends to every
// client: three bytes of length, a sequence number, a protocol version of 10, and the
// version up to a zero byte. It is empty if no such server answers.
func greeting(ctx context.Context, addr string) string {
	dialer := net.Dialer{Timeout: 5 * time.Second}
	conn, err := dialer.DialContext(ctx, "tcp", addr)
	if err != nil {
		return ""
	}
	defer func() { _ = conn.Close() }()
	_ = conn.SetReadDeadline(time.Now().Add(5 * time.Second))
	in := bufio.NewReader(conn)
	head := make([]byte, 5)
	for i := range head {
		if head[i], err = in.ReadByte(); err != nil {
			return ""
		}
	}
	version, err := in.ReadString(0)
	if err != nil || head[4] != 10 {
		return ""
	}
	// MariaDB before 11 has this prefix for the sake of old replicas.
	version = strings.TrimPrefix(strings.TrimSuffix(version, "\x00"), "5.5.5-")
	version, _, _ = strings.Cut(version, "-")
	return version
}

// versionOf returns the version that a program prints.
func versionOf(ctx context.Context, p program) string {
	cmd := p.run(ctx, nil)
	cmd.Args = append(cmd.Args, "--version")
	out, err := cmd.Output()
	if err != nil {
		return "of unknown version"
	}
	_, version, _ := strings.Cut(string(out), "Ver ")
	version, _, _ = strings.Cut(strings.TrimSpace(version), " ")
	version, _, _ = strings.Cut(version, "-")
	return version
}
