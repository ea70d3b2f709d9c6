package server

import (
	"net"
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

// gRPC does not return the buffers of a response that it was sending on a connection that
// is closed.
func TestClosedConnectionEndsLongLists(t *testing.T) {
	ours, theirs := net.Pipe()
	defer func() { _ = theirs.Close() }()
	conn := &trackedConn{Conn: ours}
	ctx := peer.NewContext(t.Context(), &peer.Peer{Addr: conn.RemoteAddr()})
	released := 0
	first := newLongResponse(ctx, &moderatov1.ListModeratorsResponse{}, func() { released++ })
	second := newLongResponse(ctx, &moderatov1.ListModeratorsResponse{}, func() { released++ })
	first.Put(nil)
	if released != 1 || len(conn.responses) != 1 {
		t.Errorf("after one was sent: released %d, %d left", released, len(conn.responses))
	}
	_ = conn.Close()
	second.Put(nil)
	late := newLongResponse(ctx, &moderatov1.ListModeratorsResponse{}, func() { released++ })
	late.Put(nil)
	if released != 3 {
		t.Errorf("after the connection was closed: released %d, want 3", released)
	}
}

// A client that does not read its long list loses its connection, and the list is
// released.
func TestLongListForStalledClientIsDropped(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ours, theirs := net.Pipe()
		defer func() { _ = theirs.Close() }()
		ctx := peer.NewContext(t.Context(), &peer.Peer{Addr: (&trackedConn{Conn: ours}).RemoteAddr()})
		var released atomic.Int32
		response := &moderatov1.ListModeratorsResponse{Moderators: []*moderatov1.UserSummary{{Slug: "a name"}}}
		long := newLongResponse(ctx, response, func() { released.Add(1) })
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
		if _, err := ours.Write(nil); err == nil || released.Load() != 1 {
			t.Errorf("got %v and released %d times, want a connection that is closed, and once", err, released.Load())
		}
		long.Put(nil)
		if n := released.Load(); n != 1 {
			t.Errorf("after it was freed too: released %d times, want once", n)
		}
	})
}
