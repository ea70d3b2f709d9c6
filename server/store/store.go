// Package store opens the database and runs transactions on it: SQLite for one
// host, or the MySQL family (MySQL, MariaDB; by schema design ready for TiDB and
// Vitess). Queries are beside the RPCs that need them; what differs between the
// stores is here.
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
	"github.com/moderato-live/moderato/server/cursor"
	"github.com/moderato-live/moderato/server/fair"
	"github.com/moderato-live/moderato/server/turns"
)

// Store is an open database.
type Store struct {
	// Read runs statements outside a transaction. Each sees the state of one
	// instant, at or after its start.
	Read *ent.Client
	// Clock tells the database's time.
	Clock *Clock
	// Written is raised when a transaction of this Store wrote events.
	Written Signal
	// Cursors seals the cursors of lists and event streams.
	Cursors *cursor.Sealer
	// Turns is where changes of a channel line up before they ask for its lock.
	Turns *turns.Turns

	// writers share the connections on which transactions run.
	writers *fair.Gate
	dialect dialect
	lanes   *lanes
	write   *ent.Client
	readDB  *sql.DB
	writeDB *sql.DB
	retries *prometheus.CounterVec
	full    prometheus.Counter
}

// Open connects to a database. It does not migrate: see Migrate and
// CheckVersion.
func Open(ctx context.Context, url URL) (*Store, error) { return OpenThrough(ctx, url, nil) }

// OpenThrough is Open with something between the Store and the database's driver
// that sees every statement; nil is nothing.
func OpenThrough(ctx context.Context, url URL, through Layer) (*Store, error) {
	return open(ctx, url, options{timeout: statementTimeout, through: through})
}

// OpenWithoutBound is Open for work whose statements take as long as they take.
func OpenWithoutBound(ctx context.Context, url URL) (*Store, error) {
	return open(ctx, url, options{})
}

// Layer is put around the driver of a database.
type Layer func(driver.Connector) driver.Connector

func (l Layer) around(c driver.Connector) driver.Connector {
	if l == nil {
		return c
	}
	return l(c)
}

// options are how a database is opened.
type options struct {
	timeout time.Duration // for each statement, where the server has a bound; 0 is none
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
	s := &Store{dialect: d, readDB: read, writeDB: write, Read: client(read), Written: NewSignal(), Turns: turns.New(), lanes: newLanes()}
	s.write = s.Read
	if write != read {
		s.write = client(write)
	}
	s.Clock = &Clock{sql: d.nowSQL()}
	s.Cursors = cursor.NewSealer(s.readCursorKeys)
	s.writers = fair.NewGate(writersOf(read, write))
	s.retries = prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "moderato_transaction_retries_total",
		Help: "Transactions that were run again, by cause.",
	}, []string{"cause"})
	s.full = prometheus.NewCounter(prometheus.CounterOpts{
		Name: "moderato_store_full_total",
		Help: "Statements that failed because the database has no room left.",
	})
	return s
}

// writersOf returns how many transactions may be under way at once. Where reads use
// the same connections, a fourth of them is left for reads.
func writersOf(read, write *sql.DB) int {
	connections := write.Stats().MaxOpenConnections
	if read == write {
		connections -= connections / 4
	}
	return max(connections, 1)
}

// IsEmbedded tells whether the database is a file of this host, which the
// server itself migrates.
func (s *Store) IsEmbedded() bool { return s.dialect.name() == entdialect.SQLite }

// Ping asks the database for a sign of life.
func (s *Store) Ping(ctx context.Context) error { return s.readDB.PingContext(ctx) }

// Close ends all connections.
func (s *Store) Close() {
	_ = s.readDB.Close()
	if s.writeDB != s.readDB {
		_ = s.writeDB.Close()
	}
}

// Register adds the store's metrics: its pools and its retries.
func (s *Store) Register(r prometheus.Registerer) {
	r.MustRegister(s.retries, s.full, collectors.NewDBStatsCollector(s.readDB, "read"), s.lanes.waiting, s.lanes.shared)
	s.Turns.Register(r)
	if s.writeDB != s.readDB {
		r.MustRegister(collectors.NewDBStatsCollector(s.writeDB, "write"))
	}
}

// ForUpdate is what a SELECT ends with to lock its rows until the transaction
// ends. On SQLite a transaction that writes locks the database from its start.
func (s *Store) ForUpdate() string { return s.dialect.forUpdate() }

// ForShare is what a SELECT ends with to keep its rows as they are until the
// transaction ends.
func (s *Store) ForShare() string { return s.dialect.forShare() }

// ByIndex follows a table's name and has it read by an index, whatever the statistics
// say: a store that guesses wrong reads all that a channel has.
func (s *Store) ByIndex(index string) string { return s.dialect.byIndex(index) }

// Below is the condition for the rows of a list that come after a place, key and tie,
// in descending order: in the form that each store turns into ranges of an index over
// both columns, so that a page costs the same anywhere in the list and however many
// rows share a key.
func (s *Store) Below(keyColumn, tieColumn string, key, tie any) (condition string, args []any) {
	return s.dialect.after(keyColumn, tieColumn, " < ", key, tie)
}

// Above is Below for a list in ascending order.
func (s *Store) Above(keyColumn, tieColumn string, key, tie any) (condition string, args []any) {
	return s.dialect.after(keyColumn, tieColumn, " > ", key, tie)
}

// Some is the WHERE clause of an UPDATE or DELETE that takes at most n of the
// rows of a table that match.
func (s *Store) Some(table, where string, n int) string { return s.dialect.some(table, where, n) }

// IsDuplicate tells whether a statement failed because a row with the same key
// exists.
func (s *Store) IsDuplicate(err error) bool { return s.dialect.isDuplicate(err) }

// DB is the connection pool for tools and tests.
func (s *Store) DB() *sql.DB { return s.writeDB }
