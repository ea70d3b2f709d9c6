package moderation

import (
	"context"
	"fmt"

	moderatov1 "github.com/moderato-live/moderato/gen/moderato/v1"
	"github.com/moderato-live/moderato/internal/uid"
	"github.com/moderato-live/moderato/server/rpc/listing"
	"github.com/moderato-live/moderato/server/rpc/paging"
	"github.com/moderato-live/moderato/server/rpc/users"
	"github.com/moderato-live/moderato/server/rpc/validate"
	"github.com/moderato-live/moderato/server/store"
)

// listedMute is a mute with its place in the list.
type listedMute struct {
	listing.TimePlace
	row *moderatov1.ListedMute
}

// ListMutes returns a page of the mutes of a channel that match the search.
func (s *Service) ListMutes(ctx context.Context, req *moderatov1.ListMutesRequest) (*moderatov1.ListMutesResponse, error) {
	f := validate.Of(req)
	channelID := f.UUID("channelId", req.GetChannelId())
	names := users.ParseNames(f, req.GetQuery())
	limit := f.Limit("limit", req.Limit)
	if err := f.Err(); err != nil {
		return nil, err
	}
	if err := listing.AuthorizeModerator(ctx, s.Store, channelID); err != nil {
		return nil, err
	}
	search := paging.Search[listedMute, listing.TimePlace]{
		Store: s.Store, Name: fmt.Sprintf("ListMutes/%s/%s", channelID, names), Max: maxExamined,
		Read: func(ctx context.Context, after listing.TimePlace, limit int) ([]listedMute, error) {
			return s.readMutes(ctx, mutesQuery{channelID, after, limit})
		},
		Place: func(m listedMute) listing.TimePlace { return m.TimePlace },
	}
	if names != "" {
		search.Matches = func(m listedMute) bool { return names.Match(m.row.GetSlug(), m.row.GetDisplayName()) }
	}
	rows, pagination, err := search.Page(ctx, req.GetCursor(), listing.Start(), limit)
	result := &moderatov1.ListMutesResponse{Pagination: pagination}
	for _, m := range rows {
		result.Rows = append(result.Rows, m.row)
	}
	return result, err
}

// mutesQuery holds the parameters of mutesPage.
type mutesQuery struct {
	channelID uid.ID
	after     listing.TimePlace
	limit     int
}

// mutesPage selects a page of a channel's muted users. The row of a mute that has lapsed remains
// until its end is announced.
var mutesPage = store.Declare(func(d *store.Dialect, q mutesQuery) (string, []any) {
	where, args := d.Below("mutes.muted_at", "mutes.user_id", q.after.At, q.after.ID)
	from, end := d.Page(store.Page{
		Table: "mutes", By: d.ByIndex("mute_channel_id_muted_at_user_id"),
		Where: "mutes.channel_id = ? AND mutes.expires_at > " + d.Clock.Present() + " AND " + where,
		Order: "mutes.muted_at DESC, mutes.user_id DESC", Limit: q.limit,
	})
	return `
		SELECT mutes.muted_at, mutes.user_id, u.display_name, u.slug, m.id, m.display_name, m.slug, mutes.expires_at, mutes.reason, mutes.rule_id
		FROM ` + from + d.OrderedJoin() + `users u ON u.id = mutes.user_id` + d.OrderedJoin() + `users m ON m.id = mutes.moderator_id` + end,
		append([]any{q.channelID}, args...)
})

func (s *Service) readMutes(ctx context.Context, q mutesQuery) (rows []listedMute, err error) {
	err = mutesPage.Each(ctx, s.Store, q, func(r *store.Row) error {
		m := listedMute{TimePlace: listing.TimePlace{At: r.Instant(), ID: r.ID()}}
		m.row = &moderatov1.ListedMute{
			Id: m.ID.String(), DisplayName: r.Text(), Slug: r.Text(), MutedAt: m.At.Proto(),
			MutedBy:   &moderatov1.BannedBy{Id: r.ID().String(), DisplayName: r.Text(), Slug: r.Text()},
			ExpiresAt: r.Instant().Proto(),
		}
		t := terms{reason: r.Text(), ruleID: r.OptionalID()}
		m.row.Reason, m.row.Cause, m.row.RuleId = t.reasonProto(), string(t.cause()), uid.Text(t.ruleID)
		rows = append(rows, m)
		return nil
	})
	return rows, err
}
