package jobs_test

import (
	"context"
	"testing"

	"github.com/moderato-live/moderato/ent"
	"github.com/moderato-live/moderato/internal/instant"
	"github.com/moderato-live/moderato/internal/uid"
	"github.com/moderato-live/moderato/server/store"
	"github.com/moderato-live/moderato/server/store/jobs"
	"github.com/moderato-live/moderato/test/storetest"
)

// A channel with many expired rows must not hide the rows of other channels.
func TestExpiredRowsOfEveryChannelAreFound(t *testing.T) {
	storetest.EachKind(t, func(t *testing.T, url store.URL) {
		ctx := context.Background()
		storetest.Migrate(t, url)
		s, err := store.Open(ctx, url)
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		raided, also, quiet := uid.New(), uid.New(), uid.New()
		for _, c := range []struct {
			channel   uid.ID
			n         int
			expiresAt instant.Instant
		}{{raided, 1200, 1}, {also, 1200, 2}, {quiet, 1, 3}} {
			mute(t, s, c.channel, c.n, c.expiresAt)
		}
		lapsed, err := jobs.FindLapsed(ctx, s, "mutes", "expires_at", "1 = 1", 10_000)
		if err != nil || len(lapsed[raided]) < 20 || len(lapsed[also]) < 20 || len(lapsed[quiet]) != 1 {
			t.Errorf("found %d, %d and %d rows, %v; want some of each channel", len(lapsed[raided]), len(lapsed[also]), len(lapsed[quiet]), err)
		}
		if lapsed, err = jobs.FindLapsed(ctx, s, "mutes", "expires_at", "1 = 1", 0); err != nil || len(lapsed) != 0 {
			t.Errorf("before their time: found %v, %v", lapsed, err)
		}
	})
}

func mute(t *testing.T, s *store.Store, channel uid.ID, n int, expiresAt instant.Instant) {
	t.Helper()
	err := s.Write(t.Context(), func(ctx context.Context, tx *ent.Tx, _ store.Attempt) error {
		var rows []*ent.MuteCreate
		for range n {
			rows = append(rows, tx.Mute.Create().SetChannelID(channel).SetUserID(uid.New()).SetModeratorID(channel).
				SetMutedAt(1).SetExpiresAt(expiresAt))
		}
		return tx.Mute.CreateBulk(rows...).Exec(ctx)
	})
	if err != nil {
		t.Fatal(err)
	}
}
