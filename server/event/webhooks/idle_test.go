package webhooks_test

import (
	"fmt"
	"log/slog"
	"net/http"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/moderato-live/moderato/ent"
	"github.com/moderato-live/moderato/internal/uid"
	"github.com/moderato-live/moderato/server/event/watch"
	"github.com/moderato-live/moderato/server/event/webhooks"
	"github.com/moderato-live/moderato/test/servertest"
	"github.com/moderato-live/moderato/test/storetest"
)

// fields returns the columns of the only webhook.
func fields(t *testing.T, s *servertest.Server) string {
	t.Helper()
	row, err := s.Store.Read.Webhook.Query().Only(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return row.String()
}

// newEngine returns the engine of another server on the same database.
func newEngine(s *servertest.Server) *webhooks.Engine {
	log := slog.New(slog.DiscardHandler)
	return webhooks.NewEngine(s.Store, watch.NewHub(s.Store, log), log, prometheus.NewRegistry(), webhooks.Options{
		Reach: webhooks.Anywhere, Timeout: webhooks.AttemptTimeout, MaxAttempts: webhooks.DefaultMaxAttempts,
	})
}

// Two servers that see the same event both try to claim the webhook.
func TestClaimedWebhookHasOneWorker(t *testing.T) {
	each(t, func(t *testing.T, s *servertest.Server) {
		r := newReceiver(t)
		release := make(chan struct{})
		r.answers(func(http.ResponseWriter, sent) { <-release })
		hook := create(t, s, s.As(t, servertest.Owner), r.mine())
		retitle(t, s, servertest.Owner, "one")
		r.next(t)
		newEngine(s).Work(t.Context(), uid.MustParse(hook.GetId()))
		r.wantNothing(t)
		r.answers(nil)
		close(release)
		eventually(t, "it is delivered at the first attempt", func() bool {
			rows := deliveries(t, s, hook.GetId())
			return len(rows) == 1 && rows[0].GetStatus() == "delivered" && rows[0].GetAttempts() == 1
		})
		r.wantNothing(t)
	})
}

func TestUnmatchedEventsCauseNoWrite(t *testing.T) {
	each(t, func(t *testing.T, s *servertest.Server) {
		create(t, s, s.As(t, servertest.Owner), servertest.Args{"url": quiet, "type": []string{"stream.online"}})
		idle := func() *ent.Webhook {
			row, err := s.Store.Read.Webhook.Query().Only(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			return row
		}
		eventually(t, "it waits for nothing", func() bool { return idle().NextAt == nil })
		before := fields(t, s)
		// An event that this webhook receives has also been checked for the other.
		r := newReceiver(t)
		other := create(t, s, s.As(t, servertest.Other), servertest.Args{"url": r.URL})
		for i := range 20 {
			retitle(t, s, servertest.Owner, fmt.Sprint(i))
		}
		retitle(t, s, servertest.Other, "last")
		r.next(t)
		eventually(t, "it is noted", func() bool { return deliveries(t, s, other.GetId())[0].GetStatus() == "delivered" })
		s.CallGRPC(t, s.As(t, servertest.Other), "DELETE", path, servertest.Args{"webhookId": other.GetId()})
		eventually(t, "the other is gone", func() bool { return storetest.Must(s.Store.Read.Webhook.Query().Count(t.Context())) == 1 })
		if diff := cmp.Diff(before, fields(t, s)); diff != "" {
			t.Errorf("the row was written: %s", diff)
		}

		engine := newEngine(s)
		for _, c := range []struct{ by, want int64 }{{1000, 0}, {1, 21}} {
			if err := engine.Advance(t.Context(), 21, c.by); err != nil {
				t.Fatal(err)
			}
			if got := idle().Position; got != c.want {
				t.Errorf("moved up by %d: it is at %d, want %d", c.by, got, c.want)
			}
		}
	})
}
