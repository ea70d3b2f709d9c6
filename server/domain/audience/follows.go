package audience

import (
	"context"

	"github.com/moderato-live/moderato/ent"
	"github.com/moderato-live/moderato/ent/follow"
	"github.com/moderato-live/moderato/ent/user"
	platformv1 "github.com/moderato-live/moderato/gen/moderato/platform/v1"
	moderatov1 "github.com/moderato-live/moderato/gen/moderato/v1"
	"github.com/moderato-live/moderato/internal/instant"
	"github.com/moderato-live/moderato/internal/uid"
	"github.com/moderato-live/moderato/server/change"
	"github.com/moderato-live/moderato/server/change/feed"
	"github.com/moderato-live/moderato/server/domain/activity"
	"github.com/moderato-live/moderato/server/rpc/apierr"
	"github.com/moderato-live/moderato/server/rpc/users"
	"github.com/moderato-live/moderato/server/store"
)

// follows makes the requests that begin or end a follow.
var follows = change.Operation[*followRequest]{Make: makeFollows}

// followRequest is a request that a user follows a channel, or no longer does.
type followRequest struct {
	userID uid.ID
	wanted *platformv1.FollowRequest // nil to end the follow
	follow *ent.Follow               // the result: the follow, new or not; nil if there is none
}

// makeFollows makes requests one after the other. It reads all users first, and writes what
// was decided together.
func makeFollows(ctx context.Context, c *change.Change, requests []*change.Request[*followRequest]) error {
	f, err := readFollowChange(ctx, c, requests)
	if err != nil {
		return err
	}
	for _, r := range requests {
		x := f.found[r.Of.userID]
		if x == nil {
			r.Err = apierr.New(moderatov1.Reason_REASON_USER_NOT_FOUND)
			continue
		}
		if f.changed[r.Of.userID] {
			if err := f.write(ctx); err != nil {
				return err
			}
		}
		r.BecomeAuthor(c)
		if err := f.decide(x, r.Of); err != nil {
			return err
		}
	}
	return f.write(ctx)
}

// followChange is a change of the follows of a channel: who follows it, as decided so far, and
// what of that is to be written. A user changes at most once between two writes.
type followChange struct {
	*change.Change

	found map[uid.ID]*follower

	changed    map[uid.ID]bool
	begun      []*ent.FollowCreate
	activities []*ent.Activity
	ended      []uid.ID
}

// follower is a user whom a request is about.
type follower struct {
	user   *ent.User
	follow *ent.Follow // nil for none
}

// readFollowChange reads the users whom some requests are about, and their follows.
func readFollowChange(ctx context.Context, c *change.Change, requests []*change.Request[*followRequest]) (*followChange, error) {
	ids := map[uid.ID]bool{}
	for _, r := range requests {
		ids[r.Of.userID] = true
	}
	args := store.PaddedArgs(ids)
	f := &followChange{Change: c, found: make(map[uid.ID]*follower, len(ids)), changed: map[uid.ID]bool{}}
	return f, store.QueryEach(ctx, c.Tx, `SELECT u.id, u.username, u.slug, u.display_name, u.avatar_url, u.created_at, f.followed_at, f.is_notification_enabled
		FROM `+users.From(c.Store.Dialect, user.FieldID)+` LEFT JOIN follows f ON f.channel_id = ? AND f.user_id = u.id
		WHERE u.id IN (`+store.Placeholders(len(args))+`) AND u.`+users.Exists,
		append([]any{c.ChannelID}, args...), func(scan func(...any) error) error {
			u := &ent.User{}
			var followedAt *instant.Instant
			var wantsNotifications *bool
			err := scan(&u.ID, &u.Username, &u.Slug, &u.DisplayName, &u.AvatarURL, &u.CreatedAt, &followedAt, &wantsNotifications)
			x := &follower{user: u}
			if followedAt != nil {
				x.follow = &ent.Follow{ChannelID: c.ChannelID, UserID: u.ID, FollowedAt: *followedAt, IsNotificationEnabled: *wantsNotifications}
			}
			f.found[u.ID] = x
			return err
		})
}

// decide begins or ends the follow of a user, unless it is as requested already.
func (f *followChange) decide(x *follower, r *followRequest) error {
	switch {
	case r.wanted == nil && x.follow != nil:
		f.end(x)
	case r.wanted != nil && x.follow == nil:
		x.follow = &ent.Follow{
			ChannelID: f.ChannelID, UserID: x.user.ID,
			FollowedAt: feed.InChange(f.Change).OrNow(r.wanted.GetFollowedAt()), IsNotificationEnabled: r.wanted.GetIsNotificationEnabled(),
		}
		if err := f.begin(x); err != nil {
			return err
		}
	}
	r.follow = x.follow
	return nil
}

func (f *followChange) begin(x *follower) error {
	EmitFollow(f.Change, x.user, x.follow)
	f.CountFollowers(countsOf(f.LiveStartedAt, x.follow, 1))
	a, err := activity.New(f.Change, activity.Occurrence{Kind: activity.Follower, User: x.user, At: x.follow.FollowedAt})
	if err != nil {
		return err
	}
	f.changed[x.user.ID], f.activities = true, append(f.activities, a)
	f.begun = append(f.begun, f.Tx.Follow.Create().SetChannelID(f.ChannelID).SetUserID(x.user.ID).
		SetFollowedAt(x.follow.FollowedAt).SetIsNotificationEnabled(x.follow.IsNotificationEnabled))
	return nil
}

func (f *followChange) end(x *follower) {
	EmitUnfollow(f.Change, x.user, x.follow)
	f.CountFollowers(countsOf(f.LiveStartedAt, x.follow, -1))
	f.changed[x.user.ID], f.ended = true, append(f.ended, x.user.ID)
	x.follow = nil
}

// write writes what was decided since the last write, with one statement for each table.
func (f *followChange) write(ctx context.Context) error {
	if len(f.ended) > 0 {
		if _, err := f.Tx.Follow.Delete().Where(follow.ChannelID(f.ChannelID), follow.UserIDIn(f.ended...)).Exec(ctx); err != nil {
			return err
		}
	}
	if len(f.begun) > 0 {
		if err := f.Tx.Follow.CreateBulk(f.begun...).Exec(ctx); err != nil {
			return err
		}
		if err := activity.Add(ctx, f.Tx, f.activities...); err != nil {
			return err
		}
	}
	f.changed, f.begun, f.activities, f.ended = map[uid.ID]bool{}, nil, nil, nil
	return nil
}
