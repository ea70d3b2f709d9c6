package trigger

import (
	"context"
	"slices"
	"time"

	moderatov1 "github.com/moderato-live/moderato/gen/moderato/v1"
)

// Recipe says how events of a type are caused.
type Recipe struct {
	// Type is the type, such as channel.ban.
	Type string
	// Does is what causes the event, such as "the owner bans a user".
	Does string
	// Delay is how long after the cause the event comes.
	Delay time.Duration

	// before holds the steps after which cause has an effect.
	before []step
	cause  step
	// aboutNobody is true if no user other than the owner has a part.
	aboutNobody bool
}

// Recipes holds the recipe of each event type.
var Recipes = slices.Concat([]Recipe{
	{Type: "channel.ban", Does: "the owner bans a user", before: []step{unban}, cause: ban},
	{Type: "channel.unban", Does: "the owner lifts the ban of a user", before: []step{ban}, cause: unban},
	{Type: "channel.mute", Does: "the owner mutes a user for 10 minutes", before: []step{unmute}, cause: mute},
	{Type: "channel.unmute", Does: "the owner ends the mute of a user", before: []step{unmute, mute}, cause: unmute},
	{Type: "channel.mute.expire", Does: "the owner mutes a user for a second", before: []step{unmute}, cause: muteBriefly, Delay: muteDuration},
	{
		Type: "channel.chat.clear_user_messages", Does: "the owner bans a user, which deletes the user's messages",
		before: []step{unban, unmute, post}, cause: ban,
	},
	{Type: "channel.chat.message", Does: "a user posts a chat message", before: []step{unban, unmute}, cause: post},
	{Type: "channel.chat.message_delete", Does: "the owner deletes a chat message of a user", before: []step{unban, unmute, post}, cause: deleteMessage},
	{Type: "channel.chat.clear", Does: "the owner clears the chat", before: []step{unban, unmute, post}, cause: clearChat},
	{Type: "channel.chat.pin", Does: "the owner pins a chat message of a user", before: []step{unban, unmute, post}, cause: pinMessage},
	{Type: "channel.update", Does: "the owner changes the title of the channel", cause: updateInfo, aboutNobody: true},
	{Type: "channel.follow", Does: "a user follows the channel", before: []step{unfollow}, cause: follow},
	{Type: "channel.unfollow", Does: "a user unfollows the channel", before: []step{follow}, cause: unfollow},
	{Type: "channel.subscribe", Does: "a user subscribes for 30 days", before: []step{endSubscription}, cause: subscribe},
	{Type: "channel.subscription.end", Does: "the subscription of a user ends", before: []step{subscribe}, cause: endSubscription},
	{Type: "channel.subscription.gift", Does: "a user gives subscriptions to others", cause: gift},
	{Type: "channel.thanks", Does: "a user thanks the channel", cause: thank},
	{Type: "channel.vote", Does: "a user votes for the channel", cause: vote},
	{Type: "channel.raid", Does: "a user raids the channel", cause: raid},
	{Type: "stream.online", Does: "a stream starts, after the live one ends", before: []step{endStream}, cause: startStream, aboutNobody: true},
	{Type: "stream.offline", Does: "the live stream ends; if there is none, one starts first", before: []step{startStream}, cause: endStream, aboutNobody: true},
}, roleRecipes())

// Find returns the recipe of an event type, and reports whether there is one.
func Find(eventType string) (Recipe, bool) {
	at := slices.IndexFunc(Recipes, func(r Recipe) bool { return r.Type == eventType })
	if at < 0 {
		return Recipe{}, false
	}
	return Recipes[at], true
}

// roleRecipes returns the recipes of adding and removing each role.
func roleRecipes() []Recipe {
	var all []Recipe
	for _, r := range []struct {
		name        string
		add, remove step
	}{
		{
			"moderator",
			func(ctx context.Context, a *act) error {
				return call(a.asOwner(ctx), a.Moderation.AddModerator, &moderatov1.AddModeratorRequest{ChannelId: a.channelID, UserId: a.userID})
			},
			func(ctx context.Context, a *act) error {
				return call(a.asOwner(ctx), a.Moderation.RemoveModerator, &moderatov1.RemoveModeratorRequest{ChannelId: a.channelID, UserId: a.userID})
			},
		},
		{
			"vip",
			func(ctx context.Context, a *act) error {
				return call(a.asOwner(ctx), a.Channels.AddVip, &moderatov1.AddVipRequest{ChannelId: a.channelID, UserId: a.userID})
			},
			func(ctx context.Context, a *act) error {
				return call(a.asOwner(ctx), a.Channels.RemoveVip, &moderatov1.RemoveVipRequest{ChannelId: a.channelID, UserId: a.userID})
			},
		},
		{
			"og",
			func(ctx context.Context, a *act) error {
				return call(a.asOwner(ctx), a.Channels.AddOg, &moderatov1.AddOgRequest{ChannelId: a.channelID, UserId: a.userID})
			},
			func(ctx context.Context, a *act) error {
				return call(a.asOwner(ctx), a.Channels.RemoveOg, &moderatov1.RemoveOgRequest{ChannelId: a.channelID, UserId: a.userID})
			},
		},
	} {
		all = append(all,
			Recipe{Type: "channel." + r.name + ".add", Does: "the owner gives a user the role " + r.name, before: []step{r.remove}, cause: r.add},
			Recipe{Type: "channel." + r.name + ".remove", Does: "the owner takes the role " + r.name + " from a user", before: []step{r.add}, cause: r.remove},
		)
	}
	return all
}
