package store

import (
	"context"
	"crypto/sha256"
	"crypto/tls"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"regexp"
	"time"

	entdialect "entgo.io/ent/dialect"
	"github.com/go-sql-driver/mysql"
	"github.com/pressly/goose/v3"

	"github.com/moderato-live/moderato/internal/certificates"
	"github.com/moderato-live/moderato/server/store/cluster"
	"github.com/moderato-live/moderato/server/store/prepared"
)

const (
	maxConnections = 64
	// connectionLifetime bounds the age of a connection, so that changes of a load
	// balancer and failovers take effect.
	connectionLifetime = 5 * time.Minute
	// statementTimeout bounds a statement on the server, where it would otherwise
	// continue after its client has disconnected. MySQL bounds only reads.
	statementTimeout = 30 * time.Second
	lockWaitTimeout  = 5 * time.Second
)

type mysqlDialect struct{}

func openMySQL(u URL, o options) (*Store, error) {
	config := mysql.NewConfig()
	config.Net, config.Addr = "tcp", u.Host
	config.User, config.Passwd, config.DBName = u.User, u.Password, u.Name
	if err := setTLS(config, u); err != nil {
		return nil, err
	}
	config.Timeout = 5 * time.Second
	config.WriteTimeout = 10 * time.Second
	if o.timeout > 0 {
		config.ReadTimeout = o.timeout + 5*time.Second
		config.DialFunc = prepared.Dial // lets a call's deadline apply to the network connection
	}
	config.InterpolateParams = true // one round trip for an unprepared statement
	config.ClientFoundRows = true   // an UPDATE counts matched rows, changed or not
	config.RejectReadOnly = true    // after a failover, replace connections to a demoted primary
	config.Collation = "utf8mb4_bin"
	config.Logger = &mysql.NopLogger{} // failures are also returned as errors, and logged with the request
	config.Params = map[string]string{
		"time_zone":                "'+00:00'",
		"sql_mode":                 "'STRICT_ALL_TABLES,ONLY_FULL_GROUP_BY,NO_ZERO_IN_DATE,NO_ZERO_DATE,ERROR_FOR_DIVISION_BY_ZERO,NO_ENGINE_SUBSTITUTION'",
		"innodb_lock_wait_timeout": fmt.Sprint(int(lockWaitTimeout.Seconds())),
	}
	connector, members, err := connectorOf(config, u.Hosts(), o.Log)
	if err != nil {
		return nil, fmt.Errorf("mysql: %w", err)
	}
	db := o.Tracer.OpenDB(o.Layer.around(prepared.Connector(session{unpreparedOnGalera{connector}, o.timeout})), "mysql")
	db.SetMaxOpenConns(maxConnections)
	db.SetMaxIdleConns(maxConnections)
	db.SetConnMaxLifetime(connectionLifetime)
	s := newStore(mysqlDialect{}, db, db, o.Tracer)
	s.cluster = members
	return s, nil
}

// connectorOf returns the connector of a server, or that of a cluster, twice.
func connectorOf(config *mysql.Config, hosts []string, log *slog.Logger) (driver.Connector, *cluster.Connector, error) {
	if len(hosts) == 1 {
		connector, err := mysql.NewConnector(config)
		return connector, nil, err
	}
	dial := config.DialFunc
	if dial == nil {
		dial = new(net.Dialer).DialContext
	}
	config.DialFunc = cluster.Dial(dial)
	members, err := cluster.New(hosts, func(host string) (driver.Connector, error) {
		member := config.Clone()
		member.Addr = host
		return mysql.NewConnector(member)
	}, log)
	return members, members, err
}

// setTLS configures TLS. The files are read once, when the database is opened.
func setTLS(config *mysql.Config, u URL) error {
	config.TLSConfig = u.TLS
	if u.TLSCA == "" && u.TLSCert == "" {
		return nil
	}
	config.TLS = &tls.Config{MinVersion: tls.VersionTLS12}
	var err error
	if u.TLSCA != "" {
		if config.TLS.RootCAs, err = certificates.ReadPool(u.TLSCA); err != nil {
			return fmt.Errorf("tls-ca: %w", err)
		}
	}
	if u.TLSCert != "" {
		pair, err := certificates.ReadPair(u.TLSCert, u.TLSKey)
		if err != nil {
			return fmt.Errorf("tls-cert: %w", err)
		}
		config.TLS.Certificates = []tls.Certificate{pair}
	}
	return nil
}

