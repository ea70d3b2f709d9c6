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
)

// maxExamined is how many people a search examines for a page.
const maxExamined = 2000

// ListBans returns a page of the bans of a channel that match the filters.
func (s *Service) ListBans(ctx context.Context, req *moderatov1.ListBansRequest) (*moderatov1.ListBansResponse, error) {
	f := validate.Of(req)
	channelID := f.UUID("channelId", req.GetChannelId())
	names := users.ParseNames(f, req.GetQuery())
	bannedBy := f.OptionalUUID("bannedBy", req.GetBannedBy())
	batchID := f.OptionalUUID("batchId", req.GetBatchId())
	limit := f.Limit("limit", req.Limit)
	if err := f.Err(); err != nil {
		return nil, err
	}
	if err := listing.AuthorizeModerator(ctx, s.Store, channelID); err != nil {
		return nil, err
	}
	var of bansOf
	switch {
	case !batchID.IsZero():
		of = bansOf{"batch_id", batchID}
	case !bannedBy.IsZero():
		of = bansOf{"moderator_id", bannedBy}
	}
	search := paging.Search[banned, listing.TimePlace]{
		Store: s.Store, Name: fmt.Sprintf("ListBans/%s/%s/%s/%s", channelID, bannedBy, batchID, names), Max: maxExamined,
		Read: func(ctx context.Context, after listing.TimePlace, limit int) ([]banned, error) {
			return s.readBanned(ctx, bannedQuery{channelID, of, after, limit})
		},
		Place: func(b banned) listing.TimePlace { return b.TimePlace },
	}
	if names != "" || of.column == "batch_id" {
		search.Matches = func(b banned) bool {
			return names.Match(b.row.GetSlug(), b.row.GetDisplayName()) && (bannedBy.IsZero() || b.row.GetBannedBy().GetId() == bannedBy.String())
		}
	}
	rows, pagination, err := search.Page(ctx, req.GetCursor(), listing.Start(), limit)
	result := &moderatov1.ListBansResponse{Pagination: pagination}
	for _, b := range rows {
		t := terms{batchID: b.batchID}
		row := b.row
		result.Rows = append(result.Rows, &moderatov1.ListedBan{
			Id: row.GetId(), DisplayName: row.GetDisplayName(), Slug: row.GetSlug(), BannedAt: row.GetBannedAt(), BannedBy: row.GetBannedBy(),
			Reason: row.Reason, ExpiresAt: row.GetExpiresAt(), BatchId: uid.Text(t.batchID), Cause: string(t.cause()),
		})
	}
	return result, err
}
