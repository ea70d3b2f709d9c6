package content

import (
	"context"
	"errors"
	"strings"

	"github.com/moderato-live/moderato/ent"
	platformv1 "github.com/moderato-live/moderato/gen/moderato/platform/v1"
	moderatov1 "github.com/moderato-live/moderato/gen/moderato/v1"
	"github.com/moderato-live/moderato/internal/uid"
	"github.com/moderato-live/moderato/server/change/feed"
	"github.com/moderato-live/moderato/server/rpc/apierr"
	"github.com/moderato-live/moderato/server/rpc/users"
	"github.com/moderato-live/moderato/server/rpc/validate"
)

// other returns the error for a record whose id exists already, with another owner.
func other(field, whose string) error {
	return apierr.Invalid(apierr.Violation{Field: field, Description: "must be that of the present " + whose + ", which does not change"})
}

func putClip(ctx context.Context, tx feed.Tx, r *platformv1.ClipRecord) (*ent.Clip, error) {
	f := validate.Of(r)
	c := &ent.Clip{
		ID:            f.UUID("clipId", r.GetClipId()),
		ChannelID:     f.UUID("channelId", r.GetChannelId()),
		CreatorID:     f.UUID("creatorId", r.GetCreatorId()),
		Title:         f.Text("title", r.GetTitle()),
		ViewCount:     f.Number("viewCount", r.GetViewCount()),
		Duration:      f.Number("duration", r.GetDuration()),
		PreviewImgURL: f.URL("previewImgUrl", r.GetPreviewImgUrl()),
		ClipURL:       f.URL("clipUrl", r.GetClipUrl()),
		CategoryID:    r.GetCategoryId(),
		CreatedAt:     tx.OrNow(r.GetCreatedAt()),
	}
	f.Time("createdAt", r.GetCreatedAt())
	if err := f.Err(); err != nil {
		return nil, err
	}
	channel, err := tx.LockChannel(ctx, c.ChannelID)
	if err != nil {
		return nil, err
	}
	if err := errors.Join(tx.RequireUser(ctx, c.CreatorID), tx.RequireCategoryOrNone(ctx, c.CategoryID)); err != nil {
		return nil, err
	}
	before, err := tx.Clip.Get(ctx, c.ID)
	switch {
	case ent.IsNotFound(err):
		return addClip(ctx, tx, channel, c)
	case err != nil:
		return nil, err
	case before.ChannelID != c.ChannelID:
		return nil, other("channelId", "clip")
	case before.CreatorID != c.CreatorID:
		return nil, other("creatorId", "clip")
	}
	update := tx.Clip.UpdateOne(before).SetTitle(c.Title).SetViewCount(c.ViewCount).SetDuration(c.Duration).
		SetPreviewImgURL(c.PreviewImgURL).SetClipURL(c.ClipURL).SetCategoryID(c.CategoryID)
	if r.GetCreatedAt() != nil {
		update.SetCreatedAt(c.CreatedAt)
	}
	return update.Save(ctx)
}

func addClip(ctx context.Context, tx feed.Tx, channel *ent.Channel, c *ent.Clip) (*ent.Clip, error) {
	row, err := tx.Clip.Create().SetID(c.ID).SetChannelID(c.ChannelID).SetCreatorID(c.CreatorID).
		SetTitle(c.Title).SetViewCount(c.ViewCount).SetDuration(c.Duration).
		SetPreviewImgURL(c.PreviewImgURL).SetClipURL(c.ClipURL).SetCategoryID(c.CategoryID).SetCreatedAt(c.CreatedAt).
		Save(ctx)
	if err != nil {
		return nil, err
	}
	return row, tx.Channel.UpdateOneID(channel.ID).AddClipCount(1).Exec(ctx)
}

func clipRecord(c *ent.Clip) *platformv1.ClipRecord {
	return &platformv1.ClipRecord{
		ClipId: c.ID.String(), ChannelId: c.ChannelID.String(), CreatorId: c.CreatorID.String(),
		Title: c.Title, ViewCount: c.ViewCount, Duration: c.Duration, PreviewImgUrl: c.PreviewImgURL, ClipUrl: c.ClipURL,
		CategoryId: c.CategoryID, CreatedAt: c.CreatedAt.Proto(),
	}
}

func putVod(ctx context.Context, tx feed.Tx, r *platformv1.VodRecord) (*ent.Vod, error) {
	v, err := parseVod(r)
	if err != nil {
		return nil, err
	}
	channel, err := tx.LockChannel(ctx, v.ChannelID)
	if err != nil {
		return nil, err
	}
	if err := tx.RequireCategoryOrNone(ctx, v.CategoryID); err != nil {
		return nil, err
	}
	before, err := tx.Vod.Get(ctx, v.ID)
	switch {
	case ent.IsNotFound(err):
		return addVod(ctx, tx, channel, v)
	case err != nil:
		return nil, err
	case before.ChannelID != v.ChannelID:
		return nil, other("channelId", "VOD")
	}
	return tx.Vod.UpdateOne(before).SetTitle(v.Title).SetViewCount(v.ViewCount).SetDuration(v.Duration).
		SetPreviewImgURL(v.PreviewImgURL).SetStartedAt(v.StartedAt).SetEndedAt(v.EndedAt).SetCategoryID(v.CategoryID).
		Save(ctx)
}

