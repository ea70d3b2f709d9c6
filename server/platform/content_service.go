package platform

import (
	"context"
	"errors"

	"google.golang.org/protobuf/types/known/structpb"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/moderato-live/moderato/ent"
	"github.com/moderato-live/moderato/ent/clip"
	"github.com/moderato-live/moderato/ent/vod"
	platformv1 "github.com/moderato-live/moderato/gen/moderato/platform/v1"
	moderatov1 "github.com/moderato-live/moderato/gen/moderato/v1"
	"github.com/moderato-live/moderato/server/apierr"
	"github.com/moderato-live/moderato/server/change"
	"github.com/moderato-live/moderato/server/store"
	"github.com/moderato-live/moderato/server/uid"
	"github.com/moderato-live/moderato/server/users"
	"github.com/moderato-live/moderato/server/validate"
)

// Content serves ContentService.
type Content struct {
	platformv1.UnsafeContentServiceServer

	// Store is the database.
	Store *store.Store
}

// PutClip creates or replaces a clip.
func (s *Content) PutClip(ctx context.Context, req *platformv1.PutClipRequest) (*platformv1.PutClipResponse, error) {
	var row *ent.Clip
	err := writeTo(ctx, s.Store, req.GetClip().GetChannelId(), func(ctx context.Context, p putter) error {
		var err error
		row, err = p.clip(ctx, req.GetClip())
		return err
	})
	if err != nil {
		return nil, apierr.In("clip", err)
	}
	return &platformv1.PutClipResponse{Clip: clipRecord(row)}, nil
}

// channelOf returns the channel of a row in a table; empty if the row does not exist.
func (s *Content) channelOf(ctx context.Context, table string, id uid.ID) (string, error) {
	var channelID uid.ID
	err := store.QueryRow(ctx, s.Store.Read, "SELECT channel_id FROM "+table+" WHERE id = ?", []any{id}, &channelID)
	if errors.Is(err, store.ErrNoRows) {
		return "", nil
	}
	return channelID.String(), s.Store.Classify(err)
}

// DeleteClip deletes a clip.
func (s *Content) DeleteClip(ctx context.Context, req *platformv1.DeleteClipRequest) (*platformv1.DeleteClipResponse, error) {
	var f validate.Fields
	id := f.UUID("clipId", req.GetClipId())
	if err := f.Err(); err != nil {
		return nil, err
	}
	channelID, err := s.channelOf(ctx, "clips", id)
	if err != nil {
		return nil, err
	}
	err = writeTo(ctx, s.Store, channelID, func(ctx context.Context, p putter) error {
		row, err := p.Clip.Get(ctx, id)
		if ent.IsNotFound(err) {
			return nil
		}
		if err != nil {
			return err
		}
		if _, err := p.lockChannel(ctx, row.ChannelID); err != nil {
			return err
		}
		deleted, err := p.Clip.Delete().Where(clip.ID(id), clip.ChannelID(row.ChannelID)).Exec(ctx)
		if err != nil || deleted == 0 {
			return err
		}
		return p.Channel.UpdateOneID(row.ChannelID).AddClipCount(-1).Exec(ctx)
	})
	return &platformv1.DeleteClipResponse{}, err
}

// PutVod creates or replaces a VOD.
func (s *Content) PutVod(ctx context.Context, req *platformv1.PutVodRequest) (*platformv1.PutVodResponse, error) {
	var row *ent.Vod
	err := writeTo(ctx, s.Store, req.GetVod().GetChannelId(), func(ctx context.Context, p putter) error {
		var err error
		row, err = p.vod(ctx, req.GetVod())
		return err
	})
	if err != nil {
		return nil, apierr.In("vod", err)
	}
	return &platformv1.PutVodResponse{Vod: vodRecord(row)}, nil
}

