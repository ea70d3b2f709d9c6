package moderato_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	moderatov1 "github.com/moderato-live/moderato/gen/moderato/v1"
)

// send sends messages with cursors to a listener.
func send(s grpc.ServerStream, cursors ...string) {
	for _, cursor := range cursors {
		_ = s.SendMsg(&moderatov1.WatchEventsResponse{Cursor: cursor})
	}
}

// refusal returns the error for a reason.
func refusal(code codes.Code, reason string) error {
	st, err := status.New(code, reason).WithDetails(&errdetails.ErrorInfo{Reason: reason, Domain: "moderato"})
	if err != nil {
		return err
	}
	return st.Err()
}

func TestWatchEventsResumes(t *testing.T) {
	t.Parallel()
	s := newStub(t, func(before int, stream grpc.ServerStream) error {
		switch before {
		case 0:
			send(stream, "1", "", "2") // the empty one is a live event
			return unavailable(before, stream)
		case 1:
			return unavailable(before, stream)
		case 2:
			return refusal(codes.ResourceExhausted, "STREAM_LIMIT_REACHED") // the server counts the broken stream
		case 3:
			send(stream, "3")
			return refusal(codes.Unauthenticated, "TOKEN_EXPIRED")
		case 4:
			send(stream, "4")
			return refusal(codes.ResourceExhausted, "WATCHER_TOO_SLOW")
		default:
			return refusal(codes.InvalidArgument, "CURSOR_INVALID")
		}
	})
	var cursors []string
	var end error
	for message, err := range s.client(t).WatchEvents(t.Context(), &moderatov1.WatchEventsRequest{ChannelId: "c", Cursor: "0"}) {
		if end = err; err == nil {
			cursors = append(cursors, message.GetCursor())
		}
	}
	if want := []string{"1", "", "2", "3", "4"}; !slices.Equal(cursors, want) {
		t.Errorf("received %q, want %q", cursors, want)
	}
	if status.Code(end) != codes.InvalidArgument {
		t.Errorf("the iteration ended with %v, want CURSOR_INVALID", end)
	}
	var from []string
	for _, a := range s.received() {
		var request moderatov1.WatchEventsRequest
		if err := proto.Unmarshal(a.request, &request); err != nil {
			t.Fatal(err)
		}
		from = append(from, request.GetChannelId()+request.GetCursor())
	}
	if want := []string{"c0", "c2", "c2", "c2", "c3", "c4"}; !slices.Equal(from, want) {
		t.Errorf("the streams began at %q, want %q", from, want)
	}
}

// TestWatchEventsEnds tests errors after which another attempt would not help.
func TestWatchEventsEnds(t *testing.T) {
	t.Parallel()
	for _, reason := range []string{"TOKEN_EXPIRED", "TOKEN_INVALID", "STREAM_LIMIT_REACHED", "NOT_CHANNEL_MODERATOR"} {
		s := newStub(t, func(int, grpc.ServerStream) error { return refusal(codes.PermissionDenied, reason) })
		n := 0
		for _, err := range s.client(t).WatchEvents(t.Context(), &moderatov1.WatchEventsRequest{}) {
			if n++; err == nil {
				t.Errorf("%s: a message was received", reason)
			}
		}
		if n != 1 || len(s.received()) != 1 {
			t.Errorf("%s: %d errors after %d attempts, want one", reason, n, len(s.received()))
		}
	}
}

func TestWatchEventsEndsWithContext(t *testing.T) {
	t.Parallel()
	s := newStub(t, unavailable)
	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	var end error
	for _, err := range s.client(t).WatchEvents(ctx, &moderatov1.WatchEventsRequest{}) {
		end = err
	}
	if !errors.Is(end, context.DeadlineExceeded) {
		t.Errorf("the iteration ended with %v, want the error of its context", end)
	}
	if n := len(s.received()); n < 2 || n > 5 {
		t.Errorf("%d attempts in 300 ms, want them with backoff", n)
	}
}
