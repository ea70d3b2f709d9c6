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
	"github.com/moderato-live/moderato/server/event/outbox"
	"github.com/moderato-live/moderato/server/store"
	"github.com/moderato-live/moderato/test/servertest"
	"github.com/moderato-live/moderato/test/storetest"
)

// smallBuffers are transports with small receive buffers, so that events which the client
// does not read stay in the server.
var smallBuffers = map[string]transport{
	"gRPC": func(t *testing.T, s *servertest.Server, c servertest.Credentials, req *moderatov1.WatchEventsRequest) watcher {
		t.Helper()
		conn, err := grpc.NewClient(s.GRPCAddr, grpc.WithTransportCredentials(insecure.NewCredentials()),
			grpc.WithInitialWindowSize(64<<10), grpc.WithInitialConnWindowSize(64<<10))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = conn.Close() })
		return watchOver(t, conn, c, req, make(chan message))
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
		return watchThrough(t, client, s, c, req, make(chan message))
	},
}

// TestSlowListenerResumesFromCursor writes more events than the hub keeps while a client
// reads none. The stream ends with WATCHER_TOO_SLOW, and a new stream with the cursor of the
// last received event delivers the rest. The test does not run on SQLite: with the race
// detector, writing the events there takes longer than the server keeps an SSE stream that
// nobody reads. The tests of the hub cover SQLite.
func TestSlowListenerResumesFromCursor(t *testing.T) {
	t.Parallel()
	storetest.OneServer(t, func(t *testing.T, url store.URL) {
		s := servertest.Start(t, servertest.Config(url))
		s.Load(t, servertest.World()...)
		const n = 11_000
		request := &moderatov1.WatchEventsRequest{ChannelId: servertest.Owner.String()}
		listeners := map[string]watcher{}
		for name, watch := range smallBuffers {
			listeners[name] = watch(t, s, s.As(t, servertest.Owner), request)
		}
		writeEvents(t, s, 1700, strings.Repeat("x", 8000)) // more than the socket buffers hold
		writeEvents(t, s, n-1700, "x")
		waitForPositions(t, s, n)
		for _, name := range []string{"SSE", "gRPC"} { // SSE first: the server closes it if the client reads nothing for 30 s
			w, last := listeners[name], int64(0)
			receive := func(w watcher) (reason string) {
				for last < n {
					m := w.next(t)
					if m.event == nil {
						return m.reason
					}
					if at := servertest.EventPosition(t, s.Store, m.cursor); at != last+1 {
						t.Fatalf("%s: got position %d after %d", name, at, last)
					}
					last++
				}
				return ""
			}
			if reason := receive(w); reason != "WATCHER_TOO_SLOW" || last == 0 {
				t.Errorf("%s: the stream ended with %q after %d events, want WATCHER_TOO_SLOW after at least one", name, reason, last)
			}
			resumed := &moderatov1.WatchEventsRequest{ChannelId: request.GetChannelId(), Cursor: servertest.EventCursor(t, s.Store, last)}
			if reason := receive(transports[name](t, s, s.As(t, servertest.Owner), resumed)); reason != "" {
				t.Errorf("%s: the resumed stream ended with %s after %d of %d events", name, reason, last, n)
			}
		}
	})
}

// writeEvents writes n events with text in their payload.
func writeEvents(t *testing.T, s *servertest.Server, n int, text string) {
	t.Helper()
	for n > 0 {
		batch := min(n, 500)
		err := change.ApplyUnattended(context.Background(), s.Store, servertest.Owner, func(_ context.Context, c *change.Change) error {
			for range batch {
				c.Emit("channel.chat.clear_user_messages", servertest.Viewer, &moderatov1.ClearUserMessagesEvent{ChannelId: text, ClearedAt: c.Now.Proto()})
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		n -= batch
	}
}

// waitForPositions waits until n events have positions.
func waitForPositions(t *testing.T, s *servertest.Server, n int64) {
	t.Helper()
	for deadline := time.Now().Add(3 * patience); ; time.Sleep(10 * time.Millisecond) {
		at, err := outbox.ReadPositions(context.Background(), s.Store.Read)
		if err != nil || time.Now().After(deadline) {
			t.Fatalf("%d of %d events have a position: %v", at.Last, n, err)
		}
		if at.Last == n {
			return
		}
	}
}
