package server

import (
	"context"
	"errors"
	"net"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/encoding"
	"google.golang.org/grpc/peer"
	"google.golang.org/protobuf/proto"

	"github.com/moderato-live/moderato/server/rpc/paging"
)

// maxSendTime is how long a gRPC client may take to receive a long list.
const maxSendTime = 30 * time.Second

// trackSending is a gRPC interceptor that counts a long list as in memory until gRPC has
// sent it. It closes the connection of a client that takes longer than maxSendTime.
func trackSending(ctx context.Context, req any, _ *grpc.UnaryServerInfo, handler grpc.UnaryHandler) (any, error) {
	var sending paging.Sending
	response, err := handler(paging.WithSending(ctx, &sending), req)
	if err != nil || !sending.IsLong() {
		sending.Sent()
		return response, err
	}
	_ = grpc.SetSendCompressor(ctx, encoding.Identity) // gRPC returns the buffer of what it compressed before it sends
	message, _ := response.(proto.Message)
	return newLongResponse(connectionOf(ctx), message, sending.Sent), nil
}

// longResponse is a long list that gRPC sends. It is the buffer pool of its own encoding:
// gRPC returns the buffer when it was sent.
type longResponse struct {
	message proto.Message
	stop    context.CancelFunc // stops waiting for the client
	release func()
}

// newLongResponse returns a response that calls release when it was sent, and when the
// connection is closed. Calls of release after the first must have no effect.
func newLongResponse(conn *closableConn, message proto.Message, release func()) *longResponse {
	ctx, stop := context.WithTimeout(conn.open, maxSendTime)
	context.AfterFunc(ctx, func() {
		if errors.Is(ctx.Err(), context.DeadlineExceeded) {
			_ = conn.Close()
		}
		release()
	})
	return &longResponse{message, stop, release}
}

// Get returns no buffer.
func (r *longResponse) Get(int) *[]byte { return nil }

// Put ends the response.
func (r *longResponse) Put(*[]byte) {
	r.release()
	r.stop()
}

// closableListener is a listener whose connections connectionOf finds.
type closableListener struct{ net.Listener }

// Accept waits for a connection.
func (l closableListener) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	conn := &closableConn{Conn: c}
	conn.open, conn.closed = context.WithCancel(context.Background())
	return conn, nil
}

// closableConn is a connection of a gRPC client.
type closableConn struct {
	net.Conn

	open   context.Context //nolint:containedctx // it lives as long as the connection
	closed context.CancelFunc
}

// Close closes the connection and ends its responses: gRPC does not return the buffers that
// it had begun to send.
func (c *closableConn) Close() error {
	c.closed()
	return c.Conn.Close()
}

// RemoteAddr returns the address of the client, from which connectionOf finds the connection.
func (c *closableConn) RemoteAddr() net.Addr { return connectionAddr{c.Conn.RemoteAddr(), c} }

type connectionAddr struct {
	net.Addr

	conn *closableConn
}

// connectionOf returns the connection of a call.
func connectionOf(ctx context.Context) *closableConn {
	p, _ := peer.FromContext(ctx)
	return p.Addr.(connectionAddr).conn
}
