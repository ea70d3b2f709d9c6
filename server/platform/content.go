package platform

import (
	"context"
	"errors"

	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/moderato-live/moderato/ent"
	"github.com/moderato-live/moderato/ent/activity"
	platformv1 "github.com/moderato-live/moderato/gen/moderato/platform/v1"
	"github.com/moderato-live/moderato/server/instant"
	"github.com/moderato-live/moderato/server/uid"
	"github.com/moderato-live/moderato/server/validate"
)

var (
	errOtherChannel = errors.New("this id is of another channel, and a channel does not change")
	errOtherCreator = errors.New("this clip is of another creator, and a creator does not change")
)

// orNow is a time of a record, or now when it has none.
func (p putter) orNow(t *timestamppb.Timestamp) instant.Instant {
	if t == nil {
		return p.now
	}
	return instant.OfProto(t)
}

func (p putter) clip(ctx context.Context, r *platformv1.ClipRecord) error {
	var f validate.Fields
	c := &ent.Clip{
		ID:            f.UUID("clipId", r.GetClipId()),
		ChannelID:     f.UUID("channelId", r.GetChannelId()),
		CreatorID:     f.UUID("creatorId", r.GetCreatorId()),
		Title:         f.Text("title", r.GetTitle(), 1, validate.MaxTitle),
		ViewCount:     f.Natural("viewCount", r.GetViewCount()),
		Duration:      f.Natural("duration", r.GetDuration()),
		PreviewImgURL: f.URL("previewImgUrl", r.GetPreviewImgUrl()),
		ClipURL:       f.URL("clipUrl", r.GetClipUrl()),
		CategoryID:    r.GetCategoryId(),
		CreatedAt:     p.orNow(r.GetCreatedAt()),
	}
	if err := f.Err(); err != nil {
		return err
	}
	channel, err := p.lockChannel(ctx, c.ChannelID)
	if err != nil {
		return err
	}
	if err := errors.Join(p.requireUser(ctx, c.CreatorID), p.requireCategoryOrNone(ctx, c.CategoryID)); err != nil {
		return err
	}
	before, err := p.Clip.Get(ctx, c.ID)
	if ent.IsNotFound(err) {
		err = p.Clip.Create().SetID(c.ID).SetChannelID(c.ChannelID).SetCreatorID(c.CreatorID).
			SetTitle(c.Title).SetViewCount(c.ViewCount).SetDuration(c.Duration).
			SetPreviewImgURL(c.PreviewImgURL).SetClipURL(c.ClipURL).SetCategoryID(c.CategoryID).SetCreatedAt(c.CreatedAt).
			Exec(ctx)
		if err != nil {
			return err
		}
		return p.Channel.UpdateOne(channel).AddClipCount(1).Exec(ctx)
	}
	if err != nil {
		return err
	}
	if before.ChannelID != c.ChannelID {
		return errOtherChannel
	}
	if before.CreatorID != c.CreatorID {
		return errOtherCreator
	}
	update := p.Clip.UpdateOne(before).SetTitle(c.Title).SetViewCount(c.ViewCount).SetDuration(c.Duration).
		SetPreviewImgURL(c.PreviewImgURL).SetClipURL(c.ClipURL).SetCategoryID(c.CategoryID)
	if r.GetCreatedAt() != nil {
		update.SetCreatedAt(c.CreatedAt)
	}
	return update.Exec(ctx)
}

