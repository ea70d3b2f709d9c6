package store

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"time"
)

// OpenBounded opens a Store like Open. The database server ends a statement after the timeout.
func OpenBounded(ctx context.Context, url URL, timeout time.Duration) (*Store, error) {
	return open(ctx, url, options{timeout: timeout})
}

// Session returns the connector of a Store's connections.
func Session(c driver.Connector) driver.Connector { return session{Connector: c} }

// MigrationLockOn takes a lock like that of a migration on a connection of a database server.
func (s *Store) MigrationLockOn(ctx context.Context, name string) (*sql.Conn, error) {
	conn, err := s.writeDB.Conn(ctx)
	if err != nil {
		return nil, err
	}
	begin, _ := s.dialect.boundIdle(int(maxMigration.Seconds()))
	return conn, takeLock(ctx, conn, name, begin)
}

// CheckVitess refuses the name of a database in several shards.
func (s *Store) CheckVitess(ctx context.Context, database string) error {
	return s.checkVitess(ctx, database)
}
