// Command new writes the migrations that bring a database from the existing
// migrations to ent/schema: one statement per file, but for SQLite one file in all.
// They are a proposal, to be reviewed.
//
//	new -name add_followers -server mysql://root@127.0.0.1:3306/
//
// `make migration NAME=add_followers` runs it with a test server.
package main

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"flag"
	"fmt"
	"log"
	"log/slog"
	"os"
	"path/filepath"
	"strings"

	"github.com/moderato-live/moderato/ent/migrations/drift"
	"github.com/moderato-live/moderato/server/store"
)

func main() {
	name := flag.String("name", "", "what the migration does, in snake_case")
	server := flag.String("server", "", "a server of the MySQL family, on which a database is made and dropped")
	out := flag.String("out", "ent/migrations", "the directory of the migrations")
	flag.Parse()
	if err := run(context.Background(), *name, *server, *out); err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context, name, server, out string) error {
	if name == "" || server == "" {
		return errors.New("both -name and -server are needed")
	}
	scratch, err := os.MkdirTemp("", "moderato-migration")
	if err != nil {
		return fmt.Errorf("scratch directory: %w", err)
	}
	defer func() { _ = os.RemoveAll(scratch) }()
	dev := "moderato_migration_" + strings.ToLower(rand.Text())
	if err := execute(ctx, server, "CREATE DATABASE "+dev+" CHARACTER SET utf8mb4 COLLATE utf8mb4_bin"); err != nil {
		return err
	}
	defer func() { _ = execute(ctx, server, "DROP DATABASE "+dev) }()
	for directory, url := range map[string]string{"sqlite": "sqlite:" + filepath.Join(scratch, "dev.db"), "mysql": server + dev} {
		if err := propose(ctx, url, filepath.Join(out, directory), name); err != nil {
			return err
		}
	}
	return nil
}

func execute(ctx context.Context, server, statement string) error {
	url, err := store.ParseURL(server + "information_schema")
	if err != nil {
		return fmt.Errorf("%s: %w", server, err)
	}
	s, err := store.Open(ctx, url)
	if err != nil {
		return err
	}
	defer s.Close()
	if _, err := s.DB().ExecContext(ctx, statement); err != nil {
		return fmt.Errorf("%s: %w", statement, err)
	}
	return nil
}

func propose(ctx context.Context, url, directory, name string) error {
	parsed, err := store.ParseURL(url)
	if err != nil {
		return fmt.Errorf("%s: %w", url, err)
	}
	if err := store.Migrate(ctx, parsed, slog.Default()); err != nil {
		return err
	}
	s, err := store.Open(ctx, parsed)
	if err != nil {
		return err
	}
	defer s.Close()
	statements, err := drift.Statements(ctx, s)
	if err != nil {
		return err
	}
	if parsed.Path != "" && len(statements) > 0 {
		// SQLite applies either all of a file or nothing.
		statements = []string{strings.Join(statements, "\n")}
	}
	existing, err := filepath.Glob(filepath.Join(directory, "*.sql"))
	if err != nil {
		return fmt.Errorf("list %s: %w", directory, err)
	}
	last := 0
	if len(existing) > 0 { // they are sorted by number
		if _, err := fmt.Sscanf(filepath.Base(existing[len(existing)-1]), "%d_", &last); err != nil {
			return fmt.Errorf("the number of %s: %w", existing[len(existing)-1], err)
		}
	}
	for i, statement := range statements {
		var file bytes.Buffer
		fmt.Fprintf(&file, "-- +goose Up\n%s\n", statement)
		path := filepath.Join(directory, fmt.Sprintf("%05d_%s.sql", last+i+1, name))
		if err := os.WriteFile(path, file.Bytes(), 0o644); err != nil { //nolint:gosec // source code, readable by all
			return fmt.Errorf("write %s: %w", path, err)
		}
		fmt.Println(path)
	}
	return nil
}
