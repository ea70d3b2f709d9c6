package server

import (
	"net"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"google.golang.org/grpc/encoding"
	protocodec "google.golang.org/grpc/encoding/proto"
	"google.golang.org/grpc/peer"
	"google.golang.org/protobuf/proto"

	moderatov1 "github.com/moderato-live/moderato/gen/moderato/v1"
)

// oneConn is a listener that accepts one connection.
type oneConn struct {
	net.Listener
	conn net.Conn
}

func (l oneConn) Accept() (net.Conn, error) { return l.conn, nil }

// accept returns the server's end of a connection, as the calls on it find it, and the client's.
func accept(t *testing.T) (*closableConn, net.Conn) {
	t.Helper()
	ours, theirs := net.Pipe()
	accepted, err := closableListener{oneConn{conn: ours}}.Accept()
	if err != nil {
		t.Fatal(err)
	}
	return connectionOf(peer.NewContext(t.Context(), &peer.Peer{Addr: accepted.RemoteAddr()})), theirs
}

// gRPC does not return the buffers of a response that it was sending on a connection that
// is closed.
func TestClosedConnectionEndsLongLists(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		conn, theirs := accept(t)
		defer func() { _ = theirs.Close() }()
		var released atomic.Int32
		send := func() *longResponse {
			return newLongResponse(conn, &moderatov1.ListModeratorsResponse{}, sync.OnceFunc(func() { released.Add(1) }))
		}
		want := func(when string, want int32) {
			t.Helper()
			synctest.Wait()
			if got := released.Load(); got != want {
				t.Errorf("%s: released %d, want %d", when, got, want)
			}
		}
		first, second := send(), send()
		first.Put(nil)
		want("after one was sent", 1)
		_ = conn.Close()
		want("after the connection was closed", 2)
		second.Put(nil)
		send()
		want("one that begins later", 3)
	})
}

// A client that does not read its long list loses its connection, and the list is
// released.
func TestLongListForStalledClientIsDropped(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		conn, theirs := accept(t)
		defer func() { _ = theirs.Close() }()
		var released atomic.Int32
		response := &moderatov1.ListModeratorsResponse{Moderators: []*moderatov1.UserSummary{{Slug: "a name"}}}
		long := newLongResponse(conn, response, sync.OnceFunc(func() { released.Add(1) }))
		encoded, err := codec{encoding.GetCodecV2(protocodec.Name)}.Marshal(long)
		if err != nil {
			t.Fatal(err)
		}
		var decoded moderatov1.ListModeratorsResponse
		if err := proto.Unmarshal(encoded.Materialize(), &decoded); err != nil || !proto.Equal(&decoded, response) {
			t.Fatalf("got %v, %v, want %v", &decoded, err, response)
		}
		time.Sleep(maxSendTime - time.Nanosecond)
		synctest.Wait()
		if n := released.Load(); n != 0 {
			t.Fatalf("before its time: released %d times", n)
		}
		time.Sleep(time.Nanosecond)
		synctest.Wait()
		if _, err := conn.Write(nil); err == nil || released.Load() != 1 {
			t.Errorf("got %v and released %d times, want a connection that is closed, and once", err, released.Load())
		}
	})
}
