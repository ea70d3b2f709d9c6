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
	stream := &serverStream{method: name}
	ctx = incoming(ctx, stream)
	result, err := m.handler(m.service, ctx, func(in any) error { return handOver(in, request) }, c.unary)
	for _, option := range options {
		switch o := option.(type) {
		case grpc.HeaderCallOption:
			*o.HeaderAddr = stream.header
		case grpc.TrailerCallOption:
			*o.TrailerAddr = stream.trailer
		}
	}
	if err != nil {
		return err
	}
	return handOver(response, result)
}

type sentKey struct{}

// newCallContext is the context of a call with metadata that belong to it alone:
// those of metadata.NewOutgoingContext are copied for each call.
func newCallContext(ctx context.Context, md metadata.MD) context.Context {
	return context.WithValue(ctx, sentKey{}, md)
}

// incoming makes the context of a call into the one that its handler sees.
func incoming(ctx context.Context, stream *serverStream) context.Context {
	sent, ok := ctx.Value(sentKey{}).(metadata.MD)
	if !ok {
		sent, _ = metadata.FromOutgoingContext(ctx)
	}
	return metadata.NewIncomingContext(grpc.NewContextWithServerTransportStream(chain.FromREST(ctx), stream), sent)
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
	transport := &serverStream{method: name}
	ctx = incoming(ctx, transport)
	err := c.stream(m.service, &watched{serverStream: transport, ctx: ctx, request: request, send: send},
		&grpc.StreamServerInfo{FullMethod: name, IsServerStream: true}, m.handler)
	return transport.header, err
}

// watched is the server's side of Watch.
type watched struct {
	*serverStream

	ctx     context.Context //nolint:containedctx // grpc.ServerStream hands its context on this way
	request any
	send    func(header metadata.MD, message any) error
}

func (w *watched) Context() context.Context  { return w.ctx }
func (w *watched) SetTrailer(md metadata.MD) { _ = w.serverStream.SetTrailer(md) }
func (w *watched) SendMsg(message any) error { return w.send(w.header, message) }
func (w *watched) RecvMsg(message any) error { return handOver(message, w.request) }

// NewStream refuses: streams in the process are for Watch.
func (c *Conn) NewStream(_ context.Context, _ *grpc.StreamDesc, name string, _ ...grpc.CallOption) (grpc.ClientStream, error) {
	return nil, status.Errorf(codes.Unimplemented, "%s streams, and calls in the process do not", name)
}

// serverStream keeps the metadata that a handler sends.
type serverStream struct {
	method          string
	header, trailer metadata.MD
}

func (s *serverStream) Method() string { return s.method }

func (s *serverStream) SetHeader(md metadata.MD) error {
	if s.header == nil {
		s.header = md // who sets it has made it for this
		return nil
	}
	s.header = metadata.Join(s.header, md)
	return nil
}

func (s *serverStream) SendHeader(md metadata.MD) error { return s.SetHeader(md) }

func (s *serverStream) SetTrailer(md metadata.MD) error {
	s.trailer = metadata.Join(s.trailer, md)
	return nil
}

var (
	_ grpc.ClientConnInterface   = (*Conn)(nil)
	_ grpc.ServiceRegistrar      = (*Conn)(nil)
	_ grpc.ServerTransportStream = (*serverStream)(nil)
	_ grpc.ServerStream          = (*watched)(nil)
)
