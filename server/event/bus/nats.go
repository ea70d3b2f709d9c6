// Package bus publishes events to NATS JetStream, for platforms that have a bus of
// their own.
package bus

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"go.opentelemetry.io/otel/trace"

	"github.com/moderato-live/moderato/internal/tracing"
	"github.com/moderato-live/moderato/server/event/outbox"
)

// Config holds where to publish.
type Config struct {
	// URL is the URL of the servers: nats://HOST:PORT, or tls://; several are separated
	// by commas. If it is empty, there is no bus.
	URL string
	// Credentials is the path of a credentials file; empty for none.
	Credentials string
	// Stream is the name of the JetStream stream. It is created if it does not exist. If it is
	// empty, events are not published, and the broker needs no JetStream.
	Stream string
	// Subject is the prefix of all subjects: SUBJECT.<channel id>.<type>.
	Subject string
}

// Publishes reports whether events are published.
func (c Config) Publishes() bool { return c.URL != "" && c.Stream != "" }

// IsSubject reports whether a text can be the prefix of subjects.
func IsSubject(text string) bool {
	isBad := func(word string) bool { return word == "" || strings.ContainsAny(word, " \t\r\n*>") }
	return !slices.ContainsFunc(strings.Split(text, "."), isBad)
}

// Check returns an error if the URL or the subject is malformed. The errors of the NATS client would
// repeat the URL, with the password that may be in it.
func (c Config) Check() error {
	for _, part := range strings.Split(c.URL, ",") {
		u, err := url.Parse(strings.TrimSpace(part))
		if err != nil || (u.Scheme != "nats" && u.Scheme != "tls") || u.Hostname() == "" {
			return errors.New("the URL of NATS must be nats://HOST:PORT or tls://HOST:PORT, several separated by commas; percent-encode what is special in a password")
		}
	}
	if c.Publishes() && !IsSubject(c.Subject) {
		return fmt.Errorf("the subject of events %q must be words between dots, without spaces, * and >; set --nats-subject", c.Subject)
	}
	return nil
}

const (
	ackTimeout = 5 * time.Second
	// duplicateWindow is how long the broker remembers message ids in a stream that this
	// package creates. It drops events that are published again after a crash.
	duplicateWindow = 10 * time.Minute
	reconnectWait   = 500 * time.Millisecond
)

// publisher is a connection to NATS.
type publisher struct {
	config Config
	conn   *nats.Conn
	stream jetstream.JetStream
	tracer *tracing.Tracer
}

// Dial opens a connection, which reconnects by itself when it is lost.
func (c Config) Dial(ctx context.Context, log *slog.Logger, more ...nats.Option) (*nats.Conn, error) {
	options := []nats.Option{
		nats.Name("moderato"),
		nats.MaxReconnects(-1),
		nats.ReconnectWait(reconnectWait),
		// The client buffers nothing while the broker is unavailable: whoever publishes does
		// so later, or in another way.
		nats.ReconnectBufSize(-1),
		nats.DisconnectErrHandler(func(_ *nats.Conn, err error) {
			if err != nil {
				log.WarnContext(ctx, "NATS connection lost; reconnecting", "error", err)
			}
		}),
	}
	if c.Credentials != "" {
		options = append(options, nats.UserCredentials(c.Credentials))
	}
	conn, err := nats.Connect(c.URL, append(options, more...)...)
	if err != nil {
		return nil, fmt.Errorf("connect to NATS: %w", err)
	}
	return conn, nil
}

// connect opens a connection to JetStream.
func connect(ctx context.Context, config Config, log *slog.Logger, tracer *tracing.Tracer) (*publisher, error) {
	conn, err := config.Dial(ctx, log)
	if err != nil {
		return nil, err
	}
	stream, err := jetstream.New(conn)
	if err != nil {
		conn.Close()
		return nil, fmt.Errorf("JetStream: %w", err)
	}
	return &publisher{config: config, conn: conn, stream: stream, tracer: tracer}, nil
}

func (p *publisher) close() { p.conn.Close() }

// prepare creates the stream if it does not exist. It does not change an existing
// stream, which the platform configures.
func (p *publisher) prepare(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, ackTimeout)
	defer cancel()
	_, err := p.stream.Stream(ctx, p.config.Stream)
	if errors.Is(err, jetstream.ErrStreamNotFound) {
		_, err = p.stream.CreateStream(ctx, jetstream.StreamConfig{
			Name: p.config.Stream, Subjects: []string{p.config.Subject + ".>"}, Duplicates: duplicateWindow,
			Description: "Events of Moderato, in order per channel",
		})
	}
	if err != nil {
		return fmt.Errorf("stream %s: %w", p.config.Stream, err)
	}
	return nil
}

// publish publishes a page of events, in order per channel: an event is sent after the
// broker has stored the previous event of its channel. publish starts no round after
// until. It returns the position up to which all events are published, which is from or
// later: the events up to from are already published.
func (p *publisher) publish(ctx context.Context, page []*outbox.Event, from int64, until time.Time) (done int64, err error) {
	stored := make([]bool, len(page))
	done = from
	for first := 0; first < len(page) && err == nil && time.Now().Before(until); {
		err = p.round(ctx, page, stored)
		for ; first < len(page) && stored[first]; first++ {
			done = page[first].Position
		}
	}
	return done, err
}

// round sends the next event of each channel, all concurrently, and waits for the
// acknowledgements.
func (p *publisher) round(ctx context.Context, page []*outbox.Event, stored []bool) error {
	type sent struct {
		at   int
		ack  jetstream.PubAckFuture
		span trace.Span
	}
	var round []sent
	var failure error
	busy := map[string]bool{}
	for i, e := range page {
		channel := e.ChannelID.String()
		if stored[i] || busy[channel] {
			continue
		}
		busy[channel] = true
		message := &nats.Msg{
			Subject: fmt.Sprintf("%s.%s.%s", p.config.Subject, channel, e.Type),
			Header:  nats.Header{nats.MsgIdHdr: {e.Message.GetMetadata().GetMessageId()}, "Content-Type": {"application/json"}},
			Data:    e.JSON(),
		}
		span := p.startSpan(ctx, e, message)
		ack, err := p.stream.PublishMsgAsync(message)
		if err != nil {
			endSpan(span, err)
			failure = err
			break
		}
		round = append(round, sent{i, ack, span})
	}
	ctx, cancel := context.WithTimeout(ctx, ackTimeout)
	defer cancel()
	for _, s := range round {
		select {
		case <-s.ack.Ok():
			stored[s.at] = true
			endSpan(s.span, nil)
		case err := <-s.ack.Err():
			endSpan(s.span, err)
			failure = err
		case <-ctx.Done():
			endSpan(s.span, ctx.Err())
			failure = fmt.Errorf("NATS does not answer: %w", ctx.Err())
		}
	}
	return failure
}
