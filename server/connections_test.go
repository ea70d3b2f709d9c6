package server_test

import (
	"bufio"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	healthv1 "google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/status"

	"github.com/moderato-live/moderato/test/servertest"
	"github.com/moderato-live/moderato/test/storetest"
)

// rawConn is a connection to REST, on which a test writes requests by hand.
type rawConn struct {
	net.Conn
	in *bufio.Reader
}

func dialREST(t *testing.T, s *servertest.Server) *rawConn {
	t.Helper()
	c, err := net.Dial("tcp", s.HTTPAddr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	return &rawConn{c, bufio.NewReader(c)}
}

// get sends a request, and returns the response's first line.
func (c *rawConn) get(path string, header ...string) (string, error) {
	_ = c.SetDeadline(time.Now().Add(5 * time.Second))
	_, _ = c.in.Discard(c.in.Buffered()) // of the former response
	lines := append([]string{"GET " + path + " HTTP/1.1", "Host: a"}, header...)
	if _, err := fmt.Fprint(c, strings.Join(lines, "\r\n"), "\r\n\r\n"); err != nil {
		return "", err
	}
	return c.in.ReadString('\n')
}

func (c *rawConn) isOpen() bool {
	_ = c.SetDeadline(time.Now().Add(20 * time.Millisecond))
	_, _ = c.in.Discard(c.in.Buffered())
	_, err := c.in.ReadByte()
	var timeout net.Error
	return err == nil || errors.As(err, &timeout) && timeout.Timeout()
}

// TestIdleConnectionsTakeNothingDown opens more connections than REST may have. Each is served,
// at the cost of the one that has been idle longest. Streams and WebSockets stay.
func TestIdleConnectionsTakeNothingDown(t *testing.T) {
	t.Parallel()
	const limit = 12
	config := servertest.Config(storetest.SQLite(t))
	config.HTTPConnections = limit
	s := servertest.Start(t, config)
	s.Load(t, servertest.World()...)
	owner := s.As(t, servertest.Owner)

	stream, socket := dialREST(t, s), dialREST(t, s)
	if line, err := stream.get("/v1/events", "client-id: "+owner.ClientID, "Authorization: Bearer "+owner.Token); err != nil || !strings.Contains(line, "200") {
		t.Fatalf("a stream: %q, %v", line, err)
	}
	upgrade := []string{"Connection: Upgrade", "Upgrade: websocket", "Sec-WebSocket-Version: 13", "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ=="}
	if line, err := socket.get("/ws/?EIO=4&transport=websocket", upgrade...); err != nil || !strings.Contains(line, "101") {
		t.Fatalf("a WebSocket: %q, %v", line, err)
	}
	silent := dialREST(t, s) // sends nothing
	idle := make([]*rawConn, 3*limit)
	for i := range idle {
		idle[i] = dialREST(t, s)
		if line, err := idle[i].get("/v1/users/profile"); err != nil || !strings.Contains(line, "401") {
			t.Fatalf("connection %d: %q, %v", i, line, err)
		}
	}
	if silent.isOpen() {
		t.Error("the connection that never sent anything is open")
	}
	if line, err := idle[0].get("/v1/users/profile"); err == nil {
		t.Errorf("the connection that was idle longest is open: %q", line)
	}
	if line, err := idle[len(idle)-1].get("/v1/users/profile"); err != nil {
		t.Errorf("the last connection: %q, %v", line, err)
	}
	if !stream.isOpen() || !socket.isOpen() {
		t.Error("a stream or a WebSocket was closed")
	}
	if r, err := http.Get("http://" + s.AdminAddr + "/healthz"); err != nil || r.StatusCode != http.StatusOK { //nolint:bodyclose // of a test
		t.Errorf("the health check: %v", err)
	}
	if zero := "\nmoderato_connections_closed_total{transport=\"rest\"} 0\n"; strings.Contains(s.Metrics(t), zero) {
		t.Error("the metrics count no closed connection")
	}
}

// TestConnectionsInUseAreNotClosed opens more event streams than REST may have connections.
func TestConnectionsInUseAreNotClosed(t *testing.T) {
	t.Parallel()
	config := servertest.Config(storetest.SQLite(t))
	config.HTTPConnections, config.GRPCConnections = 4, 2
	s := servertest.Start(t, config)
	s.Load(t, servertest.World()...)
	owner := s.As(t, servertest.Owner)
	open := 0
	for range 12 {
		c := dialREST(t, s)
		if line, err := c.get("/v1/events", "client-id: "+owner.ClientID, "Authorization: Bearer "+owner.Token); err == nil && strings.Contains(line, "200") {
			open++
		}
	}
	if open < 3 || open > 4 {
		t.Errorf("%d streams are open, want 4", open)
	}
	health := func(c *grpc.ClientConn) error {
		_, err := healthv1.NewHealthClient(c).Check(t.Context(), &healthv1.HealthCheckRequest{})
		return err
	}
	if err := health(s.Conn); err != nil {
		t.Fatal(err)
	}
	for i := range 4 {
		conn, err := grpc.NewClient(s.GRPCAddr, grpc.WithTransportCredentials(insecure.NewCredentials()))
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = conn.Close() }()
		err = health(conn)
		if i == 0 && err != nil || i > 0 && status.Code(err) != codes.Unavailable {
			t.Errorf("gRPC connection %d: got %v", i+2, err)
		}
	}
	if err := health(s.Conn); err != nil {
		t.Errorf("the first gRPC connection: %v", err)
	}
}
