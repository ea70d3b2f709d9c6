package channels_test

import (
	"testing"
	"time"

	moderatov1 "github.com/moderato-live/moderato/gen/moderato/v1"
	"github.com/moderato-live/moderato/internal/uid"
	"github.com/moderato-live/moderato/server/domain/channels"
	"github.com/moderato-live/moderato/server/domain/moderation"
	"github.com/moderato-live/moderato/test/storetest"
)

// explainSweeps explains the statements of a preview: it reads messages and follows along
// their indexes from the start of the window, and what it must know about users by keys.
func explainSweeps(t *testing.T, s *channels.Service, recorded *recorder) {
	t.Helper()
	now := time.Now().UnixMilli()
	senders := make([]uid.ID, 50)
	for n := range senders {
		senders[n] = uid.New()
	}
	insertMany(t, s.Store, "users (id, username, slug, display_name, avatar_url, created_at)", len(senders), func(n int) []any {
		return []any{senders[n], senders[n].String(), senders[n].String(), "Sender", "", 1}
	})
	insertMany(t, s.Store, "messages (id, channel_id, user_id, generation, text, sent_at)", crowdRows, func(n int) []any {
		channel := owner
		if n >= crowdOwn {
			channel = senders[n%len(senders)]
		}
		return []any{uid.New(), channel, senders[n%len(senders)], 0, "hello", now - int64(n)}
	})
	insertMany(t, s.Store, "follows (channel_id, user_id, followed_at, is_notification_enabled)", len(senders), func(n int) []any {
		return []any{owner, senders[n], now, false}
	})
	key := func(string) string { return "PRIMARY" }
	if storetest.IsSQLite(s.Store) {
		exec(t, s.Store, "ANALYZE")
		key = func(table string) string { return "sqlite_autoindex_" + table + "_1" }
	} else {
		for _, table := range []string{"messages", "follows", "users"} {
			analyze(t, s.Store, table)
		}
	}
	first := &moderatov1.PreviewSweepRequest{FirstMessageWithinSeconds: new(int64(60))}
	service := &moderation.Service{Store: s.Store, Sweeps: moderation.NewSweeps()}
	for _, c := range []struct {
		what, from, table, index string
		req                      *moderatov1.PreviewSweepRequest
	}{
		{"messages", "messages m", "m", "message_channel_id_sent_at_id", &moderatov1.PreviewSweepRequest{Phrase: new("nobody says this")}},
		{"users", "users u", "u", key("users"), first},
		{"roles of users", "users u", "r", "role_channel_id_user_id_role", first},
		{"follows of users", "users u", "f", key("follows"), first},
		{"earlier messages of users", "users u", "m", "message_user_id_channel_id_generation_sent_at_id", first},
		{"follows", "follows f", "f", "follow_channel_id_followed_at_user_id", &moderatov1.PreviewSweepRequest{FollowedWithinSeconds: new(int64(60))}},
	} {
		c.req.ChannelId, c.req.WithinSeconds = owner.String(), new(int64(60))
		// The caller has no token, so nothing is stored.
		if _, err := service.PreviewSweep(as(owner), c.req); err == nil {
			t.Fatal("a preview without a token succeeded")
		}
		wantPlan(t, s.Store, c.what, recorded.of(t, c.from), c.table, c.index)
	}
}
