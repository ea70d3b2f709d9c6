package cli_test

import (
	"context"
	"encoding/json"
	"net/http"
	"sync"
	"testing"
	"time"

	"google.golang.org/grpc"

	moderatov1 "github.com/moderato-live/moderato/gen/moderato/v1"
	"github.com/moderato-live/moderato/server/store"
	"github.com/moderato-live/moderato/test/servertest"
)

// eventRecorder listens to one server after the other, each time from its cursor. It checks that it
// receives each event once, in the order of the positions, and the events of each channel
// in sequence.
type eventRecorder struct {
	t     *testing.T
	db    *store.Store
	moved store.Signal

	mu        sync.Mutex
	cursor    string
	position  int64
	sequences map[string]int64
	ids       map[string]int64
}

func newEventRecorder(t *testing.T, db *store.Store) *eventRecorder {
	return &eventRecorder{t: t, db: db, moved: store.NewSignal(), sequences: map[string]int64{}, ids: map[string]int64{}}
}

// listen receives the events of a server until the stream ends or stop is called.
func (e *eventRecorder) listen(ctx context.Context, conn *grpc.ClientConn) (stop func()) {
	e.t.Helper()
	ctx, cancel := context.WithCancel(ctx)
	e.mu.Lock()
	request := &moderatov1.WatchEventsRequest{Cursor: e.cursor}
	e.mu.Unlock()
	stream, err := moderatov1.NewEventsServiceClient(conn).WatchEvents(ctx, request)
	if err == nil {
		_, err = stream.Recv() // the stream is open
	}
	if err != nil {
		e.t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for {
			m, err := stream.Recv()
			if err != nil {
				return
			}
			e.record(m)
		}
	}()
	return func() { cancel(); <-ended }
}

func (e *eventRecorder) record(m *moderatov1.WatchEventsResponse) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.cursor = m.GetCursor()
	if m.GetEvent() == nil {
		return
	}
	at := servertest.EventPosition(e.t, e.db, e.cursor)
	if at != e.position+1 {
		e.t.Errorf("received position %d after %d", at, e.position)
	}
	e.position = at
	meta := m.GetEvent().GetMetadata()
	if last := e.sequences[meta.GetChannelId()]; meta.GetSequence() != last+1 {
		e.t.Errorf("received %d of channel %s after %d", meta.GetSequence(), meta.GetChannelId(), last)
	}
	e.sequences[meta.GetChannelId()] = meta.GetSequence()
	if at, twice := e.ids[meta.GetMessageId()]; twice {
		e.t.Errorf("received %s at position %d, and at %d before", meta.GetMessageId(), e.position, at)
	}
	e.ids[meta.GetMessageId()] = e.position
	e.moved.Raise()
}

func (e *eventRecorder) reached() int64 {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.position
}

// mailbox is the receiver of a webhook. Each event must arrive, those of a channel in
// order; events may arrive more than once.
type mailbox struct {
	t     *testing.T
	moved store.Signal

	mu        sync.Mutex
	sequences map[string]int64
	repeats   int
	arriving  func() // called at the next arrival, before the response
}

func newMailbox(t *testing.T) *mailbox {
	return &mailbox{t: t, moved: store.NewSignal(), sequences: map[string]int64{}}
}

func (m *mailbox) ServeHTTP(_ http.ResponseWriter, r *http.Request) {
	var event struct {
		Metadata struct {
			ChannelID string
			Sequence  int64
		}
	}
	if err := json.NewDecoder(r.Body).Decode(&event); err != nil {
		m.t.Errorf("what arrives: %v", err)
		return
	}
	m.mu.Lock()
	arriving := m.arriving
	m.arriving = nil
	m.mu.Unlock()
	if arriving != nil {
		arriving()
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	channel, got := event.Metadata.ChannelID, event.Metadata.Sequence
	switch last := m.sequences[channel]; {
	case got == last+1:
		m.sequences[channel] = got
	case got <= last:
		m.repeats++
	default:
		m.t.Errorf("%d of channel %s arrived after %d", got, channel, last)
	}
	m.moved.Raise()
}

// onNextArrival has a function called at the next arrival, before the response.
func (m *mailbox) onNextArrival(do func()) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.arriving = do
}

// reached returns the number of distinct events that arrived.
func (m *mailbox) reached() int64 {
	m.mu.Lock()
	defer m.mu.Unlock()
	n := int64(0)
	for _, last := range m.sequences {
		n += last
	}
	return n
}

// waitUntil waits until reached returns want.
func waitUntil(t *testing.T, what string, moved store.Signal, reached func() int64, want int64) {
	t.Helper()
	late := time.After(patience)
	for reached() < want {
		select {
		case <-moved:
		case <-late:
			t.Fatalf("%s: %d of %d events", what, reached(), want)
		}
	}
	if got := reached(); got != want {
		t.Fatalf("%s: %d events, and there are %d", what, got, want)
	}
}
