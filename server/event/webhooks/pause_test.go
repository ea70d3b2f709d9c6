package webhooks_test

import (
	"net/http"
	"slices"
	"testing"
	"time"

	moderatov1 "github.com/moderato-live/moderato/gen/moderato/v1"
	"github.com/moderato-live/moderato/internal/uid"
	"github.com/moderato-live/moderato/test/servertest"
)

func TestRetryAfterDelaysDelivery(t *testing.T) {
	each(t, func(t *testing.T, s *servertest.Server) {
		r := newReceiver(t)
		r.status(http.StatusTooManyRequests, "Retry-After", "3600")
		hook := create(t, s, s.As(t, servertest.Owner), r.mine())
		retitle(t, s, servertest.Owner, "one")
		r.next(t)
		var rows = deliveries(t, s, hook.GetId())
		eventually(t, "the attempt is noted", func() bool {
			rows = deliveries(t, s, hook.GetId())
			return rows[0].GetAttempts() == 1
		})
		wait := time.Until(rows[0].GetNextAttemptAt().AsTime())
		if wait < 59*time.Minute || wait > 61*time.Minute {
			t.Errorf("the next attempt is in %s, want an hour", wait)
		}
	})
}

// Retry-After applies to everything for the receiver: events of other channels, earlier
// retries, and new events.
func TestRetryAfterDelaysAllChannels(t *testing.T) {
	each(t, func(t *testing.T, s *servertest.Server) {
		r, other := newReceiver(t), newReceiver(t)
		at := s.Store.Clock.Local()
		s.Store.Clock.Freeze(at) // otherwise the failed delivery may be retried meanwhile
		create(t, s, s.As(t, servertest.Other), servertest.Args{"url": other.URL})
		hook := create(t, s, s.AsService(t), servertest.Args{"url": r.URL, "type": []string{"channel.update"}})
		fails := func(channel uid.ID, title string, attempts ...int32) {
			t.Helper()
			retitle(t, s, channel, title)
			r.next(t)
			eventually(t, "the attempt is noted", func() bool {
				var made []int32
				for _, d := range deliveries(t, s, hook.GetId()) {
					made = append(made, d.GetAttempts())
				}
				return slices.Equal(made, attempts)
			})
		}
		r.status(http.StatusInternalServerError)
		fails(servertest.Other, "one", 1)
		r.status(http.StatusServiceUnavailable, "Retry-After", "3600")
		fails(servertest.Owner, "two", 1, 1)
		r.answers(nil)
		s.Store.Clock.Freeze(at.Add(59 * time.Minute))
		retitle(t, s, servertest.Other, "three")
		for got := ""; got != "three"; {
			got, _ = other.next(t).event.Payload["title"].(string)
		}
		newEngine(s).Work(t.Context(), uid.MustParse(hook.GetId())) // any server
		r.wantNothing(t)
		s.Store.Clock.Freeze(at.Add(61 * time.Minute))
		got := map[any]bool{}
		for range 3 {
			got[r.next(t).event.Payload["title"]] = true
		}
		if len(got) != 3 {
			t.Errorf("got %v", got)
		}
	})
}

// A redelivery is requested because the receiver works again.
func TestRedeliveryEndsPause(t *testing.T) {
	each(t, func(t *testing.T, s *servertest.Server) {
		r := newReceiver(t)
		r.status(http.StatusTooManyRequests, "Retry-After", "3600")
		hook := create(t, s, s.As(t, servertest.Owner), r.mine("channel.update"))
		retitle(t, s, servertest.Owner, "one")
		first := r.next(t)
		eventually(t, "the attempt is noted", func() bool { return deliveries(t, s, hook.GetId())[0].GetAttempts() == 1 })
		r.answers(nil)
		call[*moderatov1.RedeliverWebhookEventResponse](t, s, s.As(t, servertest.Owner), "POST", path+"/redeliver",
			servertest.Args{"webhookId": hook.GetId(), "eventId": first.event.Metadata.MessageID})
		if again := r.next(t); again.event.Metadata != first.event.Metadata {
			t.Errorf("got %s, want %s", again.body, first.body)
		}
	})
}
