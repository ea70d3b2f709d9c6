package moderation

import (
	"context"
	"errors"
	"time"

	"github.com/moderato-live/moderato/ent"
	"github.com/moderato-live/moderato/ent/mute"
	moderatov1 "github.com/moderato-live/moderato/gen/moderato/v1"
	"github.com/moderato-live/moderato/internal/uid"
	"github.com/moderato-live/moderato/server/change"
	"github.com/moderato-live/moderato/server/change/idempotency"
	"github.com/moderato-live/moderato/server/domain/chat"
	"github.com/moderato-live/moderato/server/domain/held"
	"github.com/moderato-live/moderato/server/rpc/apierr"
	"github.com/moderato-live/moderato/server/rpc/users"
	"github.com/moderato-live/moderato/server/rpc/validate"
)

// MuteDuration is how long a mute lasts unless the request says otherwise.
const MuteDuration = 10 * time.Minute

// MuteUser keeps a user from posting in a channel for a time and deletes their messages
// there.
func (s *Service) MuteUser(ctx context.Context, req *moderatov1.MuteUserRequest) (*moderatov1.MuteUserResponse, error) {
	f := validate.Of(req)
	channelID := f.UUID("channelId", req.GetChannelId())
	userID := f.UUID("mutedUserId", req.GetMutedUserId())
	wish := parseTerms(f, req.Reason, req.DurationSeconds, req.Replace)
	if err := f.Err(); err != nil {
		return nil, err
	}
	if wish.duration == 0 {
		wish.duration = MuteDuration
	}
	var result *moderatov1.MuteUserResponse
	idempotency.Result(ctx, &result)
	err := change.ApplyTo(ctx, s.Store, channelID, users.Key{ID: userID}, func(ctx context.Context, c *change.Change, user *ent.User) error {
		if err := refuseChannel(channelID, user.ID); err != nil {
			return err
		}
		isRepeat, err := removePresentMute(ctx, c, user.ID, wish.replaces)
		if err != nil {
			return err
		}
		t := wish.from(c.Now)
		result = &moderatov1.MuteUserResponse{
			ChannelId:            channelID.String(),
			ModeratorId:          c.ActorID.String(),
			MutedUserId:          user.ID.String(),
			MutedUserDisplayName: user.DisplayName,
			MuteExpiresAt:        t.expiresAtProto(),
		}
		if wish.isGiven {
			result.Terms = t.answer()
		}
		return applyMute(ctx, c, user, t, isRepeat)
	})
	if err != nil {
		return nil, err
	}
	return result, nil
}

// removePresentMute prepares for a new mute, and reports whether it replaces another. If the
// user has a lapsed mute, it is removed and announced. If the user has an active mute, it is
// removed if mayReplace is true; otherwise removePresentMute returns MUTE_ACTIVE.
func removePresentMute(ctx context.Context, c *change.Change, userID uid.ID, mayReplace bool) (isRepeat bool, err error) {
	row, err := findMute(ctx, c.Tx, c.ChannelID, userID)
	switch {
	case ent.IsNotFound(err):
		return false, nil
	case err != nil:
		return false, err
	case c.Now >= row.ExpiresAt:
		return false, expireMute(ctx, c, row)
	case mayReplace:
		return true, removeMutes(ctx, c, userID)
	}
	return false, apierr.MuteActive(moderatov1.Reason_REASON_MUTE_ACTIVE, row.ExpiresAt, c.Now)
}

func findMute(ctx context.Context, tx *ent.Tx, channelID, userID uid.ID) (*ent.Mute, error) {
	return tx.Mute.Query().Where(mute.ChannelID(channelID), mute.UserID(userID)).Only(ctx)
}

