// Package livestream holds the live streams of channels.
package livestream

import (
	"context"

	"github.com/moderato-live/moderato/ent"
	"github.com/moderato-live/moderato/ent/follow"
	"github.com/moderato-live/moderato/ent/stream"
	"github.com/moderato-live/moderato/ent/subscription"
	platformv1 "github.com/moderato-live/moderato/gen/moderato/platform/v1"
	"github.com/moderato-live/moderato/internal/instant"
	"github.com/moderato-live/moderato/internal/uid"
	"github.com/moderato-live/moderato/server/change/feed"
	"github.com/moderato-live/moderato/server/rpc/apierr"
	"github.com/moderato-live/moderato/server/rpc/validate"
	"github.com/moderato-live/moderato/server/store/counts"
)

func putRecord(ctx context.Context, tx feed.Tx, r *platformv1.StreamRecord) error {
	want, err := parseStream(r)
	if err != nil {
		return err
	}
	channel, err := tx.LockChannel(ctx, want.ChannelID)
	if err != nil {
		return err
	}
	before, err := findStream(ctx, tx, want.ChannelID, want.StartedAt)
	if err != nil {
		return err
	}
	if err := completeStream(ctx, tx, want, before, channel, r.CategoryId); err != nil {
		return err
	}
	isPresent := channel.IsLive && *channel.LiveStartedAt == want.StartedAt
	if want.EndedAt == nil && channel.IsLive && !isPresent {
		return apierr.Invalid(apierr.Violation{
			Field: "endedAt", Description: "is required: the channel is live already, since " + channel.LiveStartedAt.String(),
		})
	}
	if err := storeStream(ctx, tx, before, want); err != nil {
		return err
	}
	switch {
	case want.EndedAt == nil:
		return goLive(ctx, tx, channel, want)
	case isPresent:
		return goOffline(ctx, tx, channel)
	}
	return nil
}

// parseStream parses a record. The language may be empty, and the category is not
// set; completeStream sets both.
func parseStream(r *platformv1.StreamRecord) (*ent.Stream, error) {
	f := validate.Of(r)
	s := &ent.Stream{
		ChannelID:     f.UUID("channelId", r.GetChannelId()),
		Title:         f.Text("title", r.GetTitle()),
		PreviewImgURL: f.URL("previewImgUrl", r.GetPreviewImgUrl()),
		ViewerCount:   f.Number("viewerCount", r.GetViewerCount()),
	}
	if r.GetLang() != "" {
		s.Lang = f.Language("lang", r.GetLang())
	}
	s.StartedAt, _ = f.RequiredTime("startedAt", r.GetStartedAt())
	if ended, isGiven := f.Time("endedAt", r.GetEndedAt()); isGiven {
		s.EndedAt = &ended
		if ended < s.StartedAt {
			f.Add("endedAt", "must not be before startedAt")
		}
	}
	return s, f.Err()
}

// findStream returns the stream of a channel that started at an instant; nil if there
// is none.
func findStream(ctx context.Context, tx feed.Tx, channelID uid.ID, startedAt instant.Instant) (*ent.Stream, error) {
	s, err := tx.Stream.Query().Where(stream.ChannelID(channelID), stream.StartedAt(startedAt)).Only(ctx)
	if ent.IsNotFound(err) {
		return nil, nil //nolint:nilnil // no stream is no error
	}
	return s, err
}

// completeStream sets the fields that a record leaves out to those of the existing
// stream, or else to those of the channel.
func completeStream(ctx context.Context, tx feed.Tx, want, before *ent.Stream, channel *ent.Channel, category *int64) error {
	if before == nil {
		before = &ent.Stream{Title: channel.Title, Lang: channel.Lang, CategoryID: channel.CategoryID}
	}
	if want.Title == "" {
		want.Title = before.Title
	}
	if want.Lang == "" {
		want.Lang = before.Lang
	}
	want.CategoryID = before.CategoryID
	if category != nil {
		want.CategoryID = *category
	}
	return tx.RequireCategoryOrNone(ctx, want.CategoryID)
}

// storeStream stores a stream in place of before, which is nil if there is none.
func storeStream(ctx context.Context, tx feed.Tx, before, want *ent.Stream) error {
	if before == nil {
		return tx.Stream.Create().SetID(uid.New()).SetChannelID(want.ChannelID).
			SetStartedAt(want.StartedAt).SetNillableEndedAt(want.EndedAt).
			SetTitle(want.Title).SetLang(want.Lang).SetCategoryID(want.CategoryID).
			SetPreviewImgURL(want.PreviewImgURL).SetViewerCount(want.ViewerCount).
			Exec(ctx)
	}
	update := tx.Stream.UpdateOne(before).
		SetTitle(want.Title).SetLang(want.Lang).SetCategoryID(want.CategoryID).
		SetPreviewImgURL(want.PreviewImgURL).SetViewerCount(want.ViewerCount)
	if want.EndedAt == nil {
		update.ClearEndedAt()
	} else {
		update.SetEndedAt(*want.EndedAt)
	}
	return update.Exec(ctx)
}

// goLive marks a channel live. The channel takes over the title, language and
// category of the stream.
func goLive(ctx context.Context, tx feed.Tx, channel *ent.Channel, s *ent.Stream) error {
	followers, err := tx.Follow.Query().Where(follow.ChannelID(channel.ID), follow.FollowedAtGTE(s.StartedAt)).Count(ctx)
	if err != nil {
		return err
	}
	subscribers, err := tx.Subscription.Query().
		Where(subscription.ChannelID(channel.ID), subscription.IsActive(true), subscription.SubscribedAtGTE(s.StartedAt)).
		Count(ctx)
	if err != nil {
		return err
	}
	err = tx.Channel.UpdateOneID(channel.ID).
		SetTitle(s.Title).SetLang(s.Lang).SetCategoryID(s.CategoryID).
		SetIsLive(true).SetLiveStartedAt(s.StartedAt).SetViewerCount(s.ViewerCount).SetPreviewImgURL(s.PreviewImgURL).
		SetNewFollowerCount(int64(followers)).SetNewSubscriberCount(int64(subscribers)).
		Exec(ctx)
	if err != nil {
		return err
	}
	return counts.Move(ctx, tx.Tx, counts.Of(channel), &counts.Bucket{Category: s.CategoryID, IsLive: true})
}

// goOffline removes the live stream from its channel.
func goOffline(ctx context.Context, tx feed.Tx, channel *ent.Channel) error {
	err := tx.Channel.UpdateOneID(channel.ID).
		SetIsLive(false).ClearLiveStartedAt().SetViewerCount(0).SetPreviewImgURL("").
		SetNewFollowerCount(0).SetNewSubscriberCount(0).
		Exec(ctx)
	if err != nil {
		return err
	}
	return counts.Move(ctx, tx.Tx, counts.Of(channel), &counts.Bucket{Category: channel.CategoryID})
}

func streamRecord(s *ent.Stream) *platformv1.StreamRecord {
	r := &platformv1.StreamRecord{
		ChannelId: s.ChannelID.String(), StartedAt: s.StartedAt.Proto(), Title: s.Title, Lang: s.Lang, CategoryId: &s.CategoryID,
		PreviewImgUrl: s.PreviewImgURL, ViewerCount: s.ViewerCount,
	}
	if s.EndedAt != nil {
		r.EndedAt = s.EndedAt.Proto()
	}
	return r
}
