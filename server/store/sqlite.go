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

	entdialect "entgo.io/ent/dialect"
	"github.com/cenkalti/backoff/v5"
	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"
)

type sqliteDialect struct{}

// openSQLite opens one connection that writes and a pool that reads: SQLite
// takes one writer at a time, and to wait for it in the process is cheaper than in
// its busy handler, which remains for other processes on the same file.
// The pragmas are for the one that writes.
func openSQLite(ctx context.Context, u URL, o options) (*Store, error) {
	open := func(connections int, settings url.Values) (*sql.DB, error) {
		settings.Add("_pragma", "busy_timeout(10000)")
		settings.Add("_pragma", "journal_mode(WAL)")
		// Durable at COMMIT: an answered ban survives a power cut.
		settings.Add("_pragma", "synchronous(FULL)")
		connector, err := sqlite.NewConnector("file:" + (&url.URL{Path: u.Path}).EscapedPath() + "?" + settings.Encode())
		if err != nil {
			return nil, fmt.Errorf("sqlite: %w", err)
		}
		db := sql.OpenDB(o.through.around(preparing{connector}))
		db.SetMaxOpenConns(connections)
		db.SetMaxIdleConns(connections)
		return db, nil
	}
	if err := createFile(u.Path); err != nil {
		return nil, err
	}
	// The tables have no foreign keys; ent compares schemas only with them on.
	write, err := open(1, url.Values{"_txlock": {"immediate"}, "_pragma": append([]string{"foreign_keys(1)"}, o.pragmas...)})
	if err != nil {
		return nil, err
	}
	read, err := open(max(4, 2*runtime.NumCPU()), url.Values{"_pragma": {"query_only(1)"}})
	if err != nil {
		_ = write.Close()
		return nil, err
	}
	// The writer creates the file and turns WAL on before a reader, which may
	// not, gets there.
	if err := firstPing(ctx, write); err != nil {
		_ = write.Close()
		_ = read.Close()
		return nil, fmt.Errorf("sqlite: %w", err)
	}
	return newStore(sqliteDialect{}, entdialect.SQLite, read, write), nil
}

// createFile creates the database's file, if there is none, and makes it readable by
// its owner alone: it holds secrets and people's data. SQLite gives the files beside it
// the same mode when it creates them.
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

// OpenForImport is Open for a process that does nothing but write much. On SQLite
// it has memory for it, which a server would keep for good.
func OpenForImport(ctx context.Context, url URL) (*Store, error) {
	return open(ctx, url, options{timeout: statementTimeout, pragmas: []string{
		"cache_size(-32768)",        // KiB: what a batch changes is all over the indexes
		"wal_autocheckpoint(16384)", // pages: 64 MiB of them, most of which the next batches change again
		"temp_store(2)",             // what undoes one statement stays in memory
	}})
}

// firstPing opens the file. Two who turn WAL on at the same moment are in each
// other's way, and SQLite does not wait for that as it does for locks.
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

func (sqliteDialect) nowSQL() string {
	return "CAST(ROUND(unixepoch('subsec') * 1000) AS INTEGER)"
}

func (sqliteDialect) forUpdate() string { return "" }

func (sqliteDialect) boundIdle(int) (begin, end string) { return "", "" }

func (sqliteDialect) forShare() string { return "" }

func (sqliteDialect) byIndex(index string) string { return " INDEXED BY " + index }

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

func (sqliteDialect) isNoTable(err error) bool {
	var e *sqlite.Error
	return errors.As(err, &e) && strings.Contains(e.Error(), "no such table")
}

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

// isFull also recognizes the shared memory beside the file, which is on the same
// disk.
func (sqliteDialect) isFull(err error) bool {
	var e *sqlite.Error
	if !errors.As(err, &e) {
		return false
	}
	return e.Code()&0xff == sqlite3.SQLITE_FULL || e.Code() == sqlite3.SQLITE_IOERR_SHMSIZE
}
