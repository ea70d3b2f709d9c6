// Package roles gives and takes the roles of a channel, and lists who holds
// them: moderators, VIPs and OGs are alike but for their names.
package roles

import (
	"context"

	"github.com/moderato-live/moderato/ent"
	"github.com/moderato-live/moderato/ent/channel"
	"github.com/moderato-live/moderato/ent/role"
	moderatov1 "github.com/moderato-live/moderato/gen/moderato/v1"
	"github.com/moderato-live/moderato/server/events"
	"github.com/moderato-live/moderato/server/fault"
	"github.com/moderato-live/moderato/server/store"
	"github.com/moderato-live/moderato/server/uid"
	"github.com/moderato-live/moderato/server/users"
)

// Role is a role of a channel.
type Role struct {
	// Name is how the role is stored and told.
	Name string

	add, remove events.Type
}

// The roles.
var (
	Moderator = Role{"moderator", events.ModeratorAdd, events.ModeratorRemove}
	VIP       = Role{"vip", events.VIPAdd, events.VIPRemove}
	OG        = Role{"og", events.OGAdd, events.OGRemove}
)

// Names are the names of all roles.
func Names() []string { return []string{Moderator.Name, VIP.Name, OG.Name} }

// List answers who holds a role in a channel, the oldest role first; more than
// most: RESULT_TOO_LARGE; no such channel: CHANNEL_NOT_FOUND.
func List(ctx context.Context, s *store.Store, channelID uid.ID, r Role, most int) ([]*moderatov1.UserSummary, error) {
	var users []*moderatov1.UserSummary
	err := s.Each(ctx, `
		SELECT u.id, u.display_name, u.slug, u.avatar_url
		FROM channels c JOIN roles r ON r.channel_id = c.id JOIN users u ON u.id = r.user_id
		WHERE c.id = ? AND r.role = ? ORDER BY r.created_at, r.user_id`+store.Limit(most+1),
		[]any{channelID, r.Name},
		func(r *store.Row) error {
			users = append(users, &moderatov1.UserSummary{Id: r.ID().String(), DisplayName: r.Text(), Slug: r.Text(), AvatarUrl: r.Text()})
			return nil
		})
	switch {
	case err != nil:
		return nil, s.Classify(err)
	case len(users) > most:
		return nil, fault.New(moderatov1.Reason_REASON_RESULT_TOO_LARGE)
	case len(users) == 0:
		return nil, CheckChannel(ctx, s, channelID)
	}
	return users, nil
}

// CheckChannel answers CHANNEL_NOT_FOUND unless there is a channel with this id.
// Rows of a channel are no sign of it: those of one that was deleted go later.
func CheckChannel(ctx context.Context, s *store.Store, id uid.ID) error {
	exists, err := s.Read.Channel.Query().Where(channel.ID(id)).Exist(ctx)
	if err == nil && !exists {
		return fault.New(moderatov1.Reason_REASON_CHANNEL_NOT_FOUND)
	}
	return s.Classify(err)
}

// Give gives a user a role, on behalf of the caller of the present request. A
// user who holds it keeps it: nothing changes and nothing is emitted.
func Give(ctx context.Context, s *store.Store, channelID, userID uid.ID, r Role) error {
	return change(ctx, s, channelID, userID, r, func(ctx context.Context, c *events.Change, held bool) error {
		if held {
			return nil
		}
		emit(c, r.add, userID, r)
		return c.Tx.Role.Create().SetID(uid.New()).SetChannelID(channelID).SetUserID(userID).
			SetRole(r.Name).SetCreatedAt(c.Now).
			Exec(ctx)
	})
}

// Take takes a role from a user, on behalf of the caller of the present request.
// A user who lacks it: nothing changes and nothing is emitted.
func Take(ctx context.Context, s *store.Store, channelID, userID uid.ID, r Role) error {
	return change(ctx, s, channelID, userID, r, func(ctx context.Context, c *events.Change, held bool) error {
		if !held {
			return nil
		}
		emit(c, r.remove, userID, r)
		_, err := c.Tx.Role.Delete().Where(role.ChannelID(channelID), role.UserID(userID), role.Role(r.Name)).Exec(ctx)
		return err
	})
}

// change checks whom a role can be given to, and tells body whether they hold it.
func change(ctx context.Context, s *store.Store, channelID, userID uid.ID, r Role, body func(context.Context, *events.Change, bool) error) error {
	return events.ApplyTo(ctx, s, channelID, users.Key{ID: userID}, func(ctx context.Context, c *events.Change, _ *ent.User) error {
		if userID == channelID {
			return fault.New(moderatov1.Reason_REASON_TARGET_IS_CHANNEL)
		}
		held, err := c.Tx.Role.Query().Where(role.ChannelID(channelID), role.UserID(userID), role.Role(r.Name)).Exist(ctx)
		if err != nil {
			return err
		}
		return body(ctx, c, held)
	})
}

func emit(c *events.Change, kind events.Type, userID uid.ID, r Role) {
	c.Emit(kind, userID, &moderatov1.RoleEvent{
		ChannelId:   c.ChannelID.String(),
		ModeratorId: c.ActorID.String(),
		ClientId:    c.ClientID,
		UserId:      userID.String(),
		Role:        r.Name,
		ChangedAt:   c.Now.Proto(),
	})
}
