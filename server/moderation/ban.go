package moderation

import (
	"context"
	"errors"

	"github.com/moderato-live/moderato/ent"
	"github.com/moderato-live/moderato/ent/ban"
	moderatov1 "github.com/moderato-live/moderato/gen/moderato/v1"
	"github.com/moderato-live/moderato/server/apierr"
	"github.com/moderato-live/moderato/server/authz"
	"github.com/moderato-live/moderato/server/change"
	"github.com/moderato-live/moderato/server/chat"
	"github.com/moderato-live/moderato/server/idempotency"
	"github.com/moderato-live/moderato/server/instant"
	"github.com/moderato-live/moderato/server/store"
	"github.com/moderato-live/moderato/server/uid"
	"github.com/moderato-live/moderato/server/validate"
)

// BanUser bans a user from a channel and deletes their messages there.
func (s *Service) BanUser(ctx context.Context, req *moderatov1.BanUserRequest) (*moderatov1.BanUserResponse, error) {
	f := validate.Of(req)
	channelID := f.UUID("channelId", req.GetChannelId())
	who := parseTarget(f, "banUserId", req.GetBanUserId(), "banUsername", req.GetBanUsername())
	if err := f.Err(); err != nil {
		return nil, err
	}
	var result *moderatov1.BanUserResponse
	idempotency.Result(ctx, &result)
	err := change.ApplyTo(ctx, s.Store, channelID, who, func(ctx context.Context, c *change.Change, user *ent.User) error {
		if err := refuseChannel(channelID, user.ID); err != nil {
			return err
		}
		row, isModerator, err := findBan(ctx, c.Tx, channelID, user.ID)
		if err == nil && row == nil {
			row, err = applyBan(ctx, c, user, isModerator)
		}
		if err != nil {
			return err
		}
		result = &moderatov1.BanUserResponse{
			ChannelId:             channelID.String(),
			ModeratorId:           row.ModeratorID.String(),
			BannedUserId:          user.ID.String(),
			BannedUserDisplayName: user.DisplayName,
			BannedAt:              row.BannedAt.Proto(),
		}
		return nil
	})
	return result, err
}

// findBan returns the ban of a user, or nil. It also reports whether the user holds the
// moderator role, which a ban suspends.
func findBan(ctx context.Context, tx *ent.Tx, channelID, userID uid.ID) (row *ent.Ban, isModerator bool, err error) {
	var moderatorID *uid.ID
	var bannedAt *instant.Instant
	err = store.QueryRow(ctx, tx, `SELECT b.moderator_id, b.banned_at, `+authz.IsModerator("?", "?")+`
		FROM (SELECT 1) one LEFT JOIN bans b ON b.channel_id = ? AND b.user_id = ?`,
		[]any{channelID, userID, channelID, userID}, &moderatorID, &bannedAt, &isModerator)
	if err != nil || moderatorID == nil {
		return nil, isModerator, err
	}
	return &ent.Ban{ChannelID: channelID, UserID: userID, ModeratorID: *moderatorID, BannedAt: *bannedAt}, isModerator, nil
}

// applyBan bans a user, who may hold the moderator role.
func applyBan(ctx context.Context, c *change.Change, user *ent.User, isModerator bool) (*ent.Ban, error) {
	row, err := c.Tx.Ban.Create().SetChannelID(c.ChannelID).SetUserID(user.ID).
		SetModeratorID(c.ActorID).SetBannedAt(c.Now).
		Save(ctx)
	if err != nil {
		return nil, err
	}
	if isModerator {
		if err := authz.RightsChanged(ctx, c.Tx, user.ID); err != nil {
			return nil, err
		}
	}
	c.Emit("channel.ban", user.ID, &moderatov1.BanEvent{
		ChannelId:             c.ChannelID.String(),
		ModeratorId:           c.ActorID.String(),
		ClientId:              c.ClientID,
		BannedUserId:          user.ID.String(),
		BannedUserDisplayName: user.DisplayName,
		BannedAt:              c.Now.Proto(),
	})
	return row, clearMessages(ctx, c, user.ID)
}

// clearMessages deletes a user's messages as part of their ban or mute.
func clearMessages(ctx context.Context, c *change.Change, userID uid.ID) error {
	if err := chat.Clear(ctx, c.Tx, c.ChannelID, userID, c.Now); err != nil {
		return err
	}
	c.Emit("channel.chat.clear_user_messages", userID, &moderatov1.ClearUserMessagesEvent{
		ChannelId:    c.ChannelID.String(),
		ModeratorId:  c.ActorID.String(),
		ClientId:     c.ClientID,
		TargetUserId: userID.String(),
		ClearedAt:    c.Now.Proto(),
	})
	return nil
}

// RemoveBan removes a user's ban from a channel.
func (s *Service) RemoveBan(ctx context.Context, req *moderatov1.RemoveBanRequest) (*moderatov1.RemoveBanResponse, error) {
	f := validate.Of(req)
	channelID := f.UUID("channelId", req.GetChannelId())
	who := parseTarget(f, "banUserId", req.GetBanUserId(), "banUsername", req.GetBanUsername())
	if err := f.Err(); err != nil {
		return nil, err
	}
	notBanned := apierr.New(moderatov1.Reason_REASON_NOT_BANNED)
	err := change.ApplyTo(ctx, s.Store, channelID, who, func(ctx context.Context, c *change.Change, user *ent.User) error {
		row, isModerator, err := findBan(ctx, c.Tx, channelID, user.ID)
		if err != nil {
			return err
		}
		if row == nil {
			return notBanned
		}
		if _, err := c.Tx.Ban.Delete().Where(ban.ChannelID(channelID), ban.UserID(user.ID)).Exec(ctx); err != nil {
			return err
		}
		if isModerator {
			if err := authz.RightsChanged(ctx, c.Tx, user.ID); err != nil {
				return err
			}
		}
		c.Emit("channel.unban", user.ID, &moderatov1.UnbanEvent{
			ChannelId:               channelID.String(),
			ModeratorId:             c.ActorID.String(),
			ClientId:                c.ClientID,
			UnbannedUserId:          user.ID.String(),
			UnbannedUserDisplayName: user.DisplayName,
			UnbannedAt:              c.Now.Proto(),
		})
		return nil
	})
	if errors.Is(err, apierr.New(moderatov1.Reason_REASON_USER_NOT_FOUND)) {
		err = notBanned
	}
	return &moderatov1.RemoveBanResponse{}, err
}
