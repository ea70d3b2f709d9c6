package moderation_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/moderato-live/moderato/ent"
	"github.com/moderato-live/moderato/server/digest"
	"github.com/moderato-live/moderato/server/moderation"
	"github.com/moderato-live/moderato/server/servertest"
	"github.com/moderato-live/moderato/server/store"
	"github.com/moderato-live/moderato/server/store/storetest"
	"github.com/moderato-live/moderato/server/uid"
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

// TestRefreshCompilesInTurns ends a refresh while it compiles. What it has compiled is in effect,
// of each channel something, and the next refresh compiles only the rest. An afterglow that
// does not compile is tried once.
func TestRefreshCompilesInTurns(t *testing.T) {
	s := openMigrated(t)
	for i := range 3 {
		glow(t, s, servertest.Owner, "free", time.Hour+time.Duration(i)*time.Second)
	}
	glow(t, s, servertest.Other, "(free", 30*time.Minute)
	glow(t, s, servertest.Moderator, "free", 10*time.Minute)
	a := moderation.NewAfterglows(s, moderation.NewSweeps())
	ctx, cancel := context.WithCancel(t.Context())
	var compiled []uid.ID
	a.OnCompile(func(row *ent.Sweep) {
		if compiled = append(compiled, row.ChannelID); row.ChannelID == servertest.Moderator {
			cancel()
		}
	})
	check := func(what string, err error, want string, channels []uid.ID, owner int) {
		t.Helper()
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %s", what, err, want)
		}
		if !slices.Equal(compiled, channels) {
			t.Errorf("%s: compiled those of %v, want %v", what, compiled, channels)
		}
		if a.Of(servertest.Owner) != owner || a.Of(servertest.Moderator) != 1 || a.Of(servertest.Other) != 0 {
			t.Errorf("%s: %d, %d and %d are in effect", what, a.Of(servertest.Owner), a.Of(servertest.Moderator), a.Of(servertest.Other))
		}
		compiled = nil
	}
	err := a.Refresh(ctx)
	if !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	check("a refresh that ends early", err, "compile afterglows", []uid.ID{servertest.Owner, servertest.Other, servertest.Moderator}, 1)
	check("the next one", a.Refresh(t.Context()), "does not compile", []uid.ID{servertest.Owner, servertest.Owner}, 3)
	check("a further one", a.Refresh(t.Context()), "does not compile", nil, 3)
}
