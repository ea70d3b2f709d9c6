package moderation

import (
	"context"
	"strings"

	"github.com/moderato-live/moderato/ent"
	"github.com/moderato-live/moderato/server/authz"
	"github.com/moderato-live/moderato/server/change"
	"github.com/moderato-live/moderato/server/chat"
	"github.com/moderato-live/moderato/server/uid"
	"github.com/moderato-live/moderato/server/users"
)

// deferredBan is a new or lifted ban of one user, whose rows are written together with
// those of other bans.
type deferredBan struct {
	*ban

	user     *ent.User
	isLifted bool
	sequence int64 // of the event of a new ban
}

// Concerns implements change.Deferred.
func (d *deferredBan) Concerns(key users.Key) bool {
	return key.ID == d.user.ID || key.Slug == d.user.Slug
}

// WriteAll implements change.Deferred.
func (d *deferredBan) WriteAll(ctx context.Context, c *change.Change, all []change.Deferred) error {
	var made []*deferredBan
	var lifted []*ban
	for _, x := range all {
		if x := x.(*deferredBan); x.isLifted {
			lifted = append(lifted, x.ban)
		} else {
			made = append(made, x)
		}
	}
	if len(made) > 0 {
		if err := applyBans(ctx, c, made); err != nil {
			return err
		}
	}
	return removeBans(ctx, c, lifted)
}

// applyBans stores new bans, and deletes the messages of the users.
func applyBans(ctx context.Context, c *change.Change, bans []*deferredBan) error {
	var ids, moderators []uid.ID
	var args []any
	for _, x := range bans {
		ids = append(ids, x.userID)
		if x.isModerator {
			moderators = append(moderators, x.userID)
		}
		args = append(args, c.ChannelID, x.userID, x.moderatorID, x.bannedAt, x.reason, x.expiresAt)
	}
	_, err := c.Tx.ExecContext(ctx, "INSERT INTO bans (channel_id, user_id, moderator_id, banned_at, reason, expires_at) VALUES "+
		strings.TrimSuffix(strings.Repeat("(?,?,?,?,?,?),", len(bans)), ","), args...)
	if err != nil {
		return err
	}
	if err := authz.RightsChanged(ctx, c.Tx, moderators...); err != nil {
		return err
	}
	evidence, err := readEvidence(ctx, c, ids...)
	if err != nil {
		return err
	}
	for _, x := range bans {
		c.KeepEvidenceOf(x.sequence, evidence[x.userID])
	}
	return chat.Clear(ctx, c.Tx, c.Store.Dialect, c.ChannelID, ids, chat.Ban, bans[len(bans)-1].bannedAt)
}
