package moderation

import (
	"context"
	"time"

	"github.com/moderato-live/moderato/ent"
	"github.com/moderato-live/moderato/ent/mute"
	moderatov1 "github.com/moderato-live/moderato/gen/moderato/v1"
	"github.com/moderato-live/moderato/server/apierr"
	"github.com/moderato-live/moderato/server/change"
	"github.com/moderato-live/moderato/server/idempotency"
	"github.com/moderato-live/moderato/server/instant"
	"github.com/moderato-live/moderato/server/uid"
	"github.com/moderato-live/moderato/server/users"
	"github.com/moderato-live/moderato/server/validate"
)

// MuteDuration is how long a mute lasts.
const MuteDuration = 10 * time.Minute

// MuteUser keeps a user from posting in a channel for MuteDuration and deletes
// their messages there.
func (s *Service) MuteUser(ctx context.Context, req *moderatov1.MuteUserRequest) (*moderatov1.MuteUserResponse, error) {
	f := validate.Of(req)
	channelID := f.UUID("channelId", req.GetChannelId())
	userID := f.UUID("mutedUserId", req.GetMutedUserId())
	if err := f.Err(); err != nil {
		return nil, err
	}
	var result *moderatov1.MuteUserResponse
	idempotency.Result(ctx, &result)
	err := change.ApplyTo(ctx, s.Store, channelID, users.Key{ID: userID}, func(ctx context.Context, c *change.Change, user *ent.User) error {
		if err := refuseChannel(channelID, user.ID); err != nil {
			return err
		}
		if err := endLapsedMute(ctx, c, user.ID); err != nil {
			return err
		}
		expiresAt, err := applyMute(ctx, c, user)
		result = &moderatov1.MuteUserResponse{
			ChannelId:            channelID.String(),
			ModeratorId:          c.ActorID.String(),
			MutedUserId:          user.ID.String(),
			MutedUserDisplayName: user.DisplayName,
			MuteExpiresAt:        expiresAt.Proto(),
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	return result, nil
}

// endLapsedMute prepares for a new mute. If the user has a lapsed mute, endLapsedMute
// removes and announces it. If the user has an active mute, it returns MUTE_ACTIVE.
func endLapsedMute(ctx context.Context, c *change.Change, userID uid.ID) error {
	row, err := findMute(ctx, c.Tx, c.ChannelID, userID)
	switch {
	case ent.IsNotFound(err):
		return nil
	case err != nil:
		return err
	case c.Now < row.ExpiresAt:
		return apierr.MuteActive(moderatov1.Reason_REASON_MUTE_ACTIVE, row.ExpiresAt, c.Now)
	}
	return expireMute(ctx, c, row)
}

func findMute(ctx context.Context, tx *ent.Tx, channelID, userID uid.ID) (*ent.Mute, error) {
	return tx.Mute.Query().Where(mute.ChannelID(channelID), mute.UserID(userID)).Only(ctx)
}

func applyMute(ctx context.Context, c *change.Change, user *ent.User) (expiresAt instant.Instant, err error) {
	expiresAt = c.Now.Add(MuteDuration)
	err = c.Tx.Mute.Create().SetChannelID(c.ChannelID).SetUserID(user.ID).
		SetModeratorID(c.ActorID).SetMutedAt(c.Now).SetExpiresAt(expiresAt).
		Exec(ctx)
	if err != nil {
		return 0, err
	}
	c.Emit("channel.mute", user.ID, &moderatov1.MuteEvent{
		ChannelId:            c.ChannelID.String(),
		ModeratorId:          c.ActorID.String(),
		ClientId:             c.ClientID,
		MutedUserId:          user.ID.String(),
		MutedUserDisplayName: user.DisplayName,
		MuteExpiresAt:        expiresAt.Proto(),
	})
	return expiresAt, clearMessages(ctx, c, user.ID)
}

// expireMute removes a mute that has lapsed and announces it.
func expireMute(ctx context.Context, c *change.Change, row *ent.Mute) error {
	_, err := c.Tx.Mute.Delete().Where(mute.ChannelID(row.ChannelID), mute.UserID(row.UserID)).Exec(ctx)
	if err != nil {
		return err
	}
	c.ByNobody(func() { // no actor, even when a new mute causes the removal
		c.EmitOf(row.ModeratorID, "channel.mute.expire", row.UserID, &moderatov1.MuteExpireEvent{
			ChannelId:     row.ChannelID.String(),
			ModeratorId:   row.ModeratorID.String(),
			MutedUserId:   row.UserID.String(),
			MuteExpiredAt: row.ExpiresAt.Proto(),
		})
	})
	return nil
}
