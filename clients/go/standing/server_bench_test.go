package standing_test

import (
	"context"
	"testing"
	"time"

	moderato "github.com/moderato-live/moderato/clients/go"
	"github.com/moderato-live/moderato/clients/go/standing"
	"github.com/moderato-live/moderato/test/servertest"
	"github.com/moderato-live/moderato/test/storetest"
)

// BenchmarkServerSnapshot receives a snapshot of 1 million bans from a server in this process
// over loopback.
func BenchmarkServerSnapshot(b *testing.B) {
	const bans = 1_000_000
	s := servertest.Start(b, servertest.Config(storetest.SQLite(b)))
	s.Load(b, servertest.World()...)
	_, err := s.Store.DB().ExecContext(b.Context(), `
		INSERT INTO bans (channel_id, user_id, moderator_id, banned_at, reason)
		WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?)
		SELECT ?, randomblob(16), ?, 1700000000000 + i, '' FROM n`, bans, servertest.Owner, servertest.Owner)
	if err != nil {
		b.Fatal(err)
	}
	client, err := moderato.New(moderato.Config{
		Address: s.GRPCAddr, Plaintext: true, ClientID: servertest.ChatServer, Tokens: moderato.StaticToken(s.AsService(b).Token),
	})
	if err != nil {
		b.Fatal(err)
	}
	defer func() { _ = client.Close() }()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	for b.Loop() {
		c, err := standing.New(ctx, client.Conn(), standing.Options{Name: "chat-1", AllChannels: true})
		if err != nil {
			b.Fatal(err)
		}
		if err := c.Wait(ctx); err != nil {
			b.Fatal(err)
		}
		if got := c.Stats().Entries; got < bans {
			b.Fatalf("the memory has %d entries", got)
		}
		_ = c.Close()
	}
}
