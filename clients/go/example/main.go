// Command example moderates a channel of the demo in twelve steps.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"log"
	"net"
	"net/http"
	"os"
	"time"

	"golang.org/x/oauth2"

	moderato "github.com/moderato-live/moderato/clients/go"
	moderatov1 "github.com/moderato-live/moderato/gen/moderato/v1"
)

func main() {
	if err := run(context.Background(), "http://127.0.0.1:8080", "127.0.0.1:9090", os.Stdout); err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context, rest, grpc string, out io.Writer) error {
	// 1. Connect, and sign in with the device flow.
	conf := &oauth2.Config{
		ClientID: "demo-dashboard", Endpoint: moderato.Endpoint(rest),
		Scopes: []string{"users.read", "users.bot", "channel.moderate", "offline.access"},
	}
	device, err := conf.DeviceAuth(ctx)
	if err != nil {
		return err
	}
	fmt.Fprintln(out, "To sign in, open", device.VerificationURIComplete)
	token, err := conf.DeviceAccessToken(ctx, device)
	if err != nil {
		return err
	}
	client, err := moderato.New(moderato.Config{
		Address: grpc, Plaintext: true, ClientID: conf.ClientID, Tokens: moderato.TokenSource(ctx, conf, token),
	})
	if err != nil {
		return err
	}
	defer client.Close()

	// 2. Read the own profile.
	profile, err := client.Users.GetProfile(ctx, &moderatov1.GetProfileRequest{})
	if err != nil {
		return err
	}
	channel := profile.GetChannelId()
	fmt.Fprintln(out, "Signed in as", profile.GetDisplayName())

	// 3. List all followers, page by page.
	followers := 0
	for _, err := range moderato.Rows(ctx, client.Channels.ListFollowers, &moderatov1.ListFollowersRequest{ChannelId: channel}) {
		if err != nil {
			return err
		}
		followers++
	}
	fmt.Fprintln(out, "Followers:", followers)

	// 4. Open the event stream. Its first message says that it is open.
	next, stop := iter.Pull2(client.WatchEvents(ctx, &moderatov1.WatchEventsRequest{ChannelId: channel}))
	defer stop()
	if _, err, _ := next(); err != nil {
		return err
	}

	// 5. Post a chat message.
	if _, err := client.Chat.PostMessage(ctx, &moderatov1.PostMessageRequest{ChannelId: channel, Message: "Hello from Go!"}); err != nil {
		return err
	}

	// 6. Ban a user by username. If the user is banned already, a ban changes nothing and
	// causes no event. So lift the earlier one first.
	_, err = client.Moderation.RemoveBan(ctx, &moderatov1.RemoveBanRequest{ChannelId: channel, BanUsername: "lootgoblin77"})
	if err != nil && moderato.ReasonOf(err) != moderatov1.Reason_REASON_NOT_BANNED {
		return err
	}
	ban, err := client.Moderation.BanUser(ctx, &moderatov1.BanUserRequest{ChannelId: channel, BanUsername: "lootgoblin77"})
	if err != nil {
		return err
	}
	fmt.Fprintln(out, "Banned", ban.GetBannedUserDisplayName())

	// 7. Receive the ban from the stream of step 4, and store its cursor.
	banned, err := wait(next, "channel.ban")
	if err != nil {
		return err
	}
	stop()
	cursor := banned.GetCursor()
	fmt.Fprintln(out, "Event", banned.GetEvent().GetMetadata().GetSubscriptionType(), banned.GetEvent().GetBan().GetBannedUserDisplayName())

	// 8. Handle a typed error: a user who is muted cannot be muted again.
	mute := &moderatov1.MuteUserRequest{ChannelId: channel, MutedUserId: ban.GetBannedUserId()}
	_, err = client.Moderation.MuteUser(ctx, mute)
	if err == nil {
		_, err = client.Moderation.MuteUser(ctx, mute)
	}
	var refused *moderato.Error
	if !errors.As(err, &refused) || refused.Reason != moderatov1.Reason_REASON_MUTE_ACTIVE {
		return fmt.Errorf("the second mute: %w", err)
	}
	if until, ok := refused.MuteExpiresAt(); ok {
		fmt.Fprintln(out, "Muted until", until)
	}

	// 9. Lift the ban.
	if _, err := client.Moderation.RemoveBan(ctx, &moderatov1.RemoveBanRequest{ChannelId: channel, BanUserId: ban.GetBannedUserId()}); err != nil {
		return err
	}

	// 10. Resume the stream from the stored cursor, and see that the ban was lifted.
	next, stop = iter.Pull2(client.WatchEvents(ctx, &moderatov1.WatchEventsRequest{ChannelId: channel, Cursor: cursor}))
	defer stop()
	unbanned, err := wait(next, "channel.unban")
	if err != nil {
		return err
	}
	fmt.Fprintln(out, "Event", unbanned.GetEvent().GetMetadata().GetSubscriptionType())

	// 11. Create a webhook, verify a signed delivery, and delete the webhook.
	if err := receive(ctx, client, channel, out); err != nil {
		return err
	}

	// 12. Refresh the token, and sign out. That ends the tokens of this sign-in, and no others.
	// Users.RevokeGrant would end every token that the client has for the user, also those that
	// make run printed.
	refreshed, err := moderato.TokenSource(ctx, conf, &oauth2.Token{RefreshToken: token.RefreshToken}).Token()
	if err != nil {
		return err
	}
	if err := moderato.SignOut(ctx, conf, refreshed); err != nil {
		return err
	}
	fmt.Fprintln(out, "Signed out")
	return nil
}

// wait reads messages of a stream until it finds an event of a type.
func wait(next func() (*moderatov1.WatchEventsResponse, error, bool), eventType string) (*moderatov1.WatchEventsResponse, error) {
	for {
		message, err, ok := next()
		if err != nil || !ok {
			return nil, fmt.Errorf("no %s: %w", eventType, err)
		}
		if message.GetEvent().GetMetadata().GetSubscriptionType() == eventType {
			return message, nil
		}
	}
}

// receive creates a webhook, changes the channel, and receives the event of the change.
func receive(ctx context.Context, client *moderato.Client, channel string, out io.Writer) error {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	webhook, err := client.Webhooks.CreateWebhook(ctx, &moderatov1.CreateWebhookRequest{
		ChannelId: channel, Url: "http://" + listener.Addr().String(), Type: []string{"channel.update"},
	})
	if err != nil {
		return err
	}
	receiver, err := moderato.NewReceiver(webhook.GetSecret())
	if err != nil {
		return err
	}
	deliveries := make(chan *moderato.Delivery, 1)
	server := &http.Server{Handler: receiver.Handler(func(_ *http.Request, d *moderato.Delivery) error {
		deliveries <- d
		return nil
	})}
	go server.Serve(listener)
	defer server.Close()
	title := "Moderated with Go at " + time.Now().Format(time.TimeOnly) // a title that the channel does not have
	if _, err := client.Channels.UpdateInfo(ctx, &moderatov1.UpdateInfoRequest{ChannelId: channel, Title: title, Lang: "en"}); err != nil {
		return err
	}
	select {
	case d := <-deliveries:
		fmt.Fprintln(out, "Delivery", d.Event.GetMetadata().GetSubscriptionType(), d.Event.GetUpdate().GetTitle())
	case <-ctx.Done():
		return ctx.Err()
	}
	_, err = client.Webhooks.DeleteWebhook(ctx, &moderatov1.DeleteWebhookRequest{WebhookId: webhook.GetId()})
	return err
}
