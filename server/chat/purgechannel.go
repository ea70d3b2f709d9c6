package chat

import (
	"context"
	"fmt"
	"time"

	"github.com/moderato-live/moderato/ent"
	"github.com/moderato-live/moderato/ent/chatgeneration"
	"github.com/moderato-live/moderato/ent/message"
	"github.com/moderato-live/moderato/server/instant"
	"github.com/moderato-live/moderato/server/store"
	"github.com/moderato-live/moderato/server/uid"
)

// purgeChannels removes the messages of channels that were cleared.
func (p *Purger) purgeChannels(ctx context.Context) error {
	for {
		now, err := p.Store.Clock.Now(ctx, p.Store.Read)
		if err != nil {
			return err
		}
		due, err := p.Store.Read.ChatGeneration.Query().
			Where(chatgeneration.PurgeAtLTE(now)).
			Order(ent.Asc(chatgeneration.FieldPurgeAt)).Limit(20).
			All(ctx)
		if err != nil || len(due) == 0 {
			return err
		}
		for _, g := range due {
			if err := p.purgeChannel(ctx, g, now); err != nil {
				return fmt.Errorf("purge messages of %s: %w", g.ID, err)
			}
		}
	}
}

// purgeChannel removes the messages of a channel that the latest clearing deleted. It
// claims the work again for each batch. The messages were sent before the clearing, except
// for those that were being posted at that moment: their rows are at most lastLook later,
// among visible messages.
func (p *Purger) purgeChannel(ctx context.Context, g *ent.ChatGeneration, now instant.Instant) error {
	claim, from := *g.PurgeAt, Place{}
	upTo := min(now, g.RaisedAt.Add(lastLook))
	for {
		next := now.Add(claimTime)
		var claimed int
		var last *Place
		began := time.Now()
		err := p.Store.Write(ctx, func(ctx context.Context, tx *ent.Tx, _ store.Attempt) error {
			var err error
			if claimed, err = rescheduleChannel(ctx, tx, g, claim, &next); err != nil || claimed == 0 {
				return err
			}
			last, err = removeCleared(ctx, tx, g.ID, from, upTo)
			return err
		})
		if err != nil || claimed == 0 {
			return err
		}
		claim = next
		if last == nil {
			return p.finishChannel(ctx, g, claim, now)
		}
		from = *last
		if err := rest(ctx, time.Since(began)); err != nil {
			return err
		}
		if now, err = p.Store.Clock.Now(ctx, p.Store.Read); err != nil {
			return err
		}
	}
}

// removeCleared removes the hidden ones among some messages of a channel, which follow a
// place and were sent up to an instant. It returns the place of the last of them; nil if
// no more follow.
func removeCleared(ctx context.Context, tx *ent.Tx, channelID uid.ID, after Place, upTo instant.Instant) (*Place, error) {
	var hidden []uid.ID
	last, examined := after, 0
	err := store.QueryEach(ctx, tx, `
		SELECT m.id, m.sent_at, m.generation <> `+generation("m.channel_id", "m.user_id")+` FROM messages m
		WHERE m.channel_id = ? AND m.sent_at >= ? AND m.sent_at <= ? AND (m.sent_at > ? OR m.id > ?)
		ORDER BY m.sent_at, m.id`+store.Limit(purgeBatch),
		[]any{channelID, after.SentAt, upTo, after.SentAt, after.ID}, func(scan func(...any) error) error {
			examined++
			var isHidden bool
			err := scan(&last.ID, &last.SentAt, &isHidden)
			if isHidden {
				hidden = append(hidden, last.ID)
			}
			return err
		})
	if err != nil {
		return nil, err
	}
	if len(hidden) > 0 {
		if _, err := tx.Message.Delete().Where(message.IDIn(hidden...)).Exec(ctx); err != nil {
			return nil, err
		}
	}
	if examined < purgeBatch {
		return nil, nil //nolint:nilnil // no more follow
	}
	return &last, nil
}

// finishChannel schedules the last purge of the clearing, or ends the work if it is over.
func (p *Purger) finishChannel(ctx context.Context, g *ent.ChatGeneration, claim, now instant.Instant) error {
	var next *instant.Instant
	if look := g.RaisedAt.Add(lastLook); now < look {
		next = &look
	}
	return p.Store.Write(ctx, func(ctx context.Context, tx *ent.Tx, _ store.Attempt) error {
		_, err := rescheduleChannel(ctx, tx, g, claim, next)
		return err
	})
}

// rescheduleChannel is reschedule for the messages of a channel.
func rescheduleChannel(ctx context.Context, tx *ent.Tx, g *ent.ChatGeneration, from instant.Instant, to *instant.Instant) (int, error) {
	update := tx.ChatGeneration.Update().Where(chatgeneration.ID(g.ID), chatgeneration.Generation(g.Generation), chatgeneration.PurgeAt(from))
	if to == nil {
		return update.ClearPurgeAt().Save(ctx)
	}
	return update.SetPurgeAt(*to).Save(ctx)
}
