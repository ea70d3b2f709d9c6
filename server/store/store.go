// Package store opens the database and runs transactions on it: SQLite for one host, or
// the MySQL family (MySQL, MariaDB, TiDB).
// Queries are in the packages of the RPCs that need them. The differences between the
// databases are in this package: see Dialect.
//
// There is one way to run each kind of statement:
//
//   - ent's builders read and write rows by their keys, in a transaction or not.
//   - A Statement, declared with Declare, is a frequent read outside transactions, such
//     as the join for a page of a list.
//   - QueryRow and QueryEach run other queries that ent's builders cannot express, such
//     as locks and rare joins, in a transaction or not.
//   - ExecContext of a transaction writes sets of rows that ent's builders cannot express.
package store

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"log/slog"
	"time"

	entsql "entgo.io/ent/dialect/sql"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"

	"github.com/moderato-live/moderato/ent"
	"github.com/moderato-live/moderato/internal/changequeue"
	"github.com/moderato-live/moderato/internal/fair"
	"github.com/moderato-live/moderato/internal/tracing"
	"github.com/moderato-live/moderato/server/store/buckets"
	"github.com/moderato-live/moderato/server/store/cluster"
	"github.com/moderato-live/moderato/server/store/cursor"
	"github.com/moderato-live/moderato/server/store/pictures"
	"github.com/moderato-live/moderato/server/store/prepared"
)

// electionTime is how long Open waits for the primary of a cluster.
const electionTime = 15 * time.Second

// Store is an open database.
type Store struct {
	*Dialect
	// Read runs statements outside a transaction. Each statement sees the state of one
	// instant, at or after its start.
	Read *ent.Client
	// Written is raised after a transaction of this Store wrote events.
	Written Signal
	// Cursors seals the cursors of lists and event streams.
	Cursors *cursor.Sealer
	// Pictures fills the empty pictures of the events that are read from this Store.
	Pictures *pictures.Filler
	// ChangeQueues queues changes of a channel before they request the channel's lock.
	ChangeQueues *changequeue.Queues
	// Buckets counts what the transactions of this Store changed, until it is written.
	Buckets *buckets.Counters

	// writers bounds the transactions that run at the same time.
	writers *fair.Gate
	reader  prepared.Reader
	write   *ent.Client
	readDB  *sql.DB
	writeDB *sql.DB
	cluster *cluster.Connector // nil for a single server or an embedded database
	tracer  *tracing.Tracer
	retries *prometheus.CounterVec
	full    prometheus.Counter
}

// Options configures a Store.
type Options struct {
	// Layer is a layer between the Store and the database driver; nil means none.
	Layer Layer
	// Tracer records statements; nil records none.
	Tracer *tracing.Tracer
	// Log is the logger of failovers in a database cluster; nil means none.
	Log *slog.Logger
}

// Open connects to a database. It does not migrate the database: see Migrate and
// CheckVersion.
func Open(ctx context.Context, url URL) (*Store, error) { return OpenWith(ctx, url, Options{}) }

// OpenWith is Open with options.
func OpenWith(ctx context.Context, url URL, o Options) (*Store, error) {
	return open(ctx, url, options{Options: o, timeout: statementTimeout})
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
	Options
	timeout time.Duration // statement timeout of a database server; 0 means none
	pragmas []string      // for SQLite, as name(value)
}

func open(ctx context.Context, url URL, o options) (*Store, error) {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	var s *Store
	var err error
	if url.Path != "" {
		s, err = openSQLite(ctx, url, o)
	} else {
		s, err = openMySQL(url, o)
	}
	if err != nil {
		return nil, fmt.Errorf("open %s: %w", url, err)
	}
	if err = s.firstPing(ctx); err == nil {
		err = s.recognize(ctx, url.Name)
	}
	if err != nil {
		s.Close()
		return nil, fmt.Errorf("open %s: %w", url, err)
	}
	return s, nil
}

// firstPing checks that the database is reachable. It waits for a cluster that chooses a
// primary at that moment.
func (s *Store) firstPing(ctx context.Context) error {
	for deadline := time.Now().Add(electionTime); ; time.Sleep(100 * time.Millisecond) {
		err := s.Ping(ctx)
		if !errors.Is(err, ErrNoPrimary) || ctx.Err() != nil || time.Now().After(deadline) {
			return err
		}
	}
}

func newStore(d dialect, read, write *sql.DB, tracer *tracing.Tracer) *Store {
	client := func(db *sql.DB) *ent.Client {
		return ent.NewClient(ent.Driver(entsql.OpenDB(d.name(), db)))
	}
	s := &Store{
		Dialect: newDialect(d), Read: client(read), Written: NewSignal(), ChangeQueues: changequeue.New(), Buckets: new(buckets.Counters),
		readDB: read, writeDB: write, reader: prepared.Reader{DB: read, IgnoreDeadlines: d.hasOneWriter()}, tracer: tracer,
	}
	s.write = s.Read
	if write != read {
		s.write = client(write)
	}
	s.Cursors = cursor.NewSealer(s.readCursorKeys)
	s.writers = fair.NewGate(writersOf(read, write))
	s.retries = prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "moderato_transaction_retries_total",
		Help: "Transactions that were retried, by cause.",
	}, []string{"cause"})
	for _, cause := range append(d.retryCauses(), "shared", "commit") {
		s.retries.WithLabelValues(cause) // 0 until the first
	}
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

// Tracer returns the Tracer of the store; nil if it is off.
func (s *Store) Tracer() *tracing.Tracer { return s.tracer }

// Ping checks that the database is reachable.
func (s *Store) Ping(ctx context.Context) error { return s.readDB.PingContext(ctx) }

// Primary returns the host:port of the primary of a database cluster; empty if there is
// none, or no cluster.
func (s *Store) Primary() string {
	if s.cluster == nil {
		return ""
	}
	return s.cluster.Primary()
}

// Close closes all connections.
func (s *Store) Close() {
	if s.cluster != nil {
		s.cluster.Close()
	}
	_ = s.readDB.Close()
	if s.writeDB != s.readDB {
		_ = s.writeDB.Close()
	}
}

// Register registers the metrics of the store and of its ChangeQueues.
func (s *Store) Register(r prometheus.Registerer) {
	r.MustRegister(s.retries, s.full, collectors.NewDBStatsCollector(s.readDB, "read"))
	s.ChangeQueues.Register(r)
	if s.cluster != nil {
		s.cluster.Register(r)
	}
	if s.writeDB != s.readDB {
		r.MustRegister(collectors.NewDBStatsCollector(s.writeDB, "write"))
	}
}

// IsDuplicate reports whether a statement failed because a row with the same key
// exists.
func (s *Store) IsDuplicate(err error) bool { return s.dialect.isDuplicate(err) }

// IsLocked reports whether a statement failed because another transaction holds the lock
// of a row.
func (s *Store) IsLocked(err error) bool { return s.dialect.isLocked(err) }

// DB returns the connection pool, for tools and tests.
func (s *Store) DB() *sql.DB { return s.writeDB }
