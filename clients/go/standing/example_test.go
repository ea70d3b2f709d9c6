package standing_test

import (
	"context"
	"fmt"
	"log"
	"time"

	moderato "github.com/moderato-live/moderato/clients/go"
	"github.com/moderato-live/moderato/clients/go/standing"
)

func Example() {
	client, err := moderato.New(moderato.Config{
		Address: address, Plaintext: true, ClientID: "chat-server", Tokens: moderato.StaticToken(serviceToken),
	})
	if err != nil {
		log.Fatal(err)
	}
	defer func() { _ = client.Close() }()
	standings, err := standing.New(context.Background(), client.Conn(), standing.Options{
		Name:         "chat-1", // each chat server has its own
		AllChannels:  true,
		OnFailure:    standing.AskServer, // when the memory is older than 5 s
		MaxStaleness: 5 * time.Second,
	})
	if err != nil {
		log.Panic(err)
	}
	defer func() { _ = standings.Close() }()
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	if err := standings.Wait(ctx); err != nil {
		log.Panic(err)
	}

	switch s := standings.Check(channel, user); s.Verdict {
	case standing.Allowed:
		fmt.Println("show the message, then store it with PostMessage")
	case standing.PostFirst:
		fmt.Println("show the message when PostMessage has accepted it")
	case standing.Muted:
		until, _ := s.MuteExpiresAt()
		fmt.Println("the user is muted until", until)
	default:
		fmt.Println("refuse the message:", s.Verdict)
	}
	// Output: refuse the message: Banned
}

func ExampleClient_Stats() {
	fmt.Println("entries:", standings.Stats().Entries)
	fmt.Println("up to date:", standings.Staleness() < 10*time.Second)
	// Output:
	// entries: 3
	// up to date: true
}
