package webhooks_test

import (
	"fmt"
	"net/http"
	"testing"
	"time"

	moderatov1 "github.com/moderato-live/moderato/gen/moderato/v1"
	"github.com/moderato-live/moderato/server/event/webhooks"
	"github.com/moderato-live/moderato/server/store"
	"github.com/moderato-live/moderato/test/servertest"
	"github.com/moderato-live/moderato/test/storetest"
)

// TestHangingReceiverTimesOut has a receiver that accepts a request without responding,
// and one that does not end its response. Each attempt must time out, fail with a reason,
// and delay no other webhook.
func TestHangingReceiverTimesOut(t *testing.T) {
	t.Parallel()
	if webhooks.AttemptTimeout != 10*time.Second {
		t.Errorf("an attempt takes up to %s, and 10 s is documented", webhooks.AttemptTimeout)
	}
	const timeout = time.Second
	storetest.EachKind(t, func(t *testing.T, url store.URL) {
		released := make(chan struct{})
		defer close(released)
		hang := func(http.ResponseWriter, sent) { <-released }
		trickle := func(w http.ResponseWriter, _ sent) {
			for {
				if _, err := fmt.Fprint(w, "."); err != nil || http.NewResponseController(w).Flush() != nil {
					return
				}
				select {
				case <-released:
					return
				case <-time.After(10 * time.Millisecond):
				}
			}
		}
		c := config(url)
		c.WebhookTimeout = timeout
		s := servertest.Start(t, c)
		s.Load(t, servertest.World()...)
		silent, endless, alive := newReceiver(t), newReceiver(t), newReceiver(t)
		silent.answers(hang)
		endless.answers(trickle)
		owner := s.As(t, servertest.Owner)
		var hooks []*moderatov1.CreateWebhookResponse
		for _, r := range []*receiver{silent, endless, alive} {
			hooks = append(hooks, create(t, s, owner, r.mine()))
		}
		const n = 5
		began := time.Now()
		for i := range n {
			retitle(t, s, servertest.Owner, fmt.Sprint(i))
			if got := alive.next(t); got.event.Payload["title"] != fmt.Sprint(i) {
				t.Fatalf("got %s", got.body)
			}
		}
		if took := time.Since(began); len(silent.got) != 1 || len(endless.got) != 1 {
			t.Errorf("after %s the hanging receivers got %d and %d requests, want 1", took, len(silent.got), len(endless.got))
		}
		for i, want := range []*moderatov1.WebhookDelivery{
			{LastError: new("no answer within 1s")},
			{LastError: new("the answer did not end within 1s"), LastStatus: new(int32(http.StatusOK))},
		} {
			id := hooks[i].GetId()
			eventually(t, "the failure is noted", func() bool { return oldest(t, s, id).GetAttempts() == 1 })
			if got := oldest(t, s, id); got.GetStatus() != "pending" || got.GetLastError() != want.GetLastError() ||
				got.GetLastStatus() != want.GetLastStatus() || got.NextAttemptAt == nil {
				t.Errorf("got %v, want %v", got, want)
			}
		}
		// The delivery is retried, and the waiting events follow.
		silent.answers(nil)
		endless.answers(nil)
		s.Store.Clock.Advance(time.Minute)
		for _, r := range []*receiver{silent, endless} {
			r.next(t) // the delivery that hung
			for i := range n {
				if got := r.next(t); got.event.Payload["title"] != fmt.Sprint(i) {
					t.Errorf("got %s, want title %d", got.body, i)
				}
			}
		}
	})
}

// oldest returns the oldest delivery of a webhook.
func oldest(t *testing.T, s *servertest.Server, id string) *moderatov1.WebhookDelivery {
	t.Helper()
	rows := deliveries(t, s, id)
	if len(rows) == 0 {
		return nil
	}
	return rows[len(rows)-1]
}
