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

// GetUser returns a user and their state in a channel, and with the card what the moderators
// know about them.
func (s *Service) GetUser(ctx context.Context, req *moderatov1.GetUserRequest) (result *moderatov1.GetUserResponse, err error) {
	f := validate.Of(req)
	channelID := f.UUID("channelId", req.GetChannelId())
	key := users.ParseKey(f, "userId", req.GetUserId(), "username", req.GetUsername())
	hasCard := req.GetInclude() != ""
	if hasCard {
		f.Choice("include", req.GetInclude())
	}
	if err := f.Err(); err != nil {
		return nil, err
	}
	err = s.Store.Snapshot(ctx, func(of *store.Store) error {
		if err := listing.AuthorizeModerator(ctx, of, channelID); err != nil {
			return err
		}
		if result, err = readUserInChannel(ctx, of, channelID, key, hasCard); err != nil || !hasCard {
			return err
		}
		return readCard(ctx, of, channelID, uid.MustParse(result.GetUser().GetId()), result.GetCard())
	})
	return result, err
}

func readUserInChannel(ctx context.Context, s *store.Store, channelID uid.ID, key users.Key, hasCard bool) (*moderatov1.GetUserResponse, error) {
	result := &moderatov1.GetUserResponse{}
	err := userInChannel.One(ctx, s, userQuery{channelID, key}, func(r *store.Row) { readState(r, channelID, hasCard, result) })
	if errors.Is(err, store.ErrNoRows) {
		return nil, apierr.New(moderatov1.Reason_REASON_USER_NOT_FOUND)
	}
	if err != nil {
		return nil, s.Classify(err)
	}
	latest, _, err := chat.ListOf(ctx, s, channelID, uid.MustParse(result.GetUser().GetId()), nil, latestMessages)
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
	where, key := "u.id = ?", any(q.user.ID)
	if q.user.Slug != "" {
		where, key = "u.slug = ?", q.user.Slug
	}
	hasRole := "EXISTS (SELECT 1 FROM roles r WHERE r.channel_id = ? AND r.user_id = u.id AND r.role = ?)"
	query := `
		SELECT u.id, u.display_name, u.slug, u.avatar_url, u.account_created_at, ` + hasRole + `, ` + hasRole + `, ` + hasRole + `, f.followed_at, ` + subscription + `,
			b.banned_at, ` + sanctionColumns("b", "b.batch_id", "NULL", "bb") + `, ` + sanctionColumns("mutes", "NULL", "mutes.rule_id", "mb") + `
		FROM users u
		LEFT JOIN bans b ON b.channel_id = ? AND b.user_id = u.id AND ` + authz.InForce(d.Clock, "b") + `
		LEFT JOIN users bb ON bb.id = b.moderator_id
		LEFT JOIN mutes ON mutes.channel_id = ? AND mutes.user_id = u.id AND mutes.expires_at > ` + d.Clock.Present() + `
		LEFT JOIN users mb ON mb.id = mutes.moderator_id
		LEFT JOIN follows f ON f.channel_id = ? AND f.user_id = u.id
		LEFT JOIN subscriptions ON subscriptions.channel_id = ? AND subscriptions.user_id = u.id
		WHERE ` + where + ` AND u.` + users.Exists
	var all []any
	for _, role := range []Role{Moderator, VIP, OG} {
		all = append(all, q.channelID, role.Name)
	}
	all = append(all, args...)
	return query, append(all, q.channelID, q.channelID, q.channelID, q.channelID, key)
})

// readState reads a row of userInChannel. Only if hasCard is true, there is a card, and the ban
// and the mute have a sanction.
func readState(r *store.Row, channelID uid.ID, hasCard bool, result *moderatov1.GetUserResponse) {
	id := r.ID()
	result.User = &moderatov1.UserSummary{Id: id.String(), DisplayName: r.Text(), Slug: r.Text(), AvatarUrl: r.Text()}
	if createdAt := r.OptionalInstant(); hasCard {
		result.Card = &moderatov1.UserCard{Account: &moderatov1.UserAccount{}}
		if createdAt != nil {
			result.Card.Account.CreatedAt = createdAt.Proto()
		}
	}
	if id == channelID {
		result.Roles = append(result.Roles, "owner")
	}
	for _, role := range []Role{Moderator, VIP, OG} {
		if r.Bool() {
			result.Roles = append(result.Roles, role.Name)
		}
	}
	if followedAt := r.OptionalInstant(); followedAt != nil {
		result.Follow = &moderatov1.UserFollow{FollowedAt: followedAt.Proto()}
	}
	result.Subscription = &moderatov1.SubscriptionInfo{}
	audience.ReadSubscription(r, result.GetSubscription())
	bannedAt := r.OptionalInstant()
	if ban := readSanction(r); ban != nil {
		result.Ban = &moderatov1.UserBan{BannedAt: bannedAt.Proto(), BannedBy: ban.GetModerator()}
		if hasCard {
			result.Ban.Sanction = ban
		}
	}
	if mute := readSanction(r); mute != nil {
		result.Mute = &moderatov1.UserMute{MuteExpiresAt: mute.GetExpiresAt()}
		if hasCard {
			result.Mute.Sanction = mute
		}
	}
}

// sanctionColumns are the columns of a row of bans or mutes, with the batch or rule, and the user
// by whom it was made, that readSanction reads.
func sanctionColumns(table, batch, rule, by string) string {
	return by + ".id, COALESCE(" + by + ".display_name, ''), COALESCE(" + by + ".slug, ''), COALESCE(" + table + ".reason, ''), " + table + ".expires_at, " + batch + ", " + rule
}

// readSanction reads a ban or mute; it returns nil if there is none.
func readSanction(r *store.Row) *moderatov1.UserSanction {
	id, by := r.OptionalID(), &moderatov1.BannedBy{DisplayName: r.Text(), Slug: r.Text()}
	t := terms{reason: r.Text(), expiresAt: r.OptionalInstant(), batchID: r.OptionalID(), ruleID: r.OptionalID()}
	if id == nil {
		return nil
	}
	by.Id = id.String()
	return &moderatov1.UserSanction{
		Reason: t.reasonProto(), ExpiresAt: t.expiresAtProto(), BatchId: uid.Text(t.batchID), RuleId: uid.Text(t.ruleID), Cause: string(t.cause()), Moderator: by,
	}
}
