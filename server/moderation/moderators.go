package moderation

import (
	"context"

	"github.com/moderato-live/moderato/ent/channel"
	"github.com/moderato-live/moderato/ent/role"
	moderatov1 "github.com/moderato-live/moderato/gen/moderato/v1"
	"github.com/moderato-live/moderato/server/events"
	"github.com/moderato-live/moderato/server/fault"
	"github.com/moderato-live/moderato/server/policy"
	"github.com/moderato-live/moderato/server/store"
	"github.com/moderato-live/moderato/server/uid"
	"github.com/moderato-live/moderato/server/validate"
)

// ListModerators answers a channel's moderators, the longest-serving first.
func (s *Service) ListModerators(ctx context.Context, req *moderatov1.ListModeratorsRequest) (*moderatov1.ListModeratorsResponse, error) {
	var f validate.Fields
	channelID := f.UUID("channelId", req.GetChannelId())
	if err := f.Err(); err != nil {
		return nil, err
	}
	var result moderatov1.ListModeratorsResponse
	err := store.QueryEach(ctx, s.Store.Read, `
		SELECT u.id, u.display_name, u.slug, u.avatar_url
		FROM roles r JOIN users u ON u.id = r.user_id
		WHERE r.channel_id = ? AND r.role = ? ORDER BY r.created_at, r.user_id LIMIT ?`,
		[]any{channelID, RoleModerator, s.MaxResults + 1},
		func(scan func(...any) error) error {
			var id uid.ID
			var u moderatov1.UserSummary
			err := scan(&id, &u.DisplayName, &u.Slug, &u.AvatarUrl)
			u.Id = id.String()
			result.Moderators = append(result.Moderators, &u)
			return err
		})
	if err == nil && len(result.GetModerators()) == 0 {
		err = s.checkChannelExists(ctx, channelID)
	}
	if err != nil {
		return nil, s.Store.Classify(err)
	}
	return &result, s.checkLength(len(result.GetModerators()))
}

func (s *Service) checkChannelExists(ctx context.Context, id uid.ID) error {
	exists, err := s.Store.Read.Channel.Query().Where(channel.ID(id)).Exist(ctx)
	if err == nil && !exists {
		return fault.New(moderatov1.Reason_REASON_CHANNEL_NOT_FOUND)
	}
	return s.Store.Classify(err)
}

// ListModeratedChannels answers the channels that a user moderates, the oldest
// role first.
func (s *Service) ListModeratedChannels(ctx context.Context, req *moderatov1.ListModeratedChannelsRequest) (*moderatov1.ListModeratedChannelsResponse, error) {
	var f validate.Fields
	userID := f.UUID("userId", req.GetUserId())
	if err := f.Err(); err != nil {
		return nil, err
	}
	if err := policy.AuthorizeSelf(ctx, s.Store, userID); err != nil {
		return nil, err
	}
	var result moderatov1.ListModeratedChannelsResponse
	// A channel's id is its owner's.
	err := store.QueryEach(ctx, s.Store.Read, `
		SELECT u.id, u.username, u.avatar_url
		FROM roles r JOIN users u ON u.id = r.channel_id
		WHERE r.user_id = ? AND r.role = ? ORDER BY r.created_at, r.channel_id LIMIT ?`,
		[]any{userID, RoleModerator, s.MaxResults + 1},
		func(scan func(...any) error) error {
			var id uid.ID
			var c moderatov1.ModeratedChannel
			err := scan(&id, &c.Username, &c.AvatarUrl)
			c.Uuid = id.String()
			result.Channels = append(result.Channels, &c)
			return err
		})
	if err != nil {
		return nil, s.Store.Classify(err)
	}
	return &result, s.checkLength(len(result.GetChannels()))
}

// AddModerator gives a user the moderator role.
func (s *Service) AddModerator(ctx context.Context, req *moderatov1.AddModeratorRequest) (*moderatov1.AddModeratorResponse, error) {
	channelID, userID, err := parseRole(req.GetChannelId(), req.GetUserId())
	if err != nil {
		return nil, err
	}
	err = s.changeRole(ctx, channelID, userID, func(ctx context.Context, c *events.Change, held bool) error {
		if held {
			return nil
		}
		emitRole(c, events.ModeratorAdd, userID)
		return c.Tx.Role.Create().SetID(uid.New()).SetChannelID(channelID).SetUserID(userID).
			SetRole(RoleModerator).SetCreatedAt(c.Now).
			Exec(ctx)
	})
	return &moderatov1.AddModeratorResponse{}, err
}

// RemoveModerator takes the moderator role from a user.
func (s *Service) RemoveModerator(ctx context.Context, req *moderatov1.RemoveModeratorRequest) (*moderatov1.RemoveModeratorResponse, error) {
	channelID, userID, err := parseRole(req.GetChannelId(), req.GetUserId())
	if err != nil {
		return nil, err
	}
	err = s.changeRole(ctx, channelID, userID, func(ctx context.Context, c *events.Change, held bool) error {
		if !held {
			return nil
		}
		emitRole(c, events.ModeratorRemove, userID)
		_, err := c.Tx.Role.Delete().Where(role.ChannelID(channelID), role.UserID(userID), role.Role(RoleModerator)).Exec(ctx)
		return err
	})
	return &moderatov1.RemoveModeratorResponse{}, err
}

func parseRole(channel, user string) (channelID, userID uid.ID, err error) {
	var f validate.Fields
	channelID = f.UUID("channelId", channel)
	userID = f.UUID("userId", user)
	return channelID, userID, f.Err()
}

// changeRole checks whom a role can be given to, and tells change whether the
// user holds it.
func (s *Service) changeRole(ctx context.Context, channelID, userID uid.ID, change func(context.Context, *events.Change, bool) error) error {
	return events.Apply(ctx, s.Store, channelID, func(ctx context.Context, c *events.Change) error {
		if err := refuseChannel(channelID, userID); err != nil {
			return err
		}
		if _, err := userByID(ctx, c.Tx, userID); err != nil {
			return err
		}
		held, err := c.Tx.Role.Query().
			Where(role.ChannelID(channelID), role.UserID(userID), role.Role(RoleModerator)).
			Exist(ctx)
		if err != nil {
			return err
		}
		return change(ctx, c, held)
	})
}

func emitRole(c *events.Change, kind events.Type, userID uid.ID) {
	c.Emit(kind, userID, &moderatov1.RoleEvent{
		ChannelId:   c.ChannelID.String(),
		ModeratorId: c.ActorID.String(),
		ClientId:    c.ClientID,
		UserId:      userID.String(),
		Role:        RoleModerator,
		ChangedAt:   c.Now.Proto(),
	})
}
