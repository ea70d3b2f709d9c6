package trigger

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/google/uuid"
	"google.golang.org/protobuf/types/known/timestamppb"

	moderato "github.com/moderato-live/moderato/clients/go"
	platformv1 "github.com/moderato-live/moderato/gen/moderato/platform/v1"
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
	{Type: "channel.chat.settings", Does: "the owner changes how old accounts must be that post", cause: changeSettings, aboutNobody: true},
	{Type: "channel.chat.rules", Does: "the owner creates a rule that flags a word of the demo, or deletes it", cause: changeRules, aboutNobody: true},
	{Type: "channel.chat.flag", Does: "a user posts a message that a rule flags", before: []step{unban, unmute, withRule}, cause: postFlagged},
	{Type: "channel.chat.hold", Does: "the first message of a new user is held", cause: hold, aboutNobody: true},
	{Type: "channel.chat.hold.update", Does: "the owner denies the first message of a new user", before: []step{hold}, cause: denyHeld, aboutNobody: true},
	{Type: "channel.shield.preset", Does: "the owner changes how slow the chat is under the shield", cause: changePreset, aboutNobody: true},
	{Type: "channel.shield.begin", Does: "the owner raises the shield for a minute", cause: raiseShield, aboutNobody: true},
	{Type: "channel.shield.end", Does: "the owner lowers the shield", before: []step{raiseShield}, cause: lowerShield, aboutNobody: true},
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

// The steps of the recipes.

// subscriptionPeriod is how long a subscription lasts.
const subscriptionPeriod = 30 * 24 * time.Hour

func ban(ctx context.Context, a *act) error {
	return call(a.asOwner(ctx), a.Moderation.BanUser, &moderatov1.BanUserRequest{ChannelId: a.channelID, BanUserId: a.userID})
}

func unban(ctx context.Context, a *act) error {
	err := call(a.asOwner(ctx), a.Moderation.RemoveBan, &moderatov1.RemoveBanRequest{ChannelId: a.channelID, BanUserId: a.userID})
	if moderato.ReasonOf(err) == moderatov1.Reason_REASON_NOT_BANNED {
		return nil
	}
	return err
}

func mute(ctx context.Context, a *act) error {
	return call(a.asOwner(ctx), a.Moderation.MuteUser, &moderatov1.MuteUserRequest{ChannelId: a.channelID, MutedUserId: a.userID})
}

// muteDuration is how long a mute takes that is to end by itself.
const muteDuration = time.Second

func muteBriefly(ctx context.Context, a *act) error {
	seconds := int64(muteDuration.Seconds())
	return call(a.asOwner(ctx), a.Moderation.MuteUser, &moderatov1.MuteUserRequest{
		ChannelId: a.channelID, MutedUserId: a.userID, DurationSeconds: &seconds,
	})
}

func unmute(ctx context.Context, a *act) error {
	err := call(a.asOwner(ctx), a.Moderation.RemoveMute, &moderatov1.RemoveMuteRequest{ChannelId: a.channelID, MutedUserId: a.userID})
	if moderato.ReasonOf(err) == moderatov1.Reason_REASON_NOT_MUTED {
		return nil
	}
	return err
}

func post(ctx context.Context, a *act) error {
	posted, err := a.Chat.PostMessage(ctx, &moderatov1.PostMessageRequest{
		ChannelId: a.channelID, SenderId: a.userID, Message: oneOf("Hello from "+a.userName, "What a run!", "Is this the any% category?"),
	})
	a.messageID = posted.GetMessageId()
	return err
}

func deleteMessage(ctx context.Context, a *act) error {
	return call(a.asOwner(ctx), a.Chat.DeleteMessage, &moderatov1.DeleteMessageRequest{ChannelId: a.channelID, MessageId: a.messageID})
}

func clearChat(ctx context.Context, a *act) error {
	return call(a.asOwner(ctx), a.Chat.ClearChat, &moderatov1.ClearChatRequest{ChannelId: a.channelID})
}

func pinMessage(ctx context.Context, a *act) error {
	return call(a.asOwner(ctx), a.Chat.PinMessage, &moderatov1.PinMessageRequest{ChannelId: a.channelID, MessageId: a.messageID})
}

