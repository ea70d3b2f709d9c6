package servertest

import (
	"context"
	"testing"

	"github.com/moderato-live/moderato/internal/uid"
	"github.com/moderato-live/moderato/server/store"
	"github.com/moderato-live/moderato/server/store/counts"
)

// CheckCounters compares every counter of the channels, and the number of channels by
// category, with the rows that they count.
func CheckCounters(t testing.TB, s *store.Store, when string) {
	t.Helper()
	for counter, count := range map[string]string{
		"follower_count":       "SELECT COUNT(*) FROM follows f WHERE f.channel_id = c.id",
		"subscriber_count":     "SELECT COUNT(*) FROM subscriptions s WHERE s.channel_id = c.id AND s.is_active",
		"clip_count":           "SELECT COUNT(*) FROM clips x WHERE x.channel_id = c.id",
		"vod_count":            "SELECT COUNT(*) FROM vods v WHERE v.channel_id = c.id",
		"new_follower_count":   "SELECT COUNT(*) FROM follows f WHERE f.channel_id = c.id AND f.followed_at >= c.live_started_at",
		"new_subscriber_count": "SELECT COUNT(*) FROM subscriptions s WHERE s.channel_id = c.id AND s.is_active AND s.subscribed_at >= c.live_started_at",
	} {
		err := store.QueryEach(context.Background(), s.Read, "SELECT c.id, c."+counter+", ("+count+") FROM channels c", nil,
			func(scan func(...any) error) error {
				var id uid.ID
				var kept, counted int64
				err := scan(&id, &kept, &counted)
				if kept != counted {
					t.Errorf("%s: %s of %s is %d, and there are %d", when, counter, id, kept, counted)
				}
				return err
			})
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, category := range []int64{0, 7} {
		for _, liveOnly := range []bool{false, true} {
			var counted int64
			query := "SELECT COUNT(*) FROM channels WHERE category_id = ?"
			if liveOnly {
				query += " AND is_live"
			}
			if err := store.QueryRow(context.Background(), s.Read, query, []any{category}, &counted); err != nil {
				t.Fatal(err)
			}
			kept, err := counts.Read(context.Background(), s, []int64{category}, liveOnly)
			if err != nil || kept != counted {
				t.Errorf("%s: category %d, live only %t: %d (%v), and there are %d", when, category, liveOnly, kept, err, counted)
			}
		}
	}
}
