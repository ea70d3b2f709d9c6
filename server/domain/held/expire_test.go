package held_test

import (
	"testing"
	"time"

	"github.com/moderato-live/moderato/internal/instant"
	"github.com/moderato-live/moderato/server/change/tables"
	"github.com/moderato-live/moderato/server/domain/held"
	"github.com/moderato-live/moderato/server/domain/rules"
	"github.com/moderato-live/moderato/test/servertest"
	"github.com/moderato-live/moderato/test/storetest"
)

// expire runs the job until nothing is due.
func (r *room) expire() {
	r.t.Helper()
	if err := (&held.Service{Store: r.Store, Live: r.hub(), Posted: rules.RecordTexts}).Expire(r.t.Context()); err != nil {
		r.t.Fatal(err)
	}
}

// TestHeldMessageExpires lets the time of messages pass: one is denied, another is posted, and one
// is cancelled because its sender is muted.
func TestHeldMessageExpires(t *testing.T) {
	each(t, func(r *room, now instant.Instant) {
		denied := r.hold(servertest.Viewer, "denied")
		r.set(`"onHoldExpiry":"approve"`)
		posted, refused := r.hold(servertest.Raider, "posted"), r.hold(servertest.Other, "refused")
		r.set(`"onHoldExpiry":"deny"`) // it is decided as the settings were
		due := now.Add(10 * time.Minute)
		r.Store.Clock.Freeze(due - 1)
		r.muteByImport(servertest.Other, now.Add(-time.Minute), time.Hour)
		r.expire()
		r.wantStatus(denied, "PENDING")
		r.Store.Clock.Freeze(due)
		for range 2 {
			r.expire()
		}
		r.wantStatus(denied, "EXPIRED")
		r.wantStatus(posted, "APPROVED")
		r.wantStatus(refused, "CANCELLED")
		m := storetest.Must(r.Store.Read.Message.Query().Only(t.Context()))
		if m.ID != posted || m.SentAt != due {
			t.Errorf("got %v", m)
		}
		for _, e := range r.updates() {
			if e.ModeratorId != nil || e.GetDecidedBy() != nil || e.GetClientId() != "" {
				t.Errorf("got %v", e)
			}
		}
	})
}

// TestDecisionAfterTimeIsTooLate decides about messages that are due before the job has come to
// them, and after.
func TestDecisionAfterTimeIsTooLate(t *testing.T) {
	each(t, func(r *room, now instant.Instant) {
		denied := r.hold(servertest.Viewer, "denied")
		r.set(`"onHoldExpiry":"approve"`)
		posted := r.hold(servertest.Raider, "posted")
		r.Store.Clock.Freeze(now.Add(10 * time.Minute))
		for range 2 {
			if got := r.want("too late", approve(denied), "EXPIRED"); *got.Status != "EXPIRED" || got.DecidedBy != nil {
				t.Errorf("got %+v", got)
			}
			if got := r.want("too late", deny(posted), "ALREADY_DECIDED"); *got.Status != "APPROVED" || got.DecidedBy != nil {
				t.Errorf("got %+v", got)
			}
			r.wantStatus(denied, "EXPIRED")
			r.wantStatus(posted, "APPROVED")
			r.expire()
		}
		for _, e := range r.updates() {
			if e.ModeratorId != nil || e.GetDecidedBy() != nil || e.GetClientId() != "" {
				t.Errorf("got %v", e)
			}
		}
	})
}

// TestJobExpires lets the job of a server end the wait.
func TestJobExpires(t *testing.T) {
	each(t, func(r *room, now instant.Instant) {
		id := r.hold(servertest.Viewer, "hello")
		r.Store.Clock.Freeze(now.Add(10 * time.Minute))
		for end := time.Now().Add(10 * time.Second); r.row(id).Status != "EXPIRED"; time.Sleep(10 * time.Millisecond) {
			if time.Now().After(end) {
				t.Fatal("the message waits")
			}
		}
	})
}

// TestOldDecisionsAreRemoved removes a message 90 days after its decision, and none that was decided
// later.
func TestOldDecisionsAreRemoved(t *testing.T) {
	each(t, func(r *room, now instant.Instant) {
		old, recent := r.hold(servertest.Viewer, "old"), r.hold(servertest.Raider, "recent")
		r.want("a denial", deny(old), "DENIED")
		r.Store.Clock.Freeze(now + 1)
		r.want("a denial", deny(recent), "DENIED")
		job := held.Tables[0].Expire(tables.Env{Store: r.Store})
		for at, want := range []int{2, 1} {
			r.Store.Clock.Freeze(now.Add(90*24*time.Hour) + instant.Instant(at))
			if _, err := job.Run(t.Context()); err != nil {
				t.Fatal(err)
			}
			if n := storetest.Must(r.Store.Read.HeldMessage.Query().Count(t.Context())); n != want {
				t.Errorf("after 90 days and %d ms: %d messages, want %d", at, n, want)
			}
		}
		r.row(recent)
	})
}
