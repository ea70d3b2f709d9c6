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
	"github.com/moderato-live/moderato/server/store"
	"github.com/moderato-live/moderato/server/store/storetest"
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

// TestMigrationsMakeTheSchema is the drift test: whoever changes ent/schema adds
// a migration.
func TestMigrationsMakeTheSchema(t *testing.T) {
	storetest.Each(t, func(t *testing.T, url store.URL) {
		migrate(t, url)
		statements, err := open(t, url).SchemaDrift(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		if len(statements) > 0 {
			t.Errorf("ent/schema and the migrations differ; `make migration NAME=…` proposes:\n%s", strings.Join(statements, "\n"))
		}
	})
}

func TestDriftIsSeen(t *testing.T) {
	storetest.Each(t, func(t *testing.T, url store.URL) {
		migrate(t, url)
		s := open(t, url)
		if _, err := s.DB().Exec("ALTER TABLE clips DROP COLUMN title"); err != nil {
			t.Fatal(err)
		}
		statements, err := s.SchemaDrift(context.Background())
		if err != nil || len(statements) == 0 {
			t.Errorf("got %q (%v), want the lost column", statements, err)
		}
	})
}

func TestMigratingTwiceChangesNothing(t *testing.T) {
	storetest.Each(t, func(t *testing.T, url store.URL) {
		migrate(t, url)
		migrate(t, url)
		if err := open(t, url).CheckVersion(context.Background()); err != nil {
			t.Error(err)
		}
	})
}

func TestServersThatMigrateAtOnceWaitForEachOther(t *testing.T) {
	storetest.Each(t, func(t *testing.T, url store.URL) {
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

func TestDatabaseThatIsBehindIsTold(t *testing.T) {
	storetest.Each(t, func(t *testing.T, url store.URL) {
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

func TestAMigrationIsOneLine(t *testing.T) {
	url := storetest.SQLite(t)
	for _, want := range []int{1, 0} { // the second time there is nothing to do
		var said bytes.Buffer
		if err := store.Migrate(t.Context(), url, slog.New(slog.NewTextHandler(&said, nil))); err != nil {
			t.Fatal(err)
		}
		if n := strings.Count(said.String(), "\n"); n != want || (n == 1 && !strings.Contains(said.String(), "msg=migrated steps=")) {
			t.Errorf("it says %q, want %d lines", &said, want)
		}
	}
}

// TestInterruptedMigrationGoesOn stops after some steps, as a kill would, and
// migrates again.
func TestInterruptedMigrationGoesOn(t *testing.T) {
	storetest.Each(t, func(t *testing.T, url store.URL) {
		migrate(t, url)
		s := open(t, url)
		dropIndex := "DROP INDEX webhook_disabled_reason"
		if !s.IsEmbedded() {
			dropIndex += " ON webhooks"
		}
		for _, statement := range []string{
			dropIndex,
			"ALTER TABLE webhooks DROP COLUMN paused_until",
			"DROP TABLE event_sinks",
			"ALTER TABLE event_sequencers DROP COLUMN rewrites",
			"ALTER TABLE webhook_deliveries DROP COLUMN tries",
			"ALTER TABLE webhook_deliveries DROP COLUMN delivered_at",
			"DELETE FROM goose_db_version WHERE version_id >= 50",
		} {
			if _, err := s.DB().Exec(statement); err != nil {
				t.Fatal(err)
			}
		}
		migrate(t, url)
		statements, err := s.SchemaDrift(context.Background())
		if err != nil || len(statements) > 0 {
			t.Errorf("after going on: %q (%v)", statements, err)
		}
	})
}

// TestMySQLMigrationsAreOneStatementEach, because MySQL commits each by itself:
// a file of two could stop between them and never go on.
func TestMySQLMigrationsAreOneStatementEach(t *testing.T) {
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
