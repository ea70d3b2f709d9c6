package moderation

import (
	"context"

	moderatov1 "github.com/moderato-live/moderato/gen/moderato/v1"
	"github.com/moderato-live/moderato/internal/instant"
	"github.com/moderato-live/moderato/internal/uid"
	"github.com/moderato-live/moderato/server/rpc/authz"
	"github.com/moderato-live/moderato/server/rpc/paging"
	"github.com/moderato-live/moderato/server/rpc/users"
	"github.com/moderato-live/moderato/server/rpc/validate"
	"github.com/moderato-live/moderato/server/store"
)

// ListModerators returns a channel's moderators, the longest-serving first.
func (s *Service) ListModerators(ctx context.Context, req *moderatov1.ListModeratorsRequest) (*moderatov1.ListModeratorsResponse, error) {
	f := validate.Of(req)
	channelID := f.UUID("channelId", req.GetChannelId())
	window := paging.ParseWindow(f, req.Limit, req.GetCursor())
	if err := f.Err(); err != nil {
		return nil, err
	}
	moderators, pagination, err := listHolders(ctx, s.Store, s.Lists, channelID, Moderator, window)
	return &moderatov1.ListModeratorsResponse{Moderators: moderators, Pagination: pagination}, err
}

// moderated is a channel that a user moderates, with its place in the list.
type moderated struct {
	moderatedPlace
	*moderatov1.ModeratedChannel
}

type moderatedPlace struct {
	At instant.Instant
	ID uid.ID
}

// ListModeratedChannels returns the channels that a user moderates, the oldest role
// first.
func (s *Service) ListModeratedChannels(ctx context.Context, req *moderatov1.ListModeratedChannelsRequest) (*moderatov1.ListModeratedChannelsResponse, error) {
	f := validate.Of(req)
	userID := f.UUID("userId", req.GetUserId())
	window := paging.ParseWindow(f, req.Limit, req.GetCursor())
	if err := f.Err(); err != nil {
		return nil, err
	}
	if err := authz.AuthorizeSelf(ctx, s.Store, userID); err != nil {
		return nil, err
	}
	rows, pagination, err := paging.Complete[moderated, moderatedPlace]{
		Lists: s.Lists, Store: s.Store, Name: "ListModeratedChannels/" + userID.String(),
		Read: func(ctx context.Context, after *moderatedPlace, limit int) ([]moderated, error) {
			return s.readModerated(ctx, userID, after, limit)
		},
		Place: func(m moderated) moderatedPlace { return m.moderatedPlace },
	}.Rows(ctx, window)
	result := &moderatov1.ListModeratedChannelsResponse{Pagination: pagination}
	for _, m := range rows {
		result.Channels = append(result.Channels, m.ModeratedChannel)
	}
	return result, err
}

// moderatedQuery holds the parameters of moderatedPage.
type moderatedQuery struct {
	userID uid.ID
	after  *moderatedPlace // nil for the start
	limit  int
}

// moderatedPage selects channels that a user moderates. A channel's id is its owner's id.
// It excludes a channel that is being deleted, whose roles remain for a while.
var moderatedPage = store.Declare(func(d *store.Dialect, q moderatedQuery) (string, []any) {
	where, args := "roles.user_id = ? AND roles.role = ? AND EXISTS (SELECT 1 FROM users WHERE id = ? AND "+users.Exists+`)
		AND EXISTS (SELECT 1 FROM channels c WHERE c.id = roles.channel_id)`, []any{q.userID, Moderator.Name, q.userID}
	if q.after != nil {
		above, more := d.Above("roles.created_at", "roles.channel_id", q.after.At, q.after.ID)
		where, args = where+" AND "+above, append(args, more...)
	}
	from, end := d.Page(store.Page{
		Table: "roles", By: d.ByIndex("role_user_id_role_created_at_channel_id"), Where: where,
		Order: "roles.created_at, roles.channel_id", Limit: q.limit,
	})
	return `
		SELECT roles.created_at, u.id, u.username, u.avatar_url
		FROM ` + from + d.OrderedJoin() + `users u ON u.id = roles.channel_id` + end, args
})

// readModerated reads the rows of the list after a place; nil is the start.
func (s *Service) readModerated(ctx context.Context, userID uid.ID, after *moderatedPlace, limit int) (rows []moderated, err error) {
	err = moderatedPage.Each(ctx, s.Store, moderatedQuery{userID, after, limit}, func(r *store.Row) error {
		m := moderated{moderatedPlace{r.Instant(), r.ID()}, new(moderatov1.ModeratedChannel)}
		m.Uuid, m.Username, m.AvatarUrl = m.ID.String(), r.Text(), r.Text()
		rows = append(rows, m)
		return nil
	})
	return rows, err
}

// AddModerator gives a user the moderator role.
func (s *Service) AddModerator(ctx context.Context, req *moderatov1.AddModeratorRequest) (*moderatov1.AddModeratorResponse, error) {
	channelID, userID, err := validate.ChannelAndUser(req)
	if err != nil {
		return nil, err
	}
	return &moderatov1.AddModeratorResponse{}, giveRole(ctx, s.Store, channelID, userID, Moderator)
}

// RemoveModerator takes the moderator role from a user.
func (s *Service) RemoveModerator(ctx context.Context, req *moderatov1.RemoveModeratorRequest) (*moderatov1.RemoveModeratorResponse, error) {
	channelID, userID, err := validate.ChannelAndUser(req)
	if err != nil {
		return nil, err
	}
	return &moderatov1.RemoveModeratorResponse{}, s.takeRole(ctx, channelID, userID, Moderator)
}
