package events

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"google.golang.org/grpc"

	moderatov1 "github.com/moderato-live/moderato/gen/moderato/v1"
	"github.com/moderato-live/moderato/server/auth"
	"github.com/moderato-live/moderato/server/fault"
	"github.com/moderato-live/moderato/server/store"
	"github.com/moderato-live/moderato/server/uid"
	"github.com/moderato-live/moderato/server/validate"
)

const (
	// HeartbeatInterval is how long a stream is silent before a sign of life.
	HeartbeatInterval = 15 * time.Second
	maxTypes          = 100
	cursorList        = "events"
)

// Service serves EventsService.
type Service struct {
	moderatov1.UnsafeEventsServiceServer

	// Hub is where the events come from.
	Hub *Hub
	// Rights is who may hear of what.
	Rights *Rights
	// Stopping is closed when streams are to end because the server does.
	Stopping <-chan struct{}
	// Heartbeat is HeartbeatInterval, unless a test has it otherwise.
	Heartbeat time.Duration
}

// Cursor is the cursor for a position.
func Cursor(position int64) string {
	cursor, err := store.EncodeCursor(cursorList, position)
	if err != nil {
		panic(err) // a number is always JSON
	}
	return cursor
}

// ParseCursor is the position of a cursor; nil for an empty one.
func ParseCursor(cursor string) (*int64, error) {
	if cursor == "" {
		return nil, nil //nolint:nilnil // the present
	}
	var position int64
	if store.DecodeCursor(cursorList, cursor, &position) != nil || position < 0 {
		return nil, fault.New(moderatov1.Reason_REASON_CURSOR_INVALID)
	}
	return &position, nil
}

// filter is what a listener wants to hear of.
type filter struct {
	channelID uid.ID
	types     []string // empty for all
	after     *int64
}

// ParseTypes reads a list of event types, and returns it sorted and without
// duplicates.
func ParseTypes(f *validate.Fields, names []string) []string {
	if !f.AtMost("type", len(names), maxTypes) {
		return nil
	}
	for i, name := range names {
		if !IsType(name) {
			f.Add(fmt.Sprintf("type[%d]", i), "must be an event type, such as channel.ban or stream.online")
		}
	}
	return slices.Compact(slices.Sorted(slices.Values(names)))
}

func parseWatch(req *moderatov1.WatchEventsRequest) (*filter, error) {
	var f validate.Fields
	want := &filter{channelID: f.OptionalUUID("channelId", req.GetChannelId()), types: ParseTypes(&f, req.GetType())}
	if err := f.Err(); err != nil {
		return nil, err
	}
	var err error
	want.after, err = ParseCursor(req.GetCursor())
	return want, err
}

// WatchEvents streams events to a listener.
func (s *Service) WatchEvents(req *moderatov1.WatchEventsRequest, stream grpc.ServerStreamingServer[moderatov1.WatchEventsResponse]) error {
	ctx := stream.Context()
	want, err := parseWatch(req)
	if err != nil {
		return err
	}
	who, err := s.Rights.admit(ctx, auth.FromContext(ctx), want.channelID)
	if err != nil {
		return err
	}
	defer s.Rights.leave(who)
	from, err := s.Hub.Subscribe(ctx, want.after)
	if err != nil {
		return told(err)
	}
	defer from.Close()
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	go func() {
		select {
		case <-who.over:
			cancel(who.err())
		case <-s.Stopping:
			cancel(fault.ErrStopping)
		case <-ctx.Done():
		}
	}()
	// The first message tells that nothing from here on is missed.
	if err := stream.Send(&moderatov1.WatchEventsResponse{Cursor: Cursor(from.Position())}); err != nil {
		return err
	}
	err = s.tell(ctx, stream, from, who, want)
	if cause := context.Cause(ctx); cause != nil && ctx.Err() != nil {
		err = cause
	}
	return told(err)
}

// tell sends what the listener wants to hear of, and may, until ctx ends.
func (s *Service) tell(ctx context.Context, stream grpc.ServerStreamingServer[moderatov1.WatchEventsResponse], from *Subscription, who *listener, want *filter) error {
	heartbeat := time.NewTimer(s.Heartbeat)
	defer heartbeat.Stop()
	for {
		at := from.Position()
		page, err := from.Next(ctx, heartbeat.C)
		if err != nil {
			return err
		}
		sent := false
		for _, e := range page {
			if ctx.Err() != nil {
				return ctx.Err()
			}
			if from.IsOutdated() {
				from.GoBack(at)
				break
			}
			at = e.Position
			if e.IsGone || !want.has(e) || !who.mayHear(e.ChannelID) {
				continue
			}
			if err := stream.Send(&moderatov1.WatchEventsResponse{Cursor: Cursor(e.Position), Event: e.Told}); err != nil {
				return err
			}
			sent = true
		}
		if !sent && (len(page) == 0 || isOver(heartbeat)) {
			if err := stream.Send(&moderatov1.WatchEventsResponse{Cursor: Cursor(from.Position())}); err != nil {
				return err
			}
			sent = true
		}
		if sent {
			heartbeat.Reset(s.Heartbeat)
		}
	}
}

// isOver tells whether a timer's time came while nobody waited for it.
func isOver(t *time.Timer) bool {
	select {
	case <-t.C:
		return true
	default:
		return false
	}
}

func (w *filter) has(e *Event) bool {
	return (w.channelID.IsZero() || w.channelID == e.ChannelID) &&
		(len(w.types) == 0 || slices.Contains(w.types, string(e.Type)))
}

// told is the error of a stream as its caller is told.
func told(err error) error {
	switch {
	case errors.Is(err, ErrTooSlow):
		return fault.New(moderatov1.Reason_REASON_WATCHER_TOO_SLOW)
	case errors.Is(err, ErrTrimmed):
		return fault.New(moderatov1.Reason_REASON_CURSOR_INVALID)
	case errors.Is(err, fault.ErrStopping):
		return &fault.Error{
			Reason: moderatov1.Reason_REASON_UNAVAILABLE, RetryAfter: time.Second, Cause: err,
			Message: "The server stops. Connect again, and go on from the last id or cursor.",
		}
	}
	return err
}
