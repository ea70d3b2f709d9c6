package webhooks_test

import (
	"context"
	"fmt"
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/moderato-live/moderato/ent"
	"github.com/moderato-live/moderato/ent/webhookdelivery"
	moderatov1 "github.com/moderato-live/moderato/gen/moderato/v1"
	"github.com/moderato-live/moderato/internal/uid"
	"github.com/moderato-live/moderato/server/store"
	"github.com/moderato-live/moderato/test/servertest"
	"github.com/moderato-live/moderato/test/storetest"
)

// addRepeats adds redeliveries of earlier events to a webhook, which its receiver has rejected
// and which wait for their next attempt.
func addRepeats(t *testing.T, s *servertest.Server, id string, n int) {
	t.Helper()
	err := s.Store.Write(t.Context(), func(ctx context.Context, tx *ent.Tx, _ store.Attempt) error {
		now, err := s.Store.Clock.Now(ctx, tx)
		for i := 0; i < n && err == nil; i++ {
			err = tx.WebhookDelivery.Create().SetID(uid.New()).SetWebhookID(uid.MustParse(id)).SetChannelID(servertest.Owner).
				SetEventID(uid.New()).SetPosition(int64(-1 - i)).SetType("channel.update").SetStatus("pending").SetIsRepeat(true).
				SetNextAttemptAt(now.Add(time.Hour)).
				Exec(ctx)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// delivered emits an event with a title, waits until it is delivered, and returns its id.
func (r *receiver) delivered(t *testing.T, s *servertest.Server, hook, title string) (event string) {
	t.Helper()
	retitle(t, s, servertest.Owner, title)
	event = r.next(t).event.Metadata.MessageID
	eventually(t, "it is delivered", func() bool { return deliveries(t, s, hook)[0].GetStatus() == "delivered" })
	return event
}

// TestNewEventsDoNotWaitForPendingRedeliveries gives a webhook as many pending redeliveries as
// it may have other pending events.
func TestNewEventsDoNotWaitForPendingRedeliveries(t *testing.T) {
	each(t, func(t *testing.T, s *servertest.Server) {
		r := newReceiver(t)
		id := create(t, s, s.As(t, servertest.Owner), r.mine("channel.update")).GetId()
		addRepeats(t, s, id, 500)
		retitle(t, s, servertest.Owner, "new")
		r.wantTitle(t, "new")
	})
}

// TestNewEventsDoNotWaitForRedeliveriesInProgress has a receiver that does not respond to
// redeliveries. They must leave some of the webhook's simultaneous attempts to other events.
func TestNewEventsDoNotWaitForRedeliveriesInProgress(t *testing.T) {
	each(t, func(t *testing.T, s *servertest.Server) {
		const events, mostAtOnce = 8, 4
		r := newReceiver(t)
		owner := s.As(t, servertest.Owner)
		id := create(t, s, owner, r.mine("channel.update")).GetId()
		repeats := map[string]bool{}
		for i := range events {
			repeats[r.delivered(t, s, id, fmt.Sprint(i))] = true
		}
		released := make(chan struct{})
		release := sync.OnceFunc(func() { close(released) })
		t.Cleanup(release) // before the receiver is closed
		r.answers(func(_ http.ResponseWriter, got sent) {
			if repeats[got.event.Metadata.MessageID] {
				<-released
			}
		})
		for event := range repeats {
			call[*moderatov1.RedeliverWebhookEventResponse](t, s, owner, "POST", path+"/redeliver", servertest.Args{"webhookId": id, "eventId": event})
		}
		begun := map[string]bool{}
		for len(begun) < mostAtOnce {
			begun[r.next(t).event.Metadata.MessageID] = true
		}
		retitle(t, s, servertest.Owner, "new")
		for {
			got := r.next(t)
			if got.event.Payload["title"] == "new" {
				break
			}
			begun[got.event.Metadata.MessageID] = true
		}
		if len(begun) > mostAtOnce {
			t.Errorf("%d redeliveries were in progress, want %d at most", len(begun), mostAtOnce)
		}
	})
}

func TestPendingRedeliveriesAreLimited(t *testing.T) {
	each(t, func(t *testing.T, s *servertest.Server) {
		const most = 100
		r := newReceiver(t)
		owner := s.As(t, servertest.Owner)
		id := create(t, s, owner, r.mine("channel.update")).GetId()
		first, second := r.delivered(t, s, id, "one"), r.delivered(t, s, id, "two")
		redeliver := func(event, want string) {
			t.Helper()
			if o := both(t, s, owner, "POST", path+"/redeliver", servertest.Args{"webhookId": id, "eventId": event}); o.Reason != want {
				t.Errorf("got %+v, want %s", o, want)
			}
		}
		addRepeats(t, s, id, most-1)
		r.status(http.StatusInternalServerError)
		redeliver(first, "OK") // twice: the second call finds it pending
		redeliver(second, "REDELIVERY_LIMIT_REACHED")
		redeliver(first, "OK")
		_, err := s.Store.DB().ExecContext(t.Context(), "UPDATE webhook_deliveries SET status = 'delivered', finished_at = next_attempt_at WHERE position = -1")
		if err != nil {
			t.Fatal(err)
		}
		redeliver(second, "OK")
		if n := storetest.Must(s.Store.Read.WebhookDelivery.Query().Where(webhookdelivery.Status("pending")).Count(t.Context())); n != most {
			t.Errorf("%d deliveries are pending, want %d", n, most)
		}
	})
}
