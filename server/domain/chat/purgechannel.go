package chat

import (
	"context"
	"fmt"

	"github.com/moderato-live/moderato/ent"
	"github.com/moderato-live/moderato/ent/chatgeneration"
	"github.com/moderato-live/moderato/internal/instant"
	"github.com/moderato-live/moderato/internal/uid"
	"github.com/moderato-live/moderato/server/store"
)

// ChannelPurger removes the rows of messages of channels that were cleared, like Purger.
//
// A purge is due lastLook after a clearing, and later clearings do not delay it. If there were
// any, it removes only messages that were sent before the clearing for which it is due, and the
// purge of the latest one follows.
type ChannelPurger struct {
	Store *store.Store

	// current is the channel of which the last batch left messages; nil if there is none.
	current *channelPurge
}

// channelPurge is the work on one channel.
type channelPurge struct {
	channelID uid.ID
	dueAt     instant.Instant // the stored time, which changes if another server does the work
	from      Place           // the last message that was examined
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
		return false, fmt.Errorf("purge messages of %s: %w", g.channelID, err)
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
	return &channelPurge{channelID: row.ID, dueAt: *row.PurgeAt}, nil
}

// purgeChannel removes a batch of the messages of a channel, and schedules what follows in
// the same transaction.
func (p *ChannelPurger) purgeChannel(ctx context.Context, g *channelPurge, now instant.Instant) error {
	var last *Place
	var next *instant.Instant
	err := p.Store.Write(ctx, func(ctx context.Context, tx *ent.Tx, _ store.Attempt) error {
		last, next = nil, nil
		row, err := lockGeneration(ctx, tx, g.channelID)
		if err != nil || row == nil || row.PurgeAt == nil || *row.PurgeAt != g.dueAt {
			return err
		}
		upTo := sentUpTo(row, now)
		if last, err = removeCleared(ctx, tx, row, g.from, upTo); err != nil {
			return err
		}
		next = nextPurge(row, last != nil, now)
		update := tx.ChatGeneration.Update().Where(chatgeneration.ID(row.ID))
		if next == nil {
			return update.ClearPurgeAt().Exec(ctx)
		}
		return update.SetPurgeAt(*next).Exec(ctx)
	})
	if err == nil && last != nil {
		p.current = &channelPurge{channelID: g.channelID, dueAt: *next, from: *last}
	}
	return err
}

// lockGeneration returns the row of a channel and locks it; nil if there is none.
func lockGeneration(ctx context.Context, tx *ent.Tx, channelID uid.ID) (*ent.ChatGeneration, error) {
	row, err := tx.ChatGeneration.Query().Where(chatgeneration.ID(channelID), store.LockForUpdate).Only(ctx)
	if ent.IsNotFound(err) {
		return nil, nil //nolint:nilnil // the channel was erased
	}
	return row, err
}

// isLatest reports whether every clearing of a channel was lastLook ago, so that the purge is
// that of the latest one.
func isLatest(row *ent.ChatGeneration, now instant.Instant) bool {
	return now >= row.RaisedAt.Add(lastLook)
}

// sentUpTo returns when the latest of the messages was sent that a purge may remove. The
// messages were sent before their clearing, except for those that were being posted at that
// moment: they are at most lastLook later, among visible messages.
func sentUpTo(row *ent.ChatGeneration, now instant.Instant) instant.Instant {
	if isLatest(row, now) {
		return row.RaisedAt.Add(lastLook)
	}
	// The purge is scheduled, not claimed (see isScheduled), so it is due lastLook after a
	// clearing. Whatever was sent before this clearing was hidden by then.
	return row.PurgeAt.Add(-lastLook) - 1
}

// nextPurge returns when the next batch of a channel is due, or the next purge if no batch
// remains; nil if there is none. The purge of the latest clearing is claimed, so that other
// servers leave it to this one. Another purge remains scheduled, because its time says which
// clearing it is for: servers that work on it at the same time wait for each other in each
// batch.
func nextPurge(row *ent.ChatGeneration, isMore bool, now instant.Instant) *instant.Instant {
	switch latest := isLatest(row, now); {
	case latest && isMore:
		return new(now.Add(claimTime))
	case latest:
		return nil
	case isMore:
		return row.PurgeAt
	}
	return new(row.RaisedAt.Add(lastLook))
}

// removeCleared removes those that a clearing hides among some messages of a channel, which
// follow a place and were sent up to an instant. It returns the place of the last of them; nil
// if no more follow. Purger removes the messages that were deleted alone.
func removeCleared(ctx context.Context, tx *ent.Tx, row *ent.ChatGeneration, after Place, upTo instant.Instant) (*Place, error) {
	var hidden []uid.ID
	last, examined := after, 0
	err := store.QueryEach(ctx, tx, fmt.Sprintf(`
		SELECT m.id, m.sent_at, m.generation >= 0 AND m.generation %% %d <> ? FROM messages m
		WHERE m.channel_id = ? AND m.sent_at >= ? AND m.sent_at <= ? AND (m.sent_at > ? OR m.id > ?)
		ORDER BY m.sent_at, m.id`, stride)+store.Limit(purgeBatch),
		[]any{row.Generation, row.ID, after.SentAt, upTo, after.SentAt, after.ID}, func(scan func(...any) error) error {
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
		if _, err := removeRows(ctx, tx, row.ID, hidden); err != nil {
			return nil, err
		}
	}
	if examined < purgeBatch {
		return nil, nil //nolint:nilnil // no more follow
	}
	return &last, nil
}