// applyMute mutes a user until the terms end. If the mute replaces another, the user's messages
// are deleted already. refused are messages that were refused, which are evidence too.
func applyMute(ctx context.Context, c *change.Change, user *ent.User, t terms, replaces bool, refused ...chat.Message) error {
	err := c.Tx.Mute.Create().SetChannelID(c.ChannelID).SetUserID(user.ID).
		SetModeratorID(c.ActorID).SetMutedAt(c.Now).SetExpiresAt(*t.expiresAt).SetReason(t.reason).SetNillableRuleID(t.ruleID).
		Exec(ctx)
	if err != nil {
		return err
	}
	emitMute(c, user, t, replaces)
	if replaces {
		return nil
	}
	evidence, err := readEvidenceWith(ctx, c, user.ID, refused)
	if err != nil {
		return err
	}
	c.KeepEvidence(evidence)
	emitCleared(c, user.ID)
	if err := held.Cancel(ctx, c, []uid.ID{user.ID}); err != nil {
		return err
	}
	return chat.Clear(ctx, c.Tx, c.Store.Dialect, c.ChannelID, []uid.ID{user.ID}, chat.Mute, c.Now)
}

// RemoveMute ends the mute of a user in a channel.
func (s *Service) RemoveMute(ctx context.Context, req *moderatov1.RemoveMuteRequest) (*moderatov1.RemoveMuteResponse, error) {
	f := validate.Of(req)
	channelID := f.UUID("channelId", req.GetChannelId())
	userID := f.UUID("mutedUserId", req.GetMutedUserId())
	reason := parseReason(f, req.Reason)
	if err := f.Err(); err != nil {
		return nil, err
	}
	notMuted := apierr.New(moderatov1.Reason_REASON_NOT_MUTED)
	err := change.ApplyTo(ctx, s.Store, channelID, users.Key{ID: userID}, func(ctx context.Context, c *change.Change, user *ent.User) error {
		row, err := findMute(ctx, c.Tx, channelID, userID)
		switch {
		case ent.IsNotFound(err):
			return notMuted
		case err != nil:
			return err
		case c.Now >= row.ExpiresAt: // the expirer announces the end
			return notMuted
		}
		emitUnmute(c, row, personOf(user), byModerator, reason)
		if err := removeMutes(ctx, c, row.UserID); err != nil || !req.GetRestoreMessages() {
			return err
		}
		return restoreLocked(ctx, c, []uid.ID{userID}, chat.Mute)
	})
	if errors.Is(err, apierr.New(moderatov1.Reason_REASON_USER_NOT_FOUND)) {
		err = notMuted
	}
	return &moderatov1.RemoveMuteResponse{}, err
}

// emitUnmute announces that an active mute is removed.
func emitUnmute(c *change.Change, row *ent.Mute, of person, why cause, endReason *string) {
	t := terms{reason: row.Reason, expiresAt: &row.ExpiresAt}
	c.Emit("channel.unmute", row.UserID, &moderatov1.UnmuteEvent{
		ChannelId:              c.ChannelID.String(),
		ModeratorId:            c.ActorID.String(),
		ClientId:               c.ClientID,
		UnmutedUserId:          row.UserID.String(),
		UnmutedUserDisplayName: of.displayName,
		UnmutedAt:              c.Now.Proto(),
		Reason:                 t.reasonProto(),
		ExpiresAt:              t.expiresAtProto(),
		Cause:                  string(why),
		EndReason:              endReason,
		MutedUser:              of.proto(row.UserID),
	})
}

// expireMute removes a mute that has lapsed and announces it.
func expireMute(ctx context.Context, c *change.Change, row *ent.Mute) error {
	announceMuteExpiry(c, row)
	return removeMutes(ctx, c, row.UserID)
}

func announceMuteExpiry(c *change.Change, row *ent.Mute) {
	c.ByNobody(func() { // no actor, even when a new mute causes the removal
		c.EmitOf(row.ModeratorID, "channel.mute.expire", row.UserID, &moderatov1.MuteExpireEvent{
			ChannelId:     row.ChannelID.String(),
			ModeratorId:   row.ModeratorID.String(),
			MutedUserId:   row.UserID.String(),
			MuteExpiredAt: row.ExpiresAt.Proto(),
		})
	})
}

// removeMutes removes the rows of the mutes of some users.
func removeMutes(ctx context.Context, c *change.Change, users ...uid.ID) error {
	_, err := c.Tx.Mute.Delete().Where(mute.ChannelID(c.ChannelID), mute.UserIDIn(users...)).Exec(ctx)
	return err
}
