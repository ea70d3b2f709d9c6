package server

import (
	"context"
	"fmt"
	"net"
	"sync"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/encoding"
	"google.golang.org/grpc/mem"
	"google.golang.org/grpc/peer"
	"google.golang.org/protobuf/proto"

	"github.com/moderato-live/moderato/server/paging"
)

// maxSendTime is how long the client of a long list may take to receive it.
const maxSendTime = 30 * time.Second

// sendLists is a gRPC interceptor that bounds the memory of long lists. gRPC keeps a
// response in memory until the client has received it, so a long list counts as under
// way until then. The connection of a client that takes too long is closed.
func sendLists(ctx context.Context, req any, _ *grpc.UnaryServerInfo, handler grpc.UnaryHandler) (any, error) {
	var sending paging.Sending
	response, err := handler(paging.WithSending(ctx, &sending), req)
	if !sending.IsLong() {
		return response, err
	}
	if err != nil {
		sending.Sent()
		return nil, err
	}
	message, _ := response.(proto.Message)
	return newLongResponse(ctx, message, sending.Sent), nil
}

// longResponse is the response with a long list.
type longResponse struct {
	message proto.Message
	sent    func() // ends what is held for the list
	timer   *time.Timer
}

func newLongResponse(ctx context.Context, message proto.Message, sent func()) *longResponse {
	long := &longResponse{message: message, sent: sync.OnceFunc(sent)}
	long.timer = time.AfterFunc(maxSendTime, func() {
		closeConnection(ctx)
		long.sent()
	})
	return long
}

// Get and Put make a longResponse the pool of its own encoding, which gRPC returns
// when it was sent.
func (r *longResponse) Get(int) *[]byte { return nil }

// Put ends what the response holds.
func (r *longResponse) Put(*[]byte) {
	r.timer.Stop()
	r.sent()
}

// codec is gRPC's codec, which knows longResponse.
type codec struct{ encoding.CodecV2 }

// Marshal encodes a message.
func (c codec) Marshal(v any) (mem.BufferSlice, error) {
	long, isLong := v.(*longResponse)
	if !isLong {
		return c.CodecV2.Marshal(v)
	}
	text, err := proto.Marshal(long.message)
	if err != nil {
		long.Put(nil)
		return nil, fmt.Errorf("encode a long list: %w", err)
	}
	return mem.BufferSlice{mem.NewBuffer(&text, long)}, nil
}

// closableListener is a listener whose connections can be closed by a call.
type closableListener struct{ net.Listener }

// Accept waits for a connection.
func (l closableListener) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return closable{c}, nil
}

type closable struct{ net.Conn }

// RemoteAddr returns the address of the client, which leads to its connection.
func (c closable) RemoteAddr() net.Addr { return connectionAddr{c.Conn.RemoteAddr(), c.Conn} }

type connectionAddr struct {
	net.Addr
	conn net.Conn
}

// closeConnection closes the connection that a call came with.
func closeConnection(ctx context.Context) {
	if p, ok := peer.FromContext(ctx); ok {
		if addr, ok := p.Addr.(connectionAddr); ok {
			_ = addr.conn.Close()
		}
	}
}
