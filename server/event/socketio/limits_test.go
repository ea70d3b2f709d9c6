package socketio_test

import (
	"cmp"
	"net/http"
	"net/netip"
	"testing"
	"time"

	"github.com/gorilla/websocket"

	moderatov1 "github.com/moderato-live/moderato/gen/moderato/v1"
	"github.com/moderato-live/moderato/server/event/socketio"
	"github.com/moderato-live/moderato/server/event/socketio/socketiotest"
	"github.com/moderato-live/moderato/test/servertest"
	"github.com/moderato-live/moderato/test/storetest"
)

func TestIdleConnectionsAreLimited(t *testing.T) {
	t.Parallel()
	config := servertest.Config(storetest.SQLite(t))
	config.Sockets = socketio.Limits{IdlePerAddress: 2}
	s := servertest.Start(t, config)
	s.Load(t, servertest.World()...)
	_, o := subscribe(t, s, s.As(t, servertest.Owner), connect(t, s).Session, "channel.ban", servertest.Owner)
	must(t, o)
	idle := []*socketiotest.Client{connect(t, s), connect(t, s)}
	if _, err := socketiotest.Dial(t, s.HTTPAddr); err == nil {
		t.Error("a third connection without a subscription is accepted")
	}
	idle[0].Close()
	for until := time.Now().Add(patience); ; time.Sleep(20 * time.Millisecond) {
		if _, err := socketiotest.Dial(t, s.HTTPAddr); err == nil {
			return
		}
		if time.Now().After(until) {
			t.Fatal("a connection that closed is still counted")
		}
	}
}

// TestIdlePlacesAreTakenFromTheFullestAddress has an address take all places of a server, and
// others connect.
func TestIdlePlacesAreTakenFromTheFullestAddress(t *testing.T) {
	t.Parallel()
	config := servertest.Config(storetest.SQLite(t))
	config.Sockets = socketio.Limits{Idle: 3}
	config.TrustedProxies = []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}
	s := servertest.Start(t, config)
	dialFrom := func(address string) (*websocket.Conn, error) {
		ws, _, err := websocket.DefaultDialer.Dial("ws://"+s.HTTPAddr+websocketPath, http.Header{"X-Forwarded-For": {address}}) //nolint:bodyclose // it is empty
		if err == nil {
			t.Cleanup(func() { _ = ws.Close() })
			_ = ws.SetReadDeadline(time.Now().Add(5 * time.Second)) // it must not end because nobody joins
			read(t, ws)
		}
		return ws, err
	}
	var first *websocket.Conn
	for range 3 {
		ws, err := dialFrom("203.0.113.1")
		if err != nil {
			t.Fatal(err)
		}
		first = cmp.Or(first, ws)
	}
	if _, err := dialFrom("203.0.113.1"); err == nil {
		t.Error("the address takes a fourth place")
	}
	if _, err := dialFrom("198.51.100.1"); err != nil {
		t.Errorf("another address: got %v", err)
	}
	for read(t, first) != "" { // the connection that was evicted
	}
}

// TestConnectionWhoseSubscriptionsEndedIsIdle ends the only subscription of a session. The
// connection must count again, although its session may stay for a while.
func TestConnectionWhoseSubscriptionsEndedIsIdle(t *testing.T) {
	t.Parallel()
	config := servertest.Config(storetest.SQLite(t))
	config.Sockets = socketio.Limits{IdlePerAddress: 2}
	s := servertest.Start(t, config)
	s.Load(t, servertest.World()...)
	c, owner := connect(t, s), s.As(t, servertest.Owner)
	got, o := subscribe(t, s, owner, c.Session, "channel.ban", servertest.Owner)
	must(t, o)
	_, err := moderatov1.NewEventSubscriptionsServiceClient(s.Conn).DeleteSubscription(owner.Context(), &moderatov1.DeleteSubscriptionRequest{Id: got.GetId()})
	must(t, servertest.OutcomeOf(err))
	connect(t, s)
	if _, err := socketiotest.Dial(t, s.HTTPAddr); err == nil {
		t.Error("a third connection without a subscription is accepted")
	}
	c.Close()
	for until := time.Now().Add(patience); ; time.Sleep(20 * time.Millisecond) {
		if _, err := socketiotest.Dial(t, s.HTTPAddr); err == nil {
			return
		}
		if time.Now().After(until) {
			t.Fatal("a connection that closed is still counted")
		}
	}
}

func TestIdleConnectionsEnd(t *testing.T) {
	t.Parallel()
	config := servertest.Config(storetest.SQLite(t))
	config.Sockets = socketio.Limits{IdleTime: 2 * time.Second}
	s := servertest.Start(t, config)
	s.Load(t, servertest.World()...)
	subscribed := connect(t, s)
	_, o := subscribe(t, s, s.As(t, servertest.Owner), subscribed.Session, "channel.ban", servertest.Owner)
	must(t, o)
	if m := connect(t, s).Next(t); m.Raw != "" {
		t.Errorf("got %s, want the end of the connection", m.Raw)
	}
	ban(t, s, servertest.Raider)
	if m := subscribed.Next(t); m.Metadata.SubscriptionType != "channel.ban" {
		t.Errorf("a session with a subscription was closed: %s", m.Raw)
	}
}
