package livestream

import (
	"context"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/moderato-live/moderato/ent"
	"github.com/moderato-live/moderato/ent/raid"
	platformv1 "github.com/moderato-live/moderato/gen/moderato/platform/v1"
	moderatov1 "github.com/moderato-live/moderato/gen/moderato/v1"
	"github.com/moderato-live/moderato/internal/uid"
	"github.com/moderato-live/moderato/server/change"
	"github.com/moderato-live/moderato/server/change/feed"
	"github.com/moderato-live/moderato/server/change/idempotency"
	"github.com/moderato-live/moderato/server/rpc/apierr"
	"github.com/moderato-live/moderato/server/rpc/listing"
	"github.com/moderato-live/moderato/server/rpc/paging"
	"github.com/moderato-live/moderato/server/rpc/users"
	"github.com/moderato-live/moderato/server/rpc/validate"
	"github.com/moderato-live/moderato/server/store"
)

// Raid records a raid of a channel.
func (s *Service) Raid(ctx context.Context, req *platformv1.RaidRequest) (*platformv1.RaidResponse, error) {
	want, err := parseRaid(req)
	if err != nil {
		return nil, err
	}
	var stored *ent.Raid
	respond := idempotency.Response(ctx, func() *platformv1.RaidResponse {
		return &platformv1.RaidResponse{Raid: raidRecord(stored)}
	})
	err = feed.RetryOnDuplicate(s.Store, func() error {
		return change.ApplyTo(ctx, s.Store, want.ChannelID, users.Key{ID: want.RaiderID}, func(ctx context.Context, c *change.Change, raider *ent.User) error {
			tx := feed.InChange(c)
			var err error
			if stored, err = findRaid(ctx, tx, want); err != nil {
				return err
			}
			if stored != nil {
				return checkRaider(stored, want)
			}
			want.RaidedAt = tx.OrNow(req.GetRaidedAt())
			if stored, err = addRaid(ctx, tx, want); err != nil {
				return err
			}
			emitRaid(c, raider, stored)
			return nil
		})
	})
	if err != nil {
		return nil, err
	}
	return respond(), nil
}

// parseRaid parses a call or a record; it does not set the time.
func parseRaid(r interface {
	proto.Message
	GetChannelId() string
	GetKey() string
	GetRaiderId() string
	GetViewerCount() int64
	GetRaidedAt() *timestamppb.Timestamp
}) (*ent.Raid, error) {
	f := validate.Of(r)
	want := &ent.Raid{
		ChannelID:   f.UUID("channelId", r.GetChannelId()),
		DedupKey:    f.Text("key", r.GetKey()),
		RaiderID:    f.UUID("raiderId", r.GetRaiderId()),
		ViewerCount: f.Number("viewerCount", r.GetViewerCount()),
	}
	f.Time("raidedAt", r.GetRaidedAt())
	if err := f.Err(); err != nil {
		return nil, err
	}
	if want.ChannelID == want.RaiderID {
		return nil, apierr.New(moderatov1.Reason_REASON_TARGET_IS_CHANNEL)
	}
	return want, nil
}

// putRaid stores a record of an import.
func putRaid(ctx context.Context, tx feed.Tx, r *platformv1.RaidRecord) error {
	want, err := parseRaid(r)
	if err != nil {
		return err
	}
	if err := tx.RequireChannel(ctx, want.ChannelID); err != nil {
		return err
	}
	if err := tx.RequireUser(ctx, want.RaiderID); err != nil {
		return err
	}
	before, err := findRaid(ctx, tx, want)
	if err != nil {
		return err
	}
	want.RaidedAt = tx.OrNow(r.GetRaidedAt())
	switch {
	case before == nil:
		_, err = addRaid(ctx, tx, want)
		return err
	case r.GetRaidedAt() == nil:
		want.RaidedAt = before.RaidedAt
	}
	if err := checkRaider(before, want); err != nil {
		return err
	}
	return tx.Raid.UpdateOne(before).SetViewerCount(want.ViewerCount).SetRaidedAt(want.RaidedAt).Exec(ctx)
}

// findRaid returns the raid with the same channel and key; nil if there is none.
func findRaid(ctx context.Context, tx feed.Tx, want *ent.Raid) (*ent.Raid, error) {
	found, err := tx.Raid.Query().Where(raid.ChannelID(want.ChannelID), raid.DedupKey(want.DedupKey)).Only(ctx)
	if ent.IsNotFound(err) {
		return nil, nil //nolint:nilnil // no raid is no error
	}
	return found, err
}

