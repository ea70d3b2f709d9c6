// Package bus publishes events to the platform's own bus, for platforms that have
// one: NATS JetStream.
package bus

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/moderato-live/moderato/server/events"
)

// Config says where to publish.
type Config struct {
	// URL is that of the servers: nats://HOST:PORT, or tls://; several are separated
	// by commas. Empty is no bus.
	URL string
	// Credentials is a file of credentials; empty for none.
	Credentials string
	// Stream is the JetStream stream, which is made if it is not there.
	Stream string
	// Subject is what subjects begin with: SUBJECT.<channel id>.<type>.
	Subject string
}

// Check tells whether the URL can be one. The client's own errors repeat it, with
// the password that may be in it.
func (c Config) Check() error {
	for _, part := range strings.Split(c.URL, ",") {
		u, err := url.Parse(strings.TrimSpace(part))
		if err != nil || (u.Scheme != "nats" && u.Scheme != "tls") || u.Hostname() == "" {
			return errors.New("the URL of NATS must be nats://HOST:PORT or tls://HOST:PORT, several separated by commas; percent-encode what is special in a password")
		}
	}
	return nil
}

const (
	ackTimeout = 5 * time.Second
	// duplicateWindow is how long the broker remembers message ids in a stream that
	// we make: what is published again after a crash is dropped.
	duplicateWindow = 10 * time.Minute
	reconnectWait   = 500 * time.Millisecond
)

// publisher is a connection to NATS.
type publisher struct {
	config Config
	conn   *nats.Conn
	stream jetstream.JetStream
}

// connect opens a connection, which comes back by itself from then on.
func connect(ctx context.Context, config Config, log *slog.Logger) (*publisher, error) {
	options := []nats.Option{
		nats.Name("moderato"),
		nats.MaxReconnects(-1),
		nats.ReconnectWait(reconnectWait),
		// Nothing waits in the client while the broker is away: what was not
		// published is published by who holds the lease then.
		nats.ReconnectBufSize(-1),
		nats.DisconnectErrHandler(func(_ *nats.Conn, err error) {
			if err != nil {
				log.WarnContext(ctx, "the connection to NATS is lost; it will be made again", "error", err)
			}
		}),
	}
	if config.Credentials != "" {
		options = append(options, nats.UserCredentials(config.Credentials))
	}
	conn, err := nats.Connect(config.URL, options...)
	if err != nil {
		return nil, fmt.Errorf("connect to NATS: %w", err)
	}
	stream, err := jetstream.New(conn)
	if err != nil {
		conn.Close()
		return nil, fmt.Errorf("JetStream: %w", err)
	}
	return &publisher{config: config, conn: conn, stream: stream}, nil
}

func (p *publisher) close() { p.conn.Close() }

// prepare makes the stream if it is not there. One that is there is the
// platform's to configure.
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

// publish publishes a page of events, in order per channel: an event is sent when
// the one before it in its channel is stored. It begins nothing after an instant,
// and answers up to which position all are published, as they were up to from.
func (p *publisher) publish(ctx context.Context, page []*events.Event, from int64, until time.Time) (done int64, err error) {
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

// round sends the next event of each channel, all at once, and waits for all.
func (p *publisher) round(ctx context.Context, page []*events.Event, stored []bool) error {
	type sent struct {
		at  int
		ack jetstream.PubAckFuture
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
		ack, err := p.stream.PublishMsgAsync(&nats.Msg{
			Subject: fmt.Sprintf("%s.%s.%s", p.config.Subject, channel, e.Type),
			Header:  nats.Header{nats.MsgIdHdr: {e.Told.GetMetadata().GetMessageId()}, "Content-Type": {"application/json"}},
			Data:    events.JSON(e.Told),
		})
		if err != nil {
			failure = err
			break
		}
		round = append(round, sent{i, ack})
	}
	ctx, cancel := context.WithTimeout(ctx, ackTimeout)
	defer cancel()
	for _, s := range round {
		select {
		case <-s.ack.Ok():
			stored[s.at] = true
		case err := <-s.ack.Err():
			failure = err
		case <-ctx.Done():
			failure = fmt.Errorf("NATS does not answer: %w", ctx.Err())
		}
	}
	return failure
}
