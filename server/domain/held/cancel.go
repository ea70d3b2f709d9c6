package held

import (
	"context"
	"fmt"
	"slices"

	"github.com/moderato-live/moderato/ent"
	"github.com/moderato-live/moderato/ent/heldmessage"
	moderatov1 "github.com/moderato-live/moderato/gen/moderato/v1"
	"github.com/moderato-live/moderato/internal/instant"
	"github.com/moderato-live/moderato/internal/uid"
	"github.com/moderato-live/moderato/server/change"
	"github.com/moderato-live/moderato/server/change/feed"
	"github.com/moderato-live/moderato/server/store"
)

// Waits is the SQL condition that a message of a user, an SQL expression, waits for a decision in
// the channel that is its argument.
func Waits(user string) string {
	return "EXISTS (SELECT 1 FROM held_messages h WHERE h.user_id = " + user + " AND h.channel_id = ? AND h.status = '" + pending + "')"
}

// Cancel cancels the messages of some users that wait in the channel of a change.
func Cancel(ctx context.Context, c *change.Change, users []uid.ID) error {
	if len(users) == 0 {
		return nil
	}
	rows, err := c.Tx.HeldMessage.Query().Where(heldmessage.UserIDIn(users...), heldmessage.ChannelID(c.ChannelID), heldmessage.Status(pending)).
		Order(ent.Asc(heldmessage.FieldHeldAt, heldmessage.FieldID)).
		Select(heldmessage.FieldID, heldmessage.FieldUserID). // what end needs
		All(ctx)
	if err != nil {
		return err
	}
	return end(ctx, c, rows, cancelled, nil)
}

// CancelAll cancels all messages that wait in the channel of a change. Without the hint, TiDB scans
// an index that has the senders as well.
func CancelAll(ctx context.Context, c *change.Change) error {
	var rows []*ent.HeldMessage
	err := store.QueryEach(ctx, c.Tx, "SELECT id, user_id FROM held_messages"+c.Store.ByIndex("heldmessage_channel_id_status_held_at_id")+
		" WHERE channel_id = ? AND status = ? ORDER BY held_at, id", []any{c.ChannelID, pending}, func(scan func(...any) error) error {
		row := &ent.HeldMessage{}
		rows = append(rows, row)
		return scan(&row.ID, &row.UserID)
	})
	if err != nil {
		return err
	}
	return end(ctx, c, rows, cancelled, nil)
}

// CancelUntil cancels those messages of a user that were held in a channel until an instant, for a
// sanction that was imported. Like the import, it emits no event. The transaction must hold the
// channel's lock.
func CancelUntil(ctx context.Context, tx feed.Tx, channelID, userID uid.ID, at instant.Instant) error {
	err := tx.HeldMessage.Update().Where(heldmessage.UserID(userID), heldmessage.ChannelID(channelID), heldmessage.Status(pending), heldmessage.HeldAtLTE(at)).
		SetStatus(cancelled).SetDecidedAt(tx.Now).ClearDueAt().ClearClaimedBy().ClearClaimedUntil().
		Exec(ctx)
	if err != nil {
		return fmt.Errorf("cancel held messages: %w", err)
	}
	return nil
}

// rowsPerStatement is how many messages one statement ends.
const rowsPerStatement = 100

// end ends the wait of messages with a status, now, and emits an event for each. by is the
// moderator who decided; nil if nobody did.
func end(ctx context.Context, c *change.Change, rows []*ent.HeldMessage, status string, by *moderatov1.Person) error {
	for some := range slices.Chunk(rows, rowsPerStatement) {
		ids := make([]uid.ID, len(some))
		for i, row := range some {
			ids[i] = row.ID
		}
		update := c.Tx.HeldMessage.Update().Where(heldmessage.IDIn(ids...)).
			SetStatus(status).SetDecidedAt(c.Now).ClearDueAt().ClearClaimedBy().ClearClaimedUntil()
		if by != nil {
			update.SetDecidedBy(c.ActorID)
		}
		if err := update.Exec(ctx); err != nil {
			return fmt.Errorf("end the wait of messages: %w", err)
		}
	}
	for _, row := range rows {
		row.Status, row.DecidedAt, row.DueAt, row.ClaimedBy = status, new(c.Now), nil, nil
		if by != nil {
			row.DecidedBy = new(c.ActorID)
		}
		c.Emit("channel.chat.hold.update", row.UserID, &moderatov1.ChatHoldUpdateEvent{
			ChannelId: c.ChannelID.String(), ModeratorId: c.ModeratorID(), ClientId: c.ClientID, MessageId: row.ID.String(),
			Status: status, DecidedBy: by, DecidedAt: c.Now.Proto(),
		})
	}
	return nil
}
