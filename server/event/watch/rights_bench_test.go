package watch_test

import (
	"context"
	"log/slog"
	"strings"
	"testing"

	"github.com/moderato-live/moderato/ent"
	"github.com/moderato-live/moderato/internal/uid"
	"github.com/moderato-live/moderato/server/event/watch"
	"github.com/moderato-live/moderato/server/rpc/authn"
	"github.com/moderato-live/moderato/server/store"
	"github.com/moderato-live/moderato/test/servertest"
	"github.com/moderato-live/moderato/test/storetest"
)

// BenchmarkRights checks the rights of 2,000 listeners of as many users, each of
// whom moderates 300 channels.
func BenchmarkRights(b *testing.B) {
	const listeners, roles = 2000, 300
	storetest.EachBench(b, func(b *testing.B, url store.URL) {
		ctx := b.Context()
		if err := store.Migrate(ctx, url, slog.New(slog.DiscardHandler)); err != nil {
			b.Fatal(err)
		}
		s, err := store.Open(ctx, url)
		if err != nil {
			b.Fatal(err)
		}
		b.Cleanup(s.Close)
		channels, users := servertest.AddChannels(b, s, roles), servertest.AddUsers(b, s, listeners)
		for _, user := range users {
			addModerator(b, s, channels, user)
		}
		rights := &watch.Rights{Store: s, Log: slog.New(slog.DiscardHandler)}
		for _, user := range users {
			rights.Add(&authn.Caller{Kind: authn.Service, UserID: user})
		}
		for range 100 { // each check reads the channels of some listeners
			if err = rights.Check(ctx); err == nil {
				break
			}
		}
		b.ReportAllocs()
		for b.Loop() {
			if err := rights.Check(ctx); err != nil {
				b.Fatal(err)
			}
		}
	})
}

// addModerator gives a user the moderator role in channels.
func addModerator(tb testing.TB, s *store.Store, channels []uid.ID, user uid.ID) {
	tb.Helper()
	var args []any
	for _, channel := range channels {
		args = append(args, uid.New(), channel, user)
	}
	err := s.Write(tb.Context(), func(ctx context.Context, tx *ent.Tx, _ store.Attempt) error {
		_, err := tx.ExecContext(ctx, "INSERT INTO roles (id, channel_id, user_id, role, created_at) VALUES "+
			strings.TrimPrefix(strings.Repeat(", (?, ?, ?, 'moderator', 1)", len(channels)), ", "), args...)
		return err
	})
	if err != nil {
		tb.Fatal(err)
	}
}

// BenchmarkPublicRights checks the rights of 10,000 overlays of one channel: half of them
// apps, and half of them users who named a public type.
func BenchmarkPublicRights(b *testing.B) {
	const overlays = 10_000
	storetest.EachBench(b, func(b *testing.B, url store.URL) {
		ctx := b.Context()
		if err := store.Migrate(ctx, url, slog.New(slog.DiscardHandler)); err != nil {
			b.Fatal(err)
		}
		s, err := store.Open(ctx, url)
		if err != nil {
			b.Fatal(err)
		}
		b.Cleanup(s.Close)
		channel := servertest.AddChannels(b, s, 1)[0]
		rights := &watch.Rights{Store: s, Log: slog.New(slog.DiscardHandler)}
		for range overlays / 2 {
			rights.AddNamed(authn.NewCaller(authn.App, uid.ID{}, authn.UsersRead), channel)
			rights.AddNamed(authn.NewCaller(authn.User, uid.New(), authn.UsersRead), channel, "channel.update")
		}
		b.ReportAllocs()
		for b.Loop() {
			if err := rights.Check(ctx); err != nil {
				b.Fatal(err)
			}
		}
	})
}
