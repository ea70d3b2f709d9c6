package erasure

import (
	"context"
	"errors"
	"fmt"

	"github.com/moderato-live/moderato/ent"
	"github.com/moderato-live/moderato/ent/event"
	"github.com/moderato-live/moderato/ent/follow"
	"github.com/moderato-live/moderato/ent/role"
	"github.com/moderato-live/moderato/ent/subscription"
	moderatov1 "github.com/moderato-live/moderato/gen/moderato/v1"
	"github.com/moderato-live/moderato/server/apierr"
	"github.com/moderato-live/moderato/server/audience"
	"github.com/moderato-live/moderato/server/authz"
	"github.com/moderato-live/moderato/server/change"
	"github.com/moderato-live/moderato/server/outbox"
	"github.com/moderato-live/moderato/server/roles"
	"github.com/moderato-live/moderato/server/store"
	"github.com/moderato-live/moderato/server/uid"
	"github.com/moderato-live/moderato/server/users"
)

// step erases one kind of row. do handles at most batch rows in a transaction and returns
// their number. Fewer than batch means that no rows are left.
type step struct {
	name string
	do   func(ctx context.Context, s *store.Store, tx *ent.Tx, id uid.ID) (int, error)
}

// channelTables lists the tables whose rows belong to a channel.
var channelTables = []string{
	"messages", "message_generations", "events", "activities", "follows", "subscriptions", "bans", "mutes",
	"streams", "clips", "vods", "votes", "webhook_deliveries",
}

// ofChannel returns the steps that erase the rows of a deleted channel.
func ofChannel() []step {
	var steps []step
	for _, table := range channelTables {
		steps = append(steps, remove(table, "channel_id"))
	}
	return append(steps, step{"roles by channel_id", removeRoles}, removeWebhooks("channel_id"))
}

// ofUser returns the steps that erase what a deleted user left in other users' channels.
func ofUser() []step {
	return []step{
		remove("tokens", "user_id"),
		remove("grants", "user_id"),
		remove("messages", "user_id"),
		remove("roles", "user_id"),
		remove("bans", "user_id"),
		remove("mutes", "user_id"),
		remove("activities", "user_id"),
		removeWebhooks("user_id"),
		{"follows of the user", unfollow},
		{"subscriptions of the user", unsubscribe},
		set("bans", "moderator_id = ?", "moderator_id"),
		set("mutes", "moderator_id = ?", "moderator_id"),
		set("clips", "creator_id = ?", "creator_id"),
		{"votes of the user", anonymizeVotes},
		{"events about the user", anonymizeTargets},
		{"events of the user", anonymizeActors},
		// In its own transaction, after the other steps are committed. Listeners are
		// therefore notified even if those steps ran before a crash.
		{"what listeners are told", rewrite},
	}
}

func rewrite(ctx context.Context, _ *store.Store, tx *ent.Tx, _ uid.ID) (int, error) {
	return 0, outbox.Rewrite(ctx, tx)
}

// remove returns a step that deletes the rows of a table whose column is the id.
func remove(table, column string) step {
	return step{fmt.Sprintf("%s by %s", table, column), func(ctx context.Context, s *store.Store, tx *ent.Tx, id uid.ID) (int, error) {
		return exec(ctx, tx, "DELETE FROM "+table+s.Some(table, column+" = ?", batch), id)
	}}
}

// removeRoles removes the roles in a deleted channel. Another channel may get its id
// afterwards, so the listeners of former moderators must no longer have it.
func removeRoles(ctx context.Context, _ *store.Store, tx *ent.Tx, id uid.ID) (int, error) {
	rows, err := tx.Role.Query().Where(role.ChannelID(id)).Limit(batch).All(ctx)
	if err != nil || len(rows) == 0 {
		return 0, err
	}
	var ids, former []uid.ID
	for _, row := range rows {
		ids = append(ids, row.ID)
		if row.Role == roles.Moderator.Name {
			former = append(former, row.UserID)
		}
	}
	if _, err := tx.Role.Delete().Where(role.IDIn(ids...)).Exec(ctx); err != nil {
		return 0, err
	}
	return len(rows), authz.RightsChanged(ctx, tx, former...)
}

// removeWebhooks returns a step that marks webhooks as deleted, as their deletion by a
// caller does. Their deliveries are removed before their rows, when no server adds
// deliveries any more.
func removeWebhooks(column string) step {
	return step{"webhooks by " + column, func(ctx context.Context, s *store.Store, tx *ent.Tx, id uid.ID) (int, error) {
		return exec(ctx, tx, `UPDATE webhooks SET disabled_reason = 'deleted', channel_id = NULL, user_id = NULL, url = '', secret = '',
			former_secret = '', next_at = NULL, is_claimed = FALSE, epoch = epoch + 1`+s.Some("webhooks", column+" = ?", batch), id)
	}}
}

