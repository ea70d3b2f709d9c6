package bus_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"net"
	"strings"
	"testing"
	"time"

	natsserver "github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/prometheus/client_golang/prometheus"

	moderatov1 "github.com/moderato-live/moderato/gen/moderato/v1"
	"github.com/moderato-live/moderato/internal/uid"
	"github.com/moderato-live/moderato/server/change"
	"github.com/moderato-live/moderato/server/event/bus"
	"github.com/moderato-live/moderato/server/event/outbox"
	"github.com/moderato-live/moderato/server/event/outbox/outboxtest"
	"github.com/moderato-live/moderato/server/store"
	"github.com/moderato-live/moderato/test/servertest"
	"github.com/moderato-live/moderato/test/storetest"
)

const patience = 20 * time.Second

// broker is a real NATS server with JetStream in this process.
type broker struct {
	*natsserver.Server
	options *natsserver.Options
}

func startBroker(t *testing.T) *broker {
	t.Helper()
	b := &broker{options: &natsserver.Options{Host: "127.0.0.1", Port: natsserver.RANDOM_PORT, JetStream: true, StoreDir: t.TempDir(), NoSigs: true, NoLog: true}}
	b.start(t)
	t.Cleanup(func() { b.stop() })
	return b
}

func (b *broker) start(t *testing.T) {
	t.Helper()
	var err error
	if b.Server, err = natsserver.NewServer(b.options); err != nil {
		t.Fatal(err)
	}
	b.Start()
	if !b.ReadyForConnections(patience) {
		t.Fatal("NATS does not start")
	}
	if address, ok := b.Addr().(*net.TCPAddr); ok {
		b.options.Port = address.Port // keep the port across restarts
	}
}

func (b *broker) stop() {
	b.Shutdown()
	b.WaitForShutdown()
}

func (b *broker) config() bus.Config {
	return bus.Config{URL: b.ClientURL(), Stream: "MODERATO", Subject: "moderato.events"}
}

// message is a message that a subscriber of the bus receives.
type message struct {
	subject, id string
	channelID   string
	sequence    int64
	traceparent string
}

// read returns all messages of the stream.
func (b *broker) read(t *testing.T) []message {
	t.Helper()
	conn, err := nats.Connect(b.ClientURL())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	js, err := jetstream.New(conn)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	stream, err := js.Stream(ctx, "MODERATO")
	if err != nil {
		t.Fatal(err)
	}
	info := stream.CachedInfo()
	var all []message
	for n := info.State.FirstSeq; n > 0 && n <= info.State.LastSeq; n++ {
		raw, err := stream.GetMsg(ctx, n)
		if err != nil {
			t.Fatal(err)
		}
		var body struct {
			Metadata struct {
				MessageID, ChannelID, SubscriptionType string
				Sequence                               int64
			}
		}
		if err := json.Unmarshal(raw.Data, &body); err != nil {
			t.Fatal(err)
		}
		m := message{raw.Subject, raw.Header.Get(nats.MsgIdHdr), body.Metadata.ChannelID, body.Metadata.Sequence, raw.Header.Get("traceparent")}
		if want := fmt.Sprintf("moderato.events.%s.%s", m.channelID, body.Metadata.SubscriptionType); m.subject != want || m.id != body.Metadata.MessageID {
			t.Errorf("message %d has the subject %s and id %s, want %s and %s", n, m.subject, m.id, want, body.Metadata.MessageID)
		}
		all = append(all, m)
	}
	return all
}

// check checks that the stream holds each event once, in order within each channel.
func (b *broker) check(t *testing.T, want int) {
	t.Helper()
	all := b.read(t)
	if len(all) != want {
		t.Errorf("the stream holds %d messages, want %d", len(all), want)
	}
	next := map[string]int64{}
	for i, m := range all {
		if next[m.channelID]++; m.sequence != next[m.channelID] {
			t.Fatalf("message %d is of sequence %d in its channel, want %d", i, m.sequence, next[m.channelID])
		}
	}
}