// DeleteVod deletes a VOD.
func (s *Content) DeleteVod(ctx context.Context, req *platformv1.DeleteVodRequest) (*platformv1.DeleteVodResponse, error) {
	var f validate.Fields
	id := f.UUID("vodId", req.GetVodId())
	if err := f.Err(); err != nil {
		return nil, err
	}
	channelID, err := s.channelOf(ctx, "vods", id)
	if err != nil {
		return nil, err
	}
	err = writeTo(ctx, s.Store, channelID, func(ctx context.Context, p putter) error {
		row, err := p.Vod.Get(ctx, id)
		if ent.IsNotFound(err) {
			return nil
		}
		if err != nil {
			return err
		}
		if _, err := p.lockChannel(ctx, row.ChannelID); err != nil {
			return err
		}
		deleted, err := p.Vod.Delete().Where(vod.ID(id), vod.ChannelID(row.ChannelID)).Exec(ctx)
		if err != nil || deleted == 0 {
			return err
		}
		return p.Channel.UpdateOneID(row.ChannelID).AddVodCount(-1).Exec(ctx)
	})
	return &platformv1.DeleteVodResponse{}, err
}

// RecordVote records a vote.
func (s *Content) RecordVote(ctx context.Context, req *platformv1.RecordVoteRequest) (*platformv1.RecordVoteResponse, error) {
	var f validate.Fields
	v := ent.Vote{
		ID:      f.UUID("id", req.GetId()),
		Epoch:   f.Fact("epoch", req.GetEpoch()),
		Address: f.Text("address", req.GetAddress(), 0, validate.MaxName),
		Amount:  f.Amount("amount", req.GetAmount()),
	}
	v.ChannelID = f.UUID("channelId", req.GetChannelId())
	userID := f.UUID("userId", req.GetUserId())
	f.Time("votedAt", req.GetVotedAt())
	f.Struct("action", req.GetAction())
	if err := f.Err(); err != nil {
		return nil, err
	}
	var stored *ent.Vote
	err := again(s.Store, func() error {
		return change.ApplyTo(ctx, s.Store, v.ChannelID, users.Key{ID: userID}, func(ctx context.Context, c *change.Change, user *ent.User) error {
			var err error
			stored, err = ofChange(c).recordVote(ctx, c, v, user, req)
			return err
		})
	})
	if err != nil {
		return nil, err
	}
	return &platformv1.RecordVoteResponse{Vote: voteRecord(stored)}, nil
}

func (p putter) recordVote(ctx context.Context, c *change.Change, v ent.Vote, user *ent.User, req *platformv1.RecordVoteRequest) (*ent.Vote, error) {
	before, err := p.Vote.Get(ctx, v.ID)
	switch {
	case err == nil && before.ChannelID != v.ChannelID:
		return nil, other("channelId", "vote")
	case !ent.IsNotFound(err):
		return before, err
	}
	key := v.ID.String()
	known, err := p.repeated(ctx, v.ChannelID, "id", key, voteActivity)
	if err != nil {
		return nil, err
	}
	v.UserID, v.Username, v.VotedAt = &user.ID, user.Username, p.orNow(req.GetVotedAt())
	if err := p.addVote(ctx, &v); err != nil {
		return nil, err
	}
	c.Emit("channel.vote", user.ID, &moderatov1.VoteEvent{
		ChannelId:       c.ChannelID.String(),
		ClientId:        c.ClientID,
		Id:              v.ID.String(),
		UserId:          user.ID.String(),
		Username:        user.Username,
		UserDisplayName: user.DisplayName,
		Address:         v.Address,
		Epoch:           v.Epoch,
		Amount:          v.Amount,
		VotedAt:         v.VotedAt.Proto(),
	})
	if known != nil {
		return &v, nil // its activity was put, or imported, before the vote
	}
	_, err = p.record(ctx, c, occurrence{
		kind: voteActivity, key: key, user: user, at: v.VotedAt, action: req.GetAction(),
		facts: map[string]any{"amount": v.Amount, "epoch": v.Epoch},
	})
	return &v, err
}

// keyed is a call that is identified by its key.
type keyed struct {
	kind              string
	channelID, userID uid.ID
	key               string
	at                *timestamppb.Timestamp
	facts             map[string]any
	action            *structpb.Struct
}

