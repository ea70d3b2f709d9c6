package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"

	"modernc.org/sqlite"
)

// backupStep is how many pages are copied before the context is checked again.
const backupStep = 1000

// BackUp copies an SQLite database to a new file, while any number of processes read and
// write the database. The copy is the state of one instant, which has every transaction
// that was committed before the call. BackUp fails if the file exists. When it returns
// without an error, the copy is on disk; otherwise there is no file of that name. It calls
// copied after each step.
func BackUp(ctx context.Context, from URL, file string, copied func()) error {
	if _, err := os.Lstat(file); err == nil {
		return fmt.Errorf("%s: %w", file, fs.ErrExist)
	}
	partial, err := os.CreateTemp(filepath.Dir(file), filepath.Base(file)+".partial-*")
	if err != nil {
		return err
	}
	defer func() { _ = os.Remove(partial.Name()) }()
	defer func() { _ = partial.Close() }()
	if err := copyDatabase(ctx, from, partial.Name(), copied); err != nil {
		return err
	}
	if err := partial.Sync(); err != nil {
		return err
	}
	// Unlike a rename, a link never replaces a file.
	if err := os.Link(partial.Name(), file); err != nil {
		return err
	}
	if err := syncDirectory(filepath.Dir(file)); err != nil {
		return errors.Join(err, os.Remove(file))
	}
	return nil
}

// copyDatabase copies a database into an empty file.
func copyDatabase(ctx context.Context, from URL, file string, copied func()) error {
	connector, err := sqlite.NewConnector(fileURI(from.Path, url.Values{"_pragma": {"busy_timeout(10000)", "query_only(1)"}}))
	if err != nil {
		return fmt.Errorf("sqlite: %w", err)
	}
	db := sql.OpenDB(connector)
	defer func() { _ = db.Close() }()
	conn, err := db.Conn(ctx)
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close() }()
	// In a read transaction, all steps copy the same state. Without it, each commit of
	// another process would begin the copy anew.
	if _, err := conn.ExecContext(ctx, "BEGIN"); err != nil {
		return err
	}
	defer func() { _, _ = conn.ExecContext(context.WithoutCancel(ctx), "ROLLBACK") }()
	var tables int
	if err := conn.QueryRowContext(ctx, "SELECT COUNT(*) FROM sqlite_schema").Scan(&tables); err != nil {
		return err
	}
	return conn.Raw(func(driverConn any) error {
		source, ok := driverConn.(interface {
			NewBackup(uri string) (*sqlite.Backup, error)
		})
		if !ok {
			return errors.New("the SQLite driver makes no backups")
		}
		// An interrupted copy is thrown away, so it needs no journal.
		backup, err := source.NewBackup(fileURI(file, url.Values{"_pragma": {"journal_mode(OFF)", "synchronous(OFF)"}}))
		if err != nil {
			return err
		}
		err = copyPages(ctx, backup, copied)
		return errors.Join(err, backup.Finish())
	})
}

func copyPages(ctx context.Context, backup *sqlite.Backup, copied func()) error {
	for {
		more, err := backup.Step(backupStep)
		if err != nil || !more {
			return err
		}
		copied()
		if err := ctx.Err(); err != nil {
			return err
		}
	}
}

// fileURI returns the name of a file for the SQLite driver.
func fileURI(path string, settings url.Values) string {
	return "file:" + (&url.URL{Path: path}).EscapedPath() + "?" + settings.Encode()
}

// syncDirectory makes the names in a directory durable.
func syncDirectory(path string) error {
	directory, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(directory.Sync(), directory.Close())
}
