package storetest

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/moderato-live/moderato/ent/migrations"
	"github.com/moderato-live/moderato/server/store"
)

// cursorKeys is the table whose rows differ in each database.
const cursorKeys = "cursor_keys"

// Migrate migrates an empty database like store.Migrate, but faster: it copies the
// result of earlier migrations. Tests of migrations use store.Migrate.
func Migrate(t testing.TB, url store.URL) {
	t.Helper()
	if err := copyTemplate(url); err != nil {
		t.Fatalf("copy a migrated database to %s: %v", url, err)
	}
	// This creates the key for cursors, and does nothing else after a copy.
	if err := store.Migrate(context.Background(), url, slog.New(slog.DiscardHandler)); err != nil {
		t.Fatal(err)
	}
}

// copyTemplate fills a database if it is empty and of a known kind.
func copyTemplate(url store.URL) error {
	if url.Path != "" {
		return copySQLite(url.Path)
	}
	for _, s := range find().servers {
		known, err := store.ParseURL(s.url + url.Name)
		if err == nil && known == url {
			return s.copyTo(url.Name)
		}
	}
	return nil // through a proxy, for example
}

// sqliteTemplate returns the contents of a migrated file.
var sqliteTemplate = sync.OnceValues(func() ([]byte, error) {
	dir, err := os.MkdirTemp("", "moderato-test.")
	if err != nil {
		return nil, err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	url := store.URL{Path: filepath.Join(dir, "template.db")}
	ctx := context.Background()
	if err := store.Migrate(ctx, url, slog.New(slog.DiscardHandler)); err != nil {
		return nil, err
	}
	s, err := store.Open(ctx, url)
	if err != nil {
		return nil, err
	}
	_, err = s.DB().ExecContext(ctx, "DELETE FROM "+cursorKeys)
	s.Close() // moves the log into the file
	if err != nil {
		return nil, err
	}
	return os.ReadFile(url.Path)
})

func copySQLite(path string) error {
	if info, err := os.Stat(path); err == nil && info.Size() > 0 {
		return nil
	}
	contents, err := sqliteTemplate()
	if err != nil {
		return err
	}
	return os.WriteFile(path, contents, 0o600)
}

// template is a migrated database on a server.
type template struct {
	name   string
	tables []string
	seeded []string // the tables that have rows after the migrations
	shape  string   // see server.shape
}

// makeTemplate returns the template of this version of the migrations, and creates it
// if it does not exist. All test processes that use the server share the template; it
// stays on the server.
func (s *server) makeTemplate() (*template, error) {
	ctx := context.Background()
	version, err := hashMigrations()
	if err != nil {
		return nil, err
	}
	t := &template{name: "moderato_template_" + version}
	if _, err := s.admin.ExecContext(ctx, "CREATE DATABASE IF NOT EXISTS "+t.name+" CHARACTER SET utf8mb4 COLLATE utf8mb4_bin"); err != nil {
		return nil, err
	}
	url, err := store.ParseURL(s.url + t.name)
	if err != nil {
		return nil, err
	}
	// A template that another process began is continued: Migrate locks it.
	if err := store.Migrate(ctx, url, slog.New(slog.DiscardHandler)); err != nil {
		return nil, err
	}
	if t.shape, err = s.shape(ctx, t.name); err != nil {
		return nil, err
	}
	return t, s.readTables(ctx, t)
}

// seed returns the statements that copy the rows of the migrations to a database.
func (t *template) seed(name string) []string {
	var statements []string
	for _, table := range t.seeded {
		statements = append(statements, "INSERT INTO "+name+"."+table+" SELECT * FROM "+t.name+"."+table)
	}
	return statements
}

// hashMigrations returns a part of the hash of the migrations for servers.
func hashMigrations() (string, error) {
	hash := sha256.New()
	err := fs.WalkDir(migrations.FS, "mysql", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		text, err := fs.ReadFile(migrations.FS, path)
		hash.Write(text)
		return err
	})
	return fmt.Sprintf("%x", hash.Sum(nil))[:16], err
}

func (s *server) readTables(ctx context.Context, t *template) (err error) {
	if t.tables, err = collect[string](ctx, s.admin, "SHOW TABLES FROM "+t.name); err != nil {
		return err
	}
	for _, table := range t.tables {
		var one int
		switch err := s.admin.QueryRowContext(ctx, "SELECT 1 FROM "+t.name+"."+table+" LIMIT 1").Scan(&one); {
		case err == nil && table != cursorKeys:
			t.seeded = append(t.seeded, table)
		case err != nil && !errors.Is(err, sql.ErrNoRows):
			return err
		}
	}
	return nil
}

// copyTo copies the template to a database that has no tables.
func (s *server) copyTo(name string) error {
	ctx := context.Background()
	var tables int
	err := s.admin.QueryRowContext(ctx, "SELECT COUNT(*) FROM information_schema.tables WHERE table_schema = ?", name).Scan(&tables)
	if err != nil || tables > 0 {
		return err
	}
	t, err := s.template()
	if err != nil {
		return err
	}
	var statements []string
	for _, table := range t.tables {
		statements = append(statements, "CREATE TABLE "+name+"."+table+" LIKE "+t.name+"."+table)
	}
	return s.execAll(ctx, append(statements, t.seed(name)...))
}
