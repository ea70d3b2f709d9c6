package store

import (
	"context"
	"errors"
	"fmt"
	"strings"
)

// ErrUnsupported is the error of a database server that Moderato cannot use, or not with its
// settings.
var ErrUnsupported = errors.New("the database server cannot be used")

// recognize finds out which engine a database server runs. It returns ErrUnsupported for an
// engine that cannot be used, or not with its settings.
func (s *Store) recognize(ctx context.Context, database string) error {
	if s.dialect.hasOneWriter() {
		return nil
	}
	var version string
	if err := QueryRow(ctx, s.Read, "SELECT VERSION()", nil, &version); err != nil {
		return fmt.Errorf("ask for the version: %w", err)
	}
	switch {
	case strings.Contains(version, "TiDB"):
		s.dialect = tidbDialect{}
		return s.checkTiDB(ctx)
	case strings.Contains(version, "Vitess"):
		return s.checkVitess(ctx, database)
	}
	return nil
}

// checkVitess refuses a keyspace with several shards. The name of a database may also name a shard
// and a kind of tablets: KEYSPACE:SHARD@KIND.
func (s *Store) checkVitess(ctx context.Context, database string) error {
	keyspace, shards := database, 0
	if end := strings.IndexAny(database, "@:"); end >= 0 {
		keyspace = database[:end]
	}
	err := QueryEach(ctx, s.Read, "SHOW VITESS_SHARDS", nil, func(scan func(...any) error) error {
		var shard string
		err := scan(&shard)
		if strings.HasPrefix(shard, keyspace+"/") {
			shards++
		}
		return err
	})
	if err == nil && shards > 1 {
		err = fmt.Errorf("%w: the Vitess keyspace %s has %d shards, and transactions and joins need a single one", ErrUnsupported, keyspace, shards)
	}
	return err
}

// CheckServer returns ErrUnsupported if a server cannot use the database because it is read-only,
// or because its tables are of an engine without savepoints.
func (s *Store) CheckServer(ctx context.Context) error {
	if s.dialect.hasOneWriter() {
		return nil
	}
	var name, value string
	err := QueryRow(ctx, s.Read, "SHOW GLOBAL VARIABLES WHERE Variable_name IN ('read_only', 'tidb_super_read_only', 'tidb_restricted_read_only') AND Value <> 'OFF'", nil, &name, &value)
	if err == nil {
		return fmt.Errorf("%w: it is read-only (%s is %s): name the primary in --db, or all members of its cluster", ErrUnsupported, name, value)
	} else if !errors.Is(err, ErrNoRows) {
		return fmt.Errorf("ask whether the server is read-only: %w", err)
	}
	err = QueryRow(ctx, s.Read, "SELECT table_name FROM information_schema.tables WHERE table_schema = DATABASE() AND engine = 'SPIDER'"+Limit(1), nil, &name)
	if err == nil {
		return fmt.Errorf("%w: the table %s is of the engine Spider, which has no savepoints: use InnoDB", ErrUnsupported, name)
	} else if !errors.Is(err, ErrNoRows) {
		return fmt.Errorf("ask for the engines of the tables: %w", err)
	}
	return nil
}
