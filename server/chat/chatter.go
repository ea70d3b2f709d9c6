package chat

import (
	"slices"

	"github.com/moderato-live/moderato/server/uid"
)

// Chatter is a user in the chat of a channel.
type Chatter struct{ ChannelID, UserID uid.ID }

// ChattersOf returns users in the chat of a channel.
func ChattersOf(channelID uid.ID, users []uid.ID) []Chatter {
	chatters := make([]Chatter, len(users))
	for i, id := range users {
		chatters[i] = Chatter{channelID, id}
	}
	return chatters
}

// channelUsers are the users of some chatters in one channel.
type channelUsers struct {
	id    uid.ID
	users []uid.ID
}

// byChannel groups chatters by their channels.
func byChannel(chatters []Chatter) []channelUsers {
	var channels []channelUsers
	for _, x := range chatters {
		i := slices.IndexFunc(channels, func(c channelUsers) bool { return c.id == x.ChannelID })
		if i < 0 {
			i, channels = len(channels), append(channels, channelUsers{id: x.ChannelID})
		}
		channels[i].users = append(channels[i].users, x.UserID)
	}
	return channels
}
