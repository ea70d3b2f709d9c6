package store

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"time"

	"github.com/moderato-live/moderato/server/fair"
)

// OpenBounded opens a Store like Open. The database server ends a statement after the timeout.
func OpenBounded(ctx context.Context, url URL, timeout time.Duration) (*Store, error) {
	return open(ctx, url, options{timeout: timeout})
}

// MaxShares is how many changes share one transaction at most.
const MaxShares = defaultMaxShares

// ShareLong removes the limit on how long the first change of a shared transaction waits, so
// that a slow machine does not split the transaction.
func (s *Store) ShareLong() { s.maxSharedTime = time.Hour }

// WaitingWriters returns how many transactions wait to begin.
func (s *Store) WaitingWriters() int { return s.writers.Waiting() }

// ShareAmongChannels bounds the transactions that changes of different channels share.
func (s *Store) ShareAmongChannels(n int) { s.amongChannels = fair.NewGate(n) }

// WaitingAmongChannels returns how many changes wait to begin or to join such a transaction.
func (s *Store) WaitingAmongChannels() int { return s.amongChannels.Waiting() }

// ReadCommitted returns the connector of a Store's connections.
func ReadCommitted(c driver.Connector) driver.Connector { return readCommitted{c} }

// MigrationLockOn takes a lock like that of a migration on a connection of a database server.
func (s *Store) MigrationLockOn(ctx context.Context, name string) (*sql.Conn, error) {
	conn, err := s.writeDB.Conn(ctx)
	if err != nil {
		return nil, err
	}
	begin, _ := s.dialect.boundIdle(int(maxMigration.Seconds()))
	return conn, takeLock(ctx, conn, name, begin)
}
