package storetest

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"

	"github.com/moderato-live/moderato/server/store"
	"github.com/moderato-live/moderato/test/testdb"
)

// Creating and dropping the tables of a database takes MySQL a second. Therefore the tests
// of all processes use a pool of migrated databases one after the other: a lock on the
// server says that a database is in use, and ends with the process that holds it.

// largeTable is the number of rows from which a table is truncated: deleting fewer rows is
// faster.
const largeTable = 5000

// pooled returns a migrated database without rows, which is the test's until it ends.
func (s *server) pooled(t testing.TB) store.URL {
	t.Helper()
	ctx := context.Background()
	from, err := s.template()
	if err != nil {
		t.Fatalf("%s: %v", s.name, err)
	}
	lock, err := s.admin.Conn(ctx)
	if err != nil {
		t.Fatalf("%s: %v", s.name, err)
	}
	t.Cleanup(func() { _ = lock.Close() })
	var name string
	for n, isOurs := 0, false; !isOurs; n++ {
		name = fmt.Sprintf("%s_%d", from.name, n)
		var lost *mysql.MySQLError
		err := lock.QueryRowContext(ctx, "SELECT GET_LOCK(?, 0)", name).Scan(&isOurs)
		isContended := errors.As(err, &lost) && lost.Number == 1105 // on TiDB
		if err != nil && !isContended {
			t.Fatalf("%s: %v", s.name, err)
		}
	}
	t.Cleanup(func() {
		// The connection may be used again, so its end does not release the lock.
		if _, err := lock.ExecContext(ctx, "DO RELEASE_LOCK(?)", name); err != nil {
			t.Errorf("%s: %v", s.name, err)
		}
	})
	if err := s.reset(ctx, from, name); err != nil {
		t.Fatalf("%s: reset %s: %v", s.name, name, err)
	}
	url, err := store.ParseURL(s.url + name)
	if err != nil {
		t.Fatalf("%s: %v", testdb.Variable, err)
	}
	return url
}

// reset makes a database a copy of the template, whatever earlier tests left.
func (s *server) reset(ctx context.Context, from *template, name string) error {
	if err := s.endConnections(ctx, name); err != nil {
		return err
	}
	shape, err := s.shape(ctx, name)
	if err != nil {
		return err
	}
	if shape != from.shape {
		if _, err := s.admin.ExecContext(ctx, "DROP DATABASE IF EXISTS "+name); err != nil {
			return err
		}
		if _, err := s.admin.ExecContext(ctx, "CREATE DATABASE "+name+" CHARACTER SET utf8mb4 COLLATE utf8mb4_bin"); err != nil {
			return err
		}
		return s.copyTo(name)
	}
	return s.empty(ctx, from, name)
}

// endConnections ends the connections of killed processes. It waits for them, because a
// statement may still run. MySQL cannot list connections while one of them, of any
// database, runs a statement with binary text, so an error is no reason to give up either.
func (s *server) endConnections(ctx context.Context, name string) error {
	for until := time.Now().Add(time.Minute); ; time.Sleep(10 * time.Millisecond) {
		ids, err := collect[int64](ctx, s.admin, "SELECT id FROM information_schema.processlist WHERE db = ?", name)
		if err == nil && len(ids) == 0 {
			return nil
		}
		if time.Now().After(until) {
			return errors.Join(fmt.Errorf("%d connections of an earlier test do not end", len(ids)), err)
		}
		for _, id := range ids {
			_, _ = s.admin.ExecContext(ctx, fmt.Sprintf("KILL %d", id)) // it may have ended already
		}
	}
}

// shape returns a digest of the tables, columns and triggers of a database.
func (s *server) shape(ctx context.Context, name string) (shape string, err error) {
	err = s.admin.QueryRowContext(ctx, `SELECT CONCAT_WS(' ',
			COUNT(*), SUM(CRC32(CONCAT_WS(' ', table_name, column_name, column_type))),
			(SELECT COUNT(*) FROM information_schema.triggers WHERE trigger_schema = ?))
		FROM information_schema.columns WHERE table_schema = ?`, name, name).Scan(&shape)
	return shape, err
}

// empty removes all rows but those of the migrations.
func (s *server) empty(ctx context.Context, from *template, name string) error {
	var queries []string
	for _, table := range from.tables {
		queries = append(queries, fmt.Sprintf(`SELECT CASE WHEN n = 0 THEN '' WHEN n < %[2]d THEN 'DELETE FROM %[1]s' ELSE 'TRUNCATE %[1]s' END
			FROM (SELECT COUNT(*) AS n FROM (SELECT 1 FROM %[1]s LIMIT %[2]d) AS some) AS counted`, name+"."+table, largeTable))
	}
	statements, err := collect[string](ctx, s.admin, strings.Join(queries, " UNION ALL "))
	if err != nil {
		return err
	}
	statements = slices.DeleteFunc(statements, func(statement string) bool { return statement == "" })
	return s.execAll(ctx, append(statements, from.seed(name)...))
}

func (s *server) execAll(ctx context.Context, statements []string) error {
	for _, statement := range statements {
		if _, err := s.admin.ExecContext(ctx, statement); err != nil {
			return fmt.Errorf("%s: %w", statement, err)
		}
	}
	return nil
}

// collect returns the rows of a query with one column.
func collect[T any](ctx context.Context, db *sql.DB, query string, args ...any) (values []T, err error) {
	rows, err := db.QueryContext(ctx, query, args...)
	if err != nil {
		return nil, err
	}
	defer func() { _ = rows.Close() }()
	for rows.Next() {
		var value T
		if err := rows.Scan(&value); err != nil {
			return nil, err
		}
		values = append(values, value)
	}
	return values, rows.Err()
}
