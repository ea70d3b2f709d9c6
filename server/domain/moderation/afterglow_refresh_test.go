package moderation_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/moderato-live/moderato/ent"
	"github.com/moderato-live/moderato/internal/digest"
	"github.com/moderato-live/moderato/internal/uid"
	"github.com/moderato-live/moderato/server/domain/chat"
	"github.com/moderato-live/moderato/server/domain/moderation"
	"github.com/moderato-live/moderato/server/store"
	"github.com/moderato-live/moderato/test/servertest"
	"github.com/moderato-live/moderato/test/storetest"
)

// glow stores a sweep with an afterglow.
func glow(t *testing.T, s *store.Store, channelID uid.ID, pattern string, lasts time.Duration) {
	t.Helper()
	now, err := s.Clock.Now(t.Context(), s.Read)
	if err != nil {
		t.Fatal(err)
	}
	until := now.Add(lasts)
	err = s.Write(t.Context(), func(ctx context.Context, tx *ent.Tx, _ store.Attempt) error {
		return tx.Sweep.Create().SetID(digest.Of(fmt.Sprint(channelID, pattern, lasts))).SetChannelID(channelID).SetUserID(channelID).SetPattern(pattern).
			SetExemptFollowAge(0).SetExemptSubscribers(true).SetExpiresAt(until).SetRemoveAt(until).SetAfterglowUntil(until).Exec(ctx)
	})
	if err != nil {
		t.Fatal(err)
	}
}

func openMigrated(t *testing.T) *store.Store {
	t.Helper()
	url := storetest.SQLite(t)
	storetest.Migrate(t, url)
	s, err := store.Open(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return s
}

// TestAfterglowsAreCompiledOnDemand has more afterglows than the budget of their matchers
// allows, in two channels. Each of them still matches.
func TestAfterglowsAreCompiledOnDemand(t *testing.T) {
	s := openMigrated(t)
	for i := range 3 {
		for _, channel := range []uid.ID{servertest.Owner, servertest.Other} {
			glow(t, s, channel, fmt.Sprintf(`word%d\PL{8}`, i), time.Hour+time.Duration(i)*time.Second)
		}
	}
	glow(t, s, servertest.Moderator, "(free", time.Hour) // does not compile
	turns := moderation.NewTurns(1)
	a := moderation.NewAfterglowsWithin(s, turns.Sweeps, 1<<10)
	if err := a.Refresh(t.Context()); err != nil {
		t.Fatal(err)
	}
	now, err := s.Clock.Now(t.Context(), s.Read)
	if err != nil {
		t.Fatal(err)
	}
	for _, channel := range []uid.ID{servertest.Owner, servertest.Other, servertest.Moderator, servertest.Owner} {
		for i := range 4 {
			wanted := 0
			if i < 3 && channel != servertest.Moderator {
				wanted = 1
			}
			m := chat.Message{ID: uid.New(), ChannelID: channel, UserID: servertest.Viewer, Text: fmt.Sprintf("word%d !!!!!!!!", i)}
			if got, err := a.Matching(t.Context(), now, m); err != nil || got != wanted {
				t.Errorf("%q in channel %s: %d afterglows match, %v, want %d", m.Text, channel, got, err, wanted)
			}
		}
	}
}
