package content

import (
	"context"
	"errors"

	"github.com/moderato-live/moderato/ent"
	"github.com/moderato-live/moderato/ent/clip"
	"github.com/moderato-live/moderato/ent/vod"
	platformv1 "github.com/moderato-live/moderato/gen/moderato/platform/v1"
	moderatov1 "github.com/moderato-live/moderato/gen/moderato/v1"
	"github.com/moderato-live/moderato/internal/uid"
	"github.com/moderato-live/moderato/server/change"
	"github.com/moderato-live/moderato/server/change/feed"
	"github.com/moderato-live/moderato/server/change/idempotency"
	"github.com/moderato-live/moderato/server/domain/activity"
	"github.com/moderato-live/moderato/server/rpc/apierr"
	"github.com/moderato-live/moderato/server/rpc/paging"
	"github.com/moderato-live/moderato/server/rpc/users"
	"github.com/moderato-live/moderato/server/rpc/validate"
	"github.com/moderato-live/moderato/server/store"
)

// Service serves the operations about clips, VODs, emotes and votes.
type Service struct {
	// Store is the database.
	Store *store.Store
	// Lists holds the limits that all complete lists share.
	Lists *paging.Lists
}

// PutClip creates or replaces a clip.
func (s *Service) PutClip(ctx context.Context, req *platformv1.PutClipRequest) (*platformv1.PutClipResponse, error) {
	var row *ent.Clip
	respond := idempotency.Response(ctx, func() *platformv1.PutClipResponse {
		return &platformv1.PutClipResponse{Clip: clipRecord(row)}
	})
	err := feed.WriteTo(ctx, s.Store, req.GetClip().GetChannelId(), func(ctx context.Context, tx feed.Tx) error {
		var err error
		row, err = putClip(ctx, tx, req.GetClip())
		return err
	})
	if err != nil {
		return nil, apierr.In("clip", err)
	}
	return respond(), nil
}

// channelOf returns the channel of a row in a table; empty if the row does not exist.
func (s *Service) channelOf(ctx context.Context, table string, id uid.ID) (string, error) {
	var channelID uid.ID
	err := store.QueryRow(ctx, s.Store.Read, "SELECT channel_id FROM "+table+" WHERE id = ?", []any{id}, &channelID)
	if errors.Is(err, store.ErrNoRows) {
		return "", nil
	}
	return channelID.String(), s.Store.Classify(err)
}

// DeleteClip deletes a clip.
func (s *Service) DeleteClip(ctx context.Context, req *platformv1.DeleteClipRequest) (*platformv1.DeleteClipResponse, error) {
	f := validate.Of(req)
	id := f.UUID("clipId", req.GetClipId())
	if err := f.Err(); err != nil {
		return nil, err
	}
	channelID, err := s.channelOf(ctx, "clips", id)
	if err != nil {
		return nil, err
	}
	err = feed.WriteTo(ctx, s.Store, channelID, func(ctx context.Context, tx feed.Tx) error {
		row, err := tx.Clip.Get(ctx, id)
		if ent.IsNotFound(err) {
			return nil
		}
		if err != nil {
			return err
		}
		if _, err := tx.LockChannel(ctx, row.ChannelID); err != nil {
			return err
		}
		deleted, err := tx.Clip.Delete().Where(clip.ID(id), clip.ChannelID(row.ChannelID)).Exec(ctx)
		if err != nil || deleted == 0 {
			return err
		}
		return tx.Channel.UpdateOneID(row.ChannelID).AddClipCount(-1).Exec(ctx)
	})
	return &platformv1.DeleteClipResponse{}, err
}

// PutVod creates or replaces a VOD.
func (s *Service) PutVod(ctx context.Context, req *platformv1.PutVodRequest) (*platformv1.PutVodResponse, error) {
	var row *ent.Vod
	respond := idempotency.Response(ctx, func() *platformv1.PutVodResponse {
		return &platformv1.PutVodResponse{Vod: vodRecord(row)}
	})
	err := feed.WriteTo(ctx, s.Store, req.GetVod().GetChannelId(), func(ctx context.Context, tx feed.Tx) error {
		var err error
		row, err = putVod(ctx, tx, req.GetVod())
		return err
	})
	if err != nil {
		return nil, apierr.In("vod", err)
	}
	return respond(), nil
}

