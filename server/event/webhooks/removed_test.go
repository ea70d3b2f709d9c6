package webhooks_test

import (
	"net/http"
	"slices"
	"testing"
	"time"

	moderatov1 "github.com/moderato-live/moderato/gen/moderato/v1"
	"github.com/moderato-live/moderato/server/event/outbox"
	"github.com/moderato-live/moderato/test/servertest"
)

// remove has retention remove the events up to a position.
func remove(t *testing.T, s *servertest.Server, position int64) {
	t.Helper()
	for _, statement := range []string{"DELETE FROM events WHERE position <= ?", "UPDATE event_sequencers SET trimmed_position = ?"} {
		if _, err := s.Store.DB().Exec(statement, position); err != nil {
			t.Fatal(err)
		}
	}
}

// The removal of events that wait for their next attempt must not go unnoticed.
func TestRemovedUndeliveredEventsAreReported(t *testing.T) {
	each(t, func(t *testing.T, s *servertest.Server) {
		r := newReceiver(t)
		r.status(http.StatusInternalServerError)
		hook := create(t, s, s.As(t, servertest.Owner), r.mine("channel.update"))
		statuses := func() (all []string) {
			for _, d := range slices.Backward(deliveries(t, s, hook.GetId())) {
				all = append(all, d.GetStatus()+" "+d.GetLastError())
			}
			return all
		}
		retitle(t, s, servertest.Owner, "one")
		first := r.next(t)
		eventually(t, "the attempt is noted", func() bool { return slices.Equal(statuses(), []string{"pending the receiver answered 500"}) })
		retitle(t, s, servertest.Owner, "two")
		retitle(t, s, servertest.Owner, "three")
		eventually(t, "they have their positions", func() bool {
			at, err := outbox.ReadPositions(t.Context(), s.Store.Read)
			return err == nil && at.Last == 3
		})
		s.Store.Clock.Advance(10 * time.Second)
		r.next(t) // from here on, waiting deliveries have rows
		waiting := []string{"pending the receiver answered 500", "pending ", "pending "}
		eventually(t, "the attempt is noted", func() bool { return slices.Equal(statuses(), waiting) })

		remove(t, s, 2)
		s.Store.Clock.Advance(time.Minute)
		eventually(t, "it is disabled", func() bool { return only(t, s).GetDisabledReason() == "behind" })
		want := []string{"failed the event is no longer kept", "failed the event is no longer kept", "pending "}
		if got := statuses(); !slices.Equal(got, want) {
			t.Errorf("the deliveries are %q, want %q", got, want)
		}
		for len(r.got) > 0 {
			<-r.got // in case of another attempt
		}
		r.answers(nil)
		args := servertest.Args{"webhookId": hook.GetId()}
		call[*moderatov1.EnableWebhookResponse](t, s, s.As(t, servertest.Owner), "POST", path+"/enable", args)
		if got := r.next(t); got.event.Payload["title"] != "three" {
			t.Errorf("got %s after %s, want the third", got.body, first.body)
		}
	})
}
