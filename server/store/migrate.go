package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"time"

	"github.com/pressly/goose/v3"

	"github.com/moderato-live/moderato/ent/migrations"
)

// ErrVersion is the error of a database whose schema must be migrated for this program.
var ErrVersion = errors.New("the database's schema has another version")

// ErrTooOld is the error of a database that cannot be migrated to this program's schema.
var ErrTooOld = errors.New("the database is from before the first release and cannot be migrated: create an empty database, and import your records into it")

const (
	migrationLockWait = 60 * time.Second
	// maxMigration is how long a migration may take before a database server may close the
	// idle connection that holds its lock.
	maxMigration  = 7 * 24 * time.Hour
	unlockTimeout = 5 * time.Second
)

// Migrate migrates a database to the schema version of this program and logs the
// result. Concurrent migrations of a database wait for each other.
func Migrate(ctx context.Context, url URL, log *slog.Logger) error {
	// A change to a large table may take any time. In a cluster, all of it runs on one
	// connection, which does not outlive a failover.
	s, err := open(ctx, url, options{Options: Options{Log: log}})
	if err != nil {
		return err
	}
	defer s.Close()
	unlock, err := s.LockMigrations(ctx, url)
	if err != nil {
		return err
	}
	defer unlock()
	provider, err := s.migrations()
	if err != nil {
		return err
	}
	if _, err := s.version(ctx, provider); err != nil {
		return err
	}
	results, err := provider.Up(ctx)
	report(ctx, log, results)
	if err != nil {
		return fmt.Errorf("migrate %s: %w", url, err)
	}
	if err := s.createFirstCursorKey(ctx); err != nil {
		return fmt.Errorf("migrate %s: %w", url, err)
	}
	return nil
}

// report logs the migration in one line, because a new database has many steps, and each
// step at the debug level.
func report(ctx context.Context, log *slog.Logger, results []*goose.MigrationResult) {
	var took time.Duration
	for _, r := range results {
		took += r.Duration
		log.DebugContext(ctx, "migrated one step", "step", r.Source.Path, "duration_ms", r.Duration.Milliseconds())
	}
	if len(results) > 0 {
		log.InfoContext(ctx, "migrated", "steps", len(results), "to", results[len(results)-1].Source.Version, "duration_ms", took.Milliseconds())
	}
}

// CheckVersion checks that this program can use the database's schema. The error for an
// older schema wraps ErrVersion or ErrTooOld. A newer schema is accepted, so that a newer release can
// be rolled out, and rolled back, server by server.
func (s *Store) CheckVersion(ctx context.Context) error {
	provider, err := s.migrations()
	if err != nil {
		return err
	}
	have, err := s.version(ctx, provider)
	if err != nil {
		return err
	}
	sources := provider.ListSources()
	if want := sources[len(sources)-1].Version; have < want {
		return fmt.Errorf("%w: it is at %d and this program needs %d", ErrVersion, have, want)
	}
	return nil
}

// version returns the version of the schema, 0 for an empty database. It fails with ErrTooOld
// if a migration was applied that precedes the initial migration of this program.
func (s *Store) version(ctx context.Context, provider *goose.Provider) (int64, error) {
	// This is a plain query, because goose would create its table to report the version.
	var oldest, newest sql.NullInt64
	err := s.readDB.QueryRowContext(ctx, "SELECT MIN(version_id), MAX(version_id) FROM goose_db_version WHERE is_applied AND version_id > 0").Scan(&oldest, &newest)
	if err != nil && !s.dialect.isNoTable(err) {
		return 0, fmt.Errorf("read the schema's version: %w", err)
	}
	if oldest.Valid && oldest.Int64 < provider.ListSources()[0].Version {
		return 0, fmt.Errorf("%w (its schema has the version %d)", ErrTooOld, newest.Int64)
	}
	return newest.Int64, nil
}

func (s *Store) migrations() (*goose.Provider, error) {
	directory, dialect := s.dialect.migrations()
	files, err := fs.Sub(migrations.FS, directory)
	if err != nil {
		return nil, fmt.Errorf("migrations: %w", err)
	}
	provider, err := goose.NewProvider(dialect, s.writeDB, files)
	if err != nil {
		return nil, fmt.Errorf("migrations: %w", err)
	}
	return provider, nil
}

// LockMigrations waits until no migration of the database runs, and prevents others until
// unlock is called. The URL is that with which the store was opened.
func (s *Store) LockMigrations(ctx context.Context, url URL) (unlock func(), err error) {
	ctx, cancel := context.WithTimeout(ctx, migrationLockWait)
	defer cancel()
	unlock, err = s.dialect.lockMigrations(ctx, s.writeDB, url)
	if err != nil {
		return nil, fmt.Errorf("wait for another migration of %s: %w", url, err)
	}
	return unlock, nil
}
