package audience

import (
	"context"

	"github.com/moderato-live/moderato/ent"
	"github.com/moderato-live/moderato/server/activity"
	"github.com/moderato-live/moderato/server/change"
	"github.com/moderato-live/moderato/server/instant"
	"github.com/moderato-live/moderato/server/uid"
	"github.com/moderato-live/moderato/server/users"
)

// joinedFollow holds the follow of a user, if there is one. The statement that authorizes a
// change reads it.
type joinedFollow struct {
	followedAt            *instant.Instant
	isNotificationEnabled *bool
}

// read returns what the statement reads besides the user.
func (j *joinedFollow) read(channelID uid.ID) users.More {
	return users.More{
		Columns:  ", f.followed_at, f.is_notification_enabled",
		Join:     " LEFT JOIN follows f ON f.channel_id = ? AND f.user_id = u.id",
		JoinArgs: []any{channelID},
		Fields:   []any{&j.followedAt, &j.isNotificationEnabled},
	}
}

// of returns the follow of the user, or nil.
func (j *joinedFollow) of(channelID, userID uid.ID) *ent.Follow {
	if j.followedAt == nil {
		return nil
	}
	return &ent.Follow{ChannelID: channelID, UserID: userID, FollowedAt: *j.followedAt, IsNotificationEnabled: *j.isNotificationEnabled}
}

// deferredFollow is a new follow and its activity. They are written together with those of
// other follows.
type deferredFollow struct {
	follow   *ent.Follow
	user     *ent.User
	activity *ent.Activity
}

// begin emits and counts the follow, and defers the writing of its rows.
func (d *deferredFollow) begin(c *change.Change) error {
	EmitFollow(c, d.user, d.follow)
	c.CountFollowers(countsOf(c.LiveStartedAt, d.follow, 1))
	a, err := activity.New(c, activity.Occurrence{Kind: activity.Follower, User: d.user, At: d.follow.FollowedAt})
	if err != nil {
		return err
	}
	d.activity = a
	c.Defer(d)
	return nil
}

// Concerns implements change.Deferred.
func (d *deferredFollow) Concerns(key users.Key) bool {
	return key.ID == d.user.ID || key.Slug == d.user.Slug
}

// WriteAll implements change.Deferred.
func (d *deferredFollow) WriteAll(ctx context.Context, all []change.Due) error {
	tx := all[0].Change.Tx
	var activities []*ent.Activity
	var rows []*ent.FollowCreate
	for _, due := range all {
		x := due.Deferred.(*deferredFollow)
		activities = append(activities, x.activity)
		rows = append(rows, tx.Follow.Create().SetChannelID(x.follow.ChannelID).SetUserID(x.follow.UserID).
			SetFollowedAt(x.follow.FollowedAt).SetIsNotificationEnabled(x.follow.IsNotificationEnabled))
	}
	if err := tx.Follow.CreateBulk(rows...).Exec(ctx); err != nil {
		return err
	}
	return activity.Add(ctx, tx, activities...)
}
