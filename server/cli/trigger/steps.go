package trigger

import (
	"context"
	"math/rand/v2"
	"time"

	"github.com/google/uuid"
	"google.golang.org/grpc"
	"google.golang.org/protobuf/types/known/timestamppb"

	moderato "github.com/moderato-live/moderato/clients/go"
	platformv1 "github.com/moderato-live/moderato/gen/moderato/platform/v1"
	moderatov1 "github.com/moderato-live/moderato/gen/moderato/v1"
)

// subscriptionPeriod is how long a subscription lasts.
const subscriptionPeriod = 30 * 24 * time.Hour

// act is the cause of one event.
type act struct {
	*moderato.Client

	channelID        string
	userID, userName string
	// messageID is the chat message that was posted last.
	messageID string
}

// step is a call of an operation.
type step func(context.Context, *act) error

// perform performs the steps of a recipe.
func (a *act) perform(ctx context.Context, r Recipe) error {
	for _, s := range r.before {
		if err := s(ctx, a); err != nil {
			return err
		}
	}
	return r.cause(ctx, a)
}

// asOwner returns the context of calls in the name of the channel's owner.
func (a *act) asOwner(ctx context.Context) context.Context {
	return moderato.ActingAs(ctx, a.channelID)
}

// call calls an operation whose response does not matter.
func call[Request, Response any](
	ctx context.Context, operation func(context.Context, Request, ...grpc.CallOption) (Response, error), request Request,
) error {
	_, err := operation(ctx, request)
	return err
}

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

// oneOf returns one of some values.
func oneOf[T any](values ...T) T {
	return values[rand.IntN(len(values))]
}
