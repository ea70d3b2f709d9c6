package moderation

import (
	"context"
	"slices"

	"github.com/moderato-live/moderato/ent"
	entban "github.com/moderato-live/moderato/ent/ban"
	"github.com/moderato-live/moderato/ent/replacedban"
	moderatov1 "github.com/moderato-live/moderato/gen/moderato/v1"
	"github.com/moderato-live/moderato/internal/instant"
	"github.com/moderato-live/moderato/internal/uid"
	"github.com/moderato-live/moderato/server/change"
	"github.com/moderato-live/moderato/server/rpc/authz"
	"github.com/moderato-live/moderato/server/store"
)

// readBans reads bans of a channel that match a condition on the row b, in an order. The
// names are those of deleted users where the user is being deleted.
func readBans(ctx context.Context, tx *ent.Tx, channelID uid.ID, where, order string, args ...any) ([]*ban, error) {
	var found []*ban
	err := store.QueryEach(ctx, tx, `SELECT b.user_id, b.moderator_id, b.banned_at, b.reason, b.expires_at, b.batch_id, b.replaces, b.imported, `+personColumns+`, `+
		authz.IsModerator("b.channel_id", "b.user_id")+`
		FROM bans b JOIN users u ON u.id = b.user_id WHERE b.channel_id = ? AND `+where+` ORDER BY `+order,
		append([]any{channelID}, args...), func(scan func(...any) error) error {
			b := &ban{}
			err := scan(&b.userID, &b.moderatorID, &b.bannedAt, &b.reason, &b.expiresAt, &b.batchID, &b.replaces, &b.imported, &b.username, &b.displayName, &b.avatarURL, &b.isModerator)
			found = append(found, b)
			return err
		})
	return found, err
}

// expireBans removes bans that have lapsed and announces it.
func expireBans(ctx context.Context, c *change.Change, bans []*ban) error {
	for _, b := range bans {
		announceExpiry(c, b)
	}
	return removeBans(ctx, c, bans)
}

// announceExpiry announces the end of a ban that has lapsed.
func announceExpiry(c *change.Change, b *ban) {
	c.ByNobody(func() { // no client, even when a new ban causes the removal
		emitUnban(c, b.moderatorID, b, *b.expiresAt, byExpiry, nil)
	})
}

func emitUnban(c *change.Change, actor uid.ID, b *ban, at instant.Instant, why cause, endReason *string) {
	c.EmitOf(actor, "channel.unban", b.userID, &moderatov1.UnbanEvent{
		ChannelId:               c.ChannelID.String(),
		ModeratorId:             actor.String(),
		ClientId:                c.ClientID,
		UnbannedUserId:          b.userID.String(),
		UnbannedUserDisplayName: b.displayName,
		UnbannedAt:              at.Proto(),
		Reason:                  b.reasonProto(),
		ExpiresAt:               b.expiresAtProto(),
		BatchId:                 uid.Text(b.batchID),
		Cause:                   string(why),
		EndReason:               endReason,
		BannedUser:              b.proto(b.userID),
	})
}

// removeBans removes the rows of bans, and of those that they replaced.
func removeBans(ctx context.Context, c *change.Change, bans []*ban) error {
	for some := range slices.Chunk(bans, bansPerStatement) {
		if err := removeSomeBans(ctx, c, some); err != nil {
			return err
		}
	}
	return nil
}

func removeSomeBans(ctx context.Context, c *change.Change, bans []*ban) error {
	var ids, moderators, replacing []uid.ID
	for _, b := range bans {
		ids = append(ids, b.userID)
		if b.isModerator {
			moderators = append(moderators, b.userID)
		}
		if b.replaces {
			replacing = append(replacing, b.userID)
		}
	}
	if _, err := c.Tx.Ban.Delete().Where(entban.ChannelID(c.ChannelID), entban.UserIDIn(ids...)).Exec(ctx); err != nil {
		return err
	}
	if len(replacing) > 0 {
		if _, err := c.Tx.ReplacedBan.Delete().Where(replacedban.ChannelID(c.ChannelID), replacedban.UserIDIn(replacing...)).Exec(ctx); err != nil {
			return err
		}
	}
	return authz.RightsChanged(ctx, c.Store.Dialect, c.Tx, moderators...)
}
