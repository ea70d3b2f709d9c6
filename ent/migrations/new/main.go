// Command new writes the migrations that bring a database from the present
// migrations to ent/schema, one statement a file: a proposal, to be reviewed.
//
//	new -name add_followers -dev mysql://root@127.0.0.1:3306/dev
//
// `make migration NAME=add_followers` calls it with an empty development database.
package main

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"log"
	"log/slog"
	"os"
	"path/filepath"
	"strings"

	"github.com/moderato-live/moderato/server/store"
)

func main() {
	name := flag.String("name", "", "what the migration does, in snake_case")
	dev := flag.String("dev", "", "an empty database of the MySQL family")
	out := flag.String("out", "ent/migrations", "the directory of the migrations")
	flag.Parse()
	if *name == "" || *dev == "" {
		log.Fatal("both -name and -dev are needed")
	}
	scratch, err := os.MkdirTemp("", "moderato-migration")
	if err != nil {
		log.Fatal(err)
	}
	defer func() { _ = os.RemoveAll(scratch) }()
	for directory, url := range map[string]string{"sqlite": "sqlite:" + filepath.Join(scratch, "dev.db"), "mysql": *dev} {
		if err := propose(context.Background(), url, filepath.Join(*out, directory), *name); err != nil {
			log.Fatal(err)
		}
	}
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
	statements, err := s.SchemaDrift(ctx)
	if err != nil {
		return err
	}
	if s.IsEmbedded() && len(statements) > 0 {
		// SQLite keeps all of a file or nothing.
		statements = []string{strings.Join(statements, "\n")}
	}
	existing, err := filepath.Glob(filepath.Join(directory, "*.sql"))
	if err != nil {
		return fmt.Errorf("list %s: %w", directory, err)
	}
	for i, statement := range statements {
		var file bytes.Buffer
		fmt.Fprintf(&file, "-- +goose Up\n%s\n", statement)
		path := filepath.Join(directory, fmt.Sprintf("%05d_%s.sql", len(existing)+i+1, name))
		if err := os.WriteFile(path, file.Bytes(), 0o644); err != nil { //nolint:gosec // source code, readable by all
			return fmt.Errorf("write %s: %w", path, err)
		}
		fmt.Println(path)
	}
	return nil
}
