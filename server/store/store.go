// Package store opens the database and runs transactions on it: SQLite for one host, or
// the MySQL family (MySQL, MariaDB; the schema is designed to allow TiDB and Vitess).
// Queries are in the packages of the RPCs that need them. The differences between the
// databases are in this package.
package store

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"fmt"
	"time"

	entdialect "entgo.io/ent/dialect"
	entsql "entgo.io/ent/dialect/sql"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"

	"github.com/moderato-live/moderato/ent"
	"github.com/moderato-live/moderato/server/changequeue"
	"github.com/moderato-live/moderato/server/cursor"
	"github.com/moderato-live/moderato/server/fair"
)

// Store is an open database.
type Store struct {
	// Read runs statements outside a transaction. Each statement sees the state of one
	// instant, at or after its start.
	Read *ent.Client
	// Clock is the database's clock.
	Clock *Clock
	// Written is raised when a transaction of this Store wrote events.
	Written Signal
	// Cursors seals the cursors of lists and event streams.
	Cursors *cursor.Sealer
	// Turns queues changes of a channel before they request the channel's lock.
	Turns *changequeue.Turns

	// writers bounds the transactions that run at the same time.
	writers *fair.Gate
	dialect dialect
	lanes   *lanes
	write   *ent.Client
	readDB  *sql.DB
	writeDB *sql.DB
	retries *prometheus.CounterVec
	full    prometheus.Counter
}

// Open connects to a database. It does not migrate the database: see Migrate and
// CheckVersion.
func Open(ctx context.Context, url URL) (*Store, error) { return OpenThrough(ctx, url, nil) }

// OpenThrough is Open with a Layer between the Store and the database driver; nil means
// none.
func OpenThrough(ctx context.Context, url URL, through Layer) (*Store, error) {
	return open(ctx, url, options{timeout: statementTimeout, through: through})
}

// OpenWithoutBound is Open without a bound on the duration of statements.
func OpenWithoutBound(ctx context.Context, url URL) (*Store, error) {
	return open(ctx, url, options{})
}

// Layer wraps the driver of a database, and sees every statement.
type Layer func(driver.Connector) driver.Connector

func (l Layer) around(c driver.Connector) driver.Connector {
	if l == nil {
		return c
	}
	return l(c)
}

// options holds the options for opening a database.
type options struct {
	timeout time.Duration // statement timeout of a database server; 0 means none
	pragmas []string      // for SQLite, as name(value)
	through Layer
}

func open(ctx context.Context, url URL, o options) (*Store, error) {
	var s *Store
	var err error
	if url.Path != "" {
		s, err = openSQLite(ctx, url, o)
	} else {
		s, err = openMySQL(ctx, url, o)
	}
	if err != nil {
		return nil, fmt.Errorf("open %s: %w", url, err)
	}
	if err := s.Ping(ctx); err != nil {
		s.Close()
		return nil, fmt.Errorf("open %s: %w", url, err)
	}
	return s, nil
}

func newStore(d dialect, entDialect string, read, write *sql.DB) *Store {
	client := func(db *sql.DB) *ent.Client {
		return ent.NewClient(ent.Driver(entsql.OpenDB(entDialect, db)))
	}
	s := &Store{dialect: d, readDB: read, writeDB: write, Read: client(read), Written: NewSignal(), Turns: changequeue.New(), lanes: newLanes()}
	s.write = s.Read
	if write != read {
		s.write = client(write)
	}
	s.Clock = &Clock{sql: d.nowSQL()}
	s.Cursors = cursor.NewSealer(s.readCursorKeys)
	s.writers = fair.NewGate(writersOf(read, write))
	s.retries = prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "moderato_transaction_retries_total",
		Help: "Transactions that were retried, by cause.",
	}, []string{"cause"})
	s.full = prometheus.NewCounter(prometheus.CounterOpts{
		Name: "moderato_store_full_total",
		Help: "Statements that failed because the database has no room left.",
	})
	return s
}

// writersOf returns how many transactions may run at the same time. Where reads use the
// same connections, a quarter of them is reserved for reads.
func writersOf(read, write *sql.DB) int {
	connections := write.Stats().MaxOpenConnections
	if read == write {
		connections -= connections / 4
	}
	return max(connections, 1)
}

// IsEmbedded reports whether the database is a file on this host, which the server
// migrates itself.
func (s *Store) IsEmbedded() bool { return s.dialect.name() == entdialect.SQLite }

// Ping checks that the database is reachable.
func (s *Store) Ping(ctx context.Context) error { return s.readDB.PingContext(ctx) }

// Close closes all connections.
func (s *Store) Close() {
	_ = s.readDB.Close()
	if s.writeDB != s.readDB {
		_ = s.writeDB.Close()
	}
}

// Register registers the metrics of the store and of its Turns.
func (s *Store) Register(r prometheus.Registerer) {
	r.MustRegister(s.retries, s.full, collectors.NewDBStatsCollector(s.readDB, "read"), s.lanes.waiting, s.lanes.shared)
	s.Turns.Register(r)
	if s.writeDB != s.readDB {
		r.MustRegister(collectors.NewDBStatsCollector(s.writeDB, "write"))
	}
}

// ForUpdate returns the end of a SELECT that locks its rows until the transaction ends.
// It is empty on SQLite, where a transaction that writes locks the database from its
// start.
func (s *Store) ForUpdate() string { return s.dialect.forUpdate() }

// ForShare returns the end of a SELECT that prevents changes of its rows until the
// transaction ends.
func (s *Store) ForShare() string { return s.dialect.forShare() }

// ByIndex returns a clause to put after a table's name that forces the use of an index,
// regardless of statistics: a database that chooses wrongly reads all rows of a channel.
func (s *Store) ByIndex(index string) string { return s.dialect.byIndex(index) }

// Below returns the condition for the rows of a list in descending order that follow the
// place given by key and tie. The condition has the form that the database converts to
// ranges of an index over both columns. A page thus costs the same anywhere in the list,
// however many rows share a key.
func (s *Store) Below(keyColumn, tieColumn string, key, tie any) (condition string, args []any) {
	return s.dialect.after(keyColumn, tieColumn, " < ", key, tie)
}

// Above is Below for a list in ascending order.
func (s *Store) Above(keyColumn, tieColumn string, key, tie any) (condition string, args []any) {
	return s.dialect.after(keyColumn, tieColumn, " > ", key, tie)
}

// Some returns the WHERE clause of an UPDATE or DELETE that affects at most n of the
// matching rows of a table.
func (s *Store) Some(table, where string, n int) string { return s.dialect.some(table, where, n) }

// IsDuplicate reports whether a statement failed because a row with the same key
// exists.
func (s *Store) IsDuplicate(err error) bool { return s.dialect.isDuplicate(err) }

// DB returns the connection pool, for tools and tests.
func (s *Store) DB() *sql.DB { return s.writeDB }
