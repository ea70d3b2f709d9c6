package platform

import (
	"context"
	"fmt"

	"github.com/moderato-live/moderato/ent"
	"github.com/moderato-live/moderato/ent/follow"
	"github.com/moderato-live/moderato/ent/stream"
	"github.com/moderato-live/moderato/ent/subscription"
	platformv1 "github.com/moderato-live/moderato/gen/moderato/platform/v1"
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
	if want.Lang == "" {
		want.Lang = channel.Lang
	}
	want.CategoryID = channel.CategoryID
	if r.CategoryId != nil {
		want.CategoryID = r.GetCategoryId()
	}
	if err := p.requireCategoryOrNone(ctx, want.CategoryID); err != nil {
		return err
	}
	isPresent := channel.IsLive && *channel.LiveStartedAt == want.StartedAt
	if want.EndedAt == nil && channel.IsLive && !isPresent {
		return fmt.Errorf("the channel is live already, since %s", channel.LiveStartedAt)
	}
	if err := p.putStream(ctx, want); err != nil {
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

// parseStream reads a record; the language may be empty, and the category is
// still to be decided.
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
	if r.GetStartedAt() == nil {
		f.Add("startedAt", "is required")
	} else {
		s.StartedAt = instant.OfProto(r.GetStartedAt())
	}
	if r.GetEndedAt() != nil {
		ended := instant.OfProto(r.GetEndedAt())
		s.EndedAt = &ended
		if ended < s.StartedAt {
			f.Add("endedAt", "must not be before startedAt")
		}
	}
	return s, f.Err()
}

func (p putter) putStream(ctx context.Context, want *ent.Stream) error {
	update := p.Stream.Update().Where(stream.ChannelID(want.ChannelID), stream.StartedAt(want.StartedAt)).
		SetTitle(want.Title).SetLang(want.Lang).SetCategoryID(want.CategoryID).
		SetPreviewImgURL(want.PreviewImgURL).SetViewerCount(want.ViewerCount)
	if want.EndedAt == nil {
		update.ClearEndedAt()
	} else {
		update.SetEndedAt(*want.EndedAt)
	}
	updated, err := update.Save(ctx)
	if err != nil || updated > 0 {
		return err
	}
	return p.Stream.Create().SetID(uid.New()).SetChannelID(want.ChannelID).
		SetStartedAt(want.StartedAt).SetNillableEndedAt(want.EndedAt).
		SetTitle(want.Title).SetLang(want.Lang).SetCategoryID(want.CategoryID).
		SetPreviewImgURL(want.PreviewImgURL).SetViewerCount(want.ViewerCount).
		Exec(ctx)
}

// goLive writes a live stream to its channel, whose title, language and category
// become the stream's.
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
	err = p.Channel.UpdateOne(channel).
		SetTitle(s.Title).SetLang(s.Lang).SetCategoryID(s.CategoryID).
		SetIsLive(true).SetLiveStartedAt(s.StartedAt).SetViewerCount(s.ViewerCount).SetPreviewImgURL(s.PreviewImgURL).
		SetNewFollowerCount(int64(followers)).SetNewSubscriberCount(int64(subscribers)).
		Exec(ctx)
	if err != nil {
		return err
	}
	return counts.Move(ctx, p.Tx, bucketOf(channel), &counts.Bucket{Category: s.CategoryID, IsLive: true})
}

func (p putter) goOffline(ctx context.Context, channel *ent.Channel) error {
	err := p.Channel.UpdateOne(channel).
		SetIsLive(false).ClearLiveStartedAt().SetViewerCount(0).SetPreviewImgURL("").
		SetNewFollowerCount(0).SetNewSubscriberCount(0).
		Exec(ctx)
	if err != nil {
		return err
	}
	return counts.Move(ctx, p.Tx, bucketOf(channel), &counts.Bucket{Category: channel.CategoryID})
}

// bucketOf is where a channel is counted.
func bucketOf(c *ent.Channel) *counts.Bucket {
	return &counts.Bucket{Category: c.CategoryID, IsLive: c.IsLive}
}
