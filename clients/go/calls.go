package moderato

import (
	"context"

	"github.com/google/uuid"
	"google.golang.org/grpc"
	"google.golang.org/grpc/metadata"
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

// idempotencyKey is the metadata key of the idempotency key.
const idempotencyKey = "idempotency-key"

// WithIdempotencyKey returns an option of a single call that changes something: its
// idempotency key, 1 to 255 visible ASCII characters. Without it, each call has a random
// one, which all its attempts share. Choose a key and store it to repeat the call after a
// restart of your program: within 24 hours, the change is made once, and the repeat gets
// the first response.
func WithIdempotencyKey(key string) grpc.CallOption { return keyOption{key: key} }

type keyOption struct {
	grpc.EmptyCallOption

	key string
}

// withIdempotencyKey returns a context with the idempotency key of the options. Without
// one, the key in the metadata remains, or else is a new one.
func withIdempotencyKey(ctx context.Context, options []grpc.CallOption) context.Context {
	md, _ := metadata.FromOutgoingContext(ctx)
	for _, o := range options {
		if chosen, ok := o.(keyOption); ok {
			md = metadata.Join(md) // a copy
			md.Set(idempotencyKey, chosen.key)
			return metadata.NewOutgoingContext(ctx, md)
		}
	}
	if len(md.Get(idempotencyKey)) > 0 {
		return ctx
	}
	return metadata.AppendToOutgoingContext(ctx, idempotencyKey, uuid.NewString())
}

func callUnary(ctx context.Context, method string, request, response any, conn *grpc.ClientConn, invoke grpc.UnaryInvoker, o ...grpc.CallOption) error {
	ctx = withRequestID(ctx)
	call := func() error { return invoke(ctx, method, request, response, conn, o...) }
	isChange, ok := methods[method]
	if !ok {
		return errorOf(call())
	}
	if isChange {
		ctx = withIdempotencyKey(ctx, o)
	}
	return retryRefused(ctx, call)
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
