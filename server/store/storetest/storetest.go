// Package storetest provides each test with its own database on each kind of store.
package storetest

import (
	"context"
	"crypto/rand"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/moderato-live/moderato/server/store"
)

// Variable is the environment variable that lists the MySQL-family servers for tests, as
// `name=url` pairs separated by spaces, each URL without a database.
// tools/testdb/with-databases starts servers and sets the variable.
const Variable = "MODERATO_TEST_MYSQL"

// none is the value of Variable that runs the tests on SQLite alone.
const none = "none"

// Each runs a test on every kind of store, each time with a new, empty database. It
// fails if Variable lists no server.
func Each(t *testing.T, test func(t *testing.T, url store.URL)) {
	t.Helper()
	t.Run("sqlite", func(t *testing.T) {
		t.Parallel()
		test(t, SQLite(t))
	})
	for _, s := range servers(t) {
		t.Run(s.name, func(t *testing.T) {
			t.Parallel()
			test(t, s.database(t))
		})
	}
}

// SQLite returns the URL of a new SQLite database file.
func SQLite(t testing.TB) store.URL {
	t.Helper()
	return store.URL{Path: filepath.Join(t.TempDir(), "test.db")}
}

// EachServer is Each without SQLite, for features that only database servers have.
func EachServer(t *testing.T, test func(t *testing.T, url store.URL)) {
	t.Helper()
	for _, s := range servers(t) {
		t.Run(s.name, func(t *testing.T) {
			t.Parallel()
			test(t, s.database(t))
		})
	}
}

// EachBench is Each for a benchmark; it runs one store after the other.
func EachBench(b *testing.B, bench func(b *testing.B, url store.URL)) {
	b.Helper()
	b.Run("sqlite", func(b *testing.B) { bench(b, SQLite(b)) })
	for _, s := range servers(b) {
		b.Run(s.name, func(b *testing.B) { bench(b, s.database(b)) })
	}
}

type server struct{ name, url string }

func servers(t testing.TB) []server {
	t.Helper()
	value := os.Getenv(Variable)
	if value == none && os.Getenv("CI") != "true" {
		return nil
	}
	var found []server
	for _, pair := range strings.Fields(value) {
		name, url, ok := strings.Cut(pair, "=")
		if !ok {
			t.Fatalf("%s has %q, which is not name=mysql://…/", Variable, pair)
		}
		found = append(found, server{name, url})
	}
	if len(found) == 0 {
		t.Fatalf("no database server to test on: run `make test`, or `tools/testdb/with-databases go test ./...`, or set %s=%s to test on SQLite alone", Variable, none)
	}
	return found
}

func (s server) database(t testing.TB) store.URL {
	t.Helper()
	name := "moderato_test_" + strings.ToLower(rand.Text())
	s.exec(t, "CREATE DATABASE "+name+" CHARACTER SET utf8mb4 COLLATE utf8mb4_bin")
	t.Cleanup(func() { s.exec(t, "DROP DATABASE "+name) })
	url, err := store.ParseURL(s.url + name)
	if err != nil {
		t.Fatalf("%s: %v", Variable, err)
	}
	return url
}

func (s server) exec(t testing.TB, statement string) {
	t.Helper()
	// information_schema exists on every server and requires no privileges.
	url, err := store.ParseURL(s.url + "information_schema")
	if err != nil {
		t.Fatalf("%s: %v", Variable, err)
	}
	db, err := store.Open(context.Background(), url)
	if err != nil {
		t.Fatal(fmt.Errorf("%s: %w", Variable, err))
	}
	defer db.Close()
	if _, err := db.DB().ExecContext(context.Background(), statement); err != nil {
		t.Fatalf("%s: %v", statement, err)
	}
}
