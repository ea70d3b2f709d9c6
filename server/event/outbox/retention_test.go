package outbox_test

import (
	"context"
	"log/slog"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/moderato-live/moderato/ent"
	"github.com/moderato-live/moderato/ent/event"
	"github.com/moderato-live/moderato/internal/uid"
	"github.com/moderato-live/moderato/server/change"
	"github.com/moderato-live/moderato/server/event/outbox"
	"github.com/moderato-live/moderato/server/event/outbox/outboxtest"
	"github.com/moderato-live/moderato/server/rpc/eventtype"
	"github.com/moderato-live/moderato/server/store"
	"github.com/moderato-live/moderato/test/servertest"
	"github.com/moderato-live/moderato/test/storetest"
)

var bySequence = ent.Asc(event.FieldSequence)

// emitTypes writes one event of each type, in order.
func emitTypes(t *testing.T, s *store.Store, channelID uid.ID, kinds ...eventtype.Type) {
	t.Helper()
	for _, kind := range kinds {
		err := change.ApplyUnattended(context.Background(), s, channelID, func(_ context.Context, c *change.Change) error {
			c.Emit(kind, servertest.Viewer, outboxtest.Payload(kind))
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}

// sequence waits until all events have positions. On a busy machine a turn may fail, or the
// lease may end before it, because both are bounded in time.
func sequence(t *testing.T, s *store.Store, q *outbox.Sequencer) {
	t.Helper()
	for late := time.Now().Add(time.Minute); ; time.Sleep(10 * time.Millisecond) {
		err := q.Turn(t.Context())
		left := storetest.Must(s.Read.Event.Query().Where(event.PositionIsNil()).Count(t.Context()))
		if left == 0 {
			return
		}
		if time.Now().After(late) {
			t.Fatalf("%d events have no position: %v", left, err)
		}
	}
}

// trimmer returns the function that removes all expired events.
func trimmer(t *testing.T, s *store.Store, keep eventtype.Retention) func() {
	t.Helper()
	w := outbox.NewTrimmer(s, slog.New(slog.DiscardHandler), keep)
	t.Cleanup(func() { w.Job().Stop(context.WithoutCancel(t.Context())) })
	return func() {
		t.Helper()
		for more := true; more; {
			var err error
			if more, err = w.Trim(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// TestRetentionRemovesEventsByType removes follows after one day and bans after two, and
// checks that the channels and the sequencer record up to where events were removed.
func TestRetentionRemovesEventsByType(t *testing.T) {
	const day = 24 * time.Hour
	outboxtest.EachWorld(t, func(t *testing.T, s *store.Store) {
		ctx := context.Background()
		q := outboxtest.NewSequencer(s)
		begin, err := s.Clock.Now(ctx, s.Read)
		if err != nil {
			t.Fatal(err)
		}
		after := func(d time.Duration) { s.Clock.Freeze(begin.Add(d)) } // the time that the test takes does not count
		after(0)
		emitTypes(t, s, servertest.Owner, "channel.ban", "channel.follow", "channel.unban", "channel.follow")
		emitTypes(t, s, servertest.Other, "channel.follow")
		sequence(t, s, q)
		after(day / 2)
		emitTypes(t, s, servertest.Owner, "channel.follow") // not old enough
		sequence(t, s, q)
		after(day + time.Minute)
		emitTypes(t, s, servertest.Owner, "channel.follow")
		trim := trimmer(t, s, eventtype.Retention{"channel.follow": day, "channel.ban": 2 * day})
		trim()
		check := func(when string, want map[uid.ID][]string, trimmedOwner, trimmedOther, trimmedPosition int64) {
			t.Helper()
			got := map[uid.ID][]string{}
			for _, e := range storetest.Must(s.Read.Event.Query().Order(bySequence).All(ctx)) {
				got[e.ChannelID] = append(got[e.ChannelID], e.Type)
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("%s: events (-want +got):\n%s", when, diff)
			}
			marks := []int64{
				storetest.Must(s.Read.Channel.Get(ctx, servertest.Owner)).TrimmedSequence, storetest.Must(s.Read.Channel.Get(ctx, servertest.Other)).TrimmedSequence,
				storetest.Must(s.Read.EventSequencer.Get(ctx, 1)).TrimmedPosition,
			}
			if diff := cmp.Diff([]int64{trimmedOwner, trimmedOther, trimmedPosition}, marks); diff != "" {
				t.Errorf("%s: trimmed sequences and position (-want +got):\n%s", when, diff)
			}
		}
		check("after one day", map[uid.ID][]string{
			servertest.Owner: {"channel.ban", "channel.unban", "channel.follow", "channel.follow"},
		}, 4, 1, 5)
		after(2*day + 2*time.Minute)
		sequence(t, s, outboxtest.NewSequencer(s)) // the lease of the first sequencer has expired
		trim()
		check("after two days", map[uid.ID][]string{servertest.Owner: {"channel.unban"}}, 6, 1, 7)
		// The removal does not affect the next sequence of the channel.
		emitTypes(t, s, servertest.Owner, "channel.ban")
		if e := storetest.Must(s.Read.Event.Query().Order(bySequence).All(ctx)); e[len(e)-1].Sequence != 7 {
			t.Errorf("sequence of the next event: got %d, want 7", e[len(e)-1].Sequence)
		}
	})
}

func TestRetentionKeepsUnsequencedEvents(t *testing.T) {
	outboxtest.EachWorld(t, func(t *testing.T, s *store.Store) {
		emitTypes(t, s, servertest.Owner, "channel.follow")
		s.Clock.Advance(time.Hour)
		trimmer(t, s, eventtype.Retention{"channel.follow": time.Minute})()
		if n := storetest.Must(s.Read.Event.Query().Count(context.Background())); n != 1 {
			t.Errorf("got %d events, want the one without a position", n)
		}
	})
}
