package store_test

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"log/slog"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/moderato-live/moderato/ent/migrations"
	"github.com/moderato-live/moderato/ent/migrations/drift"
	"github.com/moderato-live/moderato/server/store"
	"github.com/moderato-live/moderato/server/store/storetest"
	"github.com/moderato-live/moderato/server/uid"
	"github.com/moderato-live/moderato/server/users"
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

// TestInterruptedMigrationContinues stops after some steps, as if killed, and migrates
// again.
func TestInterruptedMigrationContinues(t *testing.T) {
	storetest.EachNew(t, func(t *testing.T, url store.URL) {
		s := open(t, url)
		for _, version := range []int64{20, 57} {
			if err := s.MigrateTo(t.Context(), version); err != nil {
				t.Fatal(err)
			}
		}
		migrate(t, url)
		statements, err := drift.Statements(t.Context(), s)
		if err != nil || len(statements) > 0 {
			t.Errorf("after going on: %q (%v)", statements, err)
		}
		if _, err := s.Cursors.Seal(t.Context(), "list", 1); err != nil {
			t.Errorf("there is no key for cursors: %v", err)
		}
	})
}

// TestFormerDeletedUserIsMigrated migrates a database in which the placeholder of deleted
// users has the former id and names.
func TestFormerDeletedUserIsMigrated(t *testing.T) {
	const former = "00000000-0000-4000-8000-000000000000"
	storetest.EachNew(t, func(t *testing.T, url store.URL) {
		s := open(t, url)
		if err := s.MigrateTo(t.Context(), 54); err != nil {
			t.Fatal(err)
		}
		channel, user, old := uid.New(), uid.New(), uid.MustParse(former)
		payload := `{"moderatorId":"` + former + `","userSlug":"-deleted-","userDisplayName":"Deleted user"}`
		for _, insert := range []struct {
			statement string
			args      []any
		}{
			{"INSERT INTO bans (channel_id, user_id, moderator_id, banned_at) VALUES (?, ?, ?, 1)", []any{channel, user, old}},
			{"INSERT INTO events (id, channel_id, sequence, type, operation_id, actor_id, target_id, client_id, request_id, occurred_at, payload) VALUES (?, ?, 1, 'channel.ban', ?, ?, ?, '', '', 1, ?)",
				[]any{uid.New(), channel, uid.New(), old, old, payload}},
			{"INSERT INTO votes (id, channel_id, epoch, username, address, amount, voted_at) VALUES (?, ?, 1, '-deleted-', '', 1, 1)", []any{uid.New(), channel}},
			{"INSERT INTO users (id, username, slug, display_name, avatar_url, created_at, deleted_at) VALUES (?, 'deleted-x', 'deleted-x', '', '', 1, 5)", []any{user}},
		} {
			if _, err := s.DB().ExecContext(t.Context(), insert.statement, insert.args...); err != nil {
				t.Fatal(err)
			}
		}
		migrate(t, url)
		for query, want := range map[string]any{
			"SELECT COUNT(*) FROM bans WHERE moderator_id = ?":                                             1,
			"SELECT COUNT(*) FROM events WHERE actor_id = ? AND target_id = actor_id":                      1,
			"SELECT COUNT(*) FROM users WHERE id = ? AND username = '~deleted' AND deleted_at IS NOT NULL": 1,
		} {
			var got int
			if err := store.QueryRow(t.Context(), s.Read, query, []any{users.Deleted}, &got); err != nil || got != want {
				t.Errorf("%s: got %d (%v), want %v", query, got, err, want)
			}
		}
		for query, want := range map[string]string{
			"SELECT payload FROM events":                      strings.NewReplacer(former, users.Deleted.String(), "-deleted-", "~deleted").Replace(payload),
			"SELECT username FROM votes":                      "~deleted",
			"SELECT username FROM users WHERE deleted_at = 5": users.TemporaryName(user),
		} {
			var got string
			if err := store.QueryRow(t.Context(), s.Read, query, nil, &got); err != nil || got != want {
				t.Errorf("%s: got %q (%v), want %q", query, got, err, want)
			}
		}
		if err := store.QueryRow(t.Context(), s.Read, "SELECT id FROM users WHERE id = ?", []any{old}, new(uid.ID)); !errors.Is(err, store.ErrNoRows) {
			t.Errorf("the former user is still there: %v", err)
		}
	})
}

// TestMySQLMigrationsHaveOneStatement checks that each file has one statement. MySQL
// commits each statement, so a file with two could fail between them and never be
// completed.
func TestMySQLMigrationsHaveOneStatement(t *testing.T) {
	files, err := fs.Glob(migrations.FS, "mysql/*.sql")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	end := regexp.MustCompile(`;\s*(\n|$)`)
	for _, file := range files {
		text, err := fs.ReadFile(migrations.FS, file)
		if err != nil {
			t.Fatal(err)
		}
		if n := len(end.FindAll(text, -1)); n != 1 {
			t.Errorf("%s has %d statements, want 1", file, n)
		}
	}
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
