package moderation

import (
	"context"
	"errors"

	"github.com/moderato-live/moderato/ent"
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
	wish := parseTerms(f, req.Reason, req.DurationSeconds)
	if err := f.Err(); err != nil {
		return nil, err
	}
	var result *moderatov1.BanUserResponse
	idempotency.Result(ctx, &result)
	err := change.ApplyTo(ctx, s.Store, channelID, who, func(ctx context.Context, c *change.Change, user *ent.User) error {
		if err := refuseChannel(channelID, user.ID); err != nil {
			return err
		}
		b, err := banOnce(ctx, c, user, wish)
		if err != nil {
			return err
		}
		result = &moderatov1.BanUserResponse{
			ChannelId:             channelID.String(),
			ModeratorId:           b.moderatorID.String(),
			BannedUserId:          user.ID.String(),
			BannedUserDisplayName: user.DisplayName,
			BannedAt:              b.bannedAt.Proto(),
			Terms:                 wish.answer(b.terms),
		}
		return nil
	})
	return result, err
}

// ban is a row of bans, with what its events say about the user.
type ban struct {
	terms

	userID, moderatorID uid.ID
	bannedAt            instant.Instant
	displayName         string
	isModerator         bool   // the user holds the moderator role, which the ban suspends
	evidence            string // of a new ban: see readEvidence
}

// banOnce bans a user, and returns the ban. If the user is banned already, that is the
// existing ban.
func banOnce(ctx context.Context, c *change.Change, user *ent.User, wish wishedTerms) (*ban, error) {
	b, isModerator, err := findBan(ctx, c.Tx, c.ChannelID, user)
	if err != nil {
		return nil, err
	}
	if b != nil {
		if !b.hasLapsed(c.Now) {
			return b, nil
		}
		if err := expireBans(ctx, c, []*ban{b}); err != nil {
			return nil, err
		}
	}
	b = &ban{
		terms: wish.from(c.Now), userID: user.ID, moderatorID: c.ActorID, bannedAt: c.Now,
		displayName: user.DisplayName, isModerator: isModerator,
	}
	return b, applyBan(ctx, c, b)
}

// findBan returns the ban of a user, which may have lapsed, or nil. It also reports whether
// the user holds the moderator role.
func findBan(ctx context.Context, tx *ent.Tx, channelID uid.ID, user *ent.User) (b *ban, isModerator bool, err error) {
	var moderatorID, batchID *uid.ID
	var bannedAt, expiresAt *instant.Instant
	var reason *string
	err = store.QueryRow(ctx, tx, `SELECT b.moderator_id, b.banned_at, b.reason, b.expires_at, b.batch_id, `+authz.IsModerator("?", "?")+`
		FROM (SELECT 1) one LEFT JOIN bans b ON b.channel_id = ? AND b.user_id = ?`,
		[]any{channelID, user.ID, channelID, user.ID}, &moderatorID, &bannedAt, &reason, &expiresAt, &batchID, &isModerator)
	if err != nil || moderatorID == nil {
		return nil, isModerator, err
	}
	return &ban{
		terms:  terms{reason: *reason, expiresAt: expiresAt, batchID: batchID},
		userID: user.ID, moderatorID: *moderatorID, bannedAt: *bannedAt, displayName: user.DisplayName, isModerator: isModerator,
	}, isModerator, nil
}

// applyBan stores a new ban, and deletes the user's messages.
func applyBan(ctx context.Context, c *change.Change, b *ban) error {
	err := c.Tx.Ban.Create().SetChannelID(c.ChannelID).SetUserID(b.userID).
		SetModeratorID(b.moderatorID).SetBannedAt(b.bannedAt).SetReason(b.reason).SetNillableExpiresAt(b.expiresAt).
		Exec(ctx)
	if err != nil {
		return err
	}
	if b.isModerator {
		if err := authz.RightsChanged(ctx, c.Tx, b.userID); err != nil {
			return err
		}
	}
	evidence, err := readEvidence(ctx, c, b.userID)
	if err != nil {
		return err
	}
	b.evidence = evidence[b.userID]
	emitBan(c, b, byModerator)
	return clearMessages(ctx, c, b.userID, chat.Ban)
}

func emitBan(c *change.Change, b *ban, why cause) {
	c.Emit("channel.ban", b.userID, &moderatov1.BanEvent{
		ChannelId:             c.ChannelID.String(),
		ModeratorId:           b.moderatorID.String(),
		ClientId:              c.ClientID,
		BannedUserId:          b.userID.String(),
		BannedUserDisplayName: b.displayName,
		BannedAt:              b.bannedAt.Proto(),
		Reason:                b.reasonProto(),
		ExpiresAt:             b.expiresAtProto(),
		BatchId:               b.batchIDProto(),
		Cause:                 string(why),
	})
	c.KeepEvidence(b.evidence)
}

// clearMessages deletes a user's messages as part of their ban or mute.
func clearMessages(ctx context.Context, c *change.Change, userID uid.ID, by chat.Sanction) error {
	if err := chat.Clear(ctx, c.Tx, c.ChannelID, userID, by, c.Now); err != nil {
		return err
	}
	emitCleared(c, userID)
	return nil
}

func emitCleared(c *change.Change, userID uid.ID) {
	c.Emit("channel.chat.clear_user_messages", userID, &moderatov1.ClearUserMessagesEvent{
		ChannelId:    c.ChannelID.String(),
		ModeratorId:  c.ActorID.String(),
		ClientId:     c.ClientID,
		TargetUserId: userID.String(),
		ClearedAt:    c.Now.Proto(),
	})
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
		b, _, err := findBan(ctx, c.Tx, channelID, user)
		if err != nil {
			return err
		}
		if b == nil || b.hasLapsed(c.Now) {
			return notBanned
		}
		return liftBans(ctx, c, []*ban{b}, byModerator)
	})
	if errors.Is(err, apierr.New(moderatov1.Reason_REASON_USER_NOT_FOUND)) {
		err = notBanned
	}
	return &moderatov1.RemoveBanResponse{}, err
}
