package webhooks_test

import (
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/moderato-live/moderato/server/event/webhooks"
	"github.com/moderato-live/moderato/server/store"
	"github.com/moderato-live/moderato/test/servertest"
	"github.com/moderato-live/moderato/test/storetest"
)

// TestHangingReceiversDoNotDelayOtherOwners has owners with more webhooks whose receivers
// hang than there are slots for attempts. The webhooks of another owner must be delivered
// meanwhile.
func TestHangingReceiversDoNotDelayOtherOwners(t *testing.T) {
	if webhooks.DefaultMaxAttempts != 1000 {
		t.Errorf("%d attempts may be in flight, and 1000 is documented", webhooks.DefaultMaxAttempts)
	}
	const owners, each, attempts = 8, 4, 16
	t.Parallel()
	storetest.EachKind(t, func(t *testing.T, url store.URL) {
		c := config(url)
		c.WebhookTimeout = 15 * time.Second
		c.WebhookAttempts = attempts
		s := servertest.Start(t, c)
		s.Load(t, servertest.World()...)
		released := make(chan struct{})
		defer close(released)
		silent, alive := newReceiver(t), newReceiver(t)
		silent.answers(func(http.ResponseWriter, sent) { <-released })
		for _, user := range servertest.AddChannels(t, s.Store, owners) {
			for i := range each {
				create(t, s, s.As(t, user), servertest.Args{"url": silent.URL + "?" + strconv.Itoa(i)})
			}
			retitle(t, s, user, "one")
		}
		eventually(t, "the receivers hang", func() bool { return len(silent.got) >= attempts/2 })
		owner := s.As(t, servertest.Owner)
		for i := range each {
			create(t, s, owner, servertest.Args{"url": alive.URL + "?" + strconv.Itoa(i)})
		}
		for _, title := range []string{"one", "two"} {
			retitle(t, s, servertest.Owner, title)
			for range each {
				if got := alive.next(t); got.event.Payload["title"] != title {
					t.Errorf("got %s, want title %q", got.body, title)
				}
			}
		}
		if !strings.Contains(s.Metrics(t), `moderato_webhook_attempts_total{outcome="failed"} 0`+"\n") {
			t.Error("an attempt to a receiver that hangs ended before the others were delivered")
		}
	})
}
