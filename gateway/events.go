package gateway

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"time"

	"google.golang.org/grpc/metadata"

	moderatov1 "github.com/moderato-live/moderato/gen/moderato/v1"
	"github.com/moderato-live/moderato/server/apierr"
	"github.com/moderato-live/moderato/server/authn"
	"github.com/moderato-live/moderato/server/live"
	"github.com/moderato-live/moderato/server/outbox"
	"github.com/moderato-live/moderato/server/requestid"
	"github.com/moderato-live/moderato/server/sse"
)

const (
	eventsPath      = "/v1/events"
	lastEventHeader = "Last-Event-Id"
	// lastEventParameter is the query parameter that the EventSource polyfill sends
	// instead of the header.
	lastEventParameter = "lastEventId"
	// ticketParameter is the query parameter that opens a stream instead of a token.
	ticketParameter = "ticket"
	// reconnectDelay is how long a browser waits before it reconnects.
	reconnectDelay = 2 * time.Second
)

// streamParameters are the query parameters of a stream that are no fields of its request.
var streamParameters = []string{lastEventParameter, ticketParameter}

// streamEvents serves WatchEvents as Server-Sent Events. The call goes through the same
// chain, and the `id` of an event is its cursor.
func (f *facade) streamEvents(w http.ResponseWriter, r *http.Request) {
	request := &moderatov1.WatchEventsRequest{}
	if err := (queryParser{beside: streamParameters}).Parse(request, r.Form, nil); err != nil {
		f.refuse(w, r, apierr.Of(err))
		return
	}
	// The last event id is newer than the cursor in the URL, which a browser repeats.
	if last := cmp.Or(r.Header.Get(lastEventHeader), r.Form.Get(lastEventParameter)); last != "" {
		request.Cursor = last
	}
	ctx := live.WithFrames(r.Context())
	call := callContext(ctx, w, r)
	if r.Form.Has(ticketParameter) {
		call = ticketContext(ctx, w, r.RemoteAddr, r.Form.Get(ticketParameter))
	}
	out := &eventWriter{w: w, control: http.NewResponseController(w), headOnly: r.Method == http.MethodHead}
	header, err := f.conn.Watch(call, moderatov1.EventsService_WatchEvents_FullMethodName, request, out.send)
	if err == nil || r.Context().Err() != nil || (out.begun && out.headOnly) {
		return
	}
	refusal := apierr.Of(err)
	if !out.begun {
		setHeader(w, header)
		writeError(w, refusal)
		return
	}
	// The response body has begun, so the error becomes its last event.
	_ = out.write(append(append([]byte("event: end\ndata: "), errorText(requestID(w), refusal)...), "\n\n"...))
}

// ticketContext returns the context of a call whose caller is identified by a ticket.
// Credentials of the request are left out, so that they cannot contradict it.
func ticketContext(ctx context.Context, w http.ResponseWriter, address, ticket string) context.Context {
	return newTransport(ctx, metadata.MD{requestid.MetadataKey: w.Header()[requestid.Header], authn.TicketKey: {ticket}}, address).ctx
}

// eventWriter writes the events of a stream to a response.
type eventWriter struct {
	w       http.ResponseWriter
	control *http.ResponseController
	begun   bool
	// headOnly ends the stream as soon as it has begun, because a HEAD response has no
	// body.
	headOnly bool
}

// errHeadOnly ends the stream of a HEAD request.
var errHeadOnly = fmt.Errorf("%w: only the header was asked for", context.Canceled)

func (e *eventWriter) send(header metadata.MD, message any) error {
	switch m := message.(type) {
	case *outbox.Event:
		return e.write(sse.Append(nil, m.Cursor, m.JSON()))
	case live.Frame: // a batch, encoded once for all listeners
		return e.write(m)
	case *moderatov1.WatchEventsResponse:
		if missed := m.GetMissedMessages(); missed > 0 {
			return e.write(fmt.Appendf(nil, "id: %s\nevent: missed\ndata: {\"missedMessages\":%d}\n\n", m.GetCursor(), missed))
		}
		return e.beat(header, m.GetCursor())
	}
	return fmt.Errorf("a %T is no event", message)
}

// beat writes a frame without an event. The first one begins the response.
func (e *eventWriter) beat(header metadata.MD, cursor string) error {
	text := ": nothing new\n"
	if !e.begun {
		e.begin(header)
		if e.headOnly {
			return errHeadOnly
		}
		text = fmt.Sprintf("retry: %d\n: listening\n", reconnectDelay.Milliseconds())
	}
	return e.write(fmt.Appendf(nil, "id: %s\n%s\n", cursor, text))
}

// begin sends the header. It removes the read deadline, so that the stream lasts as
// long as the listener reads.
func (e *eventWriter) begin(header metadata.MD) {
	e.begun = true
	setHeader(e.w, header)
	h := e.w.Header()
	h.Set("Content-Type", "text/event-stream")
	h.Set("Cache-Control", "no-store")
	h.Set("X-Accel-Buffering", "no") // otherwise nginx buffers events
	_ = e.control.SetReadDeadline(time.Time{})
	e.w.WriteHeader(http.StatusOK)
}

func (e *eventWriter) write(text []byte) error {
	_ = e.control.SetWriteDeadline(time.Now().Add(streamWriteTimeout))
	_, err := e.w.Write(text)
	if err == nil {
		err = e.control.Flush()
	}
	if err != nil {
		return fmt.Errorf("%w: the listener is gone: %w", context.Canceled, err)
	}
	return nil
}
