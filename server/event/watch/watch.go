// Package watch delivers events to listeners over open streams, and determines what each
// listener may receive.
package watch

import (
	"context"
	"errors"
	"time"

	"google.golang.org/grpc"

	moderatov1 "github.com/moderato-live/moderato/gen/moderato/v1"
	"github.com/moderato-live/moderato/server/event/hearing"
	"github.com/moderato-live/moderato/server/event/live"
	"github.com/moderato-live/moderato/server/event/outbox"
	"github.com/moderato-live/moderato/server/rpc/apierr"
	"github.com/moderato-live/moderato/server/rpc/authn"
	"github.com/moderato-live/moderato/server/rpc/authz"
	"github.com/moderato-live/moderato/server/rpc/eventtype"
	"github.com/moderato-live/moderato/server/rpc/validate"
)

const (
	// HeartbeatInterval is how long a stream is silent before it sends a heartbeat.
	HeartbeatInterval = 15 * time.Second
)

// Service serves EventsService.
type Service struct {
	moderatov1.UnsafeEventsServiceServer

	// Hub is the source of the events.
	Hub *Hub
	// Live is the source of live events; nil for none.
	Live *live.Hub
	// Rights determines which events a listener may receive.
	Rights *Rights
	// Limits bounds the open streams.
	Limits StreamLimits
	// Stopping is closed when streams must end because the server stops.
	Stopping <-chan struct{}
	// Heartbeat is HeartbeatInterval, unless a test sets another interval.
	Heartbeat time.Duration

	streams streams
}

// parse returns what a request wishes to hear, and the position after which; nil is the
// present.
func (s *Service) parse(ctx context.Context, req *moderatov1.WatchEventsRequest) (wish *hearing.Wish, after *int64, err error) {
	f := validate.Of(req)
	channelID := f.OptionalUUID("channelId", req.GetChannelId())
	names := f.EventTypes(req.GetType())
	if err := f.Err(); err != nil {
		return nil, nil, err
	}
	wish, err = hearing.Ask(authn.FromContext(ctx), channelID, eventtype.TypesNamed(names))
	if err != nil {
		return nil, nil, err
	}
	after, err = outbox.ParseCursor(ctx, s.Hub.Store, req.GetCursor())
	return wish, after, err
}

// WatchEvents streams events to a listener.
func (s *Service) WatchEvents(req *moderatov1.WatchEventsRequest, stream grpc.ServerStreamingServer[moderatov1.WatchEventsResponse]) error {
	ctx := stream.Context()
	closeStream, err := s.Open(authn.FromContext(ctx))
	if err != nil {
		return err
	}
	defer closeStream()
	wish, after, err := s.parse(ctx, req)
	if err != nil {
		return err
	}
	place := &Place{After: after}
	defer place.Close()
	return s.Deliver(ctx, wish, place, stream.SendMsg)
}

// Place is where a delivery begins. If a delivery ended with an error, another one can
// continue at the same Place: the Place keeps the live events that arrive in between, or
// counts them as missed. The owner must close the Place.
type Place struct {
	// After is the position after which the kept events begin; nil is the present.
	After *int64

	chat *live.Listener // nil before the first delivery that wants live events
}

// Close ends the collection of live events.
func (p *Place) Close() {
	if p.chat != nil {
		p.chat.Close()
	}
}

