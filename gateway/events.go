package gateway

import (
	"cmp"
	"context"
	"fmt"
	"net/http"

	"google.golang.org/grpc/metadata"

	moderatov1 "github.com/moderato-live/moderato/gen/moderato/v1"
	"github.com/moderato-live/moderato/internal/requestid"
	"github.com/moderato-live/moderato/internal/sse"
	"github.com/moderato-live/moderato/server/event/live"
	"github.com/moderato-live/moderato/server/event/outbox"
	"github.com/moderato-live/moderato/server/middleware/inprocess"
	"github.com/moderato-live/moderato/server/rpc/apierr"
	"github.com/moderato-live/moderato/server/rpc/authn"
)

const (
	eventsPath      = "/v1/events"
	lastEventHeader = "Last-Event-Id"
	// lastEventParameter is the query parameter that the EventSource polyfill sends
	// instead of the header.
	lastEventParameter = "lastEventId"
	// ticketParameter is the query parameter that opens a stream instead of a token.
	ticketParameter = "ticket"
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
	out := &eventWriter{Writer: sse.NewWriter(w), w: w, headOnly: r.Method == http.MethodHead}
	header, err := f.conn.Watch(call, moderatov1.EventsService_WatchEvents_FullMethodName, request, out.send)
	if err == nil || r.Context().Err() != nil || (out.HasBegun() && out.headOnly) {
		return
	}
	refusal := apierr.Of(err)
	if !out.HasBegun() {
		setHeader(w, header)
		writeError(w, refusal)
		return
	}
	// The response body has begun, so the error becomes its last event.
	_ = out.Write(sse.AppendNamed(nil, "", "end", errorText(requestID(w), refusal)))
}

// ticketContext returns the context of a call whose caller is identified by a ticket.
// Credentials of the request are left out, so that they cannot contradict it.
func ticketContext(ctx context.Context, w http.ResponseWriter, address, ticket string) context.Context {
	return inprocess.NewCall(ctx, metadata.MD{requestid.MetadataKey: w.Header()[requestid.Header], authn.TicketKey: {ticket}}, address)
}

// eventWriter writes the events of a stream to a response.
type eventWriter struct {
	*sse.Writer

	w http.ResponseWriter
	// headOnly ends the stream as soon as it has begun, because a HEAD response has no
	// body.
	headOnly bool
}

// errHeadOnly ends the stream of a HEAD request.
var errHeadOnly = fmt.Errorf("%w: only the header was asked for", context.Canceled)

func (e *eventWriter) send(header metadata.MD, message any) error {
	switch m := message.(type) {
	case *outbox.Event:
		return e.Write(sse.Append(nil, m.Cursor, m.JSON()))
	case live.Frame: // a batch, encoded once for all listeners
		return e.Write(m)
	case *moderatov1.WatchEventsResponse:
		if missed := m.GetMissedMessages(); missed > 0 {
			return e.Write(sse.AppendNamed(nil, m.GetCursor(), "missed", fmt.Appendf(nil, `{"missedMessages":%d}`, missed)))
		}
		return e.beat(header, m.GetCursor())
	}
	return fmt.Errorf("a %T is no event", message)
}

// beat writes a frame without an event. The first one begins the response.
func (e *eventWriter) beat(header metadata.MD, cursor string) error {
	if e.HasBegun() {
		return e.Beat(cursor)
	}
	setHeader(e.w, header)
	e.Begin()
	if e.headOnly {
		return errHeadOnly
	}
	return e.Open(cursor)
}
