package moderation

import (
	"context"
	"strings"

	"github.com/moderato-live/moderato/ent"
	entban "github.com/moderato-live/moderato/ent/ban"
	"github.com/moderato-live/moderato/ent/predicate"
	"github.com/moderato-live/moderato/server/authz"
	"github.com/moderato-live/moderato/server/change"
	"github.com/moderato-live/moderato/server/chat"
	"github.com/moderato-live/moderato/server/instant"
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
func (d *deferredBan) WriteAll(ctx context.Context, all []change.Due) error {
	var made, lifted []dueBan
	for _, due := range all {
		x := dueBan{due.Deferred.(*deferredBan), due.Change}
		if x.isLifted {
			lifted = append(lifted, x)
		} else {
			made = append(made, x)
		}
	}
	if len(made) > 0 {
		if err := applyBans(ctx, made); err != nil {
			return err
		}
	}
	if len(lifted) > 0 {
		return liftDue(ctx, lifted)
	}
	return nil
}

// dueBan is a deferred ban with a change of its channel.
type dueBan struct {
	*deferredBan
	change *change.Change
}

// applyBans stores new bans, and deletes the messages of the users.
func applyBans(ctx context.Context, bans []dueBan) error {
	c := bans[0].change
	var banned []chat.Chatter
	var args []any
	var latest instant.Instant
	for _, x := range bans {
		latest = max(latest, x.bannedAt)
		banned = append(banned, chat.Chatter{ChannelID: x.change.ChannelID, UserID: x.userID})
		args = append(args, x.change.ChannelID, x.userID, x.moderatorID, x.bannedAt, x.reason, x.expiresAt)
	}
	_, err := c.Tx.ExecContext(ctx, "INSERT INTO bans (channel_id, user_id, moderator_id, banned_at, reason, expires_at) VALUES "+
		strings.TrimSuffix(strings.Repeat("(?,?,?,?,?,?),", len(bans)), ","), args...)
	if err != nil {
		return err
	}
	if err := authz.RightsChanged(ctx, c.Store.Dialect, c.Tx, moderatorsOf(bans)...); err != nil {
		return err
	}
	evidence, err := readEvidence(ctx, c, banned...)
	if err != nil {
		return err
	}
	for i, x := range bans {
		x.change.KeepEvidenceOf(x.sequence, evidence[banned[i]])
	}
	return chat.Clear(ctx, c.Tx, c.Store.Dialect, banned, chat.Ban, latest)
}

// liftDue removes the rows of lifted bans.
func liftDue(ctx context.Context, bans []dueBan) error {
	c := bans[0].change
	users := map[uid.ID][]uid.ID{} // by channel
	for _, x := range bans {
		users[x.change.ChannelID] = append(users[x.change.ChannelID], x.userID)
	}
	var rows []predicate.Ban
	for channelID, ids := range users {
		rows = append(rows, entban.And(entban.ChannelID(channelID), entban.UserIDIn(ids...)))
	}
	if _, err := c.Tx.Ban.Delete().Where(entban.Or(rows...)).Exec(ctx); err != nil {
		return err
	}
	return authz.RightsChanged(ctx, c.Store.Dialect, c.Tx, moderatorsOf(bans)...)
}

// moderatorsOf returns the users of bans who hold the moderator role.
func moderatorsOf(bans []dueBan) []uid.ID {
	var ids []uid.ID
	for _, x := range bans {
		if x.isModerator {
			ids = append(ids, x.userID)
		}
	}
	return ids
}
