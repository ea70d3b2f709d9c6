package moderation

import (
	"context"

	moderatov1 "github.com/moderato-live/moderato/gen/moderato/v1"
	"github.com/moderato-live/moderato/internal/instant"
	"github.com/moderato-live/moderato/internal/uid"
	"github.com/moderato-live/moderato/server/change"
	"github.com/moderato-live/moderato/server/change/idempotency"
	"github.com/moderato-live/moderato/server/rpc/apierr"
	"github.com/moderato-live/moderato/server/rpc/users"
	"github.com/moderato-live/moderato/server/rpc/validate"
)

// BanUser bans a user from a channel and deletes their messages there.
func (s *Service) BanUser(ctx context.Context, req *moderatov1.BanUserRequest) (*moderatov1.BanUserResponse, error) {
	f := validate.Of(req)
	channelID := f.UUID("channelId", req.GetChannelId())
	who := users.ParseKey(f, "banUserId", req.GetBanUserId(), "banUsername", req.GetBanUsername())
	wish := parseTerms(f, req.Reason, req.DurationSeconds, req.Replace)
	if err := f.Err(); err != nil {
		return nil, err
	}
	r := &banOne{target: who, wish: wish}
	idempotency.Result(ctx, &r.response)
	if err := bans.Do(ctx, s.Store, channelID, r); err != nil {
		return nil, err
	}
	return r.response, nil
}

// banOne is a request to ban one user.
type banOne struct {
	target   users.Key
	wish     wishedTerms
	response *moderatov1.BanUserResponse
}

func (r *banOne) targets() []users.Key { return []users.Key{r.target} }

// decide bans the user. A ban in force stays unless the request replaces it or outlasts it.
func (r *banOne) decide(b *banChange) error {
	t := b.found[r.target]
	if t == nil {
		return apierr.New(moderatov1.Reason_REASON_USER_NOT_FOUND)
	}
	if err := refuseChannel(b.ChannelID, t.userID); err != nil {
		return err
	}
	of, present := r.wish.from(b.Now), b.inForce(t)
	isRepeat := present != nil
	isChange := !isRepeat || r.wish.replaces || of.outlasts(present.terms)
	if isChange {
		present = b.ban(t, of, byModerator)
	}
	r.response = &moderatov1.BanUserResponse{
		ChannelId:             b.ChannelID.String(),
		ModeratorId:           present.moderatorID.String(),
		BannedUserId:          t.userID.String(),
		BannedUserDisplayName: t.displayName,
		BannedAt:              present.bannedAt.Proto(),
	}
	if isRepeat || r.wish.isGiven {
		r.response.Terms = present.answer()
		r.response.Outcome = &moderatov1.BanOutcome{Changed: isChange}
	}
	return nil
}

// ban is a row of bans, with what its events say about the user.
type ban struct {
	terms
	person

	userID, moderatorID uid.ID
	bannedAt            instant.Instant
	isModerator         bool  // the user holds the moderator role, which the ban suspends
	replaces            bool  // it replaced another ban, whose messages are deleted already
	imported            bool  // it has no events
	sequence            int64 // of the event of a new ban
	replaced            *ban  // by a new ban; nil if it replaces none
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
		BatchId:               uid.Text(b.batchID),
		Cause:                 string(why),
		Replaces:              b.replaces,
		BannedUser:            b.proto(b.userID),
	})
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
	r := &liftOne{
		target: users.ParseKey(f, "banUserId", req.GetBanUserId(), "banUsername", req.GetBanUsername()),
		reason: parseReason(f, req.Reason), restores: req.GetRestoreMessages(),
	}
	if err := f.Err(); err != nil {
		return nil, err
	}
	if err := bans.Do(ctx, s.Store, channelID, r); err != nil {
		return nil, err
	}
	return &moderatov1.RemoveBanResponse{}, nil
}

// liftOne is a request to lift the ban of one user.
type liftOne struct {
	target   users.Key
	reason   *string // why it is lifted; nil if no reason is given
	restores bool    // whether to restore the messages that the ban deleted
}

func (r *liftOne) targets() []users.Key { return []users.Key{r.target} }

// decide lifts the ban.
func (r *liftOne) decide(b *banChange) error {
	t := b.found[r.target]
	if t == nil || b.inForce(t) == nil {
		return apierr.New(moderatov1.Reason_REASON_NOT_BANNED)
	}
	b.lift(t, r.reason)
	if r.restores {
		b.restored = append(b.restored, t.userID)
	}
	return nil
}
