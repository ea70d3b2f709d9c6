package store

import (
	"context"
	"database/sql"
	"fmt"

	"github.com/moderato-live/moderato/server/store/prepared"
)

// Snapshot calls read with a Store whose statements all see the database as of one instant,
// that of the first statement. This Store cannot write, and must not be used after read returns.
// In read, use only this Store: a statement of s could wait for the connection that it holds.
func (s *Store) Snapshot(ctx context.Context, read func(of *Store) error) error {
	tx, err := s.Read.BeginTx(ctx, &sql.TxOptions{Isolation: sql.LevelRepeatableRead}) // TiDB refuses READ ONLY
	if err != nil {
		return s.Classify(fmt.Errorf("begin: %w", err))
	}
	// Nothing was written, so there is nothing to commit.
	defer func() { _ = tx.Rollback() }()
	return read(&Store{
		Dialect: s.Dialect, Read: tx.Client(), Cursors: s.Cursors, Pictures: s.Pictures, full: s.full,
		reader: prepared.Reader{In: tx},
	})
}
