package change

import (
	"context"
	"fmt"
	"slices"

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
	deferred     []Deferred
}

// lock locks the channel, unless an earlier change of the transaction has locked it.
func (c *Change) lock(ctx context.Context, attempt store.Attempt) error {
	if left, ok := attempt.Common.Left(c.ChannelID).(*Pending); ok {
		c.Pending = *left
		return nil
	}
	found, err := Lock(ctx, c.Store, c.Tx, c.ChannelID)
	if row := found[c.ChannelID]; row != nil {
		c.Locked, c.exists = *row, true
	}
	return err
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
func (p *Pending) Finish(ctx context.Context, tx *ent.Tx, key any) error {
	c := Change{Tx: tx, Store: p.store, ChannelID: key.(uid.ID), Pending: *p}
	if err := c.flush(ctx); err != nil {
		return fmt.Errorf("write what was deferred: %w", err)
	}
	for some := range slices.Chunk(p.events, eventsPerStatement) {
		if err := insertEvents(ctx, tx, key.(uid.ID), some); err != nil {
			return fmt.Errorf("write events: %w", err)
		}
	}
	row := tx.Channel.Update().Where(channel.ID(key.(uid.ID))) // UpdateOne would read the row again
	if len(p.events) > 0 {
		row.SetEventSequence(p.sequence)
	}
	if p.hasActivity {
		row.SetActivityNumber(p.activityNumber)
	}
	if p.followers != 0 {
		row.AddFollowerCount(p.followers)
	}
	if p.newFollowers != 0 {
		row.AddNewFollowerCount(p.newFollowers)
	}
	if err := row.Exec(ctx); err != nil {
		return fmt.Errorf("write the channel's row: %w", err)
	}
	return nil
}
