package content

import (
	"context"

	"github.com/moderato-live/moderato/ent"
	"github.com/moderato-live/moderato/ent/emote"
	platformv1 "github.com/moderato-live/moderato/gen/moderato/platform/v1"
	moderatov1 "github.com/moderato-live/moderato/gen/moderato/v1"
	"github.com/moderato-live/moderato/internal/uid"
	"github.com/moderato-live/moderato/server/change/feed"
	"github.com/moderato-live/moderato/server/change/idempotency"
	"github.com/moderato-live/moderato/server/rpc/apierr"
	"github.com/moderato-live/moderato/server/rpc/listing"
	"github.com/moderato-live/moderato/server/rpc/paging"
	"github.com/moderato-live/moderato/server/rpc/validate"
	"github.com/moderato-live/moderato/server/store"
)

// maxEmotes is how many emotes a channel may have, and the platform.
const maxEmotes = 5000

// platform is the channel of the platform's emotes.
var platform uid.ID

// PutEmote creates or replaces an emote.
func (s *Service) PutEmote(ctx context.Context, req *platformv1.PutEmoteRequest) (*platformv1.PutEmoteResponse, error) {
	var row *ent.Emote
	respond := idempotency.Response(ctx, func() *platformv1.PutEmoteResponse {
		return &platformv1.PutEmoteResponse{Emote: emoteRecord(row)}
	})
	err := feed.WriteTo(ctx, s.Store, req.GetEmote().GetChannelId(), func(ctx context.Context, tx feed.Tx) error {
		var err error
		row, err = putEmote(ctx, tx, req.GetEmote())
		return err
	})
	if err != nil {
		return nil, apierr.In("emote", err)
	}
	return respond(), nil
}

func putEmote(ctx context.Context, tx feed.Tx, r *platformv1.EmoteRecord) (*ent.Emote, error) {
	e, err := parseEmote(r)
	if err != nil {
		return nil, err
	}
	if e.ChannelID != platform {
		if _, err := tx.LockChannel(ctx, e.ChannelID); err != nil {
			return nil, err
		}
	}
	taken, err := tx.Emote.Query().Where(emote.ChannelID(e.ChannelID), emote.Name(e.Name), emote.IDNEQ(e.ID)).Exist(ctx)
	if err != nil {
		return nil, err
	}
	if taken {
		return nil, apierr.Invalid(apierr.Violation{Field: "name", Description: "belongs to another emote of the channel"})
	}
	before, err := tx.Emote.Get(ctx, e.ID)
	switch {
	case ent.IsNotFound(err):
		return addEmote(ctx, tx, e)
	case err != nil:
		return nil, err
	case before.ChannelID != e.ChannelID:
		return nil, other("channelId", "emote")
	}
	return tx.Emote.UpdateOne(before).SetName(e.Name).SetImageURL(e.ImageURL).SetIsPublic(e.IsPublic).Save(ctx)
}

func parseEmote(r *platformv1.EmoteRecord) (*ent.Emote, error) {
	f := validate.Of(r)
	e := &ent.Emote{
		ID:        f.UUID("id", r.GetId()),
		ChannelID: f.OptionalUUID("channelId", r.GetChannelId()),
		Name:      f.Text("name", r.GetName()),
		ImageURL:  f.RequiredURL("imageUrl", r.GetImageUrl()),
		IsPublic:  r.GetIsPublic(),
	}
	return e, f.Err()
}

// addEmote creates an emote. It locks the others of the channel, because the platform has no
// row of a channel that two calls would lock.
func addEmote(ctx context.Context, tx feed.Tx, e *ent.Emote) (*ent.Emote, error) {
	count, err := tx.Emote.Query().Where(emote.ChannelID(e.ChannelID), store.LockForUpdate).Count(ctx)
	if err != nil {
		return nil, err
	}
	if count >= maxEmotes {
		return nil, apierr.Invalid(apierr.Violation{Field: "channelId", Description: "has 5000 emotes already"})
	}
	return tx.Emote.Create().SetID(e.ID).SetChannelID(e.ChannelID).SetName(e.Name).SetImageURL(e.ImageURL).SetIsPublic(e.IsPublic).Save(ctx)
}

func emoteRecord(e *ent.Emote) *platformv1.EmoteRecord {
	r := &platformv1.EmoteRecord{Id: e.ID.String(), Name: e.Name, ImageUrl: e.ImageURL, IsPublic: e.IsPublic}
	if e.ChannelID != platform {
		r.ChannelId = e.ChannelID.String()
	}
	return r
}

// DeleteEmote deletes an emote.
func (s *Service) DeleteEmote(ctx context.Context, req *platformv1.DeleteEmoteRequest) (*platformv1.DeleteEmoteResponse, error) {
	f := validate.Of(req)
	id := f.UUID("emoteId", req.GetEmoteId())
	if err := f.Err(); err != nil {
		return nil, err
	}
	err := feed.Write(ctx, s.Store, func(ctx context.Context, tx feed.Tx) error {
		_, err := tx.Emote.Delete().Where(emote.ID(id)).Exec(ctx)
		return err
	})
	return &platformv1.DeleteEmoteResponse{}, err
}

// ListPlatformEmotes returns the emotes of the platform.
func (s *Service) ListPlatformEmotes(ctx context.Context, _ *moderatov1.ListPlatformEmotesRequest) (*moderatov1.ListPlatformEmotesResponse, error) {
	rows, err := s.emotesOf(ctx, platform)
	return &moderatov1.ListPlatformEmotesResponse{Emotes: rows}, err
}

// ListEmotes returns the emotes of a channel.
func (s *Service) ListEmotes(ctx context.Context, req *moderatov1.ListEmotesRequest) (*moderatov1.ListEmotesResponse, error) {
	f := validate.Of(req)
	channelID := f.UUID("channelId", req.GetChannelId())
	if err := f.Err(); err != nil {
		return nil, err
	}
	rows, err := s.emotesOf(ctx, channelID)
	if err == nil {
		err = listing.CheckChannel(ctx, s.Store, channelID)
	}
	if err != nil {
		return nil, err
	}
	return &moderatov1.ListEmotesResponse{Emotes: rows}, nil
}

func (s *Service) emotesOf(ctx context.Context, channelID uid.ID) ([]*moderatov1.Emote, error) {
	rows, _, err := paging.Complete[*moderatov1.Emote, struct{}]{
		Lists: s.Lists, Store: s.Store,
		Read: func(ctx context.Context, _ *struct{}, limit int) (rows []*moderatov1.Emote, err error) {
			err = emotes.Each(ctx, s.Store, emotesQuery{channelID, limit}, func(r *store.Row) error {
				rows = append(rows, &moderatov1.Emote{Id: r.ID().String(), Name: r.Text(), ImageUrl: r.Text(), IsPublic: r.Bool()})
				return nil
			})
			return rows, err
		},
	}.Rows(ctx, paging.Window{})
	return rows, err
}

type emotesQuery struct {
	channelID uid.ID
	limit     int
}

// emotes selects the emotes of a channel.
var emotes = store.Declare(func(d *store.Dialect, q emotesQuery) (string, []any) {
	return "SELECT id, name, image_url, is_public FROM emotes" + d.ByIndex("emote_channel_id_name") +
		" WHERE channel_id = ? ORDER BY name" + store.Limit(q.limit), []any{q.channelID}
})
