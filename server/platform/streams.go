package platform

import (
	"context"

	"github.com/moderato-live/moderato/ent"
	"github.com/moderato-live/moderato/ent/follow"
	"github.com/moderato-live/moderato/ent/stream"
	"github.com/moderato-live/moderato/ent/subscription"
	platformv1 "github.com/moderato-live/moderato/gen/moderato/platform/v1"
	"github.com/moderato-live/moderato/server/apierr"
	"github.com/moderato-live/moderato/server/counts"
	"github.com/moderato-live/moderato/server/instant"
	"github.com/moderato-live/moderato/server/uid"
	"github.com/moderato-live/moderato/server/validate"
)

func (p putter) stream(ctx context.Context, r *platformv1.StreamRecord) error {
	want, err := parseStream(r)
	if err != nil {
		return err
	}
	channel, err := p.lockChannel(ctx, want.ChannelID)
	if err != nil {
		return err
	}
	before, err := p.findStream(ctx, want.ChannelID, want.StartedAt)
	if err != nil {
		return err
	}
	if err := p.completeStream(ctx, want, before, channel, r.CategoryId); err != nil {
		return err
	}
	isPresent := channel.IsLive && *channel.LiveStartedAt == want.StartedAt
	if want.EndedAt == nil && channel.IsLive && !isPresent {
		return apierr.Invalid(apierr.Violation{
			Field: "endedAt", Description: "is required: the channel is live already, since " + channel.LiveStartedAt.String(),
		})
	}
	if err := p.putStream(ctx, before, want); err != nil {
		return err
	}
	switch {
	case want.EndedAt == nil:
		return p.goLive(ctx, channel, want)
	case isPresent:
		return p.goOffline(ctx, channel)
	}
	return nil
}

// parseStream parses a record. The language may be empty, and the category is not
// set; completeStream sets both.
func parseStream(r *platformv1.StreamRecord) (*ent.Stream, error) {
	var f validate.Fields
	s := &ent.Stream{
		ChannelID:     f.UUID("channelId", r.GetChannelId()),
		Title:         f.Text("title", r.GetTitle(), 1, validate.MaxTitle),
		PreviewImgURL: f.URL("previewImgUrl", r.GetPreviewImgUrl()),
		ViewerCount:   f.Natural("viewerCount", r.GetViewerCount()),
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
func (p putter) findStream(ctx context.Context, channelID uid.ID, startedAt instant.Instant) (*ent.Stream, error) {
	s, err := p.Stream.Query().Where(stream.ChannelID(channelID), stream.StartedAt(startedAt)).Only(ctx)
	if ent.IsNotFound(err) {
		return nil, nil //nolint:nilnil // no stream is no error
	}
	return s, err
}

// completeStream sets the fields that a record leaves out to those of the existing
// stream, or else to those of the channel.
func (p putter) completeStream(ctx context.Context, want, before *ent.Stream, channel *ent.Channel, category *int64) error {
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
	return p.requireCategoryOrNone(ctx, want.CategoryID)
}

// putStream stores a stream in place of before, which is nil if there is none.
func (p putter) putStream(ctx context.Context, before, want *ent.Stream) error {
	if before == nil {
		return p.Stream.Create().SetID(uid.New()).SetChannelID(want.ChannelID).
			SetStartedAt(want.StartedAt).SetNillableEndedAt(want.EndedAt).
			SetTitle(want.Title).SetLang(want.Lang).SetCategoryID(want.CategoryID).
			SetPreviewImgURL(want.PreviewImgURL).SetViewerCount(want.ViewerCount).
			Exec(ctx)
	}
	update := p.Stream.UpdateOne(before).
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
func (p putter) goLive(ctx context.Context, channel *ent.Channel, s *ent.Stream) error {
	followers, err := p.Follow.Query().Where(follow.ChannelID(channel.ID), follow.FollowedAtGTE(s.StartedAt)).Count(ctx)
	if err != nil {
		return err
	}
	subscribers, err := p.Subscription.Query().
		Where(subscription.ChannelID(channel.ID), subscription.IsActive(true), subscription.SubscribedAtGTE(s.StartedAt)).
		Count(ctx)
	if err != nil {
		return err
	}
	err = p.Channel.UpdateOneID(channel.ID).
		SetTitle(s.Title).SetLang(s.Lang).SetCategoryID(s.CategoryID).
		SetIsLive(true).SetLiveStartedAt(s.StartedAt).SetViewerCount(s.ViewerCount).SetPreviewImgURL(s.PreviewImgURL).
		SetNewFollowerCount(int64(followers)).SetNewSubscriberCount(int64(subscribers)).
		Exec(ctx)
	if err != nil {
		return err
	}
	return counts.Move(ctx, p.Tx, bucketOf(channel), &counts.Bucket{Category: s.CategoryID, IsLive: true})
}

// goOffline removes the live stream from its channel.
func (p putter) goOffline(ctx context.Context, channel *ent.Channel) error {
	err := p.Channel.UpdateOneID(channel.ID).
		SetIsLive(false).ClearLiveStartedAt().SetViewerCount(0).SetPreviewImgURL("").
		SetNewFollowerCount(0).SetNewSubscriberCount(0).
		Exec(ctx)
	if err != nil {
		return err
	}
	return counts.Move(ctx, p.Tx, bucketOf(channel), &counts.Bucket{Category: channel.CategoryID})
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
