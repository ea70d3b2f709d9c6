package moderato_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"net"
	"net/http"

	"google.golang.org/protobuf/proto"

	moderato "github.com/moderato-live/moderato/clients/go"
	moderatov1 "github.com/moderato-live/moderato/gen/moderato/v1"
)

func ExampleNew() {
	client, err := moderato.New(moderato.Config{
		Address:   server.GRPCAddr,
		Plaintext: true, // the server is on this host
		ClientID:  "dashboard",
		Tokens:    moderato.StaticToken(ownerToken),
	})
	if err != nil {
		log.Fatal(err)
	}
	defer func() { _ = client.Close() }()
	profile, err := client.Users.GetProfile(context.Background(), &moderatov1.GetProfileRequest{})
	if err != nil {
		log.Panic(err)
	}
	fmt.Println(profile.GetDisplayName())
	// Output: Inês Carvalho
}

func ExampleRows() {
	ctx := context.Background()
	request := &moderatov1.ListFollowersRequest{Limit: proto.Int32(2)} // the size of a page
	for follower, err := range moderato.Rows(ctx, client.Channels.ListFollowers, request) {
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(follower.GetDisplayName())
	}
	// Output:
	// Loot "Goblin" 77
	// Amara Okafor
	// Tomasz Wrona
}

func ExampleWithIdempotencyKey() {
	ctx := context.Background()
	key := "7d1f6a52-5f0c-4b8e-9a60-0f3c2b1d9e77" // stored before the first call
	post := &moderatov1.PostMessageRequest{ChannelId: owner, Message: "We are live!"}
	first, err := client.Chat.PostMessage(ctx, post, moderato.WithIdempotencyKey(key))
	if err != nil {
		log.Panic(err)
	}
	again, err := client.Chat.PostMessage(ctx, post, moderato.WithIdempotencyKey(key))
	if err != nil {
		log.Panic(err)
	}
	fmt.Println(first.GetMessageId() == again.GetMessageId())

	post.Message = "Another message"
	_, err = client.Chat.PostMessage(ctx, post, moderato.WithIdempotencyKey(key))
	fmt.Println(moderato.ReasonOf(err))
	// Output:
	// true
	// REASON_IDEMPOTENCY_KEY_REUSED
}

func ExampleError() {
	ctx := context.Background()
	mute := &moderatov1.MuteUserRequest{ChannelId: owner, MutedUserId: viewer}
	_, _ = client.Moderation.MuteUser(ctx, mute)
	_, err := client.Moderation.MuteUser(ctx, mute)
	var refused *moderato.Error
	if errors.As(err, &refused) && refused.Reason == moderatov1.Reason_REASON_MUTE_ACTIVE {
		_, known := refused.MuteExpiresAt()
		fmt.Println(refused.Message, known)
	}
	_, err = client.Moderation.BanUser(ctx, &moderatov1.BanUserRequest{})
	if errors.As(err, &refused) {
		fmt.Println(refused.Violations[0].Field, refused.Violations[0].Description)
	}
	// Output:
	// The user is muted already until muteExpiresAt. Send replace to replace the mute, or end it with DELETE /v1/moderation/mute. true
	// channelId is required
}

func ExampleClient_WatchEvents() {
	ctx := context.Background()
	request := &moderatov1.WatchEventsRequest{ChannelId: owner, Type: []string{"channel.vip.add"}}
	for message, err := range client.WatchEvents(ctx, request) {
		if err != nil {
			log.Fatal(err)
		}
		if message.GetEvent() == nil { // the stream is open
			addVIP(ctx)
			continue
		}
		fmt.Println(message.GetEvent().GetMetadata().GetSubscriptionType(), message.GetEvent().GetRole().GetRole())
		break // a program that resumes later stores message.GetCursor()
	}
	// Output: channel.vip.add vip
}

func ExampleReceiver_Handler() {
	ctx := context.Background()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		log.Fatal(err)
	}
	webhook, err := client.Webhooks.CreateWebhook(ctx, &moderatov1.CreateWebhookRequest{
		ChannelId: owner, Url: "http://" + listener.Addr().String(), Type: []string{"channel.update"},
	})
	if err != nil {
		log.Fatal(err)
	}
	receiver, err := moderato.NewReceiver(webhook.GetSecret())
	if err != nil {
		log.Fatal(err)
	}
	received := make(chan *moderato.Delivery, 1)
	go func() {
		_ = http.Serve(listener, receiver.Handler(func(_ *http.Request, d *moderato.Delivery) error {
			received <- d
			return nil
		}))
	}()
	_, err = client.Channels.UpdateInfo(ctx, &moderatov1.UpdateInfoRequest{ChannelId: owner, Title: "Pixel art", Lang: "en"})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println((<-received).Event.GetUpdate().GetTitle())
	// Output: Pixel art
}
