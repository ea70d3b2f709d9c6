package moderato

import (
	"context"
	"errors"
	"io"
	"iter"
	"time"

	"github.com/cenkalti/backoff/v5"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	moderatov1 "github.com/moderato-live/moderato/gen/moderato/v1"
)

// Bounds of the wait before an event stream is opened again.
const (
	minReconnectWait = 100 * time.Millisecond
	maxReconnectWait = 15 * time.Second
)

// WatchEvents yields events until ctx ends. If the stream is interrupted, it is opened
// again after the last message that was handled, so that no event is missed: a message
// counts as handled when the next one is requested. An event may be yielded twice, with
// the same message id. Chat messages are live, and those of an interruption are missed.
//
// The first message says that the stream is open. It is a heartbeat, which has no event;
// others follow when there is nothing to send. A program that stores the cursor of each
// message that has one resumes with it after a restart: set it in the request.
//
// After an error the iteration ends. The error of ctx is one, and others say that opening
// the stream again would not help, for example that the cursor is too old or that the
// caller has no right to the events.
func (c *Client) WatchEvents(ctx context.Context, request *moderatov1.WatchEventsRequest) iter.Seq2[*moderatov1.WatchEventsResponse, error] {
	return func(yield func(*moderatov1.WatchEventsResponse, error) bool) {
		w := &watcher{client: c, request: proto.CloneOf(request), yield: yield, wait: backoff.ExponentialBackOff{
			InitialInterval: minReconnectWait, MaxInterval: maxReconnectWait, Multiplier: 2, RandomizationFactor: 0.5,
		}}
		for wasOpen := false; ; {
			received, err := w.watch(ctx)
			wasOpen = wasOpen || received
			if errors.Is(err, errStopped) {
				return
			}
			if ctx.Err() == nil && isTransient(err, received, wasOpen) {
				err = w.pause(ctx, received, err)
			}
			if ctx.Err() != nil {
				err = ctx.Err()
			}
			if err != nil {
				yield(nil, err)
				return
			}
		}
	}
}

// errStopped says that the consumer of the events ended the iteration.
var errStopped = errors.New("stopped")

type watcher struct {
	client  *Client
	request *moderatov1.WatchEventsRequest
	yield   func(*moderatov1.WatchEventsResponse, error) bool
	wait    backoff.ExponentialBackOff
}

// watch opens a stream and yields its messages until the stream ends. It reports whether
// it received any.
func (w *watcher) watch(ctx context.Context) (received bool, err error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	stream, err := w.client.Events.WatchEvents(ctx, w.request)
	if err != nil {
		return false, err
	}
	for {
		message, err := stream.Recv()
		if err != nil {
			return received, err
		}
		received = true
		if !w.yield(message, nil) {
			return received, errStopped
		}
		if cursor := message.GetCursor(); cursor != "" {
			w.request.Cursor = cursor
		}
	}
}

// pause waits before the stream is opened again. Each attempt in vain doubles the time.
func (w *watcher) pause(ctx context.Context, received bool, err error) error {
	if received {
		w.wait.Reset()
	}
	wait := w.wait.NextBackOff()
	var e *Error
	if errors.As(err, &e) {
		wait = max(wait, e.RetryAfter)
	}
	return sleep(ctx, wait)
}

// isTransient reports whether a stream that ended with an error can be opened again. A
// stream that was open may also end because its token expired, or with an error of
// something between the client and the server. If an earlier one was open, the server may
// not have noticed that it broke, and so count it.
func isTransient(err error, wasOpen, wasEverOpen bool) bool {
	switch ReasonOf(err) {
	case moderatov1.Reason_REASON_WATCHER_TOO_SLOW, moderatov1.Reason_REASON_RATE_LIMITED, moderatov1.Reason_REASON_DEADLINE_EXCEEDED:
		return true
	case moderatov1.Reason_REASON_TOKEN_EXPIRED:
		return wasOpen
	case moderatov1.Reason_REASON_STREAM_LIMIT_REACHED:
		return wasEverOpen
	}
	switch code := status.Code(err); {
	case errors.Is(err, io.EOF):
		return wasOpen
	case code == codes.Unavailable:
		return true
	case code == codes.Internal, code == codes.Unknown:
		return wasOpen
	}
	return false
}
