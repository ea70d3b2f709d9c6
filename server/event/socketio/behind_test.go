package socketio_test

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	moderatov1 "github.com/moderato-live/moderato/gen/moderato/v1"
	"github.com/moderato-live/moderato/internal/uid"
	"github.com/moderato-live/moderato/server/event/hearing"
	"github.com/moderato-live/moderato/server/event/outbox"
	"github.com/moderato-live/moderato/server/event/socketio"
	"github.com/moderato-live/moderato/server/event/socketio/socketiotest"
	"github.com/moderato-live/moderato/server/event/watch"
	"github.com/moderato-live/moderato/server/rpc/apierr"
	"github.com/moderato-live/moderato/server/rpc/authn"
	"github.com/moderato-live/moderato/server/store"
	"github.com/moderato-live/moderato/test/servertest"
)

// behind is a Deliverer whose listeners fall behind after each two events.
type behind struct {
	store  *store.Store
	places chan *watch.Place // one for each time that a listener fell behind
}

func (*behind) Open(*authn.Caller) (closeStream func(), err error) { return func() {}, nil }

func (d *behind) Deliver(ctx context.Context, _ *hearing.Wish, place *watch.Place, send func(message any) error) error {
	page, err := outbox.Read(ctx, d.store, *place.After, 2)
	if err != nil {
		return err
	}
	for _, e := range page {
		if err := send(e); err != nil {
			return err
		}
	}
	d.places <- place
	return apierr.New(moderatov1.Reason_REASON_WATCHER_TOO_SLOW)
}

// serve serves Socket.IO beside a server with events of a source, and connects to it.
func serve(t *testing.T, s *servertest.Server, source socketio.Deliverer) (*socketiotest.Client, *socketio.Server) {
	t.Helper()
	sockets := socketio.New(s.Store, source, authn.NewAuthenticator(s.Store), slog.New(slog.DiscardHandler), socketio.Limits{}, prometheus.NewRegistry())
	web := httptest.NewServer(sockets)
	t.Cleanup(web.Close)
	t.Cleanup(sockets.Close)
	return socketiotest.Connect(t, strings.TrimPrefix(web.URL, "http://")), sockets
}

// TestDeliveryThatFellBehindResumes has a delivery fall behind in the middle of the events.
// It continues after the last event that it sent: the client receives each event once, in
// order, and no revocation.
func TestDeliveryThatFellBehindResumes(t *testing.T) {
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		source := &behind{s.Store, make(chan *watch.Place, 1000)}
		c, sockets := serve(t, s, source)
		owner := s.As(t, servertest.Owner)
		_, o := subscribe(t, s, owner, c.Session, "channel.update", servertest.Owner)
		must(t, o)
		const events = 5
		for i := range events {
			body := fmt.Sprintf(`{"title":"%d","lang":"en"}`, i)
			if r := s.REST(t, owner, http.MethodPost, "/v1/channels/info", body); r.Status != http.StatusOK {
				t.Fatal(r.Body)
			}
		}
		sockets.Changed(uid.MustParse(c.Session)) // the delivery begins
		for i := range events {
			if m := c.Next(t); m.Metadata.SubscriptionType != "channel.update" || m.Payload["title"] != fmt.Sprint(i) {
				t.Fatalf("got %s, want the title %d", m.Raw, i)
			}
		}
		if n := len(source.places); n < events/2 {
			t.Fatalf("the delivery fell behind %d times, want %d at least", n, events/2)
		}
		if first, second := <-source.places, <-source.places; first != second {
			t.Error("the delivery does not continue at its place, which keeps live events")
		}
	})
}

// slow is a Deliverer whose listeners hear nothing before they are told to begin.
type slow struct {
	behind

	begin chan struct{}
}

func (d *slow) Deliver(ctx context.Context, _ *hearing.Wish, _ *watch.Place, send func(message any) error) error {
	d.begin <- struct{}{}
	d.begin <- struct{}{}
	err := send(nil)
	<-ctx.Done()
	return err
}

// TestChangedWaitsForNewSubscriptions has a client hear live events, which are not repeated, only
// some time after its subscription was found.
func TestChangedWaitsForNewSubscriptions(t *testing.T) {
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		source := &slow{behind: behind{store: s.Store}, begin: make(chan struct{})}
		c, sockets := serve(t, s, source)
		_, o := subscribe(t, s, s.As(t, servertest.Owner), c.Session, "channel.chat.message", servertest.Owner)
		must(t, o)
		returned := make(chan struct{})
		go func() { sockets.Changed(uid.MustParse(c.Session)); close(returned) }()
		<-source.begin
		select {
		case <-returned:
			t.Error("the call returns before the client hears anything")
		case <-time.After(20 * time.Millisecond):
		}
		<-source.begin
		<-returned
	})
}
