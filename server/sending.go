package server

import (
	"context"
	"net"
	"sync"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/peer"
	"google.golang.org/protobuf/proto"

	"github.com/moderato-live/moderato/server/paging"
)

// maxSendTime is how long the client of a long list may take to receive it.
const maxSendTime = 30 * time.Second

// sendLists is a gRPC interceptor that bounds the memory of long lists. gRPC keeps a
// response in memory until the client has received it, so a long list counts as in memory
// until then. The connection of a client that takes longer than maxSendTime is closed.
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

// longResponse is a response that contains a long list.
type longResponse struct {
	message proto.Message
	sent    func() // releases what is held for the list
	timer   *time.Timer
	conn    *trackedConn // nil if the connection is unknown
}

func newLongResponse(ctx context.Context, message proto.Message, sent func()) *longResponse {
	r := &longResponse{message: message, sent: sync.OnceFunc(sent), conn: connectionOf(ctx)}
	r.timer = time.AfterFunc(maxSendTime, func() {
		if r.conn != nil {
			_ = r.conn.Close()
		}
		r.sent()
	})
	if r.conn != nil {
		r.conn.add(r)
	}
	return r
}

// Get and Put make a longResponse the buffer pool of its own encoding. gRPC returns the
// buffer to the pool when it was sent.
func (r *longResponse) Get(int) *[]byte { return nil }

// Put releases what is held for the response.
func (r *longResponse) Put(*[]byte) {
	r.end()
	if r.conn != nil {
		r.conn.remove(r)
	}
}

func (r *longResponse) end() {
	r.timer.Stop()
	r.sent()
}

// trackingListener is a listener whose connections track the long responses that are
// being sent on them: when a connection is closed, gRPC does not return the buffers that
// it had begun to send.
type trackingListener struct{ net.Listener }

// Accept waits for a connection.
func (l trackingListener) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return &trackedConn{Conn: c}, nil
}

// trackedConn is a connection with the long responses that are being sent on it.
type trackedConn struct {
	net.Conn

	mu        sync.Mutex
	isClosed  bool
	responses map[*longResponse]struct{}
}

// RemoteAddr returns the address of the client. It is a connectionAddr, from which
// connectionOf finds the connection.
func (c *trackedConn) RemoteAddr() net.Addr { return connectionAddr{c.Conn.RemoteAddr(), c} }

type connectionAddr struct {
	net.Addr
	conn *trackedConn
}

// Close closes the connection, and releases what is held for its responses.
func (c *trackedConn) Close() error {
	err := c.Conn.Close()
	c.mu.Lock()
	defer c.mu.Unlock()
	c.isClosed = true
	for r := range c.responses {
		r.end()
	}
	c.responses = nil
	return err //nolint:wrapcheck // the connection's own
}

func (c *trackedConn) add(r *longResponse) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.isClosed {
		r.end()
		return
	}
	if c.responses == nil {
		c.responses = map[*longResponse]struct{}{}
	}
	c.responses[r] = struct{}{}
}

func (c *trackedConn) remove(r *longResponse) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.responses, r)
}

// connectionOf returns the connection of a call; nil if it is unknown.
func connectionOf(ctx context.Context) *trackedConn {
	if p, ok := peer.FromContext(ctx); ok {
		if addr, ok := p.Addr.(connectionAddr); ok {
			return addr.conn
		}
	}
	return nil
}
