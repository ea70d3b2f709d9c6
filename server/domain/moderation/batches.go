package moderation

import (
	"context"

	moderatov1 "github.com/moderato-live/moderato/gen/moderato/v1"
	"github.com/moderato-live/moderato/internal/instant"
	"github.com/moderato-live/moderato/internal/uid"
	"github.com/moderato-live/moderato/server/rpc/authz"
	"github.com/moderato-live/moderato/server/rpc/listing"
	"github.com/moderato-live/moderato/server/rpc/paging"
	"github.com/moderato-live/moderato/server/rpc/validate"
	"github.com/moderato-live/moderato/server/store"
)

// listedBatch is a batch with its place in the list.
type listedBatch struct {
	listing.TimePlace
	row *moderatov1.BanBatch
}

// ListBanBatches returns a page of the batches of bans of a channel.
func (s *Service) ListBanBatches(ctx context.Context, req *moderatov1.ListBanBatchesRequest) (*moderatov1.ListBanBatchesResponse, error) {
	f := validate.Of(req)
	channelID := f.UUID("channelId", req.GetChannelId())
	limit := f.Limit("limit", req.Limit)
	if err := f.Err(); err != nil {
		return nil, err
	}
	list, place := "ListBanBatches/"+channelID.String(), listing.Start()
	if err := paging.Read(ctx, s.Store, list, req.GetCursor(), &place); err != nil {
		return nil, err
	}
	if err := listing.AuthorizeModerator(ctx, s.Store, channelID); err != nil {
		return nil, err
	}
	rows, err := s.readBatches(ctx, channelID, place, limit+1)
	if err != nil {
		return nil, s.Store.Classify(err)
	}
	page, pagination, err := paging.Cut(ctx, s.Store, list, rows, limit, func(r listedBatch) any { return r.TimePlace })
	result := &moderatov1.ListBanBatchesResponse{Pagination: pagination}
	for _, r := range page {
		result.Rows = append(result.Rows, r.row)
	}
	return result, err
}

func (s *Service) readBatches(ctx context.Context, channelID uid.ID, place listing.TimePlace, limit int) (rows []listedBatch, err error) {
	where, args := s.Store.Below("ban_batches.created_at", "ban_batches.id", place.At, place.ID)
	from, end := s.Store.Page(store.Page{
		Table: "ban_batches", By: s.Store.ByIndex("banbatch_channel_id_created_at_id"), Where: "ban_batches.channel_id = ? AND " + where,
		Order: "ban_batches.created_at DESC, ban_batches.id DESC", Limit: limit,
	})
	err = store.QueryEach(ctx, s.Store.Read, `
		SELECT ban_batches.created_at, ban_batches.id, ban_batches.reason, ban_batches.expires_at, ban_batches.banned_count, m.id, m.display_name, m.slug,
			(SELECT COUNT(*) FROM bans b WHERE b.batch_id = ban_batches.id AND `+authz.InForce(s.Store.Clock, "b")+`),
			(SELECT afterglow_until FROM sweeps s WHERE s.batch_id = ban_batches.id AND s.afterglow_until > `+s.Store.Clock.Present()+`)
		FROM `+from+s.Store.OrderedJoin()+`users m ON m.id = ban_batches.moderator_id`+end, append([]any{channelID}, args...), func(scan func(...any) error) error {
		var at listing.TimePlace
		var t terms
		var expiresAt, afterglowUntil *instant.Instant
		var moderatorID uid.ID
		by, row := &moderatov1.BannedBy{}, &moderatov1.BanBatch{}
		err := scan(&at.At, &at.ID, &t.reason, &expiresAt, &row.BannedCount, &moderatorID, &by.DisplayName, &by.Slug, &row.StillBannedCount, &afterglowUntil)
		t.expiresAt, by.Id = expiresAt, moderatorID.String()
		row.BatchId, row.CreatedAt, row.BannedBy = at.ID.String(), at.At.Proto(), by
		row.Reason, row.ExpiresAt = t.reasonProto(), t.expiresAtProto()
		if afterglowUntil != nil {
			row.AfterglowEndsAt = afterglowUntil.Proto()
		}
		rows = append(rows, listedBatch{at, row})
		return err
	})
	return rows, err
}