// changeSettings requires that accounts are a second old, or no longer.
func changeSettings(ctx context.Context, a *act) error {
	present, err := a.ChatRules.GetChatSettings(ctx, &moderatov1.GetChatSettingsRequest{ChannelId: a.channelID})
	if err != nil {
		return err
	}
	seconds := int64(1)
	if present.GetMinAccountAgeSeconds() == seconds {
		seconds = 0
	}
	return call(a.asOwner(ctx), a.ChatRules.UpdateChatSettings, &moderatov1.UpdateChatSettingsRequest{ChannelId: a.channelID, MinAccountAgeSeconds: &seconds})
}

// demoRule is the name of the rule of changeRules.
const demoRule = "Caused by a trigger"

// changeRules deletes the rule with the name, or creates it.
func changeRules(ctx context.Context, a *act) error {
	ids, err := a.demoRules(ctx)
	if err != nil {
		return err
	}
	return a.changeDemoRules(ctx, ids)
}

// withRule creates the rule with the name, unless it exists.
func withRule(ctx context.Context, a *act) error {
	if ids, err := a.demoRules(ctx); err != nil || len(ids) > 0 {
		return err
	}
	return a.changeDemoRules(ctx, nil)
}

// postFlagged posts what the rule flags, and deletes the rule.
func postFlagged(ctx context.Context, a *act) error {
	err := call(ctx, a.Chat.PostMessage, &moderatov1.PostMessageRequest{ChannelId: a.channelID, SenderId: a.userID, Message: "This is a trigger of " + a.userName})
	return errors.Join(err, changeRules(ctx, a))
}

// demoRules returns the ids of the rules with the name.
func (a *act) demoRules(ctx context.Context) (ids []string, err error) {
	present, err := a.ChatRules.GetChatRules(a.asOwner(ctx), &moderatov1.GetChatRulesRequest{ChannelId: a.channelID})
	for _, r := range present.GetRules() {
		if r.GetName() == demoRule {
			ids = append(ids, r.GetRuleId())
		}
	}
	return ids, err
}

// changeDemoRules deletes rules, or creates the one with the name if there are none.
func (a *act) changeDemoRules(ctx context.Context, ids []string) error {
	change := &moderatov1.UpdateChatRulesRequest{ChannelId: a.channelID, Delete: ids}
	if len(ids) == 0 {
		change.Put = []*moderatov1.ChatRule{{Name: demoRule, Kind: "terms", Action: "flag", Terms: []string{"trigger"}}}
	}
	return call(a.asOwner(ctx), a.ChatRules.UpdateChatRules, change)
}

// hold has a new user post, while first messages are held.
func hold(ctx context.Context, a *act) error {
	before, err := a.ChatRules.GetChatSettings(ctx, &moderatov1.GetChatSettingsRequest{ChannelId: a.channelID})
	if err != nil {
		return err
	}
	userID := uuid.NewString()
	err = call(ctx, a.Platform.Directory.PutUser, &platformv1.PutUserRequest{User: &platformv1.UserRecord{
		Id: userID, Username: "test_newcomer_" + userID[:8], DisplayName: "Test Newcomer",
	}})
	if err == nil {
		err = a.setFirstMessage(ctx, "hold")
	}
	if err != nil {
		return err
	}
	a.messageID = uuid.NewString()
	err = call(ctx, a.Chat.PostMessage, &moderatov1.PostMessageRequest{ChannelId: a.channelID, SenderId: userID, Message: "Hello, I am new here", MessageId: a.messageID})
	if moderato.ReasonOf(err) == moderatov1.Reason_REASON_MESSAGE_HELD {
		err = nil
	}
	return errors.Join(err, a.setFirstMessage(ctx, before.GetFirstMessage()))
}

func (a *act) setFirstMessage(ctx context.Context, value string) error {
	return call(a.asOwner(ctx), a.ChatRules.UpdateChatSettings, &moderatov1.UpdateChatSettingsRequest{ChannelId: a.channelID, FirstMessage: &value})
}

func denyHeld(ctx context.Context, a *act) error {
	return call(a.asOwner(ctx), a.Held.DecideHeldMessages, &moderatov1.DecideHeldMessagesRequest{
		ChannelId: a.channelID, Decisions: []*moderatov1.HeldDecision{{MessageId: a.messageID, Decision: "deny"}},
	})
}

