package demo

import (
	"slices"

	"github.com/moderato-live/moderato/internal/uid"
)

// world is the demo's data. A user is identified by its index in people, and a
// channel by the index of its owner.
type world struct {
	people   []user
	roles    []role
	bans     []ban
	messages []message
	emotes   []uid.ID // as in emotes
}

type role struct {
	channel, user int
	name          string
}

type ban struct{ channel, moderator, user int }

const moderator = "moderator"

func makeWorld() *world {
	w := &world{people: makePeople()}
	w.roles = w.makeRoles()
	w.bans = w.makeBans()
	r := stream(emoteStream)
	for range emotes {
		w.emotes = append(w.emotes, randomID(r))
	}
	w.messages = w.makeChat()
	return w
}

// makeRoles returns the roles in each channel: moderators first, then VIPs and OGs.
// Users who speak the channel's language are preferred.
func (w *world) makeRoles() []role {
	r := stream(roleStream)
	var roles []role
	for channel, c := range channels {
		var users []int
		for _, i := range r.Perm(plainStart - crowdStart) {
			users = append(users, crowdStart+i)
		}
		w.localsFirst(users, c)
		if channel == 0 {
			users = slices.Insert(users, 0, moderatorIndex)
		}
		give := func(name string, count int) {
			for _, user := range users[:count] {
				roles = append(roles, role{channel: channel, user: user, name: name})
			}
			users = users[count:]
		}
		give(moderator, between(r, 3, 6))
		give("vip", between(r, 2, 6))
		give("og", between(r, 1, 4))
	}
	return roles
}

// speaks reports whether a user chats in a channel's language.
func (w *world) speaks(user int, c channel) bool {
	lang := c.base()
	return lang == "en" || lang == w.people[user].lang
}

// localsFirst moves the users who speak a channel's language to the front.
func (w *world) localsFirst(users []int, c channel) {
	slices.SortStableFunc(users, func(a, b int) int {
		switch speaks := w.speaks(a, c); {
		case speaks == w.speaks(b, c):
			return 0
		case speaks:
			return -1
		}
		return 1
	})
}

// makeBans returns bans of users who hold no role in any channel.
func (w *world) makeBans() []ban {
	r := stream(banStream)
	var bans []ban
	for channel := range channels {
		moderators := []int{channel}
		for _, role := range w.roles {
			if role.channel == channel && role.name == moderator {
				moderators = append(moderators, role.user)
			}
		}
		for _, i := range r.Perm(userCount - rowdyStart)[:between(r, 2, 4)] {
			bans = append(bans, ban{channel: channel, moderator: pick(r, moderators), user: rowdyStart + i})
		}
	}
	return bans
}
