package chat

import (
	"context"
	"fmt"
	"time"

	"entgo.io/ent/dialect/sql"

	"github.com/moderato-live/moderato/ent"
	"github.com/moderato-live/moderato/ent/message"
	"github.com/moderato-live/moderato/ent/messagegeneration"
	"github.com/moderato-live/moderato/internal/instant"
	"github.com/moderato-live/moderato/server/store"
)

const (
	// purgeInterval is how often to purge.
	purgeInterval = time.Second
	purgeBatch    = 200
	// maxRest bounds the rest after a batch. The database stays mostly free for bans and
	// other requests; the purge is not urgent, because the messages are already hidden.
	maxRest = time.Second
	// dueAtOnce is how many users one query finds.
	dueAtOnce = 20
	// claimTime is how long other servers leave a claimed user to the claiming server. It
	// is longer than a batch takes, and short enough that a server that dies is soon
	// replaced.
	claimTime = 30 * time.Second
	// lastLook is how long the rows of a deletion stay, so that a repeated post restores no
	// message. A post that read its generation before the deletion may store its row
	// shortly after it. lastLook is longer than a request may take, so the purge finds this
	// row too.
	lastLook = 2 * time.Minute
)

// Purger removes the rows of messages that a ban or mute deleted, or that were deleted
// alone, in small batches by primary key. It may be killed at any point: a later purge finds
// the remaining rows.
type Purger struct {
	Store *store.Store

	// current is the user of whom the last batch left messages; nil if there is none.
	current *purge
}

// purge is the claimed work on one user in one channel.
type purge struct {
	*ent.MessageGeneration

	claim instant.Instant // the value of PurgeAt while this server holds the claim
}

// Purge removes deleted messages of users whose purge is due, until the work is done or
// it has removed a full batch. It reports whether there may be more.
func (p *Purger) Purge(ctx context.Context) (more bool, err error) {
	now, err := p.Store.Clock.Now(ctx, p.Store.Read)
	if err != nil {
		return false, err
	}
	due, err := p.due(ctx, now)
	if err != nil {
		return false, err
	}
	for left := purgeBatch; len(due) > 0 && left > 0; due = due[1:] {
		removed, err := p.purgeUser(ctx, due[0], now)
		if err != nil {
			return false, fmt.Errorf("purge messages of %s in %s: %w", due[0].UserID, due[0].ChannelID, err)
		}
		left -= removed
		more = true
	}
	return more, nil
}

// due returns the users whose purge is due: first of all the one whose purge this server has
// begun.
func (p *Purger) due(ctx context.Context, now instant.Instant) ([]*purge, error) {
	if begun := p.current; begun != nil {
		p.current = nil
		return []*purge{begun}, nil
	}
	rows, err := p.Store.Read.MessageGeneration.Query().
		Where(messagegeneration.PurgeAtLTE(now)).
		Order(ent.Asc(messagegeneration.FieldPurgeAt)).Limit(dueAtOnce).
		All(ctx)
	due := make([]*purge, len(rows))
	for i, row := range rows {
		due[i] = &purge{MessageGeneration: row, claim: *row.PurgeAt}
	}
	return due, err
}

// purgeUser removes a batch of the hidden messages of one user in one channel. It extends
// the claim in the same transaction.
func (p *Purger) purgeUser(ctx context.Context, g *purge, now instant.Instant) (removed int, err error) {
	next, claimed := now.Add(claimTime), 0
	err = p.Store.Write(ctx, func(ctx context.Context, tx *ent.Tx, _ store.Attempt) error {
		var err error
		if claimed, err = g.reschedule(ctx, tx, &next); err != nil || claimed == 0 {
			return err
		}
		removed, err = removeBatch(ctx, tx, g.MessageGeneration, now)
		return err
	})
	if err != nil || claimed == 0 {
		return 0, err
	}
	g.claim = next
	if removed == purgeBatch {
		p.current = g
		return removed, nil
	}
	return removed, p.finish(ctx, g, now)
}

