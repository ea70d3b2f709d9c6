package store

import (
	"context"
	"database/sql"
	"fmt"

	"github.com/moderato-live/moderato/server/store/prepared"
)

// Snapshot passes to read a Store whose statements all see the state of one instant, at or
// after the first of them. That Store only reads, and ends with read. The statements of s
// itself wait for a connection that read may be holding: read must not run any.
func (s *Store) Snapshot(ctx context.Context, read func(of *Store) error) error {
	tx, err := s.Read.BeginTx(ctx, &sql.TxOptions{Isolation: sql.LevelRepeatableRead, ReadOnly: true})
	if err != nil {
		return s.Classify(fmt.Errorf("begin: %w", err))
	}
	// Nothing was written, so the end of the transaction cannot fail.
	defer func() { _ = tx.Rollback() }()
	return read(&Store{
		Dialect: s.Dialect, Read: tx.Client(), Cursors: s.Cursors, Pictures: s.Pictures, full: s.full,
		reader: prepared.Reader{In: tx},
	})
}
