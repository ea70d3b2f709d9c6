package webhooks_test

import (
	"fmt"
	"net/http"
	"slices"
	"testing"
	"time"

	moderatov1 "github.com/moderato-live/moderato/gen/moderato/v1"
	"github.com/moderato-live/moderato/test/servertest"
)

func TestRedeliverEvent(t *testing.T) {
	each(t, func(t *testing.T, s *servertest.Server) {
		r := newReceiver(t)
		owner := s.As(t, servertest.Owner)
		hook := create(t, s, owner, r.mine("channel.update"))
		retitle(t, s, servertest.Owner, "one")
		first := r.next(t)
		settled := func(id string, attempts int32) func() bool {
			return func() bool {
				for _, d := range deliveries(t, s, hook.GetId()) {
					if d.GetEventId() == id && d.GetStatus() != "pending" {
						return d.GetAttempts() == attempts
					}
				}
				return false
			}
		}
		id := first.event.Metadata.MessageID
		eventually(t, "it is delivered", settled(id, 1))
		again := servertest.Args{"webhookId": hook.GetId(), "eventId": id}
		call[*moderatov1.RedeliverWebhookEventResponse](t, s, owner, "POST", path+"/redeliver", again)
		if got := r.next(t); got.event.Metadata != first.event.Metadata {
			t.Errorf("got %s", got.body)
		}
		eventually(t, "it is delivered again", settled(id, 2))

		// A failing redelivery must not delay other events.
		r.answers(func(w http.ResponseWriter, got sent) {
			if got.event.Metadata.MessageID == id {
				w.WriteHeader(http.StatusInternalServerError)
			}
		})
		call[*moderatov1.RedeliverWebhookEventResponse](t, s, owner, "POST", path+"/redeliver", again)
		r.next(t)
		retitle(t, s, servertest.Owner, "two")
		if got := r.next(t); got.event.Payload["title"] != "two" {
			t.Errorf("got %s", got.body)
		}
		oldest := func() *moderatov1.WebhookDelivery {
			rows := deliveries(t, s, hook.GetId())
			return rows[len(rows)-1]
		}
		for deadline := time.Now().Add(patience); oldest().GetStatus() == "pending" && time.Now().Before(deadline); time.Sleep(20 * time.Millisecond) {
			s.Store.Clock.Advance(8 * time.Hour)
		}
		if w := only(t, s); w.GetStatus() != "enabled" {
			t.Errorf("got %v, want it enabled", w)
		}
		// The event was delivered nevertheless.
		if d := oldest(); d.GetStatus() != "delivered" || d.GetDeliveredAt() == nil || d.GetLastStatus() != 500 || d.GetAttempts() < 4 {
			t.Errorf("got %v, want it delivered", d)
		}

		ban(t, s, servertest.Owner, servertest.Raider)
		unwanted, err := s.Store.Read.Event.Query().All(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range unwanted {
			if e.Type == "channel.ban" {
				again["eventId"] = e.ID.String()
			}
		}
		if o := both(t, s, owner, "POST", path+"/redeliver", again); o.Reason != "EVENT_NOT_FOUND" {
			t.Errorf("a type that is not wanted: got %+v", o)
		}
		r.status(http.StatusGone)
		retitle(t, s, servertest.Owner, "three")
		eventually(t, "it is disabled", func() bool { return only(t, s).GetStatus() == "disabled" })
		again["eventId"] = id
		if o := both(t, s, owner, "POST", path+"/redeliver", again); o.Reason != "WEBHOOK_DISABLED" {
			t.Errorf("got %+v", o)
		}
	})
}

func TestRedeliveryAfterGoneIsSentWhenEnabled(t *testing.T) {
	each(t, func(t *testing.T, s *servertest.Server) {
		r := newReceiver(t)
		owner := s.As(t, servertest.Owner)
		hook := create(t, s, owner, r.mine())
		row := func() *moderatov1.WebhookDelivery { return deliveries(t, s, hook.GetId())[0] }
		retitle(t, s, servertest.Owner, "one")
		id := r.next(t).event.Metadata.MessageID
		eventually(t, "it is delivered", func() bool { return row().GetStatus() == "delivered" })
		first := row().GetDeliveredAt().AsTime()

		r.status(http.StatusGone)
		call[*moderatov1.RedeliverWebhookEventResponse](t, s, owner, "POST", path+"/redeliver", servertest.Args{"webhookId": hook.GetId(), "eventId": id})
		r.next(t)
		eventually(t, "it is disabled", func() bool { return only(t, s).GetDisabledReason() == "gone" })
		if d := row(); d.GetStatus() != "delivered" || !d.GetDeliveredAt().AsTime().Equal(first) || d.GetLastStatus() != http.StatusGone || d.GetAttempts() != 2 {
			t.Errorf("got %v, want it delivered at %s", d, first)
		}

		s.Store.Clock.Advance(time.Minute)
		r.answers(nil)
		call[*moderatov1.EnableWebhookResponse](t, s, owner, "POST", path+"/enable", servertest.Args{"webhookId": hook.GetId()})
		if got := r.next(t); got.event.Metadata.MessageID != id {
			t.Errorf("got %s", got.body)
		}
		eventually(t, "it is delivered again", func() bool { return row().GetAttempts() == 3 })
		if d := row(); d.GetStatus() != "delivered" || !d.GetDeliveredAt().AsTime().After(first) || d.GetLastError() != "" {
			t.Errorf("got %v, want it delivered later than %s", d, first)
		}
	})
}

func TestDeliveryPagination(t *testing.T) {
	each(t, func(t *testing.T, s *servertest.Server) {
		r := newReceiver(t)
		owner := s.As(t, servertest.Owner)
		hook := create(t, s, owner, r.mine())
		var want []string
		for i := range 7 {
			retitle(t, s, servertest.Owner, fmt.Sprint(i))
			want = append(want, r.next(t).event.Metadata.MessageID)
		}
		slices.Reverse(want)
		var got []string
		args := servertest.Args{"webhookId": hook.GetId(), "limit": 3}
		for {
			page := call[*moderatov1.ListWebhookDeliveriesResponse](t, s, owner, "GET", path+"/deliveries", args)
			for _, d := range page.GetRows() {
				got = append(got, d.GetEventId())
			}
			if args["cursor"] = page.GetPagination().GetCursor(); args["cursor"] == "" {
				break
			}
		}
		if !slices.Equal(got, want) {
			t.Errorf("got %v, want %v", got, want)
		}
		eventually(t, "all are noted", func() bool { return deliveries(t, s, hook.GetId())[0].GetStatus() == "delivered" })
		s.Store.Clock.Advance(8 * 24 * time.Hour)
		eventually(t, "they are no longer kept", func() bool { return len(deliveries(t, s, hook.GetId())) == 0 })
	})
}
