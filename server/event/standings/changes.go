package standings

import (
	"slices"

	platformv1 "github.com/moderato-live/moderato/gen/moderato/platform/v1"
	"github.com/moderato-live/moderato/internal/instant"
	"github.com/moderato-live/moderato/internal/uid"
	"github.com/moderato-live/moderato/server/event/outbox"
	"github.com/moderato-live/moderato/server/rpc/eventtype"
	"github.com/moderato-live/moderato/server/rpc/users"
)

// Short names of the kinds of change.
const (
	ban            = platformv1.StandingChangeKind_STANDING_CHANGE_KIND_BAN
	unban          = platformv1.StandingChangeKind_STANDING_CHANGE_KIND_UNBAN
	mute           = platformv1.StandingChangeKind_STANDING_CHANGE_KIND_MUTE
	unmute         = platformv1.StandingChangeKind_STANDING_CHANGE_KIND_UNMUTE
	roleAdd        = platformv1.StandingChangeKind_STANDING_CHANGE_KIND_ROLE_ADD
	roleRemove     = platformv1.StandingChangeKind_STANDING_CHANGE_KIND_ROLE_REMOVE
	userErased     = platformv1.StandingChangeKind_STANDING_CHANGE_KIND_USER_ERASED
	channelDeleted = platformv1.StandingChangeKind_STANDING_CHANGE_KIND_CHANNEL_DELETED
	channelCreated = platformv1.StandingChangeKind_STANDING_CHANGE_KIND_CHANNEL_CREATED
	messageCheck   = platformv1.StandingChangeKind_STANDING_CHANGE_KIND_MESSAGE_CHECK
)

// effect is what the events of a type do to the standing of their target.
type effect struct {
	kind platformv1.StandingChangeKind
	role platformv1.Role
}

// effects are the types of event that change a standing.
var effects = map[eventtype.Type]effect{
	"channel.ban":              {kind: ban},
	"channel.unban":            {kind: unban},
	"channel.mute":             {kind: mute},
	"channel.mute.expire":      {kind: unmute},
	"channel.unmute":           {kind: unmute},
	"channel.moderator.add":    {roleAdd, platformv1.Role_ROLE_MODERATOR},
	"channel.moderator.remove": {roleRemove, platformv1.Role_ROLE_MODERATOR},
	"channel.vip.add":          {roleAdd, platformv1.Role_ROLE_VIP},
	"channel.vip.remove":       {roleRemove, platformv1.Role_ROLE_VIP},
	"channel.og.add":           {roleAdd, platformv1.Role_ROLE_OG},
	"channel.og.remove":        {roleRemove, platformv1.Role_ROLE_OG},
	// The observer finds out whether messages are examined: see addEvents.
	"channel.chat.settings": {kind: messageCheck},
	"channel.chat.rules":    {kind: messageCheck},
	"channel.shield.preset": {kind: messageCheck},
	"channel.shield.begin":  {kind: messageCheck},
	"channel.shield.end":    {kind: messageCheck},
}

// types are the types of effects, sorted.
var types = func() []eventtype.Type {
	var all []eventtype.Type
	for kind := range effects {
		all = append(all, kind)
	}
	slices.Sort(all)
	return all
}()

// changeOf returns the change that an event makes; nil if it makes none. The events of an
// erased user have no target any more: their users are told of as a whole.
func changeOf(e *outbox.Event) *platformv1.StandingChange {
	does, isChange := effects[e.Type]
	if !isChange || does.kind == messageCheck || e.IsGone || e.TargetID == users.Deleted {
		return nil
	}
	c := &platformv1.StandingChange{
		Kind: does.kind, Role: does.role, ChannelId: e.ChannelID[:], UserId: e.TargetID[:], OccurredAt: int64(e.OccurredAt),
	}
	switch does.kind {
	case ban:
		c.BannedAt = int64(instant.OfProto(e.Message.GetBan().GetBannedAt()))
		if at := e.Message.GetBan().GetExpiresAt(); at != nil {
			c.ExpiresAt = int64(instant.OfProto(at))
		}
	case mute:
		c.ExpiresAt = int64(instant.OfProto(e.Message.GetMute().GetMuteExpiresAt()))
	}
	return c
}

// ofUser returns a change of a user in all channels.
func ofUser(kind platformv1.StandingChangeKind, id uid.ID) *platformv1.StandingChange {
	return &platformv1.StandingChange{Kind: kind, UserId: id[:]}
}

// ofChannel returns a change of a channel.
func ofChannel(kind platformv1.StandingChangeKind, id uid.ID) *platformv1.StandingChange {
	return &platformv1.StandingChange{Kind: kind, ChannelId: id[:]}
}
