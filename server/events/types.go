package events

import "google.golang.org/protobuf/reflect/protoreflect"

// Type is the name of a kind of event.
type Type string

// The kinds of event.
const (
	Ban               Type = "channel.ban"
	Unban             Type = "channel.unban"
	Mute              Type = "channel.mute"
	MuteExpire        Type = "channel.mute.expire"
	ClearUserMessages Type = "channel.chat.clear_user_messages"
	ModeratorAdd      Type = "channel.moderator.add"
	ModeratorRemove   Type = "channel.moderator.remove"
	VIPAdd            Type = "channel.vip.add"
	VIPRemove         Type = "channel.vip.remove"
	OGAdd             Type = "channel.og.add"
	OGRemove          Type = "channel.og.remove"
	Update            Type = "channel.update"
	Follow            Type = "channel.follow"
	Unfollow          Type = "channel.unfollow"
	Subscribe         Type = "channel.subscribe"
	SubscriptionEnd   Type = "channel.subscription.end"
	SubscriptionGift  Type = "channel.subscription.gift"
	Thanks            Type = "channel.thanks"
	Vote              Type = "channel.vote"
	StreamOnline      Type = "stream.online"
	StreamOffline     Type = "stream.offline"
)

// kinds holds all kinds of event, in the order in which the docs list them, with
// the field of moderato.v1.Event that holds their payload.
var kinds = []struct {
	kind    Type
	payload protoreflect.Name
}{
	{Ban, "ban"},
	{Unban, "unban"},
	{Mute, "mute"},
	{MuteExpire, "mute_expire"},
	{ClearUserMessages, "clear_user_messages"},
	{ModeratorAdd, "role"},
	{ModeratorRemove, "role"},
	{VIPAdd, "role"},
	{VIPRemove, "role"},
	{OGAdd, "role"},
	{OGRemove, "role"},
	{Update, "update"},
	{Follow, "follow"},
	{Unfollow, "follow"},
	{Subscribe, "subscription"},
	{SubscriptionEnd, "subscription"},
	{SubscriptionGift, "gift"},
	{Thanks, "thanks"},
	{Vote, "vote"},
	{StreamOnline, "stream"},
	{StreamOffline, "stream"},
}

// IsType reports whether name is the name of an event type.
func IsType(name string) bool {
	for _, k := range kinds {
		if string(k.kind) == name {
			return true
		}
	}
	return false
}

// Types returns the names of all kinds of event.
func Types() []string {
	names := make([]string, len(kinds))
	for i, k := range kinds {
		names[i] = string(k.kind)
	}
	return names
}
