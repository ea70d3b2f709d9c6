package chat

import (
	"context"
	"fmt"

	"github.com/moderato-live/moderato/ent"
	"github.com/moderato-live/moderato/ent/chatgeneration"
	"github.com/moderato-live/moderato/ent/message"
	"github.com/moderato-live/moderato/server/instant"
	"github.com/moderato-live/moderato/server/store"
	"github.com/moderato-live/moderato/server/uid"
)

// ChannelPurger removes the rows of messages of channels that were cleared, like Purger.
type ChannelPurger struct {
	Store *store.Store

	// current is the channel of which the last batch left messages; nil if there is none.
	current *channelPurge
}

// channelPurge is the claimed work on one channel.
type channelPurge struct {
	*ent.ChatGeneration

	claim instant.Instant // the value of PurgeAt while this server holds the claim
	from  Place           // the last message that was examined
}

// Purge removes deleted messages of the channels whose purge is due, at most a batch of
// one of them. It reports whether there may be more.
func (p *ChannelPurger) Purge(ctx context.Context) (more bool, err error) {
	now, err := p.Store.Clock.Now(ctx, p.Store.Read)
	if err != nil {
		return false, err
	}
	g, err := p.due(ctx, now)
	if err != nil || g == nil {
		return false, err
	}
	if err := p.purgeChannel(ctx, g, now); err != nil {
		return false, fmt.Errorf("purge messages of %s: %w", g.ID, err)
	}
	return true, nil
}

// due returns the channel whose purge this server has begun, or else one whose purge is
// due; nil if there is none.
func (p *ChannelPurger) due(ctx context.Context, now instant.Instant) (*channelPurge, error) {
	if begun := p.current; begun != nil {
		p.current = nil
		return begun, nil
	}
	row, err := p.Store.Read.ChatGeneration.Query().
		Where(chatgeneration.PurgeAtLTE(now)).
		Order(ent.Asc(chatgeneration.FieldPurgeAt)).
		First(ctx)
	if ent.IsNotFound(err) {
		return nil, nil //nolint:nilnil // nothing is due
	}
	if err != nil {
		return nil, err
	}
	return &channelPurge{ChatGeneration: row, claim: *row.PurgeAt}, nil
}

// purgeChannel removes a batch of the messages of a channel that the latest clearing
// deleted, and extends the claim in the same transaction. The messages were sent before the
// clearing, except for those that were being posted at that moment: their rows are at most
// lastLook later, among visible messages.
func (p *ChannelPurger) purgeChannel(ctx context.Context, g *channelPurge, now instant.Instant) error {
	next, claimed := now.Add(claimTime), 0
	var last *Place
	err := p.Store.Write(ctx, func(ctx context.Context, tx *ent.Tx, _ store.Attempt) error {
		var err error
		if claimed, err = g.reschedule(ctx, tx, &next); err != nil || claimed == 0 {
			return err
		}
		last, err = removeCleared(ctx, tx, g.ID, g.from, min(now, g.RaisedAt.Add(lastLook)), now)
		return err
	})
	if err != nil || claimed == 0 {
		return err
	}
	g.claim = next
	if last == nil {
		return p.finish(ctx, g, now)
	}
	g.from, p.current = *last, g
	return nil
}

// isRestorable is the SQL condition that a hidden message m may become visible again: it was
// hidden by a ban or mute that can still be undone (see isKept), or it was posted around an
// undo and the purger has not moved it yet. The remainder is 0 unless the chat was cleared
// since. The arguments are those of isRestorableArgs.
var isRestorable = fmt.Sprintf(`EXISTS (SELECT 1 FROM message_generations mk LEFT JOIN chat_generations ck ON ck.channel_id = mk.channel_id
	WHERE mk.channel_id = m.channel_id AND mk.user_id = m.user_id
		AND (m.generation - mk.generation - COALESCE(ck.generation, 0)) %% %d = 0
		AND ((mk.restorable_until > ? AND m.generation >= mk.restorable)
			OR (mk.earlier_until > ? AND m.generation >= mk.earlier)
			OR (mk.restored_from IS NOT NULL AND m.generation > mk.generation)))`, stride)

func isRestorableArgs(now instant.Instant) []any {
	return []any{now.Add(-lastLook), now.Add(-lastLook)}
}

// removeCleared removes the hidden ones among some messages of a channel, which follow a
// place and were sent up to an instant. It returns the place of the last of them; nil if
// no more follow.
func removeCleared(ctx context.Context, tx *ent.Tx, channelID uid.ID, after Place, upTo, now instant.Instant) (*Place, error) {
	var hidden []uid.ID
	last, examined := after, 0
	err := store.QueryEach(ctx, tx, `
		SELECT m.id, m.sent_at, m.generation <> `+generation("m.channel_id", "m.user_id")+` AND NOT `+isRestorable+` FROM messages m
		WHERE m.channel_id = ? AND m.sent_at >= ? AND m.sent_at <= ? AND (m.sent_at > ? OR m.id > ?)
		ORDER BY m.sent_at, m.id`+store.Limit(purgeBatch),
		append(isRestorableArgs(now), channelID, after.SentAt, upTo, after.SentAt, after.ID), func(scan func(...any) error) error {
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

// finish schedules the last purge of the clearing, or ends the work if it is over.
func (p *ChannelPurger) finish(ctx context.Context, g *channelPurge, now instant.Instant) error {
	var next *instant.Instant
	if look := g.RaisedAt.Add(lastLook); now < look {
		next = &look
	}
	return p.Store.Write(ctx, func(ctx context.Context, tx *ent.Tx, _ store.Attempt) error {
		_, err := g.reschedule(ctx, tx, next)
		return err
	})
}

// reschedule sets when the purge is due, nil for never, if this server still holds the
// claim. It returns 0 if it does not.
func (g *channelPurge) reschedule(ctx context.Context, tx *ent.Tx, to *instant.Instant) (int, error) {
	update := tx.ChatGeneration.Update().Where(chatgeneration.ID(g.ID), chatgeneration.Generation(g.Generation), chatgeneration.PurgeAt(g.claim))
	if to == nil {
		return update.ClearPurgeAt().Save(ctx)
	}
	return update.SetPurgeAt(*to).Save(ctx)
}
