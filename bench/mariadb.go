package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	_ "github.com/go-sql-driver/mysql" // the driver

	"github.com/moderato-live/moderato/testdb"
)

// mariadb is a server that the benchmarks start. Its data are kept between runs. It
// commits durably, like a server in production.
type mariadb struct {
	server *testdb.Server
	db     *sql.DB
}

func startMariaDB(ctx context.Context, dir string, bufferPool int) (*mariadb, error) {
	server, err := testdb.StartMariaDB(ctx, filepath.Join(dir, "mariadb"), filepath.Join(dir, "mariadb.log"),
		fmt.Sprintf("--innodb-buffer-pool-size=%dM", bufferPool), "--innodb-log-file-size=512M",
		"--innodb-flush-log-at-trx-commit=1", "--max-connections=400")
	if err != nil {
		return nil, err
	}
	db, err := sql.Open("mysql", "root@tcp("+server.Addr+")/")
	if err != nil {
		server.Stop()
		return nil, fmt.Errorf("mariadb: %w", err)
	}
	return &mariadb{server: server, db: db}, nil
}

func (m *mariadb) stop() {
	if m == nil {
		return
	}
	_ = m.db.Close()
	m.server.Stop()
}

// url returns the URL of a database of the server, and creates the database if it
// does not exist.
func (m *mariadb) url(ctx context.Context, name string) (string, error) {
	_, err := m.db.ExecContext(ctx, "CREATE DATABASE IF NOT EXISTS "+name)
	return "mysql://root@" + m.server.Addr + "/" + name, err
}

// version returns the version that the server reports.
func (m *mariadb) version(ctx context.Context) (version string, err error) {
	err = m.db.QueryRowContext(ctx, "SELECT VERSION()").Scan(&version)
	return version, err
}

// processorTime returns the CPU time that the server has used.
func (m *mariadb) processorTime(ctx context.Context) (time.Duration, error) {
	var file string
	if err := m.db.QueryRowContext(ctx, "SELECT @@pid_file").Scan(&file); err != nil {
		return 0, err
	}
	text, err := os.ReadFile(file)
	if err != nil {
		return 0, err
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil {
		return 0, err
	}
	return processorTime(pid)
}

// logStatements makes the server log every statement of new connections, with the
// number of rows that it reads and changes, or stops the log.
func (m *mariadb) logStatements(ctx context.Context, on bool) error {
	statements := []string{"SET GLOBAL slow_query_log = 0", "SET GLOBAL long_query_time = 10"}
	if on {
		statements = []string{"SET GLOBAL log_output = 'TABLE'", "TRUNCATE mysql.slow_log", "SET GLOBAL long_query_time = 0", "SET GLOBAL slow_query_log = 1"}
	}
	for _, s := range statements {
		if _, err := m.db.ExecContext(ctx, s); err != nil {
			return err
		}
	}
	return nil
}

// rowsTouched returns how many rows were read and changed by the transaction that has
// a statement with marker in it.
func (m *mariadb) rowsTouched(ctx context.Context, marker string) (rows int64, err error) {
	log, err := m.db.QueryContext(ctx, `
		SELECT l.sql_text, l.rows_examined + l.rows_affected FROM mysql.slow_log l
		WHERE l.thread_id = (SELECT thread_id FROM mysql.slow_log WHERE sql_text LIKE ? LIMIT 1)`, "%"+marker+"%")
	if err != nil {
		return 0, err
	}
	defer func() { _ = log.Close() }()
	return sumTransaction(log, marker)
}

// sumTransaction returns the sum of the rows of the transaction that contains the
// marked statement. The log is that of one connection, in order.
func sumTransaction(log *sql.Rows, marker string) (int64, error) {
	var sum int64
	isMarked := false
	for log.Next() {
		var text string
		var rows int64
		if err := log.Scan(&text, &rows); err != nil {
			return 0, err
		}
		if strings.HasPrefix(text, "START TRANSACTION") {
			sum = 0
		}
		sum += rows
		isMarked = isMarked || strings.Contains(text, marker)
		if isMarked && strings.HasPrefix(text, "COMMIT") {
			return sum, nil
		}
	}
	return 0, errors.Join(errors.New("the log has no such transaction"), log.Err())
}
