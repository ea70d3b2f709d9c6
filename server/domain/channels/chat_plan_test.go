package channels_test

import (
	"log/slog"
	"regexp"
	"strings"
	"testing"

	"github.com/moderato-live/moderato/internal/uid"
	"github.com/moderato-live/moderato/server/domain/channels"
	"github.com/moderato-live/moderato/server/domain/chat"
	"github.com/moderato-live/moderato/test/servertest"
	"github.com/moderato-live/moderato/test/storetest"
)

// byKey matches a step that finds messages by their key.
var byKey = regexp.MustCompile(`(?m)^(SEARCH messages .*_autoindex_messages_1|table=messages type=range .*PRIMARY)`)

// TestChatQueryPlans explains the statements of a page of a channel's messages, and of those
// of one of its users, and of the next page: each reads its index in order. Then it explains the
// statements that find which messages are visible, and that remove old messages.
func TestChatQueryPlans(t *testing.T) {
	eachRecorded(t, func(t *testing.T, s *channels.Service, recorded *recorder) {
		const users = 50
		senders := make([]uid.ID, users)
		for n := range senders {
			senders[n] = uid.New()
		}
		others := make([]uid.ID, crowdChannels)
		for n := range others {
			others[n] = uid.New()
		}
		insertMany(t, s.Store, "messages (id, channel_id, user_id, generation, text, sent_at)", crowdRows, func(n int) []any {
			channel := owner
			if n >= crowdOwn {
				channel = others[n%crowdChannels]
			}
			return []any{uid.New(), channel, senders[n%users], 0, "hello", 1_700_000_000_000 + n}
		})
		servertest.AddChannels(t, s.Store, crowdChannels)
		if storetest.IsSQLite(s.Store) {
			exec(t, s.Store, "ANALYZE")
		} else {
			analyze(t, s.Store, "messages")
			analyze(t, s.Store, "channels")
		}
		for _, c := range []struct {
			what, index string
			page        func(after *chat.Place) ([]chat.Message, *chat.Place, error)
		}{
			{"messages", "message_channel_id_sent_at_id", func(after *chat.Place) ([]chat.Message, *chat.Place, error) {
				return chat.List(t.Context(), s.Store, owner, 1, after, 10)
			}},
			{"messages of a user", "message_user_id_channel_id_generation_sent_at_id", func(after *chat.Place) ([]chat.Message, *chat.Place, error) {
				return chat.ListOf(t.Context(), s.Store, owner, senders[7], after, 10)
			}},
		} {
			var after *chat.Place
			for page := 1; page <= 2; page++ {
				rows, next, err := c.page(after)
				if err != nil || len(rows) != 10 || next == nil {
					t.Fatalf("%s, page %d: got %d messages and %v", c.what, page, len(rows), err)
				}
				wantPlan(t, s.Store, c.what, recorded.of(t, "messages m"), "m", c.index)
				after = next
			}
		}
		latest, err := chat.LatestOf(t.Context(), s.Store, s.Store.Read, &chat.Standing{}, owner, senders[7], 1_700_000_000_000)
		if err != nil || latest == nil {
			t.Fatalf("the latest message of a user: got %v, %v", latest, err)
		}
		statement := recorded.of(t, "messages d")
		for _, table := range []string{"m", "d"} {
			wantPlan(t, s.Store, "the latest message of a user", statement, table, "message_user_id_channel_id_generation_sent_at_id")
		}
		page, _, err := chat.List(t.Context(), s.Store, owner, 1, nil, 100)
		if err != nil {
			t.Fatal(err)
		}
		ids := make([]uid.ID, len(page))
		for n, m := range page {
			ids[n] = m.ID
		}
		if _, err := chat.Visible(t.Context(), s.Store, ids); err != nil {
			t.Fatal(err)
		}
		visible := recorded.of(t, "messages m")
		old := chat.NewRetention(s.Store, slog.New(slog.DiscardHandler), chat.MinRetention)
		if more, err := old.Remove(t.Context()); !more || err != nil {
			t.Fatalf("no old messages were removed: %v", err)
		}
		key := func(table string) string {
			if storetest.IsSQLite(s.Store) {
				return "sqlite_autoindex_" + table + "_1"
			}
			return "PRIMARY"
		}
		found := recorded.of(t, "messages m")
		for _, q := range recorded.Executed() {
			if !strings.Contains(q.Text, "FROM messages WHERE id IN") {
				continue
			}
			if plan := storetest.Explain(t, s.Store, q); !byKey.MatchString(plan) {
				t.Errorf("%s does not find messages by their key:\n%s", q.Text, plan)
			}
		}
		// The next run continues in the middle of the channels.
		exec(t, s.Store, "UPDATE retentions SET round_after = (SELECT id FROM channels ORDER BY id LIMIT 1 OFFSET 20) WHERE id = 'messages'")
		if _, err := old.Remove(t.Context()); err != nil {
			t.Fatal(err)
		}
		visited := recorded.of(t, "channels c")
		wantPlan(t, s.Store, "visible messages", visible, "m", key("messages"))
		wantPlan(t, s.Store, "old messages", found, "m", "message_channel_id_sent_at_id")
		wantPlan(t, s.Store, "channels with old messages", visited, "c", key("channels"))
		wantPlan(t, s.Store, "the oldest message of channels", visited, "m", "message_channel_id_sent_at_id")
	})
}
