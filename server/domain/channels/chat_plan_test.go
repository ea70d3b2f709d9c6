package channels_test

import (
	"testing"

	"github.com/moderato-live/moderato/internal/uid"
	"github.com/moderato-live/moderato/server/domain/channels"
	"github.com/moderato-live/moderato/server/domain/chat"
	"github.com/moderato-live/moderato/test/storetest"
)

// TestChatQueryPlans explains the statements of a page of a channel's messages, and of those
// of one of its users, and of the next page: each reads its index in order.
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
		if storetest.IsSQLite(s.Store) {
			exec(t, s.Store, "ANALYZE")
		} else {
			analyze(t, s.Store, "messages")
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
	})
}
