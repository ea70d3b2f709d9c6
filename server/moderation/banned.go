package moderation

import (
	"context"

	moderatov1 "github.com/moderato-live/moderato/gen/moderato/v1"
	"github.com/moderato-live/moderato/server/listing"
	"github.com/moderato-live/moderato/server/paging"
	"github.com/moderato-live/moderato/server/store"
	"github.com/moderato-live/moderato/server/uid"
	"github.com/moderato-live/moderato/server/validate"
)

// banned is a banned user with their place in the list.
type banned struct {
	listing.TimePlace
	row *moderatov1.BannedUser
}

// ListBannedUsers returns a page of the users who are banned from the authorized
// channel.
func (s *Service) ListBannedUsers(ctx context.Context, req *moderatov1.ListBannedUsersRequest) (*moderatov1.ListBannedUsersResponse, error) {
	var f validate.Fields
	channelID := listing.AuthorizedChannel(ctx, &f, req.GetChannelId())
	limit := f.Limit("limit", req.Limit, listing.DefaultLimit, listing.MaxPeople)
	if err := f.Err(); err != nil {
		return nil, err
	}
	list, place := "ListBannedUsers/"+channelID.String(), listing.Start()
	if err := paging.Read(ctx, s.Store, list, req.GetCursor(), &place); err != nil {
		return nil, err
	}
	if err := listing.Authorize(ctx, channelID); err != nil {
		return nil, err
	}
	rows, err := s.readBanned(ctx, channelID, place, limit+1)
	if err == nil && len(rows) == 0 {
		err = listing.CheckChannel(ctx, s.Store, channelID)
	}
	if err != nil {
		return nil, s.Store.Classify(err)
	}
	page, pagination, err := paging.Cut(ctx, s.Store, list, rows, limit, func(r banned) any { return r.TimePlace })
	result := &moderatov1.ListBannedUsersResponse{Pagination: pagination}
	for _, r := range page {
		result.Rows = append(result.Rows, r.row)
	}
	return result, err
}

func (s *Service) readBanned(ctx context.Context, channelID uid.ID, place listing.TimePlace, limit int) (rows []banned, err error) {
	where, args := s.Store.Below("bans.banned_at", "bans.user_id", place.At, place.ID)
	err = s.Store.Each(ctx, `
		SELECT bans.banned_at, bans.user_id, u.display_name, u.slug, m.id, m.display_name, m.slug
		FROM channels c`+listing.Then(s.Store)+`bans`+s.Store.ByIndex("ban_channel_id_banned_at_user_id")+
		listing.Then(s.Store)+`users u ON u.id = bans.user_id`+listing.Then(s.Store)+`users m ON m.id = bans.moderator_id
		WHERE c.id = ? AND bans.channel_id = c.id AND `+where+`
		ORDER BY bans.banned_at DESC, bans.user_id DESC`+store.Limit(limit),
		append([]any{channelID}, args...),
		func(r *store.Row) error {
			b := banned{TimePlace: listing.TimePlace{At: r.Instant(), ID: r.ID()}}
			b.row = &moderatov1.BannedUser{
				Id: b.ID.String(), DisplayName: r.Text(), Slug: r.Text(), BannedAt: b.At.Proto(),
				BannedBy: &moderatov1.BannedBy{Id: r.ID().String(), DisplayName: r.Text(), Slug: r.Text()},
			}
			rows = append(rows, b)
			return nil
		})
	return rows, err
}
