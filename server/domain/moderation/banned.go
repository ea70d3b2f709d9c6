package moderation

import (
	"context"

	moderatov1 "github.com/moderato-live/moderato/gen/moderato/v1"
	"github.com/moderato-live/moderato/internal/uid"
	"github.com/moderato-live/moderato/server/rpc/authz"
	"github.com/moderato-live/moderato/server/rpc/listing"
	"github.com/moderato-live/moderato/server/rpc/paging"
	"github.com/moderato-live/moderato/server/rpc/validate"
	"github.com/moderato-live/moderato/server/store"
)

// banned is a banned user with their place in the list.
type banned struct {
	listing.TimePlace
	row *moderatov1.BannedUser
}

// ListBannedUsers returns a page of the users who are banned from the authorized
// channel.
func (s *Service) ListBannedUsers(ctx context.Context, req *moderatov1.ListBannedUsersRequest) (*moderatov1.ListBannedUsersResponse, error) {
	f := validate.Of(req)
	channelID := listing.AuthorizedChannel(ctx, f, req.GetChannelId())
	limit := f.Limit("limit", req.Limit)
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

// bannedQuery holds the parameters of bannedPage.
type bannedQuery struct {
	channelID uid.ID
	after     listing.TimePlace
	limit     int
}

// bannedPage selects a page of a channel's banned users.
var bannedPage = store.Declare(func(d *store.Dialect, q bannedQuery) (string, []any) {
	where, args := d.Below("bans.banned_at", "bans.user_id", q.after.At, q.after.ID)
	return `
		SELECT bans.banned_at, bans.user_id, u.display_name, u.slug, m.id, m.display_name, m.slug, bans.reason, bans.expires_at
		FROM channels c` + d.OrderedJoin() + `bans` + d.ByIndex("ban_channel_id_banned_at_user_id") +
		d.OrderedJoin() + `users u ON u.id = bans.user_id` + d.OrderedJoin() + `users m ON m.id = bans.moderator_id
		WHERE c.id = ? AND bans.channel_id = c.id AND ` + authz.InForce(d.Clock, "bans") + ` AND ` + where + `
		ORDER BY bans.banned_at DESC, bans.user_id DESC` + store.Limit(q.limit), append([]any{q.channelID}, args...)
})

func (s *Service) readBanned(ctx context.Context, channelID uid.ID, place listing.TimePlace, limit int) (rows []banned, err error) {
	err = bannedPage.Each(ctx, s.Store, bannedQuery{channelID, place, limit}, func(r *store.Row) error {
		b := banned{TimePlace: listing.TimePlace{At: r.Instant(), ID: r.ID()}}
		b.row = &moderatov1.BannedUser{
			Id: b.ID.String(), DisplayName: r.Text(), Slug: r.Text(), BannedAt: b.At.Proto(),
			BannedBy: &moderatov1.BannedBy{Id: r.ID().String(), DisplayName: r.Text(), Slug: r.Text()},
		}
		terms := terms{reason: r.Text(), expiresAt: r.OptionalInstant()}
		b.row.Reason, b.row.ExpiresAt = terms.reasonProto(), terms.expiresAtProto()
		rows = append(rows, b)
		return nil
	})
	return rows, err
}
