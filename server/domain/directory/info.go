package directory

import (
	"context"
	"errors"

	"github.com/moderato-live/moderato/ent"
	"github.com/moderato-live/moderato/ent/stream"
	moderatov1 "github.com/moderato-live/moderato/gen/moderato/v1"
	"github.com/moderato-live/moderato/internal/uid"
	"github.com/moderato-live/moderato/server/change"
	"github.com/moderato-live/moderato/server/change/idempotency"
	"github.com/moderato-live/moderato/server/rpc/apierr"
	"github.com/moderato-live/moderato/server/rpc/listing"
	"github.com/moderato-live/moderato/server/rpc/validate"
	"github.com/moderato-live/moderato/server/store"
	"github.com/moderato-live/moderato/server/store/counts"
)

// info holds the values that UpdateInfo sets.
type info struct {
	title, lang string
	// category is the id of a category; nil keeps the present one.
	category *int64
}

// UpdateInfo changes the title, language and category of the authorized channel and of
// its live stream.
func (s *Service) UpdateInfo(ctx context.Context, req *moderatov1.UpdateInfoRequest) (*moderatov1.UpdateInfoResponse, error) {
	f := validate.Of(req)
	channelID := listing.AuthorizedChannel(ctx, f, req.GetChannelId())
	want := info{
		title:    f.Text("title", req.GetTitle()),
		lang:     f.RequiredLanguage("lang", req.GetLang()),
		category: req.CategoryId,
	}
	f.Number("categoryId", req.GetCategoryId())
	if err := f.Err(); err != nil {
		return nil, err
	}
	var result *moderatov1.UpdateInfoResponse
	idempotency.Result(ctx, &result)
	err := change.Apply(ctx, s.Store, channelID, func(ctx context.Context, c *change.Change) error {
		var err error
		result, err = update(ctx, c, want)
		return err
	})
	if err != nil {
		return nil, err
	}
	return result, nil
}

func update(ctx context.Context, c *change.Change, want info) (*moderatov1.UpdateInfoResponse, error) {
	row, err := c.Tx.Channel.Get(ctx, c.ChannelID)
	if err != nil {
		return nil, err
	}
	category := row.CategoryID
	if want.category != nil {
		category = *want.category
	}
	// The lock keeps the category from being deleted until this transaction ends.
	name, err := CategoryName(ctx, c.Tx, category, c.Store.ForShare())
	if errors.Is(err, store.ErrNoRows) {
		return nil, apierr.New(moderatov1.Reason_REASON_CATEGORY_NOT_FOUND)
	}
	if err != nil {
		return nil, err
	}
	result := &moderatov1.UpdateInfoResponse{Title: want.title, Lang: want.lang, CategoryId: category, CategoryTitle: name}
	if row.Title == want.title && row.Lang == want.lang && row.CategoryID == category {
		return result, nil
	}
	if err := save(ctx, c, row, result); err != nil {
		return nil, err
	}
	c.Emit("channel.update", uid.ID{}, &moderatov1.UpdateEvent{
		ChannelId:     c.ChannelID.String(),
		ModeratorId:   c.ActorID.String(),
		ClientId:      c.ClientID,
		Title:         result.GetTitle(),
		Lang:          result.GetLang(),
		CategoryId:    result.GetCategoryId(),
		CategoryTitle: result.GetCategoryTitle(),
		UpdatedAt:     c.Now.Proto(),
	})
	return result, nil
}

// save writes the channel, its live stream, and the channel counts of the old and the
// new category.
func save(ctx context.Context, c *change.Change, row *ent.Channel, to *moderatov1.UpdateInfoResponse) error {
	err := c.Tx.Channel.UpdateOne(row).
		SetTitle(to.GetTitle()).SetLang(to.GetLang()).SetCategoryID(to.GetCategoryId()).
		Exec(ctx)
	if err != nil {
		return err
	}
	if row.IsLive {
		err = c.Tx.Stream.Update().
			Where(stream.ChannelID(c.ChannelID), stream.StartedAt(*row.LiveStartedAt)).
			SetTitle(to.GetTitle()).SetLang(to.GetLang()).SetCategoryID(to.GetCategoryId()).
			Exec(ctx)
		if err != nil {
			return err
		}
	}
	if row.CategoryID == to.GetCategoryId() {
		return nil
	}
	return counts.Move(ctx, c.Tx,
		&counts.Bucket{Category: row.CategoryID, IsLive: row.IsLive},
		&counts.Bucket{Category: to.GetCategoryId(), IsLive: row.IsLive})
}
