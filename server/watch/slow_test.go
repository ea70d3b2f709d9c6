package watch_test

import (
	"context"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"

	moderatov1 "github.com/moderato-live/moderato/gen/moderato/v1"
	"github.com/moderato-live/moderato/server/change"
	"github.com/moderato-live/moderato/server/outbox"
	"github.com/moderato-live/moderato/server/servertest"
	"github.com/moderato-live/moderato/server/store"
	"github.com/moderato-live/moderato/server/store/storetest"
)

// narrow are streams that hold little: what their listener does not take stays
// with the server.
var narrow = map[string]face{
	"gRPC": func(t *testing.T, s *servertest.Server, c servertest.Credentials, req *moderatov1.WatchEventsRequest) watcher {
		t.Helper()
		conn, err := grpc.NewClient(s.GRPCAddr, grpc.WithTransportCredentials(insecure.NewCredentials()),
			grpc.WithInitialWindowSize(64<<10), grpc.WithInitialConnWindowSize(64<<10))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = conn.Close() })
		return watchOver(t, conn, c, req, make(chan heard))
	},
	"SSE": func(t *testing.T, s *servertest.Server, c servertest.Credentials, req *moderatov1.WatchEventsRequest) watcher {
		t.Helper()
		dial := func(ctx context.Context, network, address string) (net.Conn, error) {
			conn, err := new(net.Dialer).DialContext(ctx, network, address)
			if tcp, ok := conn.(*net.TCPConn); ok && err == nil {
				err = tcp.SetReadBuffer(256 << 10)
			}
			return conn, err
		}
		client := &http.Client{Transport: &http.Transport{DialContext: dial}}
		t.Cleanup(client.CloseIdleConnections)
		return watchThrough(t, client, s, c, req, make(chan heard))
	},
}

// TestASlowListenerGoesOnFromItsCursor has a listener take nothing while more
// happens than the server keeps at hand. It is told so, and hears all of it when
// it comes back with the cursor of the last event that it took. Not on SQLite,
// which under the race detector takes longer to write so much than a stream over
// HTTP is let stand still; how the hub has it is tested there too.
func TestASlowListenerGoesOnFromItsCursor(t *testing.T) {
	storetest.EachServer(t, func(t *testing.T, url store.URL) {
		s := servertest.Start(t, servertest.Config(url))
		s.Load(t, servertest.World()...)
		const n = 11_000
		request := &moderatov1.WatchEventsRequest{ChannelId: servertest.Owner.String()}
		listeners := map[string]watcher{}
		for name, watch := range narrow {
			listeners[name] = watch(t, s, s.As(t, servertest.Owner), request)
		}
		writeEvents(t, s, 1700, strings.Repeat("x", 8000)) // more than the system holds on the way
		writeEvents(t, s, n-1700, "x")
		waitForPositions(t, s, n)
		for _, name := range []string{"SSE", "gRPC"} { // which is given up when it takes nothing for 30 s
			w, last := listeners[name], int64(0)
			take := func(w watcher) (reason string) {
				for last < n {
					m := w.next(t)
					if m.event == nil {
						return m.reason
					}
					if at := servertest.EventPosition(t, s.Store, m.cursor); at != last+1 {
						t.Fatalf("%s: heard position %d after %d", name, at, last)
					}
					last++
				}
				return ""
			}
			if reason := take(w); reason != "WATCHER_TOO_SLOW" || last == 0 {
				t.Errorf("%s: ended with %q after %d events, want WATCHER_TOO_SLOW after some", name, reason, last)
			}
			again := &moderatov1.WatchEventsRequest{ChannelId: request.GetChannelId(), Cursor: servertest.EventCursor(t, s.Store, last)}
			if reason := take(faces[name](t, s, s.As(t, servertest.Owner), again)); reason != "" {
				t.Errorf("%s: ended with %s after %d events of %d", name, reason, last, n)
			}
		}
	})
}

// writeEvents writes n events with something in them.
func writeEvents(t *testing.T, s *servertest.Server, n int, text string) {
	t.Helper()
	for n > 0 {
		some := min(n, 500)
		err := change.ApplyUnattended(context.Background(), s.Store, servertest.Owner, func(_ context.Context, c *change.Change) error {
			for range some {
				c.Emit("channel.chat.clear_user_messages", servertest.Viewer, &moderatov1.ClearUserMessagesEvent{ChannelId: text})
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		n -= some
	}
}

// waitForPositions waits until n events have their positions.
func waitForPositions(t *testing.T, s *servertest.Server, n int64) {
	t.Helper()
	for late := time.Now().Add(3 * patience); ; time.Sleep(10 * time.Millisecond) {
		at, err := outbox.ReadPositions(context.Background(), s.Store.Read)
		if err != nil || time.Now().After(late) {
			t.Fatalf("%d of %d events have a position: %v", at.Last, n, err)
		}
		if at.Last == n {
			return
		}
	}
}
