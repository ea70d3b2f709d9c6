package coalesce

import "time"

// SetBounds sets how long a read waits for others, and how long a statement may take
// while its query is coalesced.
func (r *Reader) SetBounds(maxDelay, slow time.Duration) {
	r.coalescer.maxDelay, r.coalescer.slow = maxDelay, slow
}