// DeleteVod deletes a VOD.
func (s *Service) DeleteVod(ctx context.Context, req *platformv1.DeleteVodRequest) (*platformv1.DeleteVodResponse, error) {
	f := validate.Of(req)
	id := f.UUID("vodId", req.GetVodId())
	if err := f.Err(); err != nil {
		return nil, err
	}
	channelID, err := s.channelOf(ctx, "vods", id)
	if err != nil {
		return nil, err
	}
	err = feed.WriteTo(ctx, s.Store, channelID, func(ctx context.Context, tx feed.Tx) error {
		row, err := tx.Vod.Get(ctx, id)
		if ent.IsNotFound(err) {
			return nil
		}
		if err != nil {
			return err
		}
		if _, err := tx.LockChannel(ctx, row.ChannelID); err != nil {
			return err
		}
		deleted, err := tx.Vod.Delete().Where(vod.ID(id), vod.ChannelID(row.ChannelID)).Exec(ctx)
		if err != nil || deleted == 0 {
			return err
		}
		return tx.Channel.UpdateOneID(row.ChannelID).AddVodCount(-1).Exec(ctx)
	})
	return &platformv1.DeleteVodResponse{}, err
}

// RecordVote records a vote.
func (s *Service) RecordVote(ctx context.Context, req *platformv1.RecordVoteRequest) (*platformv1.RecordVoteResponse, error) {
	f := validate.Of(req)
	v := ent.Vote{
		ID:      f.UUID("id", req.GetId()),
		Epoch:   f.Number("epoch", req.GetEpoch()),
		Address: f.Text("address", req.GetAddress()),
		Amount:  f.Number("amount", req.GetAmount()),
	}
	v.ChannelID = f.UUID("channelId", req.GetChannelId())
	userID := f.UUID("userId", req.GetUserId())
	f.Time("votedAt", req.GetVotedAt())
	f.Struct("action", req.GetAction())
	if err := f.Err(); err != nil {
		return nil, err
	}
	var stored *ent.Vote
	respond := idempotency.Response(ctx, func() *platformv1.RecordVoteResponse {
		return &platformv1.RecordVoteResponse{Vote: voteRecord(stored)}
	})
	err := feed.RetryOnDuplicate(s.Store, func() error {
		return change.ApplyTo(ctx, s.Store, v.ChannelID, users.Key{ID: userID}, func(ctx context.Context, c *change.Change, user *ent.User) error {
			var err error
			stored, err = recordVote(ctx, feed.InChange(c), c, v, user, req)
			return err
		})
	})
	if err != nil {
		return nil, err
	}
	return respond(), nil
}

func recordVote(ctx context.Context, tx feed.Tx, c *change.Change, v ent.Vote, user *ent.User, req *platformv1.RecordVoteRequest) (*ent.Vote, error) {
	before, err := tx.Vote.Get(ctx, v.ID)
	switch {
	case err == nil && before.ChannelID != v.ChannelID:
		return nil, other("channelId", "vote")
	case !ent.IsNotFound(err):
		return before, err
	}
	key := v.ID.String()
	known, err := activity.FindRepeat(ctx, tx, v.ChannelID, "id", key, activity.Vote)
	if err != nil {
		return nil, err
	}
	v.UserID, v.Username, v.VotedAt = &user.ID, user.Username, tx.OrNow(req.GetVotedAt())
	if err := addVote(ctx, tx, &v); err != nil {
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
		Voter: &moderatov1.Voter{
			Id: user.ID.String(), Username: user.Username, DisplayName: user.DisplayName, AvatarUrl: user.AvatarURL, Address: v.Address,
		},
		CreatedAt: v.VotedAt.Proto(),
	})
	if known != nil {
		return &v, nil // its activity was put, or imported, before the vote
	}
	_, err = activity.Record(ctx, c, activity.Occurrence{
		Kind: activity.Vote, Key: key, User: user, At: v.VotedAt, Action: req.GetAction(),
		Facts: map[string]any{"amount": v.Amount, "epoch": v.Epoch},
	})
	return &v, err
}
