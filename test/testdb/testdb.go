// Package testdb runs throw-away MariaDB and MySQL servers for tests and benchmarks.
package testdb

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"
)

const (
	// Variable is the environment variable that lists the MySQL-family servers for
	// tests, as `name=url` pairs separated by spaces, each URL without a database.
	Variable = "MODERATO_TEST_MYSQL"
	// AllVariable is the environment variable that has every test run on every server.
	AllVariable = "MODERATO_TEST_ALL"
	// SQLiteVariable is the environment variable that leaves out SQLite if it is None.
	SQLiteVariable = "MODERATO_TEST_SQLITE"
	// None is the value of Variable that runs the tests on SQLite alone.
	None = "none"
)

// IsRequired reports whether every server must be tested: a server that is not available
// is then a failure.
func IsRequired() bool {
	return os.Getenv("CI") == "true" || os.Getenv("MODERATO_REQUIRE_MYSQL") == "1"
}

// Starter provides the programs of the servers and starts them.
type Starter struct {
	// Log receives the progress and the logs of what failed.
	Log io.Writer
	// Install makes the Starter install and download programs that are missing.
	Install bool
}

// Servers are a MariaDB and, if it is available, a MySQL, with fresh data directories.
type Servers struct {
	// MySQLProblem says why there is no MySQL and what to do about it; it is empty if
	// there is one.
	MySQLProblem string

	starter Starter
	dir     string // holds the data and the logs
	running []*Server
	value   string // of Variable, for servers that already run
}

// Start starts the servers. It returns an error without MariaDB, but not without MySQL.
func (s Starter) Start(ctx context.Context) (*Servers, error) {
	servers, err := s.newServers()
	if err != nil {
		return nil, err
	}
	if err := servers.start(ctx); err != nil {
		servers.Close()
		return nil, err
	}
	return servers, nil
}

func (s Starter) newServers() (*Servers, error) {
	parent := dataParent()
	removeAbandoned(parent)
	dir, err := os.MkdirTemp(parent, dataPrefix)
	if err != nil {
		return nil, fmt.Errorf("test databases: %w", err)
	}
	return &Servers{starter: s, dir: dir}, nil
}

// start starts both servers at the same time.
func (s *Servers) start(ctx context.Context) error {
	db, err := s.starter.provideMariaDB(ctx, s.dir)
	if err != nil {
		return err
	}
	programs := []program{db}
	if my, err := s.starter.provideMySQL(ctx, s.dir); err == nil {
		programs = append(programs, my)
	} else {
		s.MySQLProblem = err.Error()
	}
	type result struct {
		server *Server
		err    error
	}
	results := make([]chan result, len(programs))
	for i, p := range programs {
		results[i] = make(chan result, 1)
		go func() {
			server, err := s.startOne(ctx, p)
			results[i] <- result{server, err}
		}()
	}
	var failed error
	for i, p := range programs {
		switch r := <-results[i]; {
		case r.err == nil:
			s.running = append(s.running, r.server)
		case p.name() == MySQL && ctx.Err() == nil:
			s.MySQLProblem = "it failed to start (its log is above); delete " + mysqlHome() + " to download it again, then run this again"
		default:
			failed = errors.Join(failed, r.err)
		}
	}
	return failed
}

func (s *Servers) startOne(ctx context.Context, p program) (*Server, error) {
	begin := time.Now()
	server, err := start(ctx, p, config{
		data: filepath.Join(s.dir, p.name(), "data"), log: filepath.Join(s.dir, p.name(), "log"), options: throwAway,
	})
	if err != nil {
		if ctx.Err() == nil {
			s.starter.say("%v", err)
		}
		return nil, err
	}
	s.starter.say("%s %s on %s (started in %.1f s)", p.label(), server.Version, server.Addr, time.Since(begin).Seconds())
	return server, nil
}

// Value returns the value of Variable that lists the servers.
func (s *Servers) Value() string {
	if s.value != "" {
		return s.value
	}
	var pairs []string
	for _, server := range s.running {
		pairs = append(pairs, server.name+"=mysql://root@"+server.Addr+"/")
	}
	return strings.Join(pairs, " ")
}

// Check returns an error if a server has ended by itself.
func (s *Servers) Check() error {
	var failed error
	for _, server := range s.running {
		if server.process.hasEnded() {
			failed = errors.Join(failed, server.failure("died"))
		}
	}
	return failed
}

// Close kills the servers and removes their data. The servers need no orderly shutdown,
// because their data is thrown away.
func (s *Servers) Close() {
	for _, server := range s.running {
		server.Kill()
	}
	removeData(s.dir)
}

// Prepare installs and downloads what the servers need, without starting them. The
// error says which server is not available.
func (s Starter) Prepare(ctx context.Context) error {
	servers, err := s.newServers()
	if err != nil {
		return err
	}
	defer servers.Close()
	db, err := s.provideMariaDB(ctx, servers.dir)
	if err != nil {
		return err
	}
	s.say("ready: %s %s", db.label(), versionOf(ctx, db))
	my, err := s.provideMySQL(ctx, servers.dir)
	if err != nil {
		return MySQLMissingError(err.Error())
	}
	s.say("ready: %s %s", my.label(), versionOf(ctx, my))
	if _, err := s.provideRouter(ctx, servers.dir); err != nil {
		return fmt.Errorf("MySQL Router: %w", err)
	}
	return nil
}

// MySQLMissingError is the error of a run without MySQL; it says why there is none.
type MySQLMissingError string

func (e MySQLMissingError) Error() string { return "MySQL 9 was not tested: " + string(e) }

func (s Starter) say(format string, args ...any) {
	_, _ = fmt.Fprintf(s.Log, "testdb: "+format+"\n", args...)
}
