package store

import "time"

// SetBounds sets how long a read waits for others, and how long one may take to be
// shared.
func (s *Store) SetBounds(patience, slow time.Duration) {
	s.lanes.patience, s.lanes.slow = patience, slow
}
