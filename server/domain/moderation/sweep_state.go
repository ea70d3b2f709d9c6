package moderation

import (
	"context"

	"github.com/moderato-live/moderato/ent/user"
	moderatov1 "github.com/moderato-live/moderato/gen/moderato/v1"
	"github.com/moderato-live/moderato/internal/instant"
	"github.com/moderato-live/moderato/internal/uid"
	"github.com/moderato-live/moderato/server/rpc/authz"
	"github.com/moderato-live/moderato/server/rpc/users"
	"github.com/moderato-live/moderato/server/store"
)

// userState is what the conditions and exemptions of a sweep depend on.
type userState struct {
	id                       uid.ID
	username, displayName    string
	isBanned                 bool
	isModerator, isVIP, isOG bool
	isSubscriber             bool
	followedAt               *instant.Instant // nil if the user does not follow the channel
	generation               int64            // the user's part of the generation of visible messages
	hasEarlier               bool             // posted before the conditions allow the first message
}

// readStates reads the states of those users who exist.
func readStates(ctx context.Context, s *store.Store, q store.Queryer, of *conditions, now instant.Instant, ids []uid.ID) (map[uid.ID]*userState, error) {
	channel := of.channelID
	role := func(name string) string {
		return "EXISTS (SELECT 1 FROM roles r" + s.ByIndex("role_channel_id_user_id_role") + " WHERE r.channel_id = ? AND r.user_id = u.id AND r.role = '" + name + "')"
	}
	args := []any{channel, channel, channel, channel, channel}
	earlier := "FALSE"
	if of.firstWithin > 0 {
		earlier = "EXISTS (SELECT 1 FROM messages m" + s.ByIndex("message_user_id_channel_id_generation_sent_at_id") +
			" WHERE m.user_id = u.id AND m.channel_id = ? AND m.sent_at < ?) OR EXISTS (SELECT 1 FROM first_messages p" + s.ByPrimaryKey("first_messages") +
			" WHERE p.user_id = u.id AND p.channel_id = ?)" // retention removed a message, which is older than any bound
		args = append(args, channel, now.Add(-of.firstWithin), channel)
	}
	states := make(map[uid.ID]*userState, len(ids))
	err := store.QueryEach(ctx, q, `SELECT u.id, u.username, u.display_name,
			EXISTS (SELECT 1 FROM bans b WHERE b.channel_id = ? AND b.user_id = u.id AND `+authz.InForce(s.Clock, "b")+`),
			`+role(Moderator.Name)+`, `+role(VIP.Name)+`, `+role(OG.Name)+`,
			EXISTS (SELECT 1 FROM subscriptions s WHERE s.channel_id = ? AND s.user_id = u.id AND s.is_active AND s.expires_at > `+s.Clock.Present()+`),
			`+earlier+`, f.followed_at, COALESCE(g.generation, 0)
		FROM `+users.From(s.Dialect, user.FieldID)+` LEFT JOIN follows f`+s.ByPrimaryKey("follows")+` ON f.channel_id = ? AND f.user_id = u.id
			LEFT JOIN message_generations g ON g.channel_id = ? AND g.user_id = u.id
		WHERE u.id IN (`+store.Placeholders(len(ids))+`) AND u.`+users.Exists,
		append(append(args, channel, channel), store.Args(ids)...), func(scan func(...any) error) error {
			var u userState
			err := scan(&u.id, &u.username, &u.displayName, &u.isBanned, &u.isModerator, &u.isVIP, &u.isOG, &u.isSubscriber,
				&u.hasEarlier, &u.followedAt, &u.generation)
			states[u.id] = &u
			return err
		})
	return states, err
}

// exemption returns the counter of the first cause that exempts a user; nil if none does.
func (q *conditions) exemption(u *userState, now instant.Instant) func(*moderatov1.SweepExemptions) *int32 {
	switch {
	case u.id == q.channelID:
		return func(e *moderatov1.SweepExemptions) *int32 { return &e.Owner }
	case u.isModerator:
		return func(e *moderatov1.SweepExemptions) *int32 { return &e.Moderators }
	case u.isVIP:
		return func(e *moderatov1.SweepExemptions) *int32 { return &e.Vips }
	case u.isOG:
		return func(e *moderatov1.SweepExemptions) *int32 { return &e.Ogs }
	case q.exemptSubscribers && u.isSubscriber:
		return func(e *moderatov1.SweepExemptions) *int32 { return &e.Subscribers }
	case u.followedAt != nil && *u.followedAt < now.Add(-q.exemptFollowAge):
		return func(e *moderatov1.SweepExemptions) *int32 { return &e.Followers }
	}
	return nil
}
