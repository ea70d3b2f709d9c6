package experiments_test

import (
	"bufio"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"maps"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/metadata"

	moderatov1 "github.com/moderato-live/moderato/gen/moderato/v1"
	"github.com/moderato-live/moderato/internal/uid"
)

// received is what a subscriber has of a channel: the number of events, and a digest of
// their ids in the order in which they were received.
type received struct {
	Sequence int64
	Digest   [sha256.Size]byte
}

// add adds an event.
func (r *received) add(id string) {
	r.Sequence++
	r.Digest = sha256.Sum256(append(r.Digest[:], id...))
}

// delivery is an event, or a heartbeat, which has only a cursor.
type delivery struct {
	cursor, channel, id string
	sequence            int64
}

// stream is an open event stream.
type stream interface {
	next() (delivery, error)
}

// subscriber receives the events of all channels. When its stream ends, it opens another one
// with the last cursor, as often as necessary.
type subscriber struct {
	t    *testing.T
	name string
	open func(ctx context.Context, cursor string) (stream, error)
	stop context.CancelFunc
	done chan struct{}

	mu       sync.Mutex
	cursor   string
	channels map[string]received
	ids      map[string][]uid.ID // of the events of a channel in their order
	streams  int                 // that were opened
	repeats  int                 // events that were received again
}

// subscribe starts subscribers over gRPC and over Server-Sent Events. It returns when both
// miss nothing from then on.
func subscribe(t *testing.T, s *site) []*subscriber {
	t.Helper()
	conn := dial(t, s.GRPC)
	all := []*subscriber{
		{name: "gRPC", open: func(ctx context.Context, cursor string) (stream, error) { return openGRPC(ctx, s, conn, cursor) }},
		{name: "SSE", open: func(ctx context.Context, cursor string) (stream, error) { return openSSE(ctx, s, cursor) }},
	}
	for _, sub := range all {
		var ctx context.Context
		ctx, sub.stop = context.WithCancel(context.Background())
		sub.t, sub.channels, sub.ids, sub.done = t, map[string]received{}, map[string][]uid.ID{}, make(chan struct{})
		go sub.run(ctx)
		t.Cleanup(sub.end)
		if !eventually(patience, func() bool { sub.mu.Lock(); defer sub.mu.Unlock(); return sub.cursor != "" }) {
			t.Fatalf("the %s stream does not begin", sub.name)
		}
	}
	return all
}

func (u *subscriber) run(ctx context.Context) {
	defer close(u.done)
	for ; ctx.Err() == nil; time.Sleep(20 * time.Millisecond) {
		u.mu.Lock()
		cursor := u.cursor
		u.mu.Unlock()
		streaming, cancel := context.WithCancel(ctx)
		if s, err := u.open(streaming, cursor); err == nil {
			u.receive(s)
		}
		cancel()
	}
}

// receive records the deliveries of a stream until it ends.
func (u *subscriber) receive(s stream) {
	u.mu.Lock()
	u.streams++
	u.mu.Unlock()
	for {
		d, err := s.next()
		if err != nil {
			return
		}
		u.record(d)
	}
}

func (u *subscriber) record(d delivery) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if d.channel != "" && d.sequence == 0 {
		return // a chat message, which is live and does not change the cursor
	}
	u.cursor = d.cursor
	if d.channel == "" {
		return
	}
	id, err := uid.Parse(d.id)
	if err != nil {
		u.t.Errorf("%s: the id %q of event %d of %s: %v", u.name, d.id, d.sequence, d.channel, err)
	}
	r, ids := u.channels[d.channel], u.ids[d.channel]
	switch {
	case d.sequence <= r.Sequence:
		u.repeats++
		if first := ids[d.sequence-1]; first != id && !first.IsZero() {
			u.t.Errorf("%s: event %d of %s is %s, and was %s before", u.name, d.sequence, d.channel, id, first)
		}
		return
	case d.sequence > r.Sequence+1:
		u.t.Errorf("%s: received event %d of %s after %d", u.name, d.sequence, d.channel, r.Sequence)
		ids = append(ids, make([]uid.ID, d.sequence-1-r.Sequence)...) // which were missed
		r.Sequence = d.sequence - 1
	}
	r.add(d.id)
	u.channels[d.channel], u.ids[d.channel] = r, append(ids, id)
}

// has returns what was received so far.
func (u *subscriber) has() map[string]received {
	u.mu.Lock()
	defer u.mu.Unlock()
	return maps.Clone(u.channels)
}

// end stops the subscriber, and returns when it received its last event.
func (u *subscriber) end() {
	u.stop()
	<-u.done
}

type grpcStream struct {
	grpc.ServerStreamingClient[moderatov1.WatchEventsResponse]
}

func openGRPC(ctx context.Context, s *site, conn *grpc.ClientConn, cursor string) (stream, error) {
	md, _ := metadata.FromOutgoingContext(s.backend.Context())
	all, err := moderatov1.NewEventsServiceClient(conn).WatchEvents(metadata.NewOutgoingContext(ctx, md), &moderatov1.WatchEventsRequest{Cursor: cursor})
	return grpcStream{all}, err
}

func (s grpcStream) next() (delivery, error) {
	m, err := s.Recv()
	if err != nil {
		return delivery{}, err
	}
	meta := m.GetEvent().GetMetadata()
	return delivery{m.GetCursor(), meta.GetChannelId(), meta.GetMessageId(), meta.GetSequence()}, nil
}

type sseStream struct {
	lines *bufio.Scanner
	last  string
}

func openSSE(ctx context.Context, s *site, cursor string) (stream, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+s.REST+"/v1/events", http.NoBody)
	if err != nil {
		return nil, err
	}
	r.Header.Set("Authorization", "Bearer "+s.backend.Token)
	r.Header.Set("client-id", s.backend.ClientID)
	if cursor != "" {
		r.Header.Set("Last-Event-ID", cursor)
	}
	response, err := http.DefaultClient.Do(r)
	if err != nil {
		return nil, err
	}
	if response.StatusCode != http.StatusOK {
		_ = response.Body.Close()
		return nil, errors.New(response.Status)
	}
	lines := bufio.NewScanner(response.Body)
	lines.Buffer(nil, 1<<20)
	return &sseStream{lines: lines}, nil
}

// next returns the next event or heartbeat: lines up to an empty one.
func (s *sseStream) next() (d delivery, err error) {
	data := ""
	for s.lines.Scan() {
		line := s.lines.Text()
		name, value, _ := strings.Cut(line, ": ")
		switch {
		case line == "" && s.last != "":
			d.cursor = s.last
			return d, d.parse(data)
		case name == "id":
			s.last = value
		case name == "data":
			data = value
		}
	}
	return d, errors.New("the stream ended")
}

func (d *delivery) parse(data string) error {
	if data == "" {
		return nil
	}
	var e struct {
		Metadata struct {
			ChannelID, MessageID string
			Sequence             int64
		}
	}
	err := json.Unmarshal([]byte(data), &e)
	d.channel, d.id, d.sequence = e.Metadata.ChannelID, e.Metadata.MessageID, e.Metadata.Sequence
	return err
}

// stored returns what a subscriber must have received, according to the database.
func (s *site) stored() (map[string]received, error) {
	all := map[string]received{}
	err := s.eachRow("SELECT channel_id, id FROM events ORDER BY channel_id, sequence", nil, func(scan func(...any) error) error {
		var channel, id uid.ID
		err := scan(&channel, &id)
		r := all[channel.String()]
		r.add(id.String())
		all[channel.String()] = r
		return err
	})
	return all, err
}
