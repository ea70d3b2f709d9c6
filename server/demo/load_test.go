package demo_test

import (
	"context"
	"testing"
	"time"

	"github.com/moderato-live/moderato/ent"
	"github.com/moderato-live/moderato/server/demo"
	"github.com/moderato-live/moderato/server/store"
	"github.com/moderato-live/moderato/test/storetest"
)

// TestDemoHasQueueAndRules loads the demo twice. A message waits for a decision, and a restart
// adds nothing.
func TestDemoHasQueueAndRules(t *testing.T) {
	ctx, url := t.Context(), storetest.SQLite(t)
	storetest.Migrate(t, url)
	s, err := store.Open(ctx, url)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	for range 2 {
		if _, err := demo.Load(ctx, s, "http://demo.example"); err != nil {
			t.Fatal(err)
		}
		rows, err := s.Read.HeldMessage.Query().All(ctx)
		if err != nil || len(rows) != 1 || rows[0].ChannelID != demo.People().Owner.ID || rows[0].Status != "PENDING" || rows[0].ExpiresAt.Time().Sub(rows[0].HeldAt.Time()) != 24*time.Hour {
			t.Errorf("the queue is %v, %v", rows, err)
		}
		if n, err := s.Read.ChatRule.Query().Count(ctx); err != nil || n != 2 {
			t.Errorf("there are %d rules, %v", n, err)
		}
	}
}

// TestDemoLoadsAgainWithoutItsModerators bans the moderators of the demo, and loads it as a
// restart does.
func TestDemoLoadsAgainWithoutItsModerators(t *testing.T) {
	ctx, url := t.Context(), storetest.SQLite(t)
	storetest.Migrate(t, url)
	s, err := store.Open(ctx, url)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if _, err := demo.Load(ctx, s, "http://demo.example"); err != nil {
		t.Fatal(err)
	}
	err = s.Write(ctx, func(ctx context.Context, tx *ent.Tx, _ store.Attempt) error {
		for _, b := range demo.Bans() {
			if b.Moderator != b.Channel {
				err := tx.Ban.Create().SetChannelID(b.Channel).SetUserID(b.Moderator).SetModeratorID(b.Channel).SetBannedAt(1).Exec(ctx)
				if err != nil && !s.IsDuplicate(err) {
					return err
				}
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := demo.Load(ctx, s, "http://demo.example"); err != nil {
		t.Errorf("the demo does not load again: %v", err)
	}
}
