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
	interceptor grpc.UnaryServerInterceptor
	methods     map[string]method
}

type method struct {
	service any
	handler grpc.MethodHandler
}

// NewConn makes a connection whose calls go through an interceptor.
func NewConn(interceptor grpc.UnaryServerInterceptor) *Conn {
	return &Conn{interceptor: interceptor, methods: map[string]method{}}
}

// RegisterService adds a service, before the first call.
func (c *Conn) RegisterService(desc *grpc.ServiceDesc, service any) {
	for _, m := range desc.Methods {
		c.methods["/"+desc.ServiceName+"/"+m.MethodName] = method{service, m.Handler}
	}
}

// Invoke calls a unary method. The request is handed over and the response
// taken over, so neither is touched by the caller's side meanwhile.
func (c *Conn) Invoke(ctx context.Context, name string, request, response any, options ...grpc.CallOption) error {
	m, ok := c.methods[name]
	if !ok {
		return status.Errorf(codes.Unimplemented, "no service here has the method %s", name)
	}
	outgoing, _ := metadata.FromOutgoingContext(ctx)
	stream := &serverStream{method: name}
	ctx = metadata.NewIncomingContext(grpc.NewContextWithServerTransportStream(chain.FromREST(ctx), stream), outgoing)
	result, err := m.handler(m.service, ctx, func(in any) error { return handOver(in, request) }, c.interceptor)
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

// handOver makes a message the same as another of its type, shallowly.
func handOver(to, from any) error {
	target, source := reflect.ValueOf(to), reflect.ValueOf(from)
	if target.Type() != source.Type() {
		return status.Errorf(codes.Internal, "a %T where a %T belongs", from, to)
	}
	target.Elem().Set(source.Elem())
	return nil
}

// NewStream refuses: the REST facade has no streaming operation.
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
)