// set returns a step that replaces the id in a column with users.Deleted.
func set(table, assignment, column string) step {
	return step{fmt.Sprintf("%s by %s", table, column), func(ctx context.Context, s *store.Store, tx *ent.Tx, id uid.ID) (int, error) {
		return exec(ctx, tx, "UPDATE "+table+" SET "+assignment+s.Some(table, column+" = ?", batch), users.Deleted, id)
	}}
}

func anonymizeVotes(ctx context.Context, s *store.Store, tx *ent.Tx, id uid.ID) (int, error) {
	return exec(ctx, tx, "UPDATE votes SET user_id = NULL, username = ?, address = ''"+s.Some("votes", "user_id = ?", batch),
		users.DeletedUsername, id)
}

func exec(ctx context.Context, tx *ent.Tx, statement string, args ...any) (int, error) {
	result, err := tx.ExecContext(ctx, statement, args...)
	if err != nil {
		return 0, err
	}
	n, err := result.RowsAffected()
	return int(n), err
}

// unfollow removes one follow of the user. Each follow is in another channel, whose row
// must be locked for its counters.
func unfollow(ctx context.Context, s *store.Store, tx *ent.Tx, id uid.ID) (int, error) {
	found, err := tx.Follow.Query().Where(follow.UserID(id)).Limit(1).All(ctx)
	if err != nil || len(found) == 0 {
		return 0, err
	}
	return batch, inChannel(ctx, s, tx, found[0].ChannelID, func(c *ent.Channel) error {
		// A concurrent call may have removed the follow before this transaction got
		// the lock.
		row, err := audience.FindFollow(ctx, tx, found[0].ChannelID, id)
		if err != nil || row == nil {
			return err
		}
		return audience.ForgetFollow(ctx, tx, c, row)
	})
}

// unsubscribe removes one subscription of the user.
func unsubscribe(ctx context.Context, s *store.Store, tx *ent.Tx, id uid.ID) (int, error) {
	found, err := tx.Subscription.Query().Where(subscription.UserID(id)).Limit(1).All(ctx)
	if err != nil || len(found) == 0 {
		return 0, err
	}
	return batch, inChannel(ctx, s, tx, found[0].ChannelID, func(c *ent.Channel) error {
		// The sweeper may have changed the row before this transaction got the lock.
		row, err := audience.FindSubscription(ctx, tx, found[0].ChannelID, id)
		if err != nil || row == nil {
			return err
		}
		return audience.RemoveSubscription(ctx, tx, c, row)
	})
}

// inChannel locks a channel and calls body with its row. If the channel was deleted,
// inChannel calls body with nil.
func inChannel(ctx context.Context, s *store.Store, tx *ent.Tx, id uid.ID, body func(*ent.Channel) error) error {
	c, err := change.LockRow(ctx, s, tx, id)
	if err != nil && !errors.Is(err, apierr.New(moderatov1.Reason_REASON_CHANNEL_NOT_FOUND)) {
		return err
	}
	return body(c)
}

// anonymizeTargets removes the user from events about what was done to them, or what they
// did as a viewer. The events are kept, because their sequence must have no gap.
func anonymizeTargets(ctx context.Context, _ *store.Store, tx *ent.Tx, id uid.ID) (int, error) {
	rows, err := tx.Event.Query().Where(event.TargetID(id)).Limit(batch).All(ctx)
	if err != nil {
		return 0, err
	}
	for _, row := range rows {
		payload, err := anonymous(row.Payload, id, true)
		if err != nil {
			return 0, fmt.Errorf("event %s: %w", row.ID, err)
		}
		if err := tx.Event.UpdateOne(row).SetPayload(payload).SetTargetID(users.Deleted).Exec(ctx); err != nil {
			return 0, err
		}
	}
	return len(rows), nil
}

// anonymizeActors removes the user from events about what they did as a moderator.
func anonymizeActors(ctx context.Context, _ *store.Store, tx *ent.Tx, id uid.ID) (int, error) {
	rows, err := tx.Event.Query().Where(event.ActorID(id)).Limit(batch).All(ctx)
	if err != nil {
		return 0, err
	}
	for _, row := range rows {
		payload, err := anonymous(row.Payload, id, false)
		if err != nil {
			return 0, fmt.Errorf("event %s: %w", row.ID, err)
		}
		if err := tx.Event.UpdateOne(row).SetPayload(payload).SetActorID(users.Deleted).Exec(ctx); err != nil {
			return 0, err
		}
	}
	return len(rows), nil
}