// Deliver sends the events that a caller hears, and heartbeats, until ctx ends or the
// caller may not listen any more. A message is a WatchEventsResponse, an outbox.Event or, if
// ctx has live.WithFrames, a live.Frame.
func (s *Service) Deliver(ctx context.Context, wish *hearing.Wish, place *Place, send func(message any) error) error {
	who, err := s.Rights.Admit(ctx, wish)
	if err != nil {
		return err
	}
	defer s.Rights.Leave(who)
	authz.MarkListener(ctx)
	from, err := s.Hub.Subscribe(ctx, place.After, who.Present)
	if err != nil {
		return Told(err)
	}
	defer from.Close()
	concerns := interestOf(wish)
	from.Narrow(concerns)
	chat := s.listenLive(ctx, wish, who, place)
	if chat != nil {
		defer who.follow(nil)
		from.Also = chat.Wake
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	go func() {
		select {
		case <-who.Over():
			cancel(who.Err())
		case <-s.Stopping:
			cancel(apierr.ErrStopping)
		case <-ctx.Done():
		}
	}()
	w := &watcher{Service: s, send: send, from: from, who: who, concerns: concerns, chat: chat, isFramed: live.HasFrames(ctx)}
	// The first message confirms that no event after its cursor is missed.
	err = w.beat(ctx)
	if err == nil {
		err = w.run(ctx)
	}
	if cause := context.Cause(ctx); cause != nil && ctx.Err() != nil {
		err = cause
	}
	return Told(err)
}

// watcher is an open stream.
type watcher struct {
	*Service

	send     func(message any) error
	from     *Subscription
	who      *Listener
	concerns *Interest

	chat     *live.Listener // nil if the listener wants no live events
	isFramed bool           // whether send takes live.Frame
}

// run sends the events that the listener wants and may receive, until ctx ends. Kept
// events go before live ones. Live events do not put off a heartbeat, whose cursor is past
// the events that the filters excluded.
func (w *watcher) run(ctx context.Context) error {
	// The timer must not fire before due: nothing else would wake a quiet stream.
	due := time.Now().Add(w.Heartbeat)
	heartbeat := time.NewTimer(w.Heartbeat)
	defer heartbeat.Stop()
	for {
		page, err := w.from.Next(ctx, heartbeat.C)
		if err != nil {
			return err
		}
		sent, err := w.sendPage(ctx, page)
		if err != nil {
			return err
		}
		if err := w.sendLive(ctx); err != nil {
			return err
		}
		if !sent && !time.Now().Before(due) {
			if err := w.beat(ctx); err != nil {
				return err
			}
			sent = true
		}
		if sent {
			due = time.Now().Add(w.Heartbeat)
			heartbeat.Reset(w.Heartbeat)
		}
	}
}

// beat sends a message without an event. Its cursor confirms that all events up to it
// were sent.
func (w *watcher) beat(ctx context.Context) error {
	cursor, err := outbox.Cursor(ctx, w.Hub.Store, w.from.Position())
	if err != nil {
		return err
	}
	return w.send(&moderatov1.WatchEventsResponse{Cursor: cursor})
}

// sendPage sends those events of the latest page that the listener wants and may receive.
func (w *watcher) sendPage(ctx context.Context, page []*outbox.Event) (sent bool, err error) {
	at := w.from.PageAfter()
	for _, e := range page {
		if ctx.Err() != nil {
			return sent, ctx.Err()
		}
		if w.from.IsOutdated() {
			w.from.GoBack(at)
			return sent, nil
		}
		at = e.Position
		// Check the rights before refresh: the event that ends a right is the last one
		// delivered under it.
		if e.IsGone || !w.concerns.has(e) {
			w.refresh(ctx, e)
			continue
		}
		may, err := w.who.May(ctx, e.ChannelID, e.Type)
		if err != nil {
			return sent, err
		}
		w.refresh(ctx, e)
		if !may {
			continue
		}
		// The event itself, which the REST facade takes with its shared encoding.
		if err := w.send(e); err != nil {
			return sent, err
		}
		sent = true
	}
	return sent, nil
}

// refresh checks the rights of the listener if an event changes them. If the check
// fails, the listener is paused until the next check.
func (w *watcher) refresh(ctx context.Context, e *outbox.Event) {
	if !w.concerns.isRight(e) {
		return
	}
	w.who.outdate()
	if err := w.Rights.checkRights(ctx, []*Listener{w.who}); err != nil && ctx.Err() == nil {
		w.Rights.Log.WarnContext(ctx, "the rights of a listener could not be checked; it is paused", "error", err)
	}
}

// Told returns the API error for an error that ends a stream.
func Told(err error) error {
	switch {
	case errors.Is(err, ErrTooSlow):
		return apierr.New(moderatov1.Reason_REASON_WATCHER_TOO_SLOW)
	case errors.Is(err, ErrTrimmed):
		return apierr.New(moderatov1.Reason_REASON_CURSOR_INVALID)
	case errors.Is(err, apierr.ErrStopping):
		return &apierr.Error{
			Reason: moderatov1.Reason_REASON_UNAVAILABLE, RetryAfter: time.Second, Cause: err,
			Message: "The server is shutting down. Connect again, and resume after the last id or cursor that you received.",
		}
	}
	return err
}
