package chat

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/moderato-live/moderato/ent"
	"github.com/moderato-live/moderato/ent/message"
	"github.com/moderato-live/moderato/ent/messagegeneration"
	"github.com/moderato-live/moderato/server/instant"
	"github.com/moderato-live/moderato/server/store"
	"github.com/moderato-live/moderato/server/uid"
)

const (
	// purgeInterval is how often to purge.
	purgeInterval = time.Second
	purgeBatch    = 200
	// restFactor is how many times the duration of a batch the purger rests after it, at
	// most maxRest. The database stays mostly free for bans and other requests; the
	// purge is not urgent, because the messages are already hidden.
	restFactor = 4
	maxRest    = time.Second
	// claimTime is how long other servers leave a claimed user to the claiming server. It
	// is longer than a batch takes, and short enough that a server that dies is soon
	// replaced.
	claimTime = 30 * time.Second
	// lastLook is the time from a deletion to its last purge. A post that read its
	// generation before the deletion may store its row shortly after it. lastLook is
	// longer than a request may take.
	lastLook = 2 * time.Minute
)

// Purger removes the rows of deleted messages, in small batches by primary key. It may
// be killed at any point: a later purge finds the remaining rows.
type Purger struct {
	Store *store.Store
}

// Purge removes all messages whose purge is due.
func (p *Purger) Purge(ctx context.Context) error {
	return errors.Join(p.purgeUsers(ctx), p.purgeChannels(ctx))
}

func (p *Purger) purgeUsers(ctx context.Context) error {
	for {
		now, err := p.Store.Clock.Now(ctx, p.Store.Read)
		if err != nil {
			return err
		}
		due, err := p.Store.Read.MessageGeneration.Query().
			Where(messagegeneration.PurgeAtLTE(now)).
			Order(ent.Asc(messagegeneration.FieldPurgeAt)).Limit(20).
			All(ctx)
		if err != nil || len(due) == 0 {
			return err
		}
		for _, g := range due {
			if err := p.purgeUser(ctx, g, now); err != nil {
				return fmt.Errorf("purge messages of %s in %s: %w", g.UserID, g.ChannelID, err)
			}
		}
	}
}

// purgeUser removes the hidden messages of one user in one channel. It claims the work
// again for each batch.
func (p *Purger) purgeUser(ctx context.Context, g *ent.MessageGeneration, now instant.Instant) error {
	claim := *g.PurgeAt
	for {
		next := now.Add(claimTime)
		var removed, claimed int
		began := time.Now()
		err := p.Store.Write(ctx, func(ctx context.Context, tx *ent.Tx, _ store.Attempt) error {
			var err error
			if claimed, err = reschedule(ctx, tx, g, claim, &next); err != nil || claimed == 0 {
				return err
			}
			removed, err = removeBatch(ctx, tx, g)
			return err
		})
		if err != nil || claimed == 0 {
			return err
		}
		claim = next
		if removed == purgeBatch {
			if err := rest(ctx, time.Since(began)); err != nil {
				return err
			}
			if now, err = p.Store.Clock.Now(ctx, p.Store.Read); err != nil {
				return err
			}
			continue
		}
		return p.finish(ctx, g, claim, now)
	}
}

func rest(ctx context.Context, worked time.Duration) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(min(restFactor*worked, maxRest)):
		return nil
	}
}

// finish schedules the last purge of the deletion, or ends the work if it is over.
func (p *Purger) finish(ctx context.Context, g *ent.MessageGeneration, claim, now instant.Instant) error {
	var next *instant.Instant
	if look := g.RaisedAt.Add(lastLook); now < look {
		next = &look
	}
	return p.Store.Write(ctx, func(ctx context.Context, tx *ent.Tx, _ store.Attempt) error {
		_, err := reschedule(ctx, tx, g, claim, next)
		return err
	})
}

// reschedule moves the work from one time to another; nil ends it. It returns 0 if
// another server or a newer deletion rescheduled the work meanwhile.
func reschedule(ctx context.Context, tx *ent.Tx, g *ent.MessageGeneration, from instant.Instant, to *instant.Instant) (int, error) {
	update := tx.MessageGeneration.Update().Where(
		messagegeneration.ChannelID(g.ChannelID), messagegeneration.UserID(g.UserID),
		messagegeneration.Generation(g.Generation), messagegeneration.PurgeAt(from))
	if to == nil {
		return update.ClearPurgeAt().Save(ctx)
	}
	return update.SetPurgeAt(*to).Save(ctx)
}

// removeBatch removes hidden messages of a user. Besides the row g, which the transaction
// has claimed, the channel's generation hides messages.
func removeBatch(ctx context.Context, tx *ent.Tx, g *ent.MessageGeneration) (int, error) {
	ofChannel, err := channelGeneration(ctx, tx, g.ChannelID)
	if err != nil {
		return 0, err
	}
	ids, err := tx.Message.Query().
		Where(message.ChannelID(g.ChannelID), message.UserID(g.UserID), message.GenerationLT(g.Generation+ofChannel)).
		Limit(purgeBatch).IDs(ctx)
	if err != nil || len(ids) == 0 {
		return 0, err
	}
	return tx.Message.Delete().Where(message.IDIn(ids...)).Exec(ctx)
}

// channelGeneration returns the generation of a channel.
func channelGeneration(ctx context.Context, tx *ent.Tx, channelID uid.ID) (int64, error) {
	row, err := tx.ChatGeneration.Get(ctx, channelID)
	if ent.IsNotFound(err) {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	return row.Generation, nil
}
