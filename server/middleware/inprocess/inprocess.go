// Package inprocess calls gRPC services of the same process, through the interceptors of the
// server.
package inprocess

import (
	"context"
	"reflect"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"

	"github.com/moderato-live/moderato/server/middleware"
)

// Conn is a client connection to services of the same process. A call runs the
// service's handler through the interceptor, without a network and without
// serialization. Services register with a Conn, and clients call it.
type Conn struct {
	unary   grpc.UnaryServerInterceptor
	stream  grpc.StreamServerInterceptor
	methods map[string]method
	streams map[string]streamMethod
}

type method struct {
	service any
	handler grpc.MethodHandler
}

type streamMethod struct {
	service any
	handler grpc.StreamHandler
}

// New returns a connection whose calls go through the interceptors.
func New(unary grpc.UnaryServerInterceptor, stream grpc.StreamServerInterceptor) *Conn {
	return &Conn{unary: unary, stream: stream, methods: map[string]method{}, streams: map[string]streamMethod{}}
}

// RegisterService adds a service. All services must be added before the first call.
func (c *Conn) RegisterService(desc *grpc.ServiceDesc, service any) {
	for _, m := range desc.Methods {
		c.methods["/"+desc.ServiceName+"/"+m.MethodName] = method{service, m.Handler}
	}
	for _, m := range desc.Streams {
		c.streams["/"+desc.ServiceName+"/"+m.StreamName] = streamMethod{service, m.Handler}
	}
}

// Invoke calls a unary method. The handler shares the contents of the request and the
// response with the caller, so the caller must not touch either during the call.
func (c *Conn) Invoke(ctx context.Context, name string, request, response any, options ...grpc.CallOption) error {
	m, ok := c.methods[name]
	if !ok {
		return status.Errorf(codes.Unimplemented, "no service here has the method %s", name)
	}
	t := transportOf(ctx, name)
	result, err := m.handler(m.service, t.ctx, func(in any) error { return handOver(in, request) }, c.unary)
	for _, option := range options {
		switch o := option.(type) {
		case grpc.HeaderCallOption:
			*o.HeaderAddr = t.header
		case grpc.TrailerCallOption:
			*o.TrailerAddr = t.trailer
		}
	}
	if err != nil {
		return err
	}
	return handOver(response, result)
}

// transport is the transport of a call in the process. It keeps the metadata that the
// handler sends.
type transport struct {
	method, address       string
	sent, header, trailer metadata.MD
	// ctx is the context of the call, which contains this transport.
	ctx context.Context //nolint:containedctx // it lives as long as the call
}

// NewCall returns the context of a call that is sent with metadata, which the call then owns.
// address is that of the client.
func NewCall(ctx context.Context, sent metadata.MD, address string) context.Context {
	return newTransport(ctx, sent, address).ctx
}

// AddressOf returns the address of the client of a call with a context that NewCall returned, and
// reports whether it is one.
func AddressOf(ctx context.Context) (string, bool) {
	t, ok := grpc.ServerTransportStreamFromContext(ctx).(*transport)
	if !ok {
		return "", false
	}
	return t.address, true
}

// newTransport returns the transport of a call that was sent with metadata. The
// transport owns the metadata. address is that of the client.
func newTransport(ctx context.Context, sent metadata.MD, address string) *transport {
	t := &transport{sent: sent, address: address}
	t.ctx = metadata.NewIncomingContext(grpc.NewContextWithServerTransportStream(ctx, t), sent)
	return t
}

// transportOf returns the transport of a call with a context. It is the transport of NewCall,
// unless a call already uses that one; otherwise it is a new transport for the client's outgoing
// metadata. The values and the cancellation that a generated handler of a REST facade adds to the
// context are dropped, because no call in the process needs them.
func transportOf(ctx context.Context, method string) *transport {
	t, ok := grpc.ServerTransportStreamFromContext(ctx).(*transport)
	if !ok || t.method != "" {
		sent, _ := metadata.FromOutgoingContext(ctx)
		t = newTransport(ctx, sent, "")
	}
	t.method = method
	return t
}

// handOver copies a message to another message of the same type. The copy is shallow.
func handOver(to, from any) error {
	target, source := reflect.ValueOf(to), reflect.ValueOf(from)
	if target.Type() != source.Type() {
		return status.Errorf(codes.Internal, "a %T where a %T belongs", from, to)
	}
	target.Elem().Set(source.Elem())
	return nil
}

// Watch calls a method that returns a stream, and passes each message to send. send
// must not change its arguments. The header is the metadata that the method sends
// before the first message.
func (c *Conn) Watch(ctx context.Context, name string, request any, send func(header metadata.MD, message any) error) (metadata.MD, error) {
	m, ok := c.streams[name]
	if !ok {
		return nil, status.Errorf(codes.Unimplemented, "no service here has the method %s", name)
	}
	t := transportOf(ctx, name)
	err := c.stream(m.service, &watched{transport: t, request: request, send: send},
		&grpc.StreamServerInfo{FullMethod: name, IsServerStream: true}, m.handler)
	return t.header, err
}

// watched is the server side of Watch.
type watched struct {
	*transport

	request any
	send    func(header metadata.MD, message any) error
}

func (w *watched) Context() context.Context  { return w.ctx }
func (w *watched) SetTrailer(md metadata.MD) { _ = w.transport.SetTrailer(md) }
func (w *watched) SendMsg(message any) error { return w.send(w.header, message) }
func (w *watched) RecvMsg(message any) error { return handOver(message, w.request) }

// NewStream returns an error: Watch is the way to call a streaming method in the
// process.
func (c *Conn) NewStream(_ context.Context, _ *grpc.StreamDesc, name string, _ ...grpc.CallOption) (grpc.ClientStream, error) {
	return nil, status.Errorf(codes.Unimplemented, "%s streams, and calls in the process do not", name)
}

// Sent returns the values of a metadata key that were sent with the call.
func (t *transport) Sent(key string) []string { return t.sent[key] }

// Address returns the address of the client.
func (t *transport) Address() string { return t.address }

func (t *transport) Method() string { return t.method }

func (t *transport) SetHeader(md metadata.MD) error {
	if t.header == nil {
		t.header = md // no copy: the caller made md for this call
		return nil
	}
	t.header = metadata.Join(t.header, md)
	return nil
}

func (t *transport) SendHeader(md metadata.MD) error { return t.SetHeader(md) }

func (t *transport) SetTrailer(md metadata.MD) error {
	t.trailer = metadata.Join(t.trailer, md)
	return nil
}

var (
	_ grpc.ClientConnInterface = (*Conn)(nil)
	_ grpc.ServiceRegistrar    = (*Conn)(nil)
	_ middleware.Transport     = (*transport)(nil)
	_ grpc.ServerStream        = (*watched)(nil)
)
