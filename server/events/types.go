package events

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
