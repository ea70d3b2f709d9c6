package moderato_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/descriptorpb"

	moderato "github.com/moderato-live/moderato/clients/go"
	platformv1 "github.com/moderato-live/moderato/gen/moderato/platform/v1"
	moderatov1 "github.com/moderato-live/moderato/gen/moderato/v1"
	"github.com/moderato-live/moderato/server/rpc/apierr"
	"github.com/moderato-live/moderato/server/rpc/authz"
	"github.com/moderato-live/moderato/test/servertest"
)

// TestRetries calls every operation of the contract on a server that is unavailable at
// first. The calls are concurrent, because they wait before the retry.
func TestRetries(t *testing.T) {
	t.Parallel()
	var calls sync.WaitGroup
	for method := range authz.Methods() {
		if method.IsStreamingClient() || method.IsStreamingServer() {
			continue
		}
		name := fmt.Sprintf("%s/%s", method.Parent().FullName(), method.Name())
		s := newStub(t, unavailableOnce)
		conn, request, response := s.client(t).Conn(), servertest.NewMessage(t, method.Input()), servertest.NewMessage(t, method.Output())
		calls.Go(func() {
			if err := conn.Invoke(t.Context(), "/"+name, request, response); err != nil {
				t.Errorf("%s is not retried: %v", name, err)
			}
			keys := s.keys()
			if isRead(method) {
				if !slices.Equal(keys, []string{"", ""}) {
					t.Errorf("%s is a read, and its attempts have the keys %q", name, keys)
				}
				return
			}
			if len(keys) != 2 || keys[0] != keys[1] || !isRandomUUID(keys[0]) {
				t.Errorf("the attempts of %s have the keys %q, want the same UUID", name, keys)
			}
		})
	}
	calls.Wait()
}

func isRead(method protoreflect.MethodDescriptor) bool {
	return method.Options().(*descriptorpb.MethodOptions).GetIdempotencyLevel() == descriptorpb.MethodOptions_NO_SIDE_EFFECTS
}

func isRandomUUID(text string) bool {
	id, err := uuid.Parse(text)
	return err == nil && id.Version() == 4
}