func (p putter) vod(ctx context.Context, r *platformv1.VodRecord) error {
	var f validate.Fields
	v := &ent.Vod{
		ID:            f.UUID("id", r.GetId()),
		ChannelID:     f.UUID("channelId", r.GetChannelId()),
		Title:         f.Text("title", r.GetTitle(), 1, validate.MaxTitle),
		ViewCount:     f.Natural("viewCount", r.GetViewCount()),
		Duration:      f.Natural("duration", r.GetDuration()),
		PreviewImgURL: f.URL("previewImgUrl", r.GetPreviewImgUrl()),
		CategoryID:    r.GetCategoryId(),
	}
	switch {
	case r.GetStartedAt() == nil || r.GetEndedAt() == nil:
		if r.GetStartedAt() == nil {
			f.Add("startedAt", "is required")
		}
		if r.GetEndedAt() == nil {
			f.Add("endedAt", "is required")
		}
	default:
		v.StartedAt, v.EndedAt = instant.OfProto(r.GetStartedAt()), instant.OfProto(r.GetEndedAt())
		if v.EndedAt < v.StartedAt {
			f.Add("endedAt", "must not be before startedAt")
		}
	}
	if err := f.Err(); err != nil {
		return err
	}
	channel, err := p.lockChannel(ctx, v.ChannelID)
	if err != nil {
		return err
	}
	if err := p.requireCategoryOrNone(ctx, v.CategoryID); err != nil {
		return err
	}
	before, err := p.Vod.Get(ctx, v.ID)
	if ent.IsNotFound(err) {
		err = p.Vod.Create().SetID(v.ID).SetChannelID(v.ChannelID).
			SetTitle(v.Title).SetViewCount(v.ViewCount).SetDuration(v.Duration).
			SetPreviewImgURL(v.PreviewImgURL).SetStartedAt(v.StartedAt).SetEndedAt(v.EndedAt).SetCategoryID(v.CategoryID).
			Exec(ctx)
		if err != nil {
			return err
		}
		return p.Channel.UpdateOne(channel).AddVodCount(1).Exec(ctx)
	}
	if err != nil {
		return err
	}
	if before.ChannelID != v.ChannelID {
		return errOtherChannel
	}
	return p.Vod.UpdateOne(before).SetTitle(v.Title).SetViewCount(v.ViewCount).SetDuration(v.Duration).
		SetPreviewImgURL(v.PreviewImgURL).SetStartedAt(v.StartedAt).SetEndedAt(v.EndedAt).SetCategoryID(v.CategoryID).
		Exec(ctx)
}

func (p putter) vote(ctx context.Context, r *platformv1.VoteRecord) error {
	var f validate.Fields
	id := f.UUID("id", r.GetId())
	channelID := f.UUID("channelId", r.GetChannelId())
	epoch := f.Natural("epoch", r.GetEpoch())
	username := f.Username("username", r.GetUsername())
	address := f.Text("address", r.GetAddress(), 0, validate.MaxName)
	if r.GetAmount() < 1 {
		f.Add("amount", "must be 1 or more")
	}
	if err := f.Err(); err != nil {
		return err
	}
	if err := p.requireChannel(ctx, channelID); err != nil {
		return err
	}
	before, err := p.Vote.Get(ctx, id)
	switch {
	case ent.IsNotFound(err):
		return p.Vote.Create().SetID(id).SetChannelID(channelID).SetEpoch(epoch).SetUsername(username).
			SetAddress(address).SetAmount(r.GetAmount()).SetVotedAt(p.orNow(r.GetVotedAt())).
			Exec(ctx)
	case err != nil:
		return err
	case before.ChannelID != channelID:
		return errOtherChannel
	}
	update := p.Vote.UpdateOne(before).SetEpoch(epoch).SetUsername(username).SetAddress(address).SetAmount(r.GetAmount())
	if r.GetVotedAt() != nil {
		update.SetVotedAt(instant.OfProto(r.GetVotedAt()))
	}
	return update.Exec(ctx)
}

func (p putter) activity(ctx context.Context, r *platformv1.ActivityRecord) error {
	var f validate.Fields
	channelID := f.UUID("channelId", r.GetChannelId())
	key := f.Text("key", r.GetKey(), 1, maxActivityKey)
	kind := f.ActivityType("type", r.GetType())
	userID := f.UUID("info.userId", r.GetInfo().GetFields()["userId"].GetStringValue())
	if err := f.Err(); err != nil {
		return err
	}
	channel, err := p.lockChannel(ctx, channelID)
	if err != nil {
		return err
	}
	user, err := p.existingUser(ctx, userID)
	if err != nil {
		return err
	}
	info, action := describe(user, r)
	before, err := p.Activity.Query().Where(activity.ChannelID(channelID), activity.DedupKey(key)).Only(ctx)
	if ent.IsNotFound(err) {
		number := channel.ActivityNumber + 1
		err = p.Activity.Create().SetID(uid.New()).SetChannelID(channelID).SetDedupKey(key).SetNumber(number).SetType(kind).
			SetUserID(userID).SetInfo(info).SetAction(action).SetCreatedAt(p.orNow(r.GetCreatedAt())).
			Exec(ctx)
		if err != nil {
			return err
		}
		return p.Channel.UpdateOne(channel).SetActivityNumber(number).Exec(ctx)
	}
	if err != nil {
		return err
	}
	update := p.Activity.UpdateOne(before).SetType(kind).SetUserID(userID).SetInfo(info).SetAction(action)
	if r.GetCreatedAt() != nil {
		update.SetCreatedAt(instant.OfProto(r.GetCreatedAt()))
	}
	return update.Exec(ctx)
}
