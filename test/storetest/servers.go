package storetest

import (
	"context"
	"crypto/rand"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/go-sql-driver/mysql"

	"github.com/moderato-live/moderato/server/store"
	"github.com/moderato-live/moderato/test/testdb"
)

// server is a database server to test on.
type server struct {
	name, url string
	// admin is a connection to no database, to create and drop databases.
	admin *sql.DB
	// template returns the database to copy for Migrate.
	template func() (*template, error)
}

// found are the servers, and the reasons why others are missing.
type found struct {
	servers []*server
	missing map[string]string
	err     error
}

// find looks for the servers once in a process.
var find = sync.OnceValue(func() found {
	value := os.Getenv(testdb.Variable)
	if value == testdb.None {
		return found{}
	}
	if value != "" {
		servers, err := parse(value)
		return found{servers: servers, err: err}
	}
	return share()
})

// share finds the servers that the test processes share. A missing server is a failure
// if all are required, and is announced otherwise.
func share() found {
	shared, err := testdb.Shared()
	missing := map[string]string{}
	var reason error
	switch {
	case err != nil:
		missing[testdb.MariaDB], missing[testdb.MySQL] = err.Error(), err.Error()
		reason = fmt.Errorf("no database server to test on: %w", err)
	case shared.MySQLProblem != "":
		missing[testdb.MySQL] = shared.MySQLProblem
		reason = testdb.MySQLMissingError(shared.MySQLProblem)
	}
	if reason != nil {
		reason = fmt.Errorf("%w\n`make test` provides the servers; %s=%s tests on SQLite alone", reason, testdb.Variable, testdb.None)
		if testdb.IsRequired() {
			return found{err: reason}
		}
		Announce(reason)
	}
	if err != nil {
		return found{missing: missing}
	}
	servers, err := parse(shared.Value)
	return found{servers: servers, missing: missing, err: err}
}

// Announce prints a warning on the terminal, because go test hides the output of
// packages that pass.
func Announce(warning error) {
	out := os.Stderr
	if terminal, err := os.OpenFile("/dev/tty", os.O_WRONLY, 0); err == nil {
		defer func() { _ = terminal.Close() }()
		out = terminal
	}
	fmt.Fprintf(out, "WARNING: %s: %v\n", filepath.Base(os.Args[0]), warning)
}

// parse returns the servers of a value of testdb.Variable.
func parse(value string) ([]*server, error) {
	var servers []*server
	for _, pair := range strings.Fields(value) {
		name, text, ok := strings.Cut(pair, "=")
		if !ok {
			return nil, fmt.Errorf("%s has %q, which is not name=mysql://…/", testdb.Variable, pair)
		}
		s := &server{name: name, url: text}
		// information_schema exists on every server and requires no privileges.
		url, err := store.ParseURL(text + "information_schema")
		if err != nil {
			return nil, fmt.Errorf("%s: %w", testdb.Variable, err)
		}
		if s.admin, err = openAdmin(url); err != nil {
			return nil, fmt.Errorf("%s: %w", testdb.Variable, err)
		}
		s.template = sync.OnceValues(s.makeTemplate)
		servers = append(servers, s)
	}
	if len(servers) == 0 {
		return nil, errors.New(testdb.Variable + " lists no server")
	}
	return servers, nil
}

func openAdmin(url store.URL) (*sql.DB, error) {
	config := mysql.NewConfig()
	config.Net, config.Addr, config.User, config.Passwd = "tcp", url.Host, url.User, url.Password
	config.TLSConfig = url.TLS
	connector, err := mysql.NewConnector(config)
	if err != nil {
		return nil, err
	}
	return sql.OpenDB(connector), nil
}

// servers returns the servers to test on; none if only SQLite is to be tested.
func servers(t testing.TB) []*server {
	t.Helper()
	f := find()
	if f.err != nil {
		t.Fatal(f.err)
	}
	return f.servers
}

// missing returns the servers that were not found, with the reason.
func missing() map[string]string { return find().missing }

// database creates an empty database, which is dropped when the test ends.
func (s *server) database(t testing.TB) store.URL {
	t.Helper()
	name := "moderato_test_" + strings.ToLower(rand.Text())
	s.exec(t, "CREATE DATABASE "+name+" CHARACTER SET utf8mb4 COLLATE utf8mb4_bin")
	t.Cleanup(func() { s.exec(t, "DROP DATABASE "+name) })
	url, err := store.ParseURL(s.url + name)
	if err != nil {
		t.Fatalf("%s: %v", testdb.Variable, err)
	}
	return url
}

func (s *server) exec(t testing.TB, statement string) {
	t.Helper()
	if _, err := s.admin.ExecContext(context.Background(), statement); err != nil {
		t.Fatalf("%s: %s: %v", s.name, statement, err)
	}
}