func parseVod(r *platformv1.VodRecord) (*ent.Vod, error) {
	f := validate.Of(r)
	v := &ent.Vod{
		ID:            f.UUID("id", r.GetId()),
		ChannelID:     f.UUID("channelId", r.GetChannelId()),
		Title:         f.Text("title", r.GetTitle()),
		ViewCount:     f.Number("viewCount", r.GetViewCount()),
		Duration:      f.Number("duration", r.GetDuration()),
		PreviewImgURL: f.URL("previewImgUrl", r.GetPreviewImgUrl()),
		CategoryID:    r.GetCategoryId(),
	}
	var hasStart, hasEnd bool
	v.StartedAt, hasStart = f.RequiredTime("startedAt", r.GetStartedAt())
	v.EndedAt, hasEnd = f.RequiredTime("endedAt", r.GetEndedAt())
	if hasStart && hasEnd && v.EndedAt < v.StartedAt {
		f.Add("endedAt", "must not be before startedAt")
	}
	return v, f.Err()
}

func addVod(ctx context.Context, tx feed.Tx, channel *ent.Channel, v *ent.Vod) (*ent.Vod, error) {
	row, err := tx.Vod.Create().SetID(v.ID).SetChannelID(v.ChannelID).
		SetTitle(v.Title).SetViewCount(v.ViewCount).SetDuration(v.Duration).
		SetPreviewImgURL(v.PreviewImgURL).SetStartedAt(v.StartedAt).SetEndedAt(v.EndedAt).SetCategoryID(v.CategoryID).
		Save(ctx)
	if err != nil {
		return nil, err
	}
	return row, tx.Channel.UpdateOneID(channel.ID).AddVodCount(1).Exec(ctx)
}

func vodRecord(v *ent.Vod) *platformv1.VodRecord {
	return &platformv1.VodRecord{
		Id: v.ID.String(), ChannelId: v.ChannelID.String(), Title: v.Title, ViewCount: v.ViewCount, Duration: v.Duration,
		PreviewImgUrl: v.PreviewImgURL, StartedAt: v.StartedAt.Proto(), EndedAt: v.EndedAt.Proto(), CategoryId: v.CategoryID,
	}
}

func putVote(ctx context.Context, tx feed.Tx, r *platformv1.VoteRecord) error {
	f := validate.Of(r)
	v := &ent.Vote{
		ID:        f.UUID("id", r.GetId()),
		ChannelID: f.UUID("channelId", r.GetChannelId()),
		Epoch:     f.Number("epoch", r.GetEpoch()),
		Username:  f.Identifier("username", r.GetUsername()),
		Address:   f.Text("address", r.GetAddress()),
		Amount:    r.GetAmount(),
		VotedAt:   tx.OrNow(r.GetVotedAt()),
	}
	f.Time("votedAt", r.GetVotedAt())
	f.Number("amount", v.Amount)
	if err := f.Err(); err != nil {
		return err
	}
	if err := tx.RequireChannel(ctx, v.ChannelID); err != nil {
		return err
	}
	voter, err := findVoter(ctx, tx, v.Username)
	if err != nil {
		return err
	}
	before, err := tx.Vote.Get(ctx, v.ID)
	switch {
	case ent.IsNotFound(err):
		v.UserID = voter
		return addVote(ctx, tx, v)
	case err != nil:
		return err
	case before.ChannelID != v.ChannelID:
		return other("channelId", "vote")
	}
	update := tx.Vote.UpdateOne(before).SetEpoch(v.Epoch).SetAmount(v.Amount)
	if before.Username != users.DeletedUsername { // a repeated import does not name a deleted user again
		update.SetUsername(v.Username).SetAddress(v.Address)
		// The user of a vote may have another username by now, and another user this one.
		if before.UserID == nil || before.Username != v.Username {
			update.ClearUserID().SetNillableUserID(voter)
		}
	}
	if r.GetVotedAt() != nil {
		update.SetVotedAt(v.VotedAt)
	}
	return update.Exec(ctx)
}

// findVoter returns the user who has a username now; nil if there is none. The id is
// stored with a vote, so that the vote can be found by its user after a rename.
func findVoter(ctx context.Context, tx feed.Tx, username string) (*uid.ID, error) {
	u, err := users.BySlug(ctx, tx.User, strings.ToLower(username))
	switch {
	case errors.Is(err, apierr.New(moderatov1.Reason_REASON_USER_NOT_FOUND)):
		return nil, nil //nolint:nilnil // votes may be of people who are no users
	case err != nil:
		return nil, err
	}
	return &u.ID, nil
}

func addVote(ctx context.Context, tx feed.Tx, v *ent.Vote) error {
	return tx.Vote.Create().SetID(v.ID).SetChannelID(v.ChannelID).SetEpoch(v.Epoch).SetNillableUserID(v.UserID).
		SetUsername(v.Username).SetAddress(v.Address).SetAmount(v.Amount).SetVotedAt(v.VotedAt).
		Exec(ctx)
}

func voteRecord(v *ent.Vote) *platformv1.VoteRecord {
	return &platformv1.VoteRecord{
		Id: v.ID.String(), ChannelId: v.ChannelID.String(), Epoch: v.Epoch, Username: v.Username, Address: v.Address,
		Amount: v.Amount, VotedAt: v.VotedAt.Proto(),
	}
}
