// Package crowd has the viewers of a demo chat, follow and subscribe, so that a console has
// something to show. It calls the server as a chat server and a platform's backends do.
package crowd

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"google.golang.org/protobuf/types/known/timestamppb"

	moderato "github.com/moderato-live/moderato/clients/go"
	platformv1 "github.com/moderato-live/moderato/gen/moderato/platform/v1"
	moderatov1 "github.com/moderato-live/moderato/gen/moderato/v1"
	"github.com/moderato-live/moderato/server/demo"
)

const (
	callTimeout = 5 * time.Second
	// subscribed is how long a subscription lasts.
	subscribed = 30 * 24 * time.Hour
)

// Run has viewers act until ctx ends. What the server refuses does not happen: a viewer who is
// banned or muted stays silent, and another one speaks.
func Run(ctx context.Context, client *moderato.Client, seed uint64) {
	c, channel := demo.NewCrowd(seed), demo.People().Owner.ID.String()
	for {
		a := c.Next()
		select {
		case <-ctx.Done():
			return
		case <-time.After(a.Pause):
		}
		if err := do(ctx, client, channel, a); err != nil {
			c.Forget(a.MessageID)
		}
	}
}

func do(ctx context.Context, client *moderato.Client, channel string, a demo.Act) error {
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	if a.Viewers > 0 {
		_, err := client.Platform.Stream.UpdateStream(ctx, &platformv1.UpdateStreamRequest{ChannelId: channel, ViewerCount: &a.Viewers})
		return err
	}
	user := a.User.ID.String()
	if a.IsNew {
		record := &platformv1.UserRecord{Id: user, Username: a.User.Username, DisplayName: a.User.DisplayName}
		if _, err := client.Platform.Directory.PutUser(ctx, &platformv1.PutUserRequest{User: record}); err != nil {
			return err
		}
	}
	var err error
	if a.Follows {
		_, err = client.Platform.Audience.Follow(ctx, &platformv1.FollowRequest{ChannelId: channel, UserId: user})
	}
	if a.Subscribes {
		now := time.Now()
		_, failed := client.Platform.Audience.PutSubscription(ctx, &platformv1.PutSubscriptionRequest{Subscription: &platformv1.SubscriptionRecord{
			ChannelId: channel, UserId: user, SubscribedAt: timestamppb.New(now), ExpiresAt: timestamppb.New(now.Add(subscribed)), StreakCount: 1,
		}})
		err = errors.Join(err, failed)
	}
	if a.Text == "" || err != nil {
		return err
	}
	post := &moderatov1.PostMessageRequest{ChannelId: channel, SenderId: user, Message: a.Text, MessageId: a.MessageID.String()}
	if !a.ReplyTo.IsZero() {
		post.ReplyToMessageId = a.ReplyTo.String()
	}
	_, err = client.Chat.PostMessage(ctx, post)
	return err
}

// Quiet returns a handler of logs that leaves out the calls of the viewers, unless the server
// fails: there is one every two seconds, on the terminal of who tries something else.
func Quiet(next slog.Handler) slog.Handler { return quiet{next} }

type quiet struct{ slog.Handler }

// Handle implements slog.Handler.
func (q quiet) Handle(ctx context.Context, r slog.Record) error {
	isViewers := false
	if r.Level < slog.LevelWarn {
		r.Attrs(func(a slog.Attr) bool {
			isViewers = a.Key == "client_id" && a.Value.String() == demo.ViewersClient
			return !isViewers
		})
	}
	if isViewers {
		return nil
	}
	return q.Handler.Handle(ctx, r)
}

// WithAttrs implements slog.Handler.
func (q quiet) WithAttrs(attrs []slog.Attr) slog.Handler { return quiet{q.Handler.WithAttrs(attrs)} }

// WithGroup implements slog.Handler.
func (q quiet) WithGroup(name string) slog.Handler { return quiet{q.Handler.WithGroup(name)} }
