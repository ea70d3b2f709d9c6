package gateway

import (
	"context"
	"reflect"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"

	"github.com/moderato-live/moderato/server/chain"
)

// Conn is a client connection to services of the same process: a call runs the
// service's handler through its interceptor, without a wire and without
// serialization. It is both what services register with and what clients call.
type Conn struct {
	unary   grpc.UnaryServerInterceptor
	stream  grpc.StreamServerInterceptor
	methods map[string]method
	streams map[string]streamMethod
}

// Connection is what the facade calls: a Conn, or what stands for one.
type Connection interface {
	grpc.ClientConnInterface
	Watch(ctx context.Context, name string, request any, send func(header metadata.MD, message any) error) (metadata.MD, error)
}

type method struct {
	service any
	handler grpc.MethodHandler
}

type streamMethod struct {
	service any
	handler grpc.StreamHandler
}

// NewConn makes a connection whose calls go through interceptors.
func NewConn(unary grpc.UnaryServerInterceptor, stream grpc.StreamServerInterceptor) *Conn {
	return &Conn{unary: unary, stream: stream, methods: map[string]method{}, streams: map[string]streamMethod{}}
}

// RegisterService adds a service, before the first call.
func (c *Conn) RegisterService(desc *grpc.ServiceDesc, service any) {
	for _, m := range desc.Methods {
		c.methods["/"+desc.ServiceName+"/"+m.MethodName] = method{service, m.Handler}
	}
	for _, m := range desc.Streams {
		c.streams["/"+desc.ServiceName+"/"+m.StreamName] = streamMethod{service, m.Handler}
	}
}

// Invoke calls a unary method. The request is handed over and the response
// taken over, so neither is touched by the caller's side meanwhile.
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

// transport is what a call in the process has in place of a wire: it keeps the
// metadata that its handler sends.
type transport struct {
	method                string
	sent, header, trailer metadata.MD
	// ctx is the context of the call, with this transport in it.
	ctx context.Context //nolint:containedctx // it lives as long as the call
}

// newTransport makes the transport of a call that was sent with metadata, which
// are its own from then on.
func newTransport(ctx context.Context, sent metadata.MD) *transport {
	t := &transport{sent: sent}
	t.ctx = metadata.NewIncomingContext(grpc.NewContextWithServerTransportStream(ctx, t), sent)
	return t
}

// transportOf is the transport of a call with a context: the one that the facade put
// there, unless it is that of a call under way, or else one for the metadata that a
// client sends. What a generated handler wraps around the context that it is given,
// values and a cancellation, is left behind: no call in the process asks for it.
func transportOf(ctx context.Context, method string) *transport {
	t, ok := grpc.ServerTransportStreamFromContext(ctx).(*transport)
	if !ok || t.method != "" {
		sent, _ := metadata.FromOutgoingContext(ctx)
		t = newTransport(ctx, sent)
	}
	t.method = method
	return t
}

// handOver makes a message the same as another of its type, shallowly.
func handOver(to, from any) error {
	target, source := reflect.ValueOf(to), reflect.ValueOf(from)
	if target.Type() != source.Type() {
		return status.Errorf(codes.Internal, "a %T where a %T belongs", from, to)
	}
	target.Elem().Set(source.Elem())
	return nil
}

// Watch calls a method that answers with a stream, and hands each message to
// send. What send is given is not to be changed; the header is the metadata that
// go before the first message.
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

// watched is the server's side of Watch.
type watched struct {
	*transport

	request any
	send    func(header metadata.MD, message any) error
}

func (w *watched) Context() context.Context  { return w.ctx }
func (w *watched) SetTrailer(md metadata.MD) { _ = w.transport.SetTrailer(md) }
func (w *watched) SendMsg(message any) error { return w.send(w.header, message) }
func (w *watched) RecvMsg(message any) error { return handOver(message, w.request) }

// NewStream refuses: streams in the process are for Watch.
func (c *Conn) NewStream(_ context.Context, _ *grpc.StreamDesc, name string, _ ...grpc.CallOption) (grpc.ClientStream, error) {
	return nil, status.Errorf(codes.Unimplemented, "%s streams, and calls in the process do not", name)
}

// Sent hands the chain what was sent with the call.
func (t *transport) Sent(key string) []string { return t.sent[key] }

func (t *transport) Method() string { return t.method }

func (t *transport) SetHeader(md metadata.MD) error {
	if t.header == nil {
		t.header = md // who sets it has made it for this
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
	_ chain.Transport          = (*transport)(nil)
	_ grpc.ServerStream        = (*watched)(nil)
)