// finish schedules the last purge of the deletion, or ends the work if it is over.
func (p *Purger) finish(ctx context.Context, g *purge, now instant.Instant) error {
	var next *instant.Instant
	if look := g.RaisedAt.Add(lastLook); now < look {
		next = &look
	} else if isKept(g.RestorableUntil, now) {
		next = new(g.RestorableUntil.Add(lastLook))
	}
	return p.Store.Write(ctx, func(ctx context.Context, tx *ent.Tx, _ store.Attempt) error {
		_, err := g.reschedule(ctx, tx, next)
		return err
	})
}

// reschedule moves the work to another time; nil ends it. It returns 0 if another server
// or a newer deletion rescheduled the work meanwhile.
func (g *purge) reschedule(ctx context.Context, tx *ent.Tx, to *instant.Instant) (int, error) {
	update := tx.MessageGeneration.Update().Where(
		messagegeneration.ChannelID(g.ChannelID), messagegeneration.UserID(g.UserID),
		messagegeneration.Generation(g.Generation), messagegeneration.PurgeAt(g.claim))
	if to == nil {
		return update.ClearPurgeAt().Save(ctx)
	}
	return update.SetPurgeAt(*to).Save(ctx)
}

// isKept reports whether a deletion that can be undone until an instant, nil for never, keeps
// its messages. It is longer than Restore allows, so that no purge runs during a Restore.
func isKept(until *instant.Instant, now instant.Instant) bool {
	return until != nil && now < until.Add(lastLook)
}

// removeBatch removes messages of a user that the row g hides, which the transaction has
// claimed, and those that were deleted alone. ChannelPurger removes those that a clearing of
// the chat hides.
func removeBatch(ctx context.Context, tx *ent.Tx, g *ent.MessageGeneration, now instant.Instant) (int, error) {
	if g.RestoredFrom != nil {
		if moved, err := settle(ctx, tx, g); err != nil || moved > 0 {
			return moved, err
		}
	}
	hidden := message.GenerationLT(g.Generation)
	switch {
	case now < g.RaisedAt.Add(lastLook): // the purge is due because of a message that was deleted alone
		hidden = message.GenerationLT(0)
	case isKept(g.EarlierUntil, now):
		hidden = message.GenerationLT(*g.Earlier)
	case isKept(g.RestorableUntil, now):
		hidden = message.GenerationLT(*g.Restorable)
	}
	ids, err := tx.Message.Query().
		Where(message.ChannelID(g.ChannelID), message.UserID(g.UserID), hidden).
		Limit(purgeBatch).IDs(ctx)
	if err != nil || len(ids) == 0 {
		return 0, err
	}
	return removeRows(ctx, tx, g.ChannelID, ids)
}

// settle moves messages of a user whose messages were restored to the present generation,
// and returns their number. They have a generation that a deletion had made which was undone:
// they were imported during the ban or mute, or posted when it expired while it was being
// undone.
func settle(ctx context.Context, tx *ent.Tx, g *ent.MessageGeneration) (int, error) {
	ofChannel, err := ChannelGeneration(ctx, tx, g.ChannelID)
	if err != nil {
		return 0, err
	}
	present := g.Generation + ofChannel
	ids, err := tx.Message.Query().
		Where(message.ChannelID(g.ChannelID), message.UserID(g.UserID),
			message.GenerationGT(present), message.GenerationLTE(*g.RestoredFrom+ofChannel),
			func(s *sql.Selector) {
				s.Where(sql.ExprP("("+s.C(message.FieldGeneration)+" - ?) % ? = 0", present, stride)) // not of a cleared chat
			}).
		Limit(purgeBatch).IDs(ctx)
	if err != nil || len(ids) == 0 {
		return 0, err
	}
	return tx.Message.Update().Where(message.IDIn(ids...)).SetGeneration(present).Save(ctx)
}