func TestImportIsNotRetried(t *testing.T) {
	t.Parallel()
	s := newStub(t, unavailableOnce)
	stream, err := s.client(t).Platform.Import.Import(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	_ = stream.Send(&platformv1.ImportRequest{})
	if _, err := stream.CloseAndRecv(); status.Code(err) != codes.Unavailable {
		t.Errorf("got %v, want UNAVAILABLE", err)
	}
	if keys := s.keys(); !slices.Equal(keys, []string{""}) {
		t.Errorf("the attempts have the keys %q, want one attempt without a key", keys)
	}
}

func TestEachCallHasItsKey(t *testing.T) {
	t.Parallel()
	s := newStub(t, empty)
	c := s.client(t)
	inMetadata := metadata.AppendToOutgoingContext(t.Context(), "idempotency-key", "of the context")
	for _, call := range []struct {
		ctx     context.Context
		options []grpc.CallOption
	}{
		{t.Context(), nil},
		{t.Context(), nil},
		{t.Context(), []grpc.CallOption{moderato.WithIdempotencyKey("mine")}},
		{inMetadata, []grpc.CallOption{moderato.WithIdempotencyKey("mine")}},
		{inMetadata, nil},
	} {
		if _, err := c.Moderation.MuteUser(call.ctx, &moderatov1.MuteUserRequest{}, call.options...); err != nil {
			t.Fatal(err)
		}
	}
	keys := s.keys()
	if keys[0] == keys[1] || !isRandomUUID(keys[0]) || !isRandomUUID(keys[1]) {
		t.Errorf("two calls have the keys %q, want two UUIDs", keys[:2])
	}
	if want := []string{"mine", "mine", "of the context"}; !slices.Equal(keys[2:], want) {
		t.Errorf("the chosen keys are %q, want %q", keys[2:], want)
	}
}

// TestRefusals has a server refuse the first attempt as Moderato does: after its response
// headers.
func TestRefusals(t *testing.T) {
	t.Parallel()
	for reason, c := range map[moderatov1.Reason]struct {
		after    time.Duration
		attempts int
	}{
		moderatov1.Reason_REASON_IDEMPOTENCY_KEY_IN_USE: {time.Second, 2},
		moderatov1.Reason_REASON_RATE_LIMITED:           {time.Second, 2},
		moderatov1.Reason_REASON_OVERLOADED:             {time.Second, 2},
		moderatov1.Reason_REASON_UNAVAILABLE:            {time.Second, 2},
		moderatov1.Reason_REASON_MUTE_ACTIVE:            {time.Second, 1},
		moderatov1.Reason_REASON_STREAM_LIMIT_REACHED:   {0, 1},
		moderatov1.Reason_REASON_IDEMPOTENCY_KEY_REUSED: {0, 1},
		moderatov1.Reason_REASON_INTERNAL:               {0, 1},
	} {
		t.Run(reason.String(), func(t *testing.T) {
			t.Parallel()
			s := newStub(t, refuseFirst(1, reason, c.after))
			began := time.Now()
			_, err := s.client(t).Moderation.MuteUser(t.Context(), &moderatov1.MuteUserRequest{})
			keys := s.keys()
			if len(keys) != c.attempts || keys[0] == "" || keys[0] != keys[len(keys)-1] {
				t.Errorf("the attempts have the keys %q, want one key and %d attempts", keys, c.attempts)
			}
			if isRetried := c.attempts > 1; isRetried != (err == nil) || isRetried && time.Since(began) < c.after {
				t.Errorf("after %s: %v", time.Since(began), err)
			}
			if err != nil && moderato.ReasonOf(err) != reason {
				t.Errorf("the reason is %s", moderato.ReasonOf(err))
			}
		})
	}
}

func TestRetriesAreBounded(t *testing.T) {
	t.Parallel()
	limited := moderatov1.Reason_REASON_RATE_LIMITED
	short, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	for name, c := range map[string]struct {
		ctx      context.Context
		after    time.Duration
		attempts int
	}{
		"the number of attempts":        {t.Context(), time.Millisecond, 5},
		"the time that the server asks": {t.Context(), time.Hour, 1},
		"the time of the caller":        {short, 30 * time.Second, 1},
	} {
		s := newStub(t, refuseFirst(10, limited, c.after))
		_, err := s.client(t).Moderation.MuteUser(c.ctx, &moderatov1.MuteUserRequest{})
		if n := len(s.keys()); moderato.ReasonOf(err) != limited || n != c.attempts {
			t.Errorf("%s: %d attempts, which end with %v; want %d", name, n, err, c.attempts)
		}
	}
}

func TestCancelledRetry(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	s := newStub(t, func(before int, stream grpc.ServerStream) error {
		time.AfterFunc(50*time.Millisecond, cancel)
		return refuseFirst(1, moderatov1.Reason_REASON_RATE_LIMITED, 30*time.Second)(before, stream)
	})
	began := time.Now()
	_, err := s.client(t).Moderation.MuteUser(ctx, &moderatov1.MuteUserRequest{})
	var e *moderato.Error
	if !errors.As(err, &e) || e.Code != codes.Canceled || time.Since(began) > 20*time.Second {
		t.Errorf("after %s: got %v, want CANCELLED immediately", time.Since(began), err)
	}
}

// refuseFirst refuses the first n calls.
func refuseFirst(n int, reason moderatov1.Reason, after time.Duration) func(int, grpc.ServerStream) error {
	return func(before int, s grpc.ServerStream) error {
		if before >= n {
			return empty(before, s)
		}
		if err := s.SetHeader(metadata.Pairs("x-request-id", "r")); err != nil {
			return err
		}
		return (&apierr.Error{Reason: reason, RetryAfter: after}).GRPCStatus().Err()
	}
}