// session is a connector that sets the isolation level and the statement timeout of each new
// connection.
type session struct {
	driver.Connector

	timeout time.Duration // 0 means none
}

// Connect opens a connection. The variables have different names in the MySQL family: MariaDB
// alone runs the text of the first comment, and ignores that of the second.
func (s session) Connect(ctx context.Context) (driver.Conn, error) {
	conn, err := s.Connector.Connect(ctx)
	if err = exported(err); isConnectionError(err) {
		return nil, unreachableError{err}
	} else if err != nil {
		return nil, err
	}
	for _, statement := range []string{
		"SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED",
		fmt.Sprintf("SET SESSION /*M! max_statement_time = %d */ /*!80000 max_execution_time = %d */", int(s.timeout.Seconds()), s.timeout.Milliseconds()),
	} {
		if _, err := conn.(driver.ExecerContext).ExecContext(ctx, statement, nil); err != nil {
			_ = conn.Close()
			return nil, err
		}
	}
	return conn, nil
}

// exported returns an error of the driver in a form that callers recognize. If the network
// fails during the handshake, the driver returns an internal error.
func exported(err error) error {
	if err != nil && err.Error() == "bad connection" {
		return mysql.ErrInvalidConn
	}
	return err
}

// unreachableError is the error of a connection that could not be opened.
type unreachableError struct{ error }

func (e unreachableError) Unwrap() []error { return []error{ErrUnavailable, e.error} }

func (mysqlDialect) name() string { return entdialect.MySQL }

func (mysqlDialect) migrations() (directory string, name goose.Dialect) {
	return "mysql", goose.DialectMySQL
}

// lockMigrations takes a lock that belongs to its connection: it is released when the
// process dies.
func (d mysqlDialect) lockMigrations(ctx context.Context, db *sql.DB, url URL) (unlock func(), err error) {
	conn, err := db.Conn(ctx)
	if err != nil {
		return nil, err
	}
	// Lock names are global to the server, and at most 64 characters long.
	name := fmt.Sprintf("moderato.%x", sha256.Sum256([]byte(url.Name)))[:64]
	begin, end := d.boundIdle(int(maxMigration.Seconds()))
	if err := takeLock(ctx, conn, name, begin); err != nil {
		_ = conn.Close()
		return nil, err
	}
	return func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), unlockTimeout)
		defer cancel()
		for _, statement := range []string{"DO RELEASE_LOCK('" + name + "')", end} {
			if _, err := conn.ExecContext(ctx, statement); err != nil {
				break // the server releases the lock with the connection
			}
		}
		_ = conn.Close()
	}, nil
}

// takeLock takes a lock after the statement keep, which keeps the connection open: it is
// idle during a migration, which may take longer than the server's wait_timeout.
func takeLock(ctx context.Context, conn *sql.Conn, name, keep string) error {
	if _, err := conn.ExecContext(ctx, keep); err != nil {
		return err
	}
	var got sql.NullInt64
	err := conn.QueryRowContext(ctx, "SELECT GET_LOCK(?, ?)", name, int(migrationLockWait.Seconds())).Scan(&got)
	if err == nil && got.Int64 != 1 {
		err = errors.New("another migration holds the lock")
	}
	return err
}

func (mysqlDialect) nowSQL() string { return "CAST(UNIX_TIMESTAMP(NOW(3)) * 1000 AS SIGNED)" }

func (mysqlDialect) hasOneWriter() bool { return false }

func (mysqlDialect) upsert(string) string { return " ON DUPLICATE KEY UPDATE " }

func (mysqlDialect) proposed(column string) string { return "VALUES(" + column + ")" }

func (mysqlDialect) forUpdate() string { return " FOR UPDATE" }

