// Package buckets counts in memory what happens in channels, by intervals of time, until it is
// written to the database.
package buckets

import (
	"sync"
	"time"

	"github.com/moderato-live/moderato/internal/instant"
	"github.com/moderato-live/moderato/internal/uid"
)

// Fine and Coarse are the lengths of the intervals. Everything is counted in both: a read of days
// takes the coarse ones, of which there are fewer.
const (
	Fine   = 5 * time.Second
	Coarse = time.Minute
)

// maxCounters is how many counters are kept in memory. When there are so many, because the
// database cannot be reached, nothing more is counted in other intervals.
const maxCounters = 100_000

// Counts is what happened.
type Counts struct {
	Messages, FirstMessages, Follows, Bans, Mutes, Held int64
	Viewers                                             *int64 // the highest number; nil if none was reported
}

func (c *Counts) add(n Counts) {
	c.Messages += n.Messages
	c.FirstMessages += n.FirstMessages
	c.Follows += n.Follows
	c.Bans += n.Bans
	c.Mutes += n.Mutes
	c.Held += n.Held
	c.ReportViewers(n.Viewers)
}

// ReportViewers takes a number of viewers into account; nil is none.
func (c *Counts) ReportViewers(n *int64) {
	if n != nil && (c.Viewers == nil || *n > *c.Viewers) {
		c.Viewers = new(*n)
	}
}

// Interval is an interval of time in a channel.
type Interval struct {
	ChannelID uid.ID
	StartedAt instant.Instant // a multiple of the length
	Length    time.Duration
}

// Row is a counter as it is to be written. Its counts are those since its first row, so it replaces
// an earlier row with its id, and may be written any number of times.
type Row struct {
	Interval
	Counts

	ID uid.ID
}

type counter struct {
	Counts

	id        uid.ID
	isWritten bool
}

// Counters counts. If a counter is needed again after it was forgotten, it gets a new id, so no
// count is lost. The zero value is ready for use.
type Counters struct {
	mu     sync.Mutex
	all    map[Interval]*counter
	latest instant.Instant // the latest time of what was counted
}

// Add counts what happened in a channel at a time, by the database's clock. It is called when the
// transaction is committed.
func (c *Counters) Add(channelID uid.ID, at instant.Instant, n Counts) {
	if n == (Counts{}) {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.latest = max(c.latest, at)
	for _, length := range [...]time.Duration{Fine, Coarse} {
		in := Interval{channelID, at - at%instant.Instant(length.Milliseconds()), length}
		x := c.all[in]
		if x == nil {
			if len(c.all) >= maxCounters {
				return
			}
			if c.all == nil {
				c.all = map[Interval]*counter{}
			}
			x = &counter{id: uid.New()}
			c.all[in] = x
		}
		x.add(n)
		x.isWritten = false
	}
}

// Take returns the counters that have changed since they were written, and takes them for written:
// see Return. It forgets counters that were written and whose interval is over.
func (c *Counters) Take() (changed []Row) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for in, x := range c.all {
		switch {
		case !x.isWritten:
			changed = append(changed, Row{in, x.Counts, x.id})
			x.isWritten = true
		case in.StartedAt.Add(in.Length) <= c.latest || len(c.all) > maxCounters/2:
			delete(c.all, in)
		}
	}
	return changed
}

// Return gives back rows that could not be written.
func (c *Counters) Return(rows []Row) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, row := range rows {
		if x := c.all[row.Interval]; x != nil && x.id == row.ID {
			x.isWritten = false
		}
	}
}
