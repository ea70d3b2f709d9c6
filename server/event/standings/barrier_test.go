package standings_test

import (
	"context"
	"testing"

	moderatov1 "github.com/moderato-live/moderato/gen/moderato/v1"
	"github.com/moderato-live/moderato/internal/instant"
	"github.com/moderato-live/moderato/internal/uid"
	"github.com/moderato-live/moderato/server/change"
	"github.com/moderato-live/moderato/server/event/outbox/outboxtest"
	"github.com/moderato-live/moderato/server/event/standings"
	"github.com/moderato-live/moderato/server/store"
	"github.com/moderato-live/moderato/test/servertest"
)

// TestEventsWithoutPositionHoldBack commits bans that have no position yet. A snapshot may
// have them already, so it is not complete before they were sent, and nothing is confirmed
// up to the present.
func TestEventsWithoutPositionHoldBack(t *testing.T) {
	t.Parallel()
	outboxtest.EachWorld(t, func(t *testing.T, s *store.Store) {
		emit := func(channelID uid.ID) (at instant.Instant) {
			t.Helper()
			err := change.ApplyUnattended(t.Context(), s, channelID, func(_ context.Context, c *change.Change) error {
				c.Emit("channel.ban", servertest.Raider, &moderatov1.BanEvent{})
				at = c.Now
				return nil
			})
			if err != nil {
				t.Fatal(err)
			}
			return at
		}
		q := outboxtest.NewSequencer(s)
		emit(servertest.Owner)
		outboxtest.Turn(t, q)
		emit(servertest.Other)
		at := emit(servertest.Owner)
		pass, isPassed, err := standings.ReadBarrier(t.Context(), s, servertest.Owner)
		if err != nil {
			t.Fatal(err)
		}
		if isPassed(1) {
			t.Error("the barrier is passed before the event without a position")
		}
		if pass(servertest.Owner, 1); isPassed(1) {
			t.Error("an earlier event passes the barrier")
		}
		if pass(servertest.Owner, 2); isPassed(0) || !isPassed(1) {
			t.Error("the barrier is not passed by the last position and the event")
		}
		if asOf, _, err := standings.AsOf(t.Context(), s); err != nil || asOf >= at {
			t.Errorf("with an event of %d waiting, changes are confirmed up to %d; %v", at, asOf, err)
		}
		outboxtest.Turn(t, q)
		if asOf, last, err := standings.AsOf(t.Context(), s); err != nil || asOf < at || last != 3 {
			t.Errorf("after the event of %d got its position, changes are confirmed up to %d and %d; %v", at, asOf, last, err)
		}
	})
}
