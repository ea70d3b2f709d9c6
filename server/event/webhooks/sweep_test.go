package webhooks_test

import (
	"context"
	"slices"
	"testing"

	"github.com/moderato-live/moderato/ent"
	"github.com/moderato-live/moderato/internal/uid"
	"github.com/moderato-live/moderato/server"
	"github.com/moderato-live/moderato/server/event/outbox"
	"github.com/moderato-live/moderato/server/event/webhooks"
	"github.com/moderato-live/moderato/server/rpc/eventtype"
	"github.com/moderato-live/moderato/server/store"
	"github.com/moderato-live/moderato/test/servertest"
	"github.com/moderato-live/moderato/test/storetest"
)

// eachWorld runs a test on each kind of store with the World, with an engine but without
// a server that would sweep by itself.
func eachWorld(t *testing.T, test func(t *testing.T, s *store.Store, e *webhooks.Engine)) {
	t.Helper()
	storetest.EachKind(t, func(t *testing.T, url store.URL) {
		ctx := context.Background()
		storetest.Migrate(t, url)
		s, err := store.Open(ctx, url)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(s.Close)
		servertest.Import(t, s, servertest.World()...)
		test(t, s, newEngine(&servertest.Server{Server: &server.Server{Store: s}}))
	})
}

// put stores webhooks of Owner's channel that belong to a user.
func put(t *testing.T, s *store.Store, user uid.ID, ids ...uid.ID) {
	t.Helper()
	err := s.Write(t.Context(), func(ctx context.Context, tx *ent.Tx, _ store.Attempt) error {
		for some := range slices.Chunk(ids, 50) {
			var rows []*ent.WebhookCreate
			for _, id := range some {
				rows = append(rows, tx.Webhook.Create().SetID(id).SetChannelID(servertest.Owner).SetUserID(user).SetClientID(servertest.Dashboard).
					SetURL(quiet).SetTypes("").SetSecret("whsec_").SetCreatedAt(1).SetPosition(0))
			}
			if err := tx.Webhook.CreateBulk(rows...).Exec(ctx); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// disabled returns the number of disabled webhooks of a user.
func disabled(t *testing.T, s *store.Store, user uid.ID) (n int) {
	t.Helper()
	err := store.QueryRow(t.Context(), s.Read, "SELECT COUNT(*) FROM webhooks WHERE user_id = ? AND disabled_reason = 'right_lost'", []any{user}, &n)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func takeRole(t *testing.T, s *store.Store) {
	t.Helper()
	if _, err := s.DB().Exec("DELETE FROM roles WHERE role = 'moderator'"); err != nil {
		t.Fatal(err)
	}
}

// The event has an immediate effect; a sweep takes long if there are many webhooks.
func TestRightEndingEventDisablesWebhooks(t *testing.T) {
	t.Parallel()
	for kind, ends := range map[eventtype.Type]bool{"channel.moderator.remove": true, "channel.ban": true, "channel.follow": false} {
		t.Run(string(kind), func(t *testing.T) {
			eachWorld(t, func(t *testing.T, s *store.Store, e *webhooks.Engine) {
				put(t, s, servertest.Moderator, uid.New())
				put(t, s, servertest.Owner, uid.New())
				page := []*outbox.Event{{Position: 1, ChannelID: servertest.Owner, Type: kind}, {Position: 2, ChannelID: servertest.Other, Type: "channel.follow"}}
				match := func() {
					t.Helper()
					if err := e.DisableAfterEvents(t.Context(), page); err != nil {
						t.Fatal(err)
					}
				}
				match()
				if n := disabled(t, s, servertest.Moderator); n != 0 {
					t.Error("a webhook whose user has the right was disabled")
				}
				takeRole(t, s)
				match()
				if n := disabled(t, s, servertest.Moderator); (n == 1) != ends {
					t.Errorf("%d webhooks are disabled, want any: %t", n, ends)
				}
				if n := disabled(t, s, servertest.Owner); n != 0 {
					t.Error("the owner's was disabled")
				}
			})
		})
	}
}

func TestSweepChecksAllWebhooksInBatches(t *testing.T) {
	t.Parallel()
	eachWorld(t, func(t *testing.T, s *store.Store, e *webhooks.Engine) {
		var others [1200]uid.ID
		for i := range others {
			others[i] = uid.New()
		}
		put(t, s, servertest.Owner, others[:]...)
		put(t, s, servertest.Moderator, uid.ID{0, 1}, uid.ID{0xff}) // the first and the last
		takeRole(t, s)
		for i, want := range []int{1, 1, 2, 3} {
			if err := e.Sweep(t.Context()); err != nil {
				t.Fatal(err)
			}
			if n := disabled(t, s, servertest.Moderator); n != want {
				t.Errorf("%d are disabled after sweep %d, want %d", n, i+1, want)
			}
			if want == 2 {
				put(t, s, servertest.Moderator, uid.ID{0, 2}) // the sweep restarts
			}
		}
		if n := disabled(t, s, servertest.Owner); n != 0 {
			t.Errorf("%d of the owner's are disabled", n)
		}
	})
}

// The eraser removes the webhook later; until then it must receive nothing.
func TestWebhookOfDeletedChannelIsDisabled(t *testing.T) {
	t.Parallel()
	eachWorld(t, func(t *testing.T, s *store.Store, e *webhooks.Engine) {
		put(t, s, servertest.Owner, uid.New())
		err := s.Write(t.Context(), func(ctx context.Context, tx *ent.Tx, _ store.Attempt) error {
			for _, of := range []*uid.ID{nil, &servertest.Owner} {
				err := tx.Webhook.Create().SetID(uid.New()).SetNillableChannelID(of).SetClientID(servertest.ChatServer).
					SetURL(quiet).SetTypes("").SetSecret("whsec_").SetCreatedAt(1).SetPosition(0).Exec(ctx)
				if err != nil {
					return err
				}
			}
			return tx.Channel.DeleteOneID(servertest.Owner).Exec(ctx)
		})
		if err != nil {
			t.Fatal(err)
		}
		if err := e.Sweep(t.Context()); err != nil {
			t.Fatal(err)
		}
		for _, w := range storetest.Must(s.Read.Webhook.Query().All(t.Context())) {
			if want := w.ChannelID != nil; (w.DisabledReason == "right_lost") != want {
				t.Errorf("%v: want it disabled: %t", w, want)
			}
		}
	})
}