// openWorld opens a database with the World, and returns it with a function that writes n
// events of each channel and assigns their positions.
func openWorld(t *testing.T, url store.URL) (*store.Store, func(n int)) {
	t.Helper()
	ctx := context.Background()
	storetest.Migrate(t, url)
	s, err := store.Open(ctx, url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	servertest.Import(t, s, servertest.World()...)
	q := outbox.NewSequencer(s, slog.New(slog.DiscardHandler), prometheus.NewRegistry())
	return s, func(n int) {
		t.Helper()
		for range n {
			for _, channel := range []uid.ID{servertest.Owner, servertest.Other} {
				err := change.ApplyUnattended(ctx, s, channel, func(_ context.Context, c *change.Change) error {
					c.Emit("channel.unban", servertest.Viewer, &moderatov1.UnbanEvent{ChannelId: channel.String()})
					return nil
				})
				if err != nil {
					t.Fatal(err)
				}
			}
		}
		if err := q.Turn(ctx); err != nil {
			t.Fatal(err)
		}
	}
}

func newSink(s *store.Store, config bus.Config) *bus.Sink {
	return bus.NewSink(s, slog.New(slog.DiscardHandler), config, prometheus.NewRegistry())
}

func eachWorld(t *testing.T, test func(t *testing.T, s *store.Store, write func(n int))) {
	t.Helper()
	storetest.EachKind(t, func(t *testing.T, url store.URL) {
		s, write := openWorld(t, url)
		test(t, s, write)
	})
}

func TestSinkPublishesEachEventOnceInOrder(t *testing.T) {
	eachWorld(t, func(t *testing.T, s *store.Store, write func(n int)) {
		b := startBroker(t)
		write(3) // before the sink runs
		sink := newSink(s, b.config())
		for range 3 {
			if err := sink.Turn(context.Background()); err != nil {
				t.Fatal(err)
			}
			write(300) // more than a page
		}
		wantBacklog(t, sink, 2*300)
		if err := sink.Turn(context.Background()); err != nil {
			t.Fatal(err)
		}
		b.check(t, 2*(3+900))
		wantBacklog(t, sink, 0)
	})
}

func wantBacklog(t *testing.T, sink *bus.Sink, want int64) {
	t.Helper()
	if n, err := sink.Job().Backlog(t.Context(), sink.Store); err != nil || n != want {
		t.Errorf("the backlog is %d (%v), want %d", n, err, want)
	}
}

// TestDeadPublisherIsReplaced has one publisher fail to record its progress, as when it
// is killed, and another continue: the broker drops the duplicates.
func TestDeadPublisherIsReplaced(t *testing.T) {
	eachWorld(t, func(t *testing.T, s *store.Store, write func(n int)) {
		b := startBroker(t)
		dead, next := newSink(s, b.config()), newSink(s, b.config())
		write(20)
		if err := dead.Turn(context.Background()); err != nil {
			t.Fatal(err)
		}
		if _, err := s.DB().Exec("UPDATE event_sinks SET position = 7"); err != nil {
			t.Fatal(err)
		}
		if err := next.Turn(context.Background()); err != nil { // the lease is held by the first
			t.Fatal(err)
		}
		b.check(t, 40)
		s.Clock.Advance(10 * time.Second)
		next = newSink(s, b.config())
		write(5)
		if err := next.Turn(context.Background()); err != nil {
			t.Fatal(err)
		}
		b.check(t, 50)
		// The first publisher resumes: it has lost the lease, and does not move the
		// position back.
		write(5)
		if err := dead.Turn(context.Background()); err != nil {
			t.Fatal(err)
		}
		if got := storetest.Must(s.Read.EventSink.Get(context.Background(), "nats")).Position; got != 50 {
			t.Errorf("the position is %d, want 50", got)
		}
		if err := next.Turn(context.Background()); err != nil {
			t.Fatal(err)
		}
		b.check(t, 60)
	})
}

// TestBrokerRestartLosesNoEvents stops and restarts the broker.
func TestBrokerRestartLosesNoEvents(t *testing.T) {
	s, write := openWorld(t, storetest.SQLite(t))
	b := startBroker(t)
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan struct{})
	go func() { defer close(ended); outboxtest.RunJobs(ctx, s, newSink(s, b.config()).Job()) }()
	write(50)
	b.stop()
	write(50)
	b.start(t)
	write(50)
	deadline := time.After(patience)
	for storetest.Must(s.Read.EventSink.Query().Count(ctx)) == 0 || storetest.Must(s.Read.EventSink.Get(ctx, "nats")).Position < 300 {
		select {
		case <-deadline:
			t.Fatal("the sink did not recover")
		case <-time.After(20 * time.Millisecond):
		}
	}
	cancel()
	<-ended
	b.check(t, 300)
	if row := storetest.Must(s.Read.EventSink.Get(context.Background(), "nats")); row.ExpiresAt != 0 {
		t.Errorf("the lease was not given up: %v", row)
	}
}

