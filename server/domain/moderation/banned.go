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
	row     *moderatov1.BannedUser
	batchID *uid.ID
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
	rows, err := s.readBanned(ctx, bannedQuery{channelID: channelID, after: place, limit: limit + 1})
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
	of        bansOf
	after     listing.TimePlace
	limit     int
}

// bansOf selects the bans that have an id in a column: those of a moderator or of a batch. The
// zero bansOf selects all bans of the channel.
type bansOf struct {
	column string
	id     uid.ID
}

// bannedPage selects a page of a channel's banned users. Each selection has an index in the
// order of the list.
var bannedPage = store.Declare(func(d *store.Dialect, q bannedQuery) (string, []any) {
	where, after := d.Below("bans.banned_at", "bans.user_id", q.after.At, q.after.ID)
	index, args := "ban_channel_id_banned_at_user_id", []any{q.channelID, q.channelID}
	if q.of.column != "" {
		index, where = "ban_"+q.of.column+"_channel_id_banned_at_user_id", "bans."+q.of.column+" = ? AND "+where
		args = append(args, q.of.id)
	}
	from, end := d.Page(store.Page{
		Table: "bans", By: d.ByIndex(index), Limit: q.limit, Order: "bans.banned_at DESC, bans.user_id DESC",
		Where: "bans.channel_id = ? AND " + listing.ChannelExists + " AND " + authz.InForce(d.Clock, "bans") + " AND " + where,
	})
	return `
		SELECT bans.banned_at, bans.user_id, u.display_name, u.slug, m.id, m.display_name, m.slug, bans.reason, bans.expires_at, bans.batch_id
		FROM ` + from + d.OrderedJoin() + `users u ON u.id = bans.user_id` + d.OrderedJoin() + `users m ON m.id = bans.moderator_id` + end,
		append(args, after...)
})

func (s *Service) readBanned(ctx context.Context, q bannedQuery) (rows []banned, err error) {
	err = bannedPage.Each(ctx, s.Store, q, func(r *store.Row) error {
		b := banned{TimePlace: listing.TimePlace{At: r.Instant(), ID: r.ID()}}
		b.row = &moderatov1.BannedUser{
			Id: b.ID.String(), DisplayName: r.Text(), Slug: r.Text(), BannedAt: b.At.Proto(),
			BannedBy: &moderatov1.BannedBy{Id: r.ID().String(), DisplayName: r.Text(), Slug: r.Text()},
		}
		terms := terms{reason: r.Text(), expiresAt: r.OptionalInstant()}
		b.row.Reason, b.row.ExpiresAt = terms.reasonProto(), terms.expiresAtProto()
		b.batchID = r.OptionalID()
		rows = append(rows, b)
		return nil
	})
	return rows, err
}
