package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"os"
	"runtime"
	"strings"
	"time"

	entdialect "entgo.io/ent/dialect"
	"github.com/cenkalti/backoff/v5"
	"github.com/gofrs/flock"
	"github.com/pressly/goose/v3"
	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"github.com/moderato-live/moderato/server/store/prepared"
)

type sqliteDialect struct{}

// openSQLite opens one connection for writing and a pool for reading. SQLite allows one
// writer at a time, and waiting for it in the process is cheaper than in SQLite's busy
// handler. The busy handler remains for other processes on the same file. The pragmas of
// the options apply to the writing connection.
func openSQLite(ctx context.Context, u URL, o options) (*Store, error) {
	open := func(connections int, settings url.Values) (*sql.DB, error) {
		settings.Add("_pragma", "busy_timeout(10000)")
		settings.Add("_pragma", "journal_mode(WAL)")
		// COMMIT is durable: a ban that was acknowledged survives a power failure.
		settings.Add("_pragma", "synchronous(FULL)")
		connector, err := sqlite.NewConnector(fileURI(u.Path, settings))
		if err != nil {
			return nil, fmt.Errorf("sqlite: %w", err)
		}
		db := o.Tracer.OpenDB(o.Layer.around(prepared.Connector(connector)), "sqlite")
		db.SetMaxOpenConns(connections)
		db.SetMaxIdleConns(connections)
		return db, nil
	}
	if err := createFile(u.Path); err != nil {
		return nil, err
	}
	// The tables have no foreign keys, but ent compares schemas only with
	// foreign_keys on.
	if o.pragmas == nil {
		o.pragmas = []string{"cache_size(-8192)"} // KiB: the pages that a batch of 1,000 bans changes
	}
	write, err := open(1, url.Values{"_txlock": {"immediate"}, "_pragma": append([]string{
		"foreign_keys(1)",
		"temp_store(2)", // keeps the statement journal in memory
	}, o.pragmas...)})
	if err != nil {
		return nil, err
	}
	read, err := open(max(4, 2*runtime.NumCPU()), url.Values{"_pragma": {"query_only(1)"}})
	if err != nil {
		_ = write.Close()
		return nil, err
	}
	// The writer creates the file and turns WAL on first, because a reader may not.
	if err := firstPing(ctx, write); err != nil {
		_ = write.Close()
		_ = read.Close()
		return nil, fmt.Errorf("sqlite: %w", err)
	}
	return newStore(sqliteDialect{}, read, write, o.Tracer), nil
}

// createFile creates the database file, if none exists, and makes it and the files
// beside it readable by the owner alone: they hold secrets and personal data. SQLite
// gives the files beside it the same mode when it creates them.
func createFile(path string) error {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	if err := f.Close(); err != nil {
		return err
	}
	for _, suffix := range []string{"", "-wal", "-shm"} {
		info, err := os.Stat(path + suffix)
		if err != nil || info.Mode().Perm()&0o077 == 0 {
			continue
		}
		if err := os.Chmod(path+suffix, 0o600); err != nil {
			return fmt.Errorf("make the database readable by its owner alone: %w", err)
		}
	}
	return nil
}

// OpenForImport is Open for a process that only writes a lot of data. On SQLite it uses
// more memory, which a server would never release.
func OpenForImport(ctx context.Context, url URL) (*Store, error) {
	return open(ctx, url, options{timeout: statementTimeout, pragmas: []string{
		"cache_size(-32768)",        // KiB: a batch changes pages all over the indexes
		"wal_autocheckpoint(16384)", // pages, 64 MiB: the next batches change most of them again
	}})
}

// firstPing opens the file, and retries while it is busy. Processes that turn WAL on at
// the same time conflict, and SQLite's busy handler does not wait for that.
func firstPing(ctx context.Context, db *sql.DB) error {
	_, err := backoff.Retry(ctx, func() (struct{}, error) {
		err := db.PingContext(ctx)
		if err != nil && (sqliteDialect{}).retryCause(err) == "" {
			return struct{}{}, backoff.Permanent(err)
		}
		return struct{}{}, err
	}, backoff.WithMaxElapsedTime(maxRetryTime))
	return err
}

func (sqliteDialect) name() string { return entdialect.SQLite }

func (sqliteDialect) migrations() (directory string, name goose.Dialect) {
	return "sqlite", goose.DialectSQLite3
}

func (sqliteDialect) lockMigrations(ctx context.Context, _ *sql.DB, url URL) (unlock func(), err error) {
	lock := flock.New(url.Path + ".migrate.lock")
	if _, err := lock.TryLockContext(ctx, 50*time.Millisecond); err != nil {
		return nil, err
	}
	return func() { _ = lock.Unlock() }, nil
}

func (sqliteDialect) nowSQL() string {
	return "CAST(ROUND(unixepoch('subsec') * 1000) AS INTEGER)"
}

func (sqliteDialect) hasOneWriter() bool { return true }

func (sqliteDialect) upsert(columns string) string {
	return " ON CONFLICT (" + columns + ") DO UPDATE SET "
}

func (sqliteDialect) proposed(column string) string { return "excluded." + column }

func (sqliteDialect) forUpdate() string { return "" }

func (sqliteDialect) forUpdateNoWait() string { return "" }

func (sqliteDialect) boundIdle(int) (begin, end string) { return "", "" }

func (sqliteDialect) forShare() string { return "" }

func (sqliteDialect) byIndex(index string) string { return " INDEXED BY " + index }

func (sqliteDialect) primaryKey(table string) string { return "sqlite_autoindex_" + table + "_1" }

func (sqliteDialect) idColumn() string { return "?" }

func (sqliteDialect) rowNumber() string { return "rowid" }

func (sqliteDialect) page(p Page) (from, end string) { return p.from(), p.end() }

func (sqliteDialect) orderedJoin() string { return " CROSS JOIN " }

func (sqliteDialect) after(key, tie, comparison string, keyValue, tieValue any) (condition string, args []any) {
	return "(" + key + ", " + tie + ")" + comparison + "(?, ?)", []any{keyValue, tieValue}
}

func (sqliteDialect) some(table, where string, n int) string {
	return fmt.Sprintf(" WHERE rowid IN (SELECT rowid FROM %s WHERE %s LIMIT %d)", table, where, n)
}

func (sqliteDialect) isDuplicate(err error) bool {
	var e *sqlite.Error
	return errors.As(err, &e) &&
		(e.Code() == sqlite3.SQLITE_CONSTRAINT_PRIMARYKEY || e.Code() == sqlite3.SQLITE_CONSTRAINT_UNIQUE)
}

// isLocked returns false: a transaction waits for the file's write lock at its start, and
// locks no rows.
func (sqliteDialect) isLocked(error) bool { return false }

func (sqliteDialect) isNoTable(err error) bool {
	var e *sqlite.Error
	return errors.As(err, &e) && strings.Contains(e.Error(), "no such table")
}

func (sqliteDialect) retryCauses() []string { return []string{"busy"} }

func (sqliteDialect) retryCause(err error) string {
	var e *sqlite.Error
	if !errors.As(err, &e) {
		return ""
	}
	switch e.Code() & 0xff { // the low byte is the primary code
	case sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED:
		return "busy"
	}
	return ""
}

// isFull also recognizes failures to grow the shared-memory file, which is on the same
// disk as the database.
func (sqliteDialect) isFull(err error) bool {
	var e *sqlite.Error
	if !errors.As(err, &e) {
		return false
	}
	return e.Code()&0xff == sqlite3.SQLITE_FULL || e.Code() == sqlite3.SQLITE_IOERR_SHMSIZE
}
