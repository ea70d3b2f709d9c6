package standing

import (
	"sync/atomic"
	"time"
)

// Stats describes a Client, for metrics. The counters only grow.
type Stats struct {
	// IsConnected reports whether the stream is open and has a complete state.
	IsConnected bool
	// Staleness is that of Client.Staleness.
	Staleness time.Duration
	// LastError is the error of the stream that ended last; nil if none did.
	LastError error

	// Channels is the number of channels that the memory knows, Entries the number of users
	// with a ban, mute or role in a channel, and Bytes the memory for both. Entries may
	// include bans and mutes that have ended.
	Channels, Entries, Bytes int64

	// Snapshots and Resumes count how streams began, and Changes what they brought since.
	Snapshots, Resumes, Changes uint64
	// Asked counts the calls of the server for single users, Unanswered those that failed
	// or were not made in time, and FromPolicy the answers FailClosed and FailOpen.
	Asked, Unanswered, FromPolicy uint64
}

// counts are the counters of Stats.
type counts struct {
	snapshots, resumes, changes   atomic.Uint64
	asked, unanswered, fromPolicy atomic.Uint64
}

// Stats returns the present Stats.
func (c *Client) Stats() Stats {
	c.mu.Lock()
	defer c.mu.Unlock()
	s := Stats{
		IsConnected: c.isConnected, Staleness: c.staleness(), LastError: c.lastError,
		Snapshots: c.counts.snapshots.Load(), Resumes: c.counts.resumes.Load(), Changes: c.counts.changes.Load(),
		Asked: c.counts.asked.Load(), Unanswered: c.counts.unanswered.Load(), FromPolicy: c.counts.fromPolicy.Load(),
	}
	if c.latest != nil {
		s.Channels, s.Entries, s.Bytes = c.latest.mentioned.Load(), c.latest.entries.Load(), c.latest.bytes.Load()
	}
	return s
}
