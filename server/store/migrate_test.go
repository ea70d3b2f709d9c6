package store_test

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"log/slog"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/moderato-live/moderato/ent/migrations"
	"github.com/moderato-live/moderato/ent/migrations/drift"
	"github.com/moderato-live/moderato/internal/uid"
	"github.com/moderato-live/moderato/server/store"
	"github.com/moderato-live/moderato/test/storetest"
)

func open(t *testing.T, url store.URL) *store.Store {
	t.Helper()
	s, err := store.Open(context.Background(), url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return s
}

func migrate(t *testing.T, url store.URL) {
	t.Helper()
	if err := store.Migrate(context.Background(), url, slog.New(slog.DiscardHandler)); err != nil {
		t.Fatal(err)
	}
}

// TestMigrationsCreateSchema detects drift: a change of ent/schema needs a migration.
func TestMigrationsCreateSchema(t *testing.T) {
	storetest.EachNew(t, func(t *testing.T, url store.URL) {
		migrate(t, url)
		statements, err := drift.Statements(context.Background(), open(t, url))
		if err != nil {
			t.Fatal(err)
		}
		if len(statements) > 0 {
			t.Errorf("ent/schema and the migrations differ; `make migration NAME=…` proposes:\n%s", strings.Join(statements, "\n"))
		}
	})
}

func TestSchemaDriftIsDetected(t *testing.T) {
	storetest.EachNew(t, func(t *testing.T, url store.URL) {
		migrate(t, url)
		s := open(t, url)
		if _, err := s.DB().Exec("ALTER TABLE clips DROP COLUMN title"); err != nil {
			t.Fatal(err)
		}
		statements, err := drift.Statements(context.Background(), s)
		if err != nil || len(statements) == 0 {
			t.Errorf("got %q (%v), want the lost column", statements, err)
		}
	})
}

func TestMigratingTwiceChangesNothing(t *testing.T) {
	storetest.EachNew(t, func(t *testing.T, url store.URL) {
		migrate(t, url)
		migrate(t, url)
		if err := open(t, url).CheckVersion(context.Background()); err != nil {
			t.Error(err)
		}
	})
}

func TestConcurrentMigrationsAreSerialized(t *testing.T) {
	storetest.EachNew(t, func(t *testing.T, url store.URL) {
		var all sync.WaitGroup
		for range 4 {
			all.Go(func() {
				if err := store.Migrate(context.Background(), url, slog.New(slog.DiscardHandler)); err != nil {
					t.Error(err)
				}
			})
		}
		all.Wait()
		if err := open(t, url).CheckVersion(context.Background()); err != nil {
			t.Error(err)
		}
	})
}

func TestUnmigratedDatabaseIsReported(t *testing.T) {
	storetest.EachNew(t, func(t *testing.T, url store.URL) {
		s := open(t, url)
		if err := s.CheckVersion(context.Background()); !errors.Is(err, store.ErrVersion) {
			t.Errorf("an empty database: %v, want ErrVersion", err)
		}
		migrate(t, url)
		if _, err := s.DB().Exec("DELETE FROM goose_db_version WHERE version_id = (SELECT v FROM (SELECT MAX(version_id) AS v FROM goose_db_version) AS newest)"); err != nil {
			t.Fatal(err)
		}
		if err := s.CheckVersion(context.Background()); !errors.Is(err, store.ErrVersion) {
			t.Errorf("a database one step behind: %v, want ErrVersion", err)
		}
	})
}

// TestDatabaseFromBeforeFirstReleaseIsRefused has a database with the last version that a
// program had before the initial migration.
func TestDatabaseFromBeforeFirstReleaseIsRefused(t *testing.T) {
	storetest.EachNew(t, func(t *testing.T, url store.URL) {
		s := open(t, url)
		for _, statement := range []string{
			"CREATE TABLE goose_db_version (version_id BIGINT NOT NULL, is_applied BOOL NOT NULL)",
			"INSERT INTO goose_db_version (version_id, is_applied) VALUES (0, TRUE), (1, TRUE), (117, TRUE)",
		} {
			if _, err := s.DB().Exec(statement); err != nil {
				t.Fatal(err)
			}
		}
		if err := s.CheckVersion(t.Context()); !errors.Is(err, store.ErrTooOld) || errors.Is(err, store.ErrVersion) {
			t.Errorf("the check: %v, want ErrTooOld", err)
		}
		if err := store.Migrate(t.Context(), url, slog.New(slog.DiscardHandler)); !errors.Is(err, store.ErrTooOld) {
			t.Errorf("the migration: %v, want ErrTooOld", err)
		}
		if _, err := s.DB().Exec("SELECT 1 FROM users"); err == nil {
			t.Error("the migration created tables")
		}
	})
}

// TestNewerDatabaseIsAccepted migrates a database as a later release would. This program must
// use it, and change nothing when it migrates the database, as serve does on SQLite.
func TestNewerDatabaseIsAccepted(t *testing.T) {
	storetest.Each(t, func(t *testing.T, url store.URL) {
		migrate(t, url)
		s := open(t, url)
		if _, err := s.DB().Exec("INSERT INTO goose_db_version (version_id, is_applied) VALUES (99999, TRUE)"); err != nil {
			t.Fatal(err)
		}
		if err := s.CheckVersion(t.Context()); err != nil {
			t.Errorf("a newer database: %v", err)
		}
		var said bytes.Buffer
		if err := store.Migrate(t.Context(), url, slog.New(slog.NewTextHandler(&said, nil))); err != nil || said.Len() > 0 {
			t.Errorf("migrating a newer database: %v, %s", err, &said)
		}
	})
}

func TestMigrationIsLoggedOnce(t *testing.T) {
	url := storetest.SQLite(t)
	for _, want := range []int{1, 0} { // the second migration has nothing to do
		var said bytes.Buffer
		if err := store.Migrate(t.Context(), url, slog.New(slog.NewTextHandler(&said, nil))); err != nil {
			t.Fatal(err)
		}
		if n := strings.Count(said.String(), "\n"); n != want || (n == 1 && !strings.Contains(said.String(), "msg=migrated steps=")) {
			t.Errorf("got the log %q, want %d lines", &said, want)
		}
	}
}

// TestInterruptedMigrationContinues executes half of the initial migration, as if the program
// was killed then, and migrates. SQLite applies either all of a file or nothing.
func TestInterruptedMigrationContinues(t *testing.T) {
	statements := mysqlStatements(t, "mysql/"+initial)
	storetest.EachNewOnServer(t, func(t *testing.T, url store.URL) {
		s := open(t, url)
		for _, statement := range statements[:len(statements)/2] {
			if _, err := s.DB().ExecContext(t.Context(), statement); err != nil {
				t.Fatal(err)
			}
		}
		migrate(t, url)
		differences, err := drift.Statements(t.Context(), s)
		if err != nil || len(differences) > 0 {
			t.Errorf("after going on: %q (%v)", differences, err)
		}
		if _, err := s.Cursors.Seal(t.Context(), "list", 1); err != nil {
			t.Errorf("there is no key for cursors: %v", err)
		}
	})
}

// initial is the file of the first migration.
const initial = "00206_initial.sql"

// TestMySQLMigrationsHaveOneStatement checks that each file has one statement, except the
// initial one, whose statements can be repeated. MySQL commits each statement, so another
// file with two could fail between them and never be completed.
func TestMySQLMigrationsHaveOneStatement(t *testing.T) {
	files, err := fs.Glob(migrations.FS, "mysql/*.sql")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	for _, file := range files {
		statements := mysqlStatements(t, file)
		if file == "mysql/"+initial {
			for _, statement := range statements {
				if !strings.Contains(statement, "CREATE TABLE IF NOT EXISTS") && !strings.Contains(statement, "INSERT IGNORE") {
					t.Errorf("%s has a statement that cannot be repeated: %s", file, statement)
				}
			}
		} else if len(statements) != 1 {
			t.Errorf("%s has %d statements, want 1", file, len(statements))
		}
	}
}

var endOfStatement = regexp.MustCompile(`;\s*(\n|$)`)

// mysqlStatements returns the statements of a file.
func mysqlStatements(t *testing.T, file string) []string {
	t.Helper()
	text, err := fs.ReadFile(migrations.FS, file)
	if err != nil {
		t.Fatal(err)
	}
	return slices.DeleteFunc(endOfStatement.Split(string(text), -1), func(s string) bool { return strings.TrimSpace(s) == "" })
}

// TestMigrationLockOutlastsIdleTimeout checks that a server keeps the connection that holds
// the lock of a migration, although it is idle meanwhile.
func TestMigrationLockOutlastsIdleTimeout(t *testing.T) {
	storetest.EachNewOnServer(t, func(t *testing.T, url store.URL) {
		s := open(t, url)
		conn, err := s.MigrationLockOn(t.Context(), "moderato.test."+uid.New().String()[:8])
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = conn.Close() }()
		var idle, usual int
		if err := conn.QueryRowContext(t.Context(), "SELECT @@SESSION.wait_timeout, @@GLOBAL.wait_timeout").Scan(&idle, &usual); err != nil {
			t.Fatal(err)
		}
		if idle < 24*3600 {
			t.Errorf("the server closes the connection after %d s (usually %d), want at least a day", idle, usual)
		}
	})
}
