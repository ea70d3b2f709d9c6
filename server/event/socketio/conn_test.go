package socketio

import (
	"testing"
	"testing/synctest"
	"time"
)

// TestHeartbeat has clients that answer pings, and that stop to.
func TestHeartbeat(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := newConn(t.Context(), "192.0.2.1", polling)
		defer c.close("")
		c.next(t.Context())
		if !c.join("") {
			t.Fatal("the client may not join")
		}
		for range 3 {
			if got := c.next(t.Context()); len(got) != 1 || string(got[0]) != pingPacket {
				t.Fatalf("got %q, want a ping", got)
			}
			if !c.pong() || c.pong() {
				t.Fatal("want one pong for each ping")
			}
		}
		began := time.Now()
		if got := c.next(t.Context()); len(got) != 1 || string(got[0]) != pingPacket {
			t.Fatalf("got %q, want a ping", got)
		}
		if got := c.next(t.Context()); len(got) != 0 || !c.isClosed() || time.Since(began) != pingInterval+pingTimeout {
			t.Errorf("got %q after %v, want the end of the connection after %v", got, time.Since(began), pingInterval+pingTimeout)
		}
	})
}

// TestConnectionMustJoin opens a connection whose client joins no namespace.
func TestConnectionMustJoin(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := newConn(t.Context(), "192.0.2.1", polling)
		time.Sleep(joinTimeout)
		synctest.Wait()
		if !c.isClosed() {
			t.Error("the connection is open")
		}
	})
}

// TestUnsentMessagesAreBounded sends messages to a client that receives nothing.
func TestUnsentMessagesAreBounded(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := newConn(t.Context(), "192.0.2.1", polling)
		s := &session{conn: c}
		const senders = 100
		for range senders {
			go func() {
				for range 10 {
					s.send(c.ctx, "eventsub", make([]byte, 1000))
				}
			}()
		}
		synctest.Wait()
		unsent := 0
		for _, packet := range c.next(t.Context()) {
			unsent += len(packet)
		}
		if unsent < maxUnsent/2 || unsent > maxUnsent+1000 {
			t.Errorf("%d bytes wait, want about %d", unsent, maxUnsent)
		}
		time.Sleep(sendTimeout)
		synctest.Wait()
		if !c.isClosed() {
			t.Error("the connection is open")
		}
	})
}

// TestLargeMessageIsSent sends a message that is larger than the queue.
func TestLargeMessageIsSent(t *testing.T) {
	t.Parallel()
	c := newConn(t.Context(), "192.0.2.1", polling)
	defer c.close("")
	s := &session{conn: c}
	c.next(t.Context())
	for range 2 {
		s.send(t.Context(), "eventsub", make([]byte, 2*maxUnsent))
		packets := c.next(t.Context())
		if len(packets) != 1 || len(packets[0]) < 2*maxUnsent {
			t.Fatalf("got %d packets, want the message", len(packets))
		}
		c.sent(packets)
	}
}