// TestSinkReportsEventsRemovedBeforePublishing has retention remove events that are not
// published yet.
func TestSinkReportsEventsRemovedBeforePublishing(t *testing.T) {
	s, write := openWorld(t, storetest.SQLite(t))
	b := startBroker(t)
	var log bytes.Buffer
	sink := bus.NewSink(s, slog.New(slog.NewTextHandler(&log, nil)), b.config(), prometheus.NewRegistry())
	turn := func() {
		t.Helper()
		if err := sink.Turn(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	write(2)
	turn()
	write(2)
	// The fifth event was deleted with its channel.
	for _, statement := range []string{"DELETE FROM events WHERE position <= 3 OR position = 5", "UPDATE event_sequencers SET trimmed_position = 3"} {
		if _, err := s.DB().Exec(statement); err != nil {
			t.Fatal(err)
		}
	}
	turn()
	if strings.Contains(log.String(), "ERROR") {
		t.Errorf("published events are logged as missing:\n%s", &log)
	}
	write(2)
	for _, statement := range []string{"DELETE FROM events WHERE position <= 9", "UPDATE event_sequencers SET trimmed_position = 9"} {
		if _, err := s.DB().Exec(statement); err != nil {
			t.Fatal(err)
		}
	}
	turn()
	if !strings.Contains(log.String(), `level=ERROR msg="events removed before they were published to NATS" after=8 up_to=9`) {
		t.Errorf("the missing event is not logged:\n%s", &log)
	}
	if n := len(b.read(t)); n != 10 {
		t.Errorf("the stream holds %d messages, want 10", n)
	}
}

// TestPublishStopsInTimeToRenewLease publishes a page in which each event waits for the
// previous one.
func TestPublishStopsInTimeToRenewLease(t *testing.T) {
	s, write := openWorld(t, storetest.SQLite(t))
	b := startBroker(t)
	write(100)
	page, err := outbox.Read(t.Context(), s, 0, 200)
	if err != nil {
		t.Fatal(err)
	}
	for until, want := range map[time.Duration]int64{-time.Second: 0, patience: 200} {
		done, err := bus.Publish(t.Context(), b.config(), page, time.Now().Add(until))
		if err != nil || done != want {
			t.Errorf("with %s left: published up to %d (%v), want %d", until, done, err, want)
		}
	}
}

func TestInvalidURLIsNotRepeatedInError(t *testing.T) {
	for url, good := range map[string]bool{
		"nats://127.0.0.1:4222": true, "tls://user:secret@a.example.com": true, "nats://a:4222, nats://b:4222": true,
		"": false, "a:4222": false, "http://a": false, "nats://": false, "nats://a,": false,
		"nats://user:sec ret@a": false, "nats://user:secret%@a": false, "nats://user:secret@a:x": false,
	} {
		err := bus.Config{URL: url}.Check()
		if (err == nil) != good {
			t.Errorf("%q: %v", url, err)
		}
		if err != nil && (strings.Contains(err.Error(), "secret") || strings.Contains(err.Error(), "sec ret")) {
			t.Errorf("%q: the error reveals the password: %v", url, err)
		}
	}
}
