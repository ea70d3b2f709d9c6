package moderato

import (
	"context"
	"strings"

	"github.com/google/uuid"
	"google.golang.org/grpc"
	"google.golang.org/grpc/metadata"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
)

// requestIDKey is the metadata key of the request id.
const requestIDKey = "x-request-id"

// WithRequestID returns a context whose calls have a request id: 1 to 64 of A-Z a-z 0-9
// _ . -. Without it, each call has an id of its own. The id is in the server's log, in
// the events that the call causes, and in its error.
func WithRequestID(ctx context.Context, id string) context.Context {
	return metadata.AppendToOutgoingContext(ctx, requestIDKey, id)
}

func withRequestID(ctx context.Context) context.Context {
	if md, ok := metadata.FromOutgoingContext(ctx); ok && len(md.Get(requestIDKey)) > 0 {
		return ctx
	}
	return WithRequestID(ctx, newID())
}

// newID returns a new UUID whose order is that of time.
func newID() string {
	if id, err := uuid.NewV7(); err == nil {
		return id.String()
	}
	return uuid.NewString()
}

func callUnary(ctx context.Context, method string, request, response any, conn *grpc.ClientConn, invoke grpc.UnaryInvoker, o ...grpc.CallOption) error {
	if strings.HasSuffix(method, "ChatService/PostMessage") {
		request = withMessageID(request)
	}
	return errorOf(invoke(withRequestID(ctx), method, request, response, conn, o...))
}

// withMessageID returns a request to post a message with a message id, so that the
// message is posted once if the call is repeated.
func withMessageID(request any) any {
	message, ok := request.(proto.Message)
	if !ok {
		return request
	}
	field := message.ProtoReflect().Descriptor().Fields().ByName("message_id")
	if field == nil || message.ProtoReflect().Has(field) {
		return request
	}
	message = proto.Clone(message)
	message.ProtoReflect().Set(field, protoreflect.ValueOfString(newID()))
	return message
}

func callStream(ctx context.Context, desc *grpc.StreamDesc, conn *grpc.ClientConn, method string, open grpc.Streamer, o ...grpc.CallOption) (grpc.ClientStream, error) {
	s, err := open(withRequestID(ctx), desc, conn, method, o...)
	if err != nil {
		return nil, errorOf(err)
	}
	return stream{s}, nil
}

// stream is a stream whose errors are of type *Error.
type stream struct{ grpc.ClientStream }

// RecvMsg receives a message.
func (s stream) RecvMsg(m any) error { return errorOf(s.ClientStream.RecvMsg(m)) }