// parseKeyed parses the fields that gifts and thanks have in common.
func parseKeyed(f *validate.Fields, kind string, req interface {
	GetChannelId() string
	GetUserId() string
	GetKey() string
	GetAction() *structpb.Struct
}, timeField string, at *timestamppb.Timestamp) keyed {
	f.Time(timeField, at)
	f.Struct("action", req.GetAction())
	return keyed{
		kind:      kind,
		channelID: f.UUID("channelId", req.GetChannelId()),
		userID:    f.UUID("userId", req.GetUserId()),
		key:       f.Text("key", req.GetKey(), 1, maxActivityKey),
		at:        at,
		action:    req.GetAction(),
	}
}

// recordKeyed records an activity and calls emit to emit its event, unless the key is
// known.
func (s *Content) recordKeyed(ctx context.Context, k keyed, emit func(*change.Change, *ent.User, *timestamppb.Timestamp)) (*platformv1.ActivityRecord, error) {
	var row *ent.Activity
	err := change.ApplyTo(ctx, s.Store, k.channelID, users.Key{ID: k.userID}, func(ctx context.Context, c *change.Change, user *ent.User) error {
		p := ofChange(c)
		var err error
		if row, err = p.repeated(ctx, k.channelID, "key", k.key, k.kind); err != nil || row != nil {
			return err
		}
		at := p.orNow(k.at)
		emit(c, user, at.Proto())
		row, err = p.record(ctx, c, occurrence{kind: k.kind, key: k.key, user: user, at: at, facts: k.facts, action: k.action})
		return err
	})
	if err != nil {
		return nil, err
	}
	return activityRecord(row)
}

// RecordGift records subscriptions that a user gave.
func (s *Content) RecordGift(ctx context.Context, req *platformv1.RecordGiftRequest) (*platformv1.RecordGiftResponse, error) {
	var f validate.Fields
	k := parseKeyed(&f, giftActivity, req, "giftedAt", req.GetGiftedAt())
	k.facts = map[string]any{"count": f.Amount("count", req.GetCount())}
	if err := f.Err(); err != nil {
		return nil, err
	}
	row, err := s.recordKeyed(ctx, k, func(c *change.Change, user *ent.User, at *timestamppb.Timestamp) {
		c.Emit("channel.subscription.gift", user.ID, &moderatov1.GiftEvent{
			ChannelId:       c.ChannelID.String(),
			ClientId:        c.ClientID,
			UserId:          user.ID.String(),
			UserDisplayName: user.DisplayName,
			UserSlug:        user.Slug,
			Key:             k.key,
			Count:           req.GetCount(),
			GiftedAt:        at,
		})
	})
	return &platformv1.RecordGiftResponse{Activity: row}, err
}

// RecordThanks records a user's thanks.
func (s *Content) RecordThanks(ctx context.Context, req *platformv1.RecordThanksRequest) (*platformv1.RecordThanksResponse, error) {
	var f validate.Fields
	k := parseKeyed(&f, thanksActivity, req, "thankedAt", req.GetThankedAt())
	message := f.Text("message", req.GetMessage(), 0, validate.MaxMessage)
	k.facts = map[string]any{"amount": f.Amount("amount", req.GetAmount()), "message": message}
	if err := f.Err(); err != nil {
		return nil, err
	}
	row, err := s.recordKeyed(ctx, k, func(c *change.Change, user *ent.User, at *timestamppb.Timestamp) {
		c.Emit("channel.thanks", user.ID, &moderatov1.ThanksEvent{
			ChannelId:       c.ChannelID.String(),
			ClientId:        c.ClientID,
			UserId:          user.ID.String(),
			UserDisplayName: user.DisplayName,
			UserSlug:        user.Slug,
			Key:             k.key,
			Amount:          req.GetAmount(),
			Message:         message,
			ThankedAt:       at,
		})
	})
	return &platformv1.RecordThanksResponse{Activity: row}, err
}

// PutActivity creates or replaces an activity, without an event.
func (s *Content) PutActivity(ctx context.Context, req *platformv1.PutActivityRequest) (*platformv1.PutActivityResponse, error) {
	var row *ent.Activity
	err := writeTo(ctx, s.Store, req.GetActivity().GetChannelId(), func(ctx context.Context, p putter) error {
		var err error
		row, err = p.activity(ctx, req.GetActivity(), false)
		return err
	})
	if err != nil {
		return nil, apierr.In("activity", err)
	}
	record, err := activityRecord(row)
	return &platformv1.PutActivityResponse{Activity: record}, err
}
