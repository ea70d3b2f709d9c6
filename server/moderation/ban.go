package moderation

import (
	"context"
	"errors"

	"github.com/moderato-live/moderato/ent"
	moderatov1 "github.com/moderato-live/moderato/gen/moderato/v1"
	"github.com/moderato-live/moderato/server/apierr"
	"github.com/moderato-live/moderato/server/authz"
	"github.com/moderato-live/moderato/server/change"
	"github.com/moderato-live/moderato/server/idempotency"
	"github.com/moderato-live/moderato/server/instant"
	"github.com/moderato-live/moderato/server/uid"
	"github.com/moderato-live/moderato/server/users"
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
	var existing joinedBan
	err := change.ApplyToOne(ctx, s.Store, channelID, who, existing.read(channelID), func(ctx context.Context, c *change.Change, user *ent.User) error {
		if err := refuseChannel(channelID, user.ID); err != nil {
			return err
		}
		b, err := banOnce(ctx, c, user, &existing, wish)
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
func banOnce(ctx context.Context, c *change.Change, user *ent.User, existing *joinedBan, wish wishedTerms) (*ban, error) {
	if b := existing.of(user); b != nil {
		if !b.hasLapsed(c.Now) {
			return b, nil
		}
		if err := expireBans(ctx, c, []*ban{b}); err != nil {
			return nil, err
		}
	}
	b := &ban{
		terms: wish.from(c.Now), userID: user.ID, moderatorID: c.ActorID, bannedAt: c.Now,
		displayName: user.DisplayName, isModerator: existing.isModerator,
	}
	emitBan(c, b, byModerator)
	later := &deferredBan{ban: b, user: user, sequence: c.LastSequence()}
	emitCleared(c, b.userID)
	c.Defer(later)
	return b, nil
}

// joinedBan holds the ban of a user, if there is one, as the statement that authorizes a
// change reads it.
type joinedBan struct {
	moderatorID, batchID *uid.ID
	bannedAt, expiresAt  *instant.Instant
	reason               *string
	isModerator          bool // the user holds the moderator role
}

// read returns what the statement reads.
func (j *joinedBan) read(channelID uid.ID) users.More {
	return users.More{
		Columns:    ", b.moderator_id, b.banned_at, b.reason, b.expires_at, b.batch_id, " + authz.IsModerator("?", "u.id"),
		ColumnArgs: []any{channelID},
		Join:       " LEFT JOIN bans b ON b.channel_id = ? AND b.user_id = u.id",
		JoinArgs:   []any{channelID},
		Fields:     []any{&j.moderatorID, &j.bannedAt, &j.reason, &j.expiresAt, &j.batchID, &j.isModerator},
	}
}

// of returns the ban of the user, which may have lapsed, or nil.
func (j *joinedBan) of(user *ent.User) *ban {
	if j.moderatorID == nil {
		return nil
	}
	return &ban{
		terms:  terms{reason: *j.reason, expiresAt: j.expiresAt, batchID: j.batchID},
		userID: user.ID, moderatorID: *j.moderatorID, bannedAt: *j.bannedAt, displayName: user.DisplayName, isModerator: j.isModerator,
	}
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
	var existing joinedBan
	err := change.ApplyToOne(ctx, s.Store, channelID, who, existing.read(channelID), func(ctx context.Context, c *change.Change, user *ent.User) error {
		b := existing.of(user)
		if b == nil || b.hasLapsed(c.Now) {
			return notBanned
		}
		emitUnban(c, c.ActorID, b, c.Now, byModerator)
		c.Defer(&deferredBan{ban: b, user: user, isLifted: true})
		return nil
	})
	if errors.Is(err, apierr.New(moderatov1.Reason_REASON_USER_NOT_FOUND)) {
		err = notBanned
	}
	return &moderatov1.RemoveBanResponse{}, err
}
