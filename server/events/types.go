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
)