// changePreset requires a second or none between messages under the shield.
func changePreset(ctx context.Context, a *act) error {
	present, err := a.ChatRules.GetShield(a.asOwner(ctx), &moderatov1.GetShieldRequest{ChannelId: a.channelID})
	if err != nil {
		return err
	}
	preset := present.GetPreset()
	seconds := int64(1)
	if preset.GetSettings().GetSlowSeconds() == seconds {
		seconds = 0
	}
	preset.Settings.SlowSeconds = &seconds
	return call(a.asOwner(ctx), a.ChatRules.UpdateShieldPreset, &moderatov1.UpdateShieldPresetRequest{
		ChannelId: a.channelID, Settings: preset.GetSettings(), Rules: preset.GetRules(), AutoStart: preset.GetAutoStart(),
	})
}

func raiseShield(ctx context.Context, a *act) error {
	return call(a.asOwner(ctx), a.ChatRules.UpdateShield, &moderatov1.UpdateShieldRequest{ChannelId: a.channelID, Active: new(true), DurationSeconds: new(int64(60))})
}

func lowerShield(ctx context.Context, a *act) error {
	return call(a.asOwner(ctx), a.ChatRules.UpdateShield, &moderatov1.UpdateShieldRequest{ChannelId: a.channelID, Active: new(false)})
}

// updateInfo gives the channel a title that it does not have.
func updateInfo(ctx context.Context, a *act) error {
	found, err := a.Platform.Directory.GetChannel(ctx, &platformv1.GetChannelRequest{ChannelId: a.channelID})
	if err != nil {
		return err
	}
	title := "Any% until it works"
	if found.GetChannel().GetTitle() == title {
		title = "Practice before the marathon"
	}
	return call(a.asOwner(ctx), a.Channels.UpdateInfo, &moderatov1.UpdateInfoRequest{Title: title, Lang: found.GetChannel().GetLang()})
}

func follow(ctx context.Context, a *act) error {
	return call(ctx, a.Platform.Audience.Follow, &platformv1.FollowRequest{ChannelId: a.channelID, UserId: a.userID})
}

func unfollow(ctx context.Context, a *act) error {
	return call(ctx, a.Platform.Audience.Unfollow, &platformv1.UnfollowRequest{ChannelId: a.channelID, UserId: a.userID})
}

func subscribe(ctx context.Context, a *act) error {
	return call(ctx, a.Platform.Audience.PutSubscription, &platformv1.PutSubscriptionRequest{Subscription: &platformv1.SubscriptionRecord{
		ChannelId: a.channelID, UserId: a.userID, ExpiresAt: timestamppb.New(time.Now().Add(subscriptionPeriod)), StreakCount: 1,
	}})
}

func endSubscription(ctx context.Context, a *act) error {
	return call(ctx, a.Platform.Audience.EndSubscription, &platformv1.EndSubscriptionRequest{ChannelId: a.channelID, UserId: a.userID})
}

func gift(ctx context.Context, a *act) error {
	return call(ctx, a.Platform.Content.RecordGift, &platformv1.RecordGiftRequest{
		ChannelId: a.channelID, Key: uuid.NewString(), UserId: a.userID, Count: oneOf[int64](1, 5, 10),
	})
}

func thank(ctx context.Context, a *act) error {
	return call(ctx, a.Platform.Content.RecordThanks, &platformv1.RecordThanksRequest{
		ChannelId: a.channelID, Key: uuid.NewString(), UserId: a.userID, Amount: oneOf[int64](100, 500, 2000), Message: "Thanks for the stream!",
	})
}

func vote(ctx context.Context, a *act) error {
	_, week := time.Now().ISOWeek()
	return call(ctx, a.Platform.Content.RecordVote, &platformv1.RecordVoteRequest{
		ChannelId: a.channelID, Id: uuid.NewString(), UserId: a.userID, Epoch: int64(week), Amount: oneOf[int64](1, 2, 3),
	})
}

func raid(ctx context.Context, a *act) error {
	return call(ctx, a.Platform.Stream.Raid, &platformv1.RaidRequest{
		ChannelId: a.channelID, Key: uuid.NewString(), RaiderId: a.userID, ViewerCount: oneOf[int64](12, 48, 230),
	})
}

func startStream(ctx context.Context, a *act) error {
	return call(ctx, a.Platform.Stream.StartStream, &platformv1.StartStreamRequest{ChannelId: a.channelID, ViewerCount: 42})
}

func endStream(ctx context.Context, a *act) error {
	return call(ctx, a.Platform.Stream.EndStream, &platformv1.EndStreamRequest{ChannelId: a.channelID})
}
