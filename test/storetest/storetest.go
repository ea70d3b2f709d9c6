// Package storetest provides each test with its own database on each kind of store.
package storetest

import (
	"hash/fnv"
	"os"
	"path/filepath"
	"testing"

	"github.com/moderato-live/moderato/server/store"
	"github.com/moderato-live/moderato/test/testdb"
)

// Each runs a test on every kind of store, each time with a database of its own, which
// Migrate makes ready. It uses the servers that testdb.Variable lists, or else those that
// the test processes share.
func Each(t *testing.T, test func(t *testing.T, url store.URL)) {
	t.Helper()
	onSQLite(t, test)
	EachServer(t, test)
}

// EachNew is Each with new databases, in which nothing was created yet. It is slower.
func EachNew(t *testing.T, test func(t *testing.T, url store.URL)) {
	t.Helper()
	onSQLite(t, test)
	EachNewOnServer(t, test)
}

func onSQLite(t *testing.T, test func(t *testing.T, url store.URL)) {
	t.Helper()
	if omitsSQLite() {
		return
	}
	t.Run("sqlite", func(t *testing.T) {
		t.Parallel()
		test(t, SQLite(t))
	})
}

// SQLite returns the URL of a new SQLite database file. The file of a test is in memory
// if the system has a directory for that: no test is about the failure of a machine. The
// test is skipped if SQLite is left out.
func SQLite(t testing.TB) store.URL {
	t.Helper()
	if omitsSQLite() {
		t.Skip("SQLite is left out")
	}
	return store.URL{Path: filepath.Join(directory(t), "test.db")}
}

func omitsSQLite() bool { return os.Getenv(testdb.SQLiteVariable) == testdb.None }

func directory(t testing.TB) string {
	t.Helper()
	memory, ok := testdb.Memory()
	// Benchmarks measure the disk too, and the soak writes gigabytes.
	if _, isTest := t.(*testing.T); !isTest || !ok || os.Getenv("MODERATO_SOAK") != "" {
		return t.TempDir()
	}
	dir, err := os.MkdirTemp(memory, "moderato-test.")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := os.RemoveAll(dir); err != nil {
			t.Error(err)
		}
	})
	return dir
}

// EachServer is Each without SQLite, for features that only database servers have.
func EachServer(t *testing.T, test func(t *testing.T, url store.URL)) {
	t.Helper()
	onServers(t, (*server).pooled, test)
}

// EachNewOnServer is EachNew without SQLite.
func EachNewOnServer(t *testing.T, test func(t *testing.T, url store.URL)) {
	t.Helper()
	onServers(t, (*server).database, test)
}

// EachKind is Each with one server of the MySQL family, which the test's name selects. It is
// for tests of rules that are the same on MariaDB and MySQL: the tests of a package together
// use both. With AllVariable it is Each.
func EachKind(t *testing.T, test func(t *testing.T, url store.URL)) {
	t.Helper()
	onSQLite(t, test)
	OneServer(t, test)
}

// OneServer is EachKind without SQLite.
func OneServer(t *testing.T, test func(t *testing.T, url store.URL)) {
	t.Helper()
	all := servers(t)
	if len(all) > 1 && os.Getenv(testdb.AllVariable) == "" {
		name := fnv.New32a()
		_, _ = name.Write([]byte(t.Name()))
		at := int(name.Sum32() % uint32(len(all)))
		all = all[at : at+1]
	}
	onSome(t, all, (*server).pooled, test)
}

// Share returns how many of n random runs a test makes on each store: half of them, since
// several stores make them. With AllVariable, or without a server, it returns n.
func Share(t *testing.T, n int) int {
	t.Helper()
	if os.Getenv(testdb.AllVariable) != "" || len(servers(t)) == 0 {
		return n
	}
	return n / 2
}

// Takes reports whether a test with EachKind runs a case on a store. It divides the cases of a
// slow test among SQLite and the server by the name of the case. With AllVariable, or without
// a server, every store takes every case.
func Takes(t *testing.T, url store.URL, name string) bool {
	t.Helper()
	if os.Getenv(testdb.AllVariable) != "" || len(servers(t)) == 0 {
		return true
	}
	hash := fnv.New32a()
	_, _ = hash.Write([]byte(name))
	return (hash.Sum32()%2 == 0) == (url.Path != "")
}

func onServers(t *testing.T, database func(s *server, t testing.TB) store.URL, test func(t *testing.T, url store.URL)) {
	t.Helper()
	onSome(t, servers(t), database, test)
}

func onSome(t *testing.T, some []*server, database func(s *server, t testing.TB) store.URL, test func(t *testing.T, url store.URL)) {
	t.Helper()
	for _, s := range some {
		t.Run(s.name, func(t *testing.T) {
			s.skipOnTiDB(t)
			t.Parallel()
			test(t, database(s, t))
		})
	}
	for name, reason := range missing() {
		t.Run(name, func(t *testing.T) { t.Skip(reason) })
	}
}

// EachBench is Each for a benchmark; it runs one store after the other.
func EachBench(b *testing.B, bench func(b *testing.B, url store.URL)) {
	b.Helper()
	EachBenchNew(b, func(b *testing.B, database func(testing.TB) store.URL) { bench(b, database(b)) })
}

// EachBenchNew is EachBench for a benchmark that needs several databases: database
// creates one.
func EachBenchNew(b *testing.B, bench func(b *testing.B, database func(testing.TB) store.URL)) {
	b.Helper()
	b.Run("sqlite", func(b *testing.B) { bench(b, SQLite) })
	for _, s := range servers(b) {
		b.Run(s.name, func(b *testing.B) { bench(b, s.database) })
	}
}

// Must returns the value of a call that must not fail.
func Must[T any](value T, err error) T {
	if err != nil {
		panic(err)
	}
	return value
}
