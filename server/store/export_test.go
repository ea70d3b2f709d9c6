package store

import (
	"context"
	"time"
)

// SetBounds sets how long a read waits for others, and how long one may take to be
// shared.
func (s *Store) SetBounds(patience, slow time.Duration) {
	s.lanes.patience, s.lanes.slow = patience, slow
}

// MigrateTo migrates up to a version, as a migration does that is interrupted.
func (s *Store) MigrateTo(ctx context.Context, version int64) error {
	provider, err := s.migrations()
	if err != nil {
		return err
	}
	_, err = provider.UpTo(ctx, version)
	return err
}
