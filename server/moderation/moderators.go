package moderation

import (
	"context"

	moderatov1 "github.com/moderato-live/moderato/gen/moderato/v1"
	"github.com/moderato-live/moderato/server/fault"
	"github.com/moderato-live/moderato/server/policy"
	"github.com/moderato-live/moderato/server/roles"
	"github.com/moderato-live/moderato/server/store"
	"github.com/moderato-live/moderato/server/uid"
	"github.com/moderato-live/moderato/server/users"
	"github.com/moderato-live/moderato/server/validate"
)

// ListModerators answers a channel's moderators, the longest-serving first.
func (s *Service) ListModerators(ctx context.Context, req *moderatov1.ListModeratorsRequest) (*moderatov1.ListModeratorsResponse, error) {
	var f validate.Fields
	channelID := f.UUID("channelId", req.GetChannelId())
	if err := f.Err(); err != nil {
		return nil, err
	}
	moderators, err := roles.List(ctx, s.Store, channelID, roles.Moderator, s.MaxResults)
	return &moderatov1.ListModeratorsResponse{Moderators: moderators}, err
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
	// A channel's id is its owner's. One that is being deleted has roles for a while.
	err := store.QueryEach(ctx, s.Store.Read, `
		SELECT u.id, u.username, u.avatar_url
		FROM users m JOIN roles r ON r.user_id = m.id JOIN channels c ON c.id = r.channel_id JOIN users u ON u.id = r.channel_id
		WHERE m.id = ? AND m.`+users.Exists+` AND r.role = ? ORDER BY r.created_at, r.channel_id LIMIT ?`,
		[]any{userID, roles.Moderator.Name, s.MaxResults + 1},
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
	if len(result.GetChannels()) > s.MaxResults {
		return nil, fault.New(moderatov1.Reason_REASON_RESULT_TOO_LARGE)
	}
	return &result, nil
}

// AddModerator gives a user the moderator role.
func (s *Service) AddModerator(ctx context.Context, req *moderatov1.AddModeratorRequest) (*moderatov1.AddModeratorResponse, error) {
	channelID, userID, err := validate.ChannelAndUser(req)
	if err != nil {
		return nil, err
	}
	return &moderatov1.AddModeratorResponse{}, roles.Give(ctx, s.Store, channelID, userID, roles.Moderator)
}

// RemoveModerator takes the moderator role from a user.
func (s *Service) RemoveModerator(ctx context.Context, req *moderatov1.RemoveModeratorRequest) (*moderatov1.RemoveModeratorResponse, error) {
	channelID, userID, err := validate.ChannelAndUser(req)
	if err != nil {
		return nil, err
	}
	return &moderatov1.RemoveModeratorResponse{}, roles.Take(ctx, s.Store, channelID, userID, roles.Moderator)
}