// checkRaider returns an error unless a raid has the raider of the recorded one.
func checkRaider(before, want *ent.Raid) error {
	if before.RaiderID != want.RaiderID {
		return apierr.Invalid(apierr.Violation{Field: "raiderId", Description: "must be that of the present raid, which does not change"})
	}
	return nil
}

func addRaid(ctx context.Context, tx feed.Tx, want *ent.Raid) (*ent.Raid, error) {
	return tx.Raid.Create().SetID(uid.New()).SetChannelID(want.ChannelID).SetDedupKey(want.DedupKey).
		SetRaiderID(want.RaiderID).SetViewerCount(want.ViewerCount).SetRaidedAt(want.RaidedAt).
		Save(ctx)
}

func emitRaid(c *change.Change, raider *ent.User, r *ent.Raid) {
	c.Emit("channel.raid", raider.ID, &moderatov1.RaidEvent{
		ChannelId:   c.ChannelID.String(),
		ClientId:    c.ClientID,
		Raider:      users.Person(raider),
		ViewerCount: r.ViewerCount,
		CreatedAt:   r.RaidedAt.Proto(),
	})
}

func raidRecord(r *ent.Raid) *platformv1.RaidRecord {
	return &platformv1.RaidRecord{
		ChannelId: r.ChannelID.String(), Key: r.DedupKey, RaiderId: r.RaiderID.String(), ViewerCount: r.ViewerCount, RaidedAt: r.RaidedAt.Proto(),
	}
}

// raidRow is a raid with its place in the list.
type raidRow struct {
	listing.TimePlace
	row *moderatov1.Raid
}

// raidsQuery holds the parameters of raidsPage.
type raidsQuery struct {
	channelID uid.ID
	after     listing.TimePlace
	limit     int
}

// raidsPage selects a page of a channel's raids.
var raidsPage = store.Declare(func(d *store.Dialect, q raidsQuery) (string, []any) {
	where, args := d.Below("raids.raided_at", "raids.id", q.after.At, q.after.ID)
	from, end := d.Page(store.Page{
		Table: "raids", By: d.ByIndex("raid_channel_id_raided_at_id"), Where: "raids.channel_id = ? AND " + listing.ChannelExists + " AND " + where,
		Order: "raids.raided_at DESC, raids.id DESC", Limit: q.limit,
	})
	return `
		SELECT raids.raided_at, raids.id, u.id, u.username, u.display_name, u.avatar_url, raids.viewer_count
		FROM ` + from + d.OrderedJoin() + `users u ON u.id = raids.raider_id` + end, append([]any{q.channelID, q.channelID}, args...)
})

// ListRaids returns a page of the raids of a channel.
func (s *Service) ListRaids(ctx context.Context, req *moderatov1.ListRaidsRequest) (*moderatov1.ListRaidsResponse, error) {
	f := validate.Of(req)
	q := raidsQuery{channelID: f.UUID("channelId", req.GetChannelId()), after: listing.Start()}
	limit := f.Limit("limit", req.Limit)
	if err := f.Err(); err != nil {
		return nil, err
	}
	q.limit = limit + 1
	list := "ListRaids/" + q.channelID.String()
	if err := paging.Read(ctx, s.Store, list, req.GetCursor(), &q.after); err != nil {
		return nil, err
	}
	rows, err := s.readRaids(ctx, q)
	if err == nil && len(rows) == 0 {
		err = listing.CheckChannel(ctx, s.Store, q.channelID)
	}
	if err != nil {
		return nil, s.Store.Classify(err)
	}
	page, pagination, err := paging.Cut(ctx, s.Store, list, rows, limit, func(r raidRow) any { return r.TimePlace })
	result := &moderatov1.ListRaidsResponse{Pagination: pagination}
	for _, r := range page {
		result.Rows = append(result.Rows, r.row)
	}
	return result, err
}

func (s *Service) readRaids(ctx context.Context, q raidsQuery) (rows []raidRow, err error) {
	err = raidsPage.Each(ctx, s.Store, q, func(r *store.Row) error {
		found := raidRow{TimePlace: listing.TimePlace{At: r.Instant(), ID: r.ID()}}
		found.row = &moderatov1.Raid{
			Id:     found.ID.String(),
			Raider: &moderatov1.Person{Id: r.ID().String(), Username: r.Text(), DisplayName: r.Text(), AvatarUrl: r.Text()},
		}
		found.row.ViewerCount, found.row.CreatedAt = r.Int(), found.At.Proto()
		rows = append(rows, found)
		return nil
	})
	return rows, err
}
