package fsck_test

import (
	"context"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	platformv1 "github.com/moderato-live/moderato/gen/moderato/platform/v1"
	"github.com/moderato-live/moderato/server/demo"
	"github.com/moderato-live/moderato/server/domain/audience"
	"github.com/moderato-live/moderato/server/domain/fsck"
	"github.com/moderato-live/moderato/server/event/outbox"
	"github.com/moderato-live/moderato/server/rpc/eventtype"
	"github.com/moderato-live/moderato/server/store"
	"github.com/moderato-live/moderato/server/store/counts"
	"github.com/moderato-live/moderato/test/servertest"
	"github.com/moderato-live/moderato/test/storetest"
)

// openDemo opens a database that contains the demo, whose events have positions.
func openDemo(t *testing.T, url store.URL) *store.Store {
	t.Helper()
	ctx := context.Background()
	storetest.Migrate(t, url)
	s, err := store.OpenWithoutBound(ctx, url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	if _, err := demo.Load(ctx, s, "http://demo.example"); err != nil {
		t.Fatal(err)
	}
	if err := outbox.NewSequencer(s, slog.New(slog.DiscardHandler), prometheus.NewRegistry()).Turn(ctx); err != nil {
		t.Fatal(err)
	}
	if err := (&audience.Sweeper{Store: s}).Sweep(ctx); err != nil {
		t.Fatal(err)
	}
	s.Clock.Advance(2 * time.Minute) // the demo's subscriptions end days later or never
	if err := (&audience.Sweeper{Store: s}).Sweep(ctx); err != nil {
		t.Fatal(err)
	}
	return s
}

// failed returns the names of the checks with findings.
func failed(t *testing.T, s *store.Store) []string {
	t.Helper()
	var names []string
	err := fsck.Run(context.Background(), s, eventtype.DefaultRetention(), func(string) {}, func(f fsck.Finding) {
		if !slices.Contains(names, f.Check) {
			names = append(names, f.Check)
		}
		if f.What == "" || strings.Contains(f.What, "%!") {
			t.Errorf("%q does not say what is wrong", f)
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	return names
}

// TestEachCheckDetectsItsViolation violates one rule after the other, and repairs each.
func TestEachCheckDetectsItsViolation(t *testing.T) {
	const nobody = "X'0B6FFFFF000040008000000000000FFF'"
	storetest.EachKind(t, func(t *testing.T, url store.URL) {
		s := openDemo(t, url)
		if names := failed(t, s); len(names) > 0 {
			t.Fatalf("the demo as it is: %q", names)
		}
		exec := func(statement string) {
			t.Helper()
			if _, err := s.DB().Exec(statement); err != nil {
				t.Fatalf("%s: %v", statement, err)
			}
		}
		for _, c := range []struct{ do, undo, want string }{
			{
				"UPDATE bans SET banned_at = banned_at + 1", "UPDATE bans SET banned_at = banned_at - 1",
				"every ban that was not imported has its events",
			},
			{
				"UPDATE bans SET replaces = TRUE, banned_at = banned_at + 1", "UPDATE bans SET replaces = FALSE, banned_at = banned_at - 1",
				"every ban that was not imported has its events",
			},
			{
				"INSERT INTO replaced_bans (id, channel_id, user_id, sequence, moderator_id, banned_at) SELECT channel_id, channel_id, user_id, 1, moderator_id, banned_at FROM bans LIMIT 1",
				"DELETE FROM replaced_bans",
				"replaced bans are of users whose ban replaces others",
			},
			{
				"UPDATE events SET type = 'x.clear' WHERE type = 'channel.chat.clear_user_messages'",
				"UPDATE events SET type = 'channel.chat.clear_user_messages' WHERE type = 'x.clear'",
				"every ban that was not imported has its events",
			},
			{
				"UPDATE events SET sequence = sequence + 1000000 WHERE sequence = 1", "UPDATE events SET sequence = sequence - 1000000 WHERE sequence > 1000000",
				"the sequence of a channel has no gap",
			},
			{
				"UPDATE channels SET event_sequence = event_sequence + 1", "UPDATE channels SET event_sequence = event_sequence - 1",
				"the sequence of a channel has no gap",
			},
			{
				"INSERT INTO shields (channel_id, preset, ends_at) SELECT channel_id, '{}', 253402300799999 FROM chat_settings WHERE channel_id NOT IN (SELECT channel_id FROM chat_rules) LIMIT 1", "DELETE FROM shields WHERE ends_at IS NOT NULL",
				"shields and settings agree",
			},
			{
				`UPDATE chat_settings SET settings = '{"shield":{"until":253402300799999,"values":{}}}' WHERE channel_id NOT IN (SELECT channel_id FROM chat_rules)`,
				"UPDATE chat_settings SET settings = '{}' WHERE channel_id NOT IN (SELECT channel_id FROM chat_rules)",
				"shields and settings agree",
			},
			{
				"UPDATE events SET evidence = '[]' WHERE type = 'channel.chat.clear_user_messages'",
				"UPDATE events SET evidence = NULL WHERE type = 'channel.chat.clear_user_messages'",
				"only bans and mutes of users who exist have evidence",
			},
			{
				"UPDATE events SET evidence = '[]', actor_id = target_id, target_id = X'5E1F8A0C93D74B6EA4C2D07B3E9F6185' WHERE type = 'channel.ban'",
				"UPDATE events SET evidence = NULL, target_id = actor_id WHERE type = 'channel.ban'",
				"only bans and mutes of users who exist have evidence",
			},
			{
				"UPDATE events SET position = NULL WHERE position = 1", "UPDATE events SET position = 1 WHERE position IS NULL",
				"events get their position soon",
			},
			{
				"UPDATE events SET position = 2 WHERE position = 1", "UPDATE events SET position = 1 WHERE position = 2 AND sequence = 1",
				"every position is given once",
			},
			{
				"UPDATE event_sequencers SET last_position = last_position - 1", "UPDATE event_sequencers SET last_position = last_position + 1",
				"positions are within those given",
			},
			{
				"UPDATE event_sinks SET position = 1000000", "UPDATE event_sinks SET position = 0",
				"nobody is ahead of the events",
			},
			{
				"INSERT INTO webhooks (id, client_id, url, types, secret, created_at, position, disabled_reason, former_secret, last_error, is_claimed, is_blocked, epoch) " +
					"VALUES (" + nobody + ", 'x', '', '', '', 1, 1000000, '', '', '', FALSE, FALSE, 0)", "DELETE FROM webhooks",
				"nobody is ahead of the events",
			},
			{
				"INSERT INTO webhook_deliveries (id, webhook_id, channel_id, event_id, position, type, status, is_repeat, attempts, last_error, next_attempt_at) " +
					"SELECT " + nobody + ", " + nobody + ", id, " + nobody + ", 1, 'x', 'pending', FALSE, 0, '', 1 FROM channels LIMIT 1",
				"DELETE FROM webhook_deliveries",
				"webhook_deliveries.webhook_id names one of webhooks",
			},
			{
				"INSERT INTO idempotency_keys (id, request, response, created_at) SELECT X'" + strings.Repeat("0B", 32) + "', X'" + strings.Repeat("0B", 32) + "', '', 1",
				"DELETE FROM idempotency_keys",
				"every idempotency key has a response",
			},
			{
				"UPDATE events SET position = -position", "UPDATE events SET position = -position",
				"positions follow the sequence of their channel",
			},
			{
				"UPDATE channels SET live_started_at = live_started_at + 1", "UPDATE channels SET live_started_at = live_started_at - 1",
				"a channel is live exactly while it has a stream that has not ended",
			},
			{
				"UPDATE streams SET ended_at = 1 WHERE ended_at IS NULL", "UPDATE streams SET ended_at = NULL WHERE ended_at = 1",
				"a channel is live exactly while it has a stream that has not ended",
			},
			{
				"INSERT INTO mutes (channel_id, user_id, moderator_id, muted_at, expires_at) SELECT channel_id, user_id, moderator_id, 1, 2 FROM bans", "DELETE FROM mutes",
				"mutes that have lapsed are announced",
			},
			{
				"UPDATE bans SET batch_id = " + nobody, "UPDATE bans SET batch_id = NULL",
				"bans name a batch of their channel",
			},
			{
				"UPDATE bans SET expires_at = 1", "UPDATE bans SET expires_at = NULL",
				"bans that have lapsed are announced",
			},
			{
				"UPDATE subscriptions SET expires_at = -expires_at WHERE is_active", "UPDATE subscriptions SET expires_at = -expires_at WHERE expires_at < 0",
				"subscriptions that have ended are swept",
			},
			{
				"INSERT INTO channel_counts (id, count) VALUES (1000000, 1)", "DELETE FROM channel_counts WHERE id = 1000000",
				"the number of channels of a category is that of the rows",
			},
			{
				"UPDATE channels SET follower_count = follower_count + 1", "UPDATE channels SET follower_count = follower_count - 1",
				"follower_count is that of the rows",
			},
			{
				"UPDATE channels SET subscriber_count = subscriber_count + 1", "UPDATE channels SET subscriber_count = subscriber_count - 1",
				"subscriber_count is that of the rows",
			},
			{
				"UPDATE channels SET clip_count = clip_count + 1", "UPDATE channels SET clip_count = clip_count - 1",
				"clip_count is that of the rows",
			},
			{
				"UPDATE channels SET vod_count = vod_count + 1", "UPDATE channels SET vod_count = vod_count - 1",
				"vod_count is that of the rows",
			},
			{
				"UPDATE channels SET new_follower_count = new_follower_count + 1", "UPDATE channels SET new_follower_count = new_follower_count - 1",
				"new_follower_count is that of the rows",
			},
			{
				"UPDATE channels SET new_subscriber_count = new_subscriber_count + 1", "UPDATE channels SET new_subscriber_count = new_subscriber_count - 1",
				"new_subscriber_count is that of the rows",
			},
			{
				"INSERT INTO votes (id, channel_id, epoch, username, address, amount, voted_at) VALUES (" + nobody + ", " + nobody + ", 0, 'x', '', 1, 1)",
				"DELETE FROM votes WHERE channel_id = " + nobody,
				"votes.channel_id names one of channels",
			},
			{
				"INSERT INTO chat_rules (id, channel_id, rule_id, since_version, until_version, rule, editor_id, expires_at) SELECT " + nobody + ", id, id, 0, 1, '{}', id, 1 FROM channels LIMIT 1",
				"DELETE FROM chat_rules WHERE id = " + nobody,
				"rules that have expired are deleted",
			},
			{
				"INSERT INTO chat_rules (id, channel_id, rule_id, since_version, rule, editor_id) SELECT " + nobody + ", id, id, 1000, '{}', id FROM channels LIMIT 1",
				"DELETE FROM chat_rules WHERE id = " + nobody,
				"posts see the present rules",
			},
			{
				"INSERT INTO roles (id, channel_id, user_id, role, created_at) SELECT " + nobody + ", id, " + nobody + ", 'vip', 1 FROM channels LIMIT 1",
				"DELETE FROM roles WHERE id = " + nobody,
				"roles.user_id names one of users",
			},
			{
				"INSERT INTO held_messages (id, channel_id, user_id, text, details, is_bot, held_at, expires_at, approves, due_at, status, decided_at) SELECT id, id, id, 'hello', '{}', FALSE, 1, 2, FALSE, 2, 'PENDING', NULL FROM channels LIMIT 1",
				"DELETE FROM held_messages", "messages that are due wait no more",
			},
			{
				"INSERT INTO held_messages (id, channel_id, user_id, text, details, is_bot, held_at, expires_at, approves, due_at, status, decided_at) SELECT id, id, id, 'hello', '{}', FALSE, 1, 2, FALSE, NULL, 'PENDING', NULL FROM channels LIMIT 1",
				"DELETE FROM held_messages", "messages wait or were decided",
			},
			{
				"INSERT INTO held_messages (id, channel_id, user_id, text, details, is_bot, held_at, expires_at, approves, due_at, status, decided_at) SELECT id, id, id, 'hello', '{}', FALSE, 1, 2, FALSE, NULL, 'DENIED', NULL FROM channels LIMIT 1",
				"DELETE FROM held_messages", "messages wait or were decided",
			},
			{
				"INSERT INTO held_messages (id, channel_id, user_id, text, details, is_bot, held_at, expires_at, approves, due_at, status, decided_at) SELECT id, id, id, 'hello', '{}', FALSE, 1, 9000000000000, FALSE, 9000000000000, 'PENDING', 1 FROM channels LIMIT 1",
				"DELETE FROM held_messages", "messages wait or were decided",
			},
			{
				"INSERT INTO held_messages (id, channel_id, user_id, text, details, is_bot, held_at, expires_at, approves, due_at, status, decided_at) SELECT id, id, id, 'hello', '{}', FALSE, 1, 9000000000000, FALSE, 9000000000000, 'DENIED', NULL FROM channels LIMIT 1",
				"DELETE FROM held_messages", "messages wait or were decided",
			},
			{
				"INSERT INTO held_messages (id, channel_id, user_id, text, details, is_bot, held_at, expires_at, approves, due_at, status, decided_at) SELECT id, id, id, 'hello', '{}', FALSE, 1, 2, FALSE, 9000000000000, 'PENDING', NULL FROM channels LIMIT 1",
				"DELETE FROM held_messages", "messages wait or were decided",
			},
		} {
			exec(c.do)
			if names := failed(t, s); !slices.Contains(names, c.want) {
				t.Errorf("%s: %q find something, want %q", c.do, names, c.want)
			}
			exec(c.undo)
			if names := failed(t, s); len(names) > 0 {
				t.Fatalf("after %s: %q", c.undo, names)
			}
		}
	})
}

// TestFixRepairsWhatIsDerived violates rules that Fix can repair and others, and checks
// that only the former are repaired.
func TestFixRepairsWhatIsDerived(t *testing.T) {
	const lost = "X'0B6FFFFF000040008000000000000FFF'"
	derived := map[string]string{
		"follower_count is that of the rows":                       "UPDATE channels SET follower_count = follower_count + 7",
		"new_follower_count is that of the rows":                   "UPDATE channels SET new_follower_count = new_follower_count + 1",
		"subscriber_count is that of the rows":                     "UPDATE channels SET subscriber_count = subscriber_count - 1",
		"new_subscriber_count is that of the rows":                 "UPDATE channels SET new_subscriber_count = 99",
		"clip_count is that of the rows":                           "UPDATE channels SET clip_count = clip_count + 1",
		"vod_count is that of the rows":                            "UPDATE channels SET vod_count = vod_count + 1",
		"the number of channels of a category is that of the rows": "UPDATE channel_counts SET count = count + 3",
	}
	underived := map[string]string{
		"votes.channel_id names one of channels": "INSERT INTO votes (id, channel_id, epoch, username, address, amount, voted_at) VALUES (" + lost + ", " + lost + ", 0, 'x', '', 1, 1)",
		"bans name a batch of their channel":     "UPDATE bans SET batch_id = " + lost,
		"positions are within those given":       "UPDATE event_sequencers SET last_position = last_position - 1",
	}
	storetest.EachKind(t, func(t *testing.T, url store.URL) {
		s := openDemo(t, url)
		if err := (&counts.Compactor{Store: s}).Compact(t.Context()); err != nil {
			t.Fatal(err)
		}
		for _, statements := range []map[string]string{derived, underived} {
			for _, statement := range statements {
				if _, err := s.DB().Exec(statement); err != nil {
					t.Fatalf("%s: %v", statement, err)
				}
			}
		}
		fix := func() (found, fixed map[string]int) {
			t.Helper()
			found, fixed = map[string]int{}, map[string]int{}
			err := fsck.Fix(t.Context(), s, eventtype.DefaultRetention(), func(string) {},
				func(f fsck.Finding) { found[f.Check]++ },
				func(f fsck.Finding, did string) {
					fixed[f.Check]++
					if did == "" || f.What == "" {
						t.Errorf("%q: %q does not say what was done", f, did)
					}
				})
			if err != nil {
				t.Fatal(err)
			}
			return found, fixed
		}
		found, fixed := fix()
		if got, want := slices.Sorted(maps.Keys(fixed)), slices.Sorted(maps.Keys(derived)); !slices.Equal(got, want) {
			t.Errorf("repaired %q, want %q", got, want)
		}
		if got, want := slices.Sorted(maps.Keys(found)), slices.Sorted(maps.Keys(underived)); !slices.Equal(got, want) {
			t.Errorf("could not repair %q, want %q", got, want)
		}
		if _, fixed := fix(); len(fixed) > 0 {
			t.Errorf("repaired again: %v", fixed)
		}
		if names := failed(t, s); len(names) != len(underived) {
			t.Errorf("%q remain", names)
		}
	})
}

// TestFixRunsWhileCountersChange repairs a counter while users follow the channel: no
// follow may be miscounted.
func TestFixRunsWhileCountersChange(t *testing.T) {
	servertest.EachBackend(t, func(t *testing.T, b servertest.Backend) {
		for range 3 {
			var following sync.WaitGroup
			var followed atomic.Int64
			for some := range slices.Chunk(servertest.AddUsers(t, b.Store, 60), 15) {
				following.Go(func() {
					for _, id := range some {
						_, err := b.Audience.Follow(b.Ctx(), &platformv1.FollowRequest{ChannelId: servertest.Owner.String(), UserId: id.String()})
						if err != nil {
							t.Errorf("follow: %v", err)
						}
						followed.Add(1)
					}
				})
			}
			for followed.Load() < 10 {
				time.Sleep(time.Millisecond)
			}
			if _, err := b.Store.DB().Exec("UPDATE channels SET follower_count = follower_count + 1000"); err != nil {
				t.Fatal(err)
			}
			err := fsck.Fix(t.Context(), b.Store, eventtype.DefaultRetention(), func(string) {}, func(fsck.Finding) {}, func(fsck.Finding, string) {})
			if err != nil {
				t.Fatal(err)
			}
			following.Wait()
			if names := failed(t, b.Store); len(names) > 0 {
				t.Fatalf("%q find something", names)
			}
		}
	})
}
