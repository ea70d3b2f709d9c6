package moderation

import (
	"context"
	"errors"

	moderatov1 "github.com/moderato-live/moderato/gen/moderato/v1"
	"github.com/moderato-live/moderato/internal/uid"
	"github.com/moderato-live/moderato/server/domain/audience"
	"github.com/moderato-live/moderato/server/domain/chat"
	"github.com/moderato-live/moderato/server/rpc/apierr"
	"github.com/moderato-live/moderato/server/rpc/authz"
	"github.com/moderato-live/moderato/server/rpc/listing"
	"github.com/moderato-live/moderato/server/rpc/users"
	"github.com/moderato-live/moderato/server/rpc/validate"
	"github.com/moderato-live/moderato/server/store"
)

// GetUser returns a user and their state in a channel.
func (s *Service) GetUser(ctx context.Context, req *moderatov1.GetUserRequest) (*moderatov1.GetUserResponse, error) {
	f := validate.Of(req)
	channelID := f.UUID("channelId", req.GetChannelId())
	key := users.ParseKey(f, "userId", req.GetUserId(), "username", req.GetUsername())
	if err := f.Err(); err != nil {
		return nil, err
	}
	if err := authz.AuthorizeModerator(ctx, s.Store, channelID); err != nil {
		return nil, err
	}
	if err := listing.CheckChannel(ctx, s.Store, channelID); err != nil {
		return nil, err
	}
	result := &moderatov1.GetUserResponse{}
	err := userInChannel.One(ctx, s.Store, userQuery{channelID, key}, func(r *store.Row) { readState(r, channelID, result) })
	if errors.Is(err, store.ErrNoRows) {
		return nil, apierr.New(moderatov1.Reason_REASON_USER_NOT_FOUND)
	}
	if err != nil {
		return nil, s.Store.Classify(err)
	}
	latest, _, err := chat.ListOf(ctx, s.Store, channelID, uid.MustParse(result.GetUser().GetId()), nil, latestMessages)
	for _, m := range latest {
		result.Messages = append(result.Messages, &moderatov1.UserMessage{MessageId: m.ID.String(), Message: m.Text, CreatedAt: m.SentAt.Proto()})
	}
	return result, err
}

// latestMessages is how many messages of a user GetUser returns.
const latestMessages = 20

// userQuery holds the parameters of userInChannel.
type userQuery struct {
	channelID uid.ID
	user      users.Key
}

// userInChannel selects a user and their state in a channel. All of it is found by
// primary keys.
var userInChannel = store.Declare(func(d *store.Dialect, q userQuery) (string, []any) {
	subscription, args := audience.SubscriptionColumns(d)
	now, nowArgs := d.Clock.Expression()
	where, key := "u.id = ?", any(q.user.ID)
	if q.user.Slug != "" {
		where, key = "u.slug = ?", q.user.Slug
	}
	hasRole := "EXISTS (SELECT 1 FROM roles r WHERE r.channel_id = ? AND r.user_id = u.id AND r.role = ?)"
	query := `
		SELECT u.id, u.display_name, u.slug, u.avatar_url, ` + hasRole + `, ` + hasRole + `, ` + hasRole + `,
			CASE WHEN mutes.expires_at > ` + now + ` THEN mutes.expires_at END, f.followed_at, ` + subscription + `,
			b.banned_at, m.id, m.display_name, m.slug
		FROM users u
		LEFT JOIN bans b ON b.channel_id = ? AND b.user_id = u.id AND ` + authz.InForce(d.Clock, "b") + `
		LEFT JOIN users m ON m.id = b.moderator_id
		LEFT JOIN mutes ON mutes.channel_id = ? AND mutes.user_id = u.id
		LEFT JOIN follows f ON f.channel_id = ? AND f.user_id = u.id
		LEFT JOIN subscriptions ON subscriptions.channel_id = ? AND subscriptions.user_id = u.id
		WHERE ` + where + ` AND u.` + users.Exists
	var all []any
	for _, role := range []Role{Moderator, VIP, OG} {
		all = append(all, q.channelID, role.Name)
	}
	all = append(append(all, nowArgs...), args...)
	return query, append(all, q.channelID, q.channelID, q.channelID, q.channelID, key)
})

// readState reads a row of userInChannel.
func readState(r *store.Row, channelID uid.ID, result *moderatov1.GetUserResponse) {
	id := r.ID()
	result.User = &moderatov1.UserSummary{Id: id.String(), DisplayName: r.Text(), Slug: r.Text(), AvatarUrl: r.Text()}
	if id == channelID {
		result.Roles = append(result.Roles, "owner")
	}
	for _, role := range []Role{Moderator, VIP, OG} {
		if r.Bool() {
			result.Roles = append(result.Roles, role.Name)
		}
	}
	if expiresAt := r.OptionalInstant(); expiresAt != nil {
		result.Mute = &moderatov1.UserMute{MuteExpiresAt: expiresAt.Proto()}
	}
	if followedAt := r.OptionalInstant(); followedAt != nil {
		result.Follow = &moderatov1.UserFollow{FollowedAt: followedAt.Proto()}
	}
	result.Subscription = &moderatov1.SubscriptionInfo{}
	audience.ReadSubscription(r, result.GetSubscription())
	if bannedAt := r.OptionalInstant(); bannedAt != nil {
		result.Ban = &moderatov1.UserBan{
			BannedAt: bannedAt.Proto(),
			BannedBy: &moderatov1.BannedBy{Id: r.ID().String(), DisplayName: r.Text(), Slug: r.Text()},
		}
	}
}
