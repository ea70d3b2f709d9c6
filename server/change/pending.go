package change

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/moderato-live/moderato/ent"
	"github.com/moderato-live/moderato/ent/channel"
	"github.com/moderato-live/moderato/server/store"
	"github.com/moderato-live/moderato/server/uid"
)

// eventsPerStatement is how many events one statement writes. The driver of SQLite takes
// time that grows with the square of the number of parameters.
const eventsPerStatement = 50

// Pending is a channel's row as of its lock, and what the changes of a transaction will write
// to it and to the events: at the end and in as few statements as possible, because the
// channel is locked meanwhile. Until then, a read of the row returns its old values.
type Pending struct {
	// Locked holds columns of the channel's row as of the lock.
	Locked

	exists       bool
	followers    int64
	newFollowers int64
	hasActivity  bool // activityNumber has changed
	events       []event
	store        *store.Store
	channelID    uid.ID
	deferred     []Deferred
	prefetched   prefetched // shared by all changes of the channel in the transaction
}

// lock locks the channel, unless an earlier change of the transaction has locked it.
func (c *Change) lock(ctx context.Context, attempt store.Attempt) error {
	if left, ok := attempt.Common.Left(c.ChannelID).(*Pending); ok {
		c.Pending = *left
		return nil
	}
	c.prefetched = prefetched{}
	return attempt.Common.Lock(c.Store.Dialect, func(end string) (bool, error) {
		found, err := lock(ctx, c.Store.Dialect, c.Tx, end, c.ChannelID)
		if row := found[c.ChannelID]; row != nil {
			c.Locked, c.exists = *row, true
		}
		return c.exists, err
	})
}

// CountFollowers adds to the counters of the channel's followers, and of those who followed
// during the live stream.
func (p *Pending) CountFollowers(all, duringStream int64) {
	p.followers += all
	p.newFollowers += duringStream
}

// LastSequence returns the sequence of the channel's last event, including those that the
// transaction will write.
func (p *Pending) LastSequence() int64 { return p.sequence }

// NextActivity returns the next number in the channel's list of activities.
func (p *Pending) NextActivity() int64 {
	p.activityNumber++
	p.hasActivity = true
	return p.activityNumber
}

// Finish implements store.Finisher.
func (p *Pending) Finish(ctx context.Context, tx *ent.Tx, all []store.Finisher) error {
	changes := make([]*Change, len(all))
	for i, f := range all {
		left := f.(*Pending)
		changes[i] = &Change{Tx: tx, Store: left.store, ChannelID: left.channelID, Pending: *left}
	}
	if err := flush(ctx, changes...); err != nil {
		return fmt.Errorf("write what was deferred: %w", err)
	}
	var events []event
	for _, c := range changes {
		events = append(events, c.events...)
	}
	for some := range slices.Chunk(events, eventsPerStatement) {
		if err := insertEvents(ctx, tx, some); err != nil {
			return fmt.Errorf("write events: %w", err)
		}
	}
	if err := writeRows(ctx, tx, changes); err != nil {
		return fmt.Errorf("write the rows of channels: %w", err)
	}
	return nil
}

// writeRows writes the rows of the changed channels. Those of which only the sequence of events
// has changed, like most, are written together.
func writeRows(ctx context.Context, tx *ent.Tx, changes []*Change) error {
	var sequences, ids []any
	for _, c := range changes {
		isSequenceOnly := !c.hasActivity && c.followers == 0 && c.newFollowers == 0
		if isSequenceOnly && len(c.events) == 0 {
			continue
		}
		if isSequenceOnly {
			sequences = append(sequences, c.ChannelID, c.sequence)
			ids = append(ids, c.ChannelID)
		} else if err := c.writeRow(ctx); err != nil {
			return err
		}
	}
	if len(ids) == 0 {
		return nil
	}
	_, err := tx.ExecContext(ctx, "UPDATE channels"+changes[0].Store.ByPrimaryKey("channels")+" SET event_sequence = CASE id"+strings.Repeat(" WHEN ? THEN ?", len(ids))+
		" END WHERE id IN ("+store.Placeholders(len(ids))+")", append(sequences, ids...)...)
	return err
}

func (c *Change) writeRow(ctx context.Context) error {
	row := c.Tx.Channel.Update().Where(channel.ID(c.ChannelID)).SetEventSequence(c.sequence) // UpdateOne would read the row again
	if c.hasActivity {
		row.SetActivityNumber(c.activityNumber)
	}
	if c.followers != 0 {
		row.AddFollowerCount(c.followers)
	}
	if c.newFollowers != 0 {
		row.AddNewFollowerCount(c.newFollowers)
	}
	return row.Exec(ctx)
}
