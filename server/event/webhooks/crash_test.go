package webhooks_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/moderato-live/moderato/server/store"
	"github.com/moderato-live/moderato/test/servertest"
	"github.com/moderato-live/moderato/test/storetest"
)

// A server whose store is closed is equivalent to a dead one: it records nothing.
func TestDeadServerClaimsAreTakenOver(t *testing.T) {
	t.Parallel()
	storetest.EachKind(t, func(t *testing.T, url store.URL) {
		dead := servertest.Start(t, config(url))
		dead.Load(t, servertest.World()...)
		r := newReceiver(t)
		release := make(chan struct{})
		r.answers(func(http.ResponseWriter, sent) { <-release })
		create(t, dead, dead.As(t, servertest.Owner), r.mine())
		retitle(t, dead, servertest.Owner, "one")
		retitle(t, dead, servertest.Owner, "two")
		first := r.next(t)
		dead.Store.Close() // after sending, before the delivery is recorded
		r.answers(nil)
		close(release)

		s := servertest.Start(t, config(url))
		for deadline := time.Now().Add(time.Second); time.Now().Before(deadline); time.Sleep(50 * time.Millisecond) {
			r.wantNothing(t) // the claim has not expired
		}
		s.Store.Clock.Advance(time.Minute)
		if again := r.next(t); again.event.Metadata != first.event.Metadata {
			t.Errorf("got %s, want %s", again.body, first.body)
		}
		if got := r.next(t); got.event.Payload["title"] != "two" {
			t.Errorf("got %s", got.body)
		}
	})
}

// A server that stops gracefully lets another take over immediately.
func TestStoppingServerReleasesClaims(t *testing.T) {
	t.Parallel()
	storetest.EachKind(t, func(t *testing.T, url store.URL) {
		a := servertest.Start(t, config(url))
		a.Load(t, servertest.World()...)
		r := newReceiver(t)
		release := make(chan struct{})
		r.answers(func(http.ResponseWriter, sent) { <-release })
		create(t, a, a.As(t, servertest.Owner), r.mine())
		retitle(t, a, servertest.Owner, "one")
		retitle(t, a, servertest.Owner, "two")
		first := r.next(t)
		stopped := make(chan struct{})
		go func() {
			defer close(stopped)
			a.Stop(t)
		}()
		r.answers(nil)
		close(release)
		<-stopped
		s := servertest.Start(t, config(url))
		second := r.next(t)
		if second.event.Metadata.Sequence != first.event.Metadata.Sequence+1 {
			t.Errorf("got %s after %s", second.body, first.body)
		}
		retitle(t, s, servertest.Owner, "three")
		if got := r.next(t); got.event.Payload["title"] != "three" {
			t.Errorf("got %s", got.body)
		}
	})
}