func (mysqlDialect) forUpdateNoWait() string { return " FOR UPDATE NOWAIT" }

func (mysqlDialect) boundIdle(seconds int) (begin, end string) {
	return fmt.Sprintf("SET SESSION wait_timeout = %d", seconds), "SET SESSION wait_timeout = DEFAULT"
}

// forShare returns the form that both MySQL and MariaDB support.
func (mysqlDialect) forShare() string { return " LOCK IN SHARE MODE" }

func (mysqlDialect) byIndex(index string) string { return " FORCE INDEX (" + index + ")" }

func (mysqlDialect) primaryKey(string) string { return "PRIMARY" }

func (mysqlDialect) idColumn() string { return "CAST(? AS BINARY(16))" }

func (mysqlDialect) rowNumber() string { return "" }

func (mysqlDialect) page(p Page) (from, end string) { return p.from(), p.end() }

func (mysqlDialect) orderedJoin() string { return " STRAIGHT_JOIN " }

// after compares the two columns separately: for a row comparison the MySQL family uses
// only a prefix of the index.
func (mysqlDialect) after(key, tie, comparison string, keyValue, tieValue any) (condition string, args []any) {
	return "(" + key + comparison + "? OR (" + key + " = ? AND " + tie + comparison + "?))", []any{keyValue, keyValue, tieValue}
}

func (mysqlDialect) some(_, where string, n int) string {
	return fmt.Sprintf(" WHERE %s LIMIT %d", where, n)
}

func (mysqlDialect) isDuplicate(err error) bool {
	var e *mysql.MySQLError
	return errors.As(err, &e) && e.Number == 1062
}

// isLocked recognizes the errors of a lock wait that timed out and, on MySQL, of NOWAIT;
// on MariaDB they are the same.
func (mysqlDialect) isLocked(err error) bool {
	var e *mysql.MySQLError
	return errors.As(err, &e) && (e.Number == 1205 || e.Number == 3572)
}

func (mysqlDialect) isNoTable(err error) bool {
	var e *mysql.MySQLError
	return errors.As(err, &e) && e.Number == 1146
}

func (mysqlDialect) retryCauses() []string {
	return []string{"deadlock", "lock wait", "server", "connection"}
}

func (mysqlDialect) retryCause(err error) string {
	var e *mysql.MySQLError
	if errors.As(err, &e) {
		switch e.Number {
		// Deadlock, also with a transaction of another Galera node; conflict with one of
		// another member of a replication group.
		case 1213, 3101:
			return "deadlock"
		case 1205:
			return "lock wait"
		case 1040, 1053, 1290, 1836, 3159, // too many connections, shutting down, read-only
			1317, 1927, // the statement or the connection was killed
			1969, 3024, // the statement exceeded statementTimeout, or the clock was set
			1047,                         // a Galera node that is not ready
			3032,                         // offline
			3100, 3796, 3797, 3798, 3799: // group replication refused the transaction, or its wait for earlier ones failed
			return "server"
		case 2003, 2006, 2013: // MySQL Router reached no server, or lost it
			return "connection"
		}
		return tidbRetryCause(e)
	}
	if isConnectionError(err) || errors.Is(err, cluster.ErrNoPrimary) {
		return "connection"
	}
	return ""
}

// isFull recognizes errors by their number. Errors that only repeat the operating
// system's error 28 (ENOSPC) are recognized by their text.
func (mysqlDialect) isFull(err error) bool {
	var e *mysql.MySQLError
	if !errors.As(err, &e) {
		return false
	}
	switch e.Number {
	case 1114, 1021, 1041, 3186: // table full, disk full, out of memory, capacity exceeded
		return true
	case 3, 1026, 1030, 1034: // could not write, with the operating system's error
		return osErrorFull.MatchString(e.Message)
	}
	return false
}

var osErrorFull = regexp.MustCompile(`(?i)(errno:?|error:?|errcode:?) 28\b|no space left`)

func isConnectionError(err error) bool {
	var netErr net.Error
	return errors.Is(err, driver.ErrBadConn) || errors.Is(err, mysql.ErrInvalidConn) ||
		errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.As(err, &netErr)
}
