package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/google/uuid"
	"google.golang.org/grpc"

	platformv1 "github.com/moderato-live/moderato/gen/moderato/platform/v1"
)

const (
	chatPosters = 32 // each waits for the response to its post, so few of them would bound the rate
	// chatListeners receive the messages; chatSamples of them note when each message arrives.
	chatListeners = 1000
	chatSamples   = 20
)

// chatRows are the messages that listeners of a channel receive, and the time from the response
// to a post until they have the message. The floor stores nothing and writes the same frames to
// as many listeners.
func chatRows() (all []measurement) {
	for _, perSecond := range []int{500, 2000} {
		all = append(all, measurement{
			row: row{
				What:      fmt.Sprintf("chat: p99, %d posts a second to %d listeners", perSecond, chatListeners),
				Transport: "SSE", Connections: chatListeners, Unit: "ms", Bound: 150, AtMost: true,
			},
			group: "chat",
			run: func(ctx context.Context, p *pair, r row) error {
				r, err := p.inTurns(r, func(s *server, _ int) (figures, error) { return chatRun(ctx, s, perSecond, p.leg) })
				r.Value = milliseconds(r.Moderato.P99)
				return p.report(r, err)
			},
		})
	}
	return all
}

// messages are the messages of a run.
type messages struct {
	posted  sync.Map // when the post of a message was answered, by id
	arrived sync.Map // when a message arrived at a sampled listener, by id and listener
	frames  atomic.Int64
}

// chatRun posts messages at a steady rate to a server with listeners.
func chatRun(ctx context.Context, s *server, perSecond int, d time.Duration) (figures, error) {
	run := &messages{}
	var listeners sync.WaitGroup
	defer listeners.Wait()
	for i := range chatListeners {
		conn, err := listenTo(ctx, s, s.service, busy(), "channel.chat.message")
		if err != nil {
			return figures{}, err
		}
		defer func() { _ = conn.Close() }()
		listeners.Go(func() { run.listen(conn, i) })
	}
	conns, closeAll, err := dial(ctx, s, chatPosters)
	if err != nil {
		return figures{}, err
	}
	defer closeAll()
	posting, stop := context.WithTimeout(ctx, d)
	defer stop()
	_, err = steadily(posting, conns, perSecond, func(ctx context.Context, conn *grpc.ClientConn, _ int) error {
		message := uuid.NewString()
		_, err := platformv1.NewChatServiceClient(conn).PostMessage(s.service.outgoing(ctx), &platformv1.PostMessageRequest{
			ChannelId: id(busy()), UserId: id(user(0)), Text: "a message of usual length in chat", MessageId: message,
		})
		run.posted.Store(message, time.Now())
		return err
	})
	if err != nil {
		return figures{}, err
	}
	time.Sleep(500 * time.Millisecond) // until the last ones arrive
	return run.figures(d)
}

// listenTo opens an event stream, and returns its connection after the first line of the body.
func listenTo(ctx context.Context, s *server, c credentials, channel int, types ...string) (net.Conn, error) {
	conn, err := new(net.Dialer).DialContext(ctx, "tcp", s.http)
	if err != nil {
		return nil, err
	}
	query := url.Values{"channelId": {id(channel)}, "type": types}
	_, err = fmt.Fprintf(conn, "GET /v1/events?%s HTTP/1.0\r\nHost: x\r\nclient-id: %s\r\nAuthorization: Bearer %s\r\n\r\n", query.Encode(), c.client, c.token)
	if err != nil {
		return nil, err
	}
	first := bufio.NewReaderSize(conn, 4096)
	status, err := first.ReadString('\n')
	if err == nil && !strings.Contains(status, " 200 ") {
		err = errors.New(status)
	}
	for line := status; err == nil && !strings.HasPrefix(line, ": listening"); {
		line, err = first.ReadString('\n')
	}
	return conn, err
}

// listen counts the frames that arrive, and notes when if the listener is sampled.
func (m *messages) listen(conn net.Conn, listener int) {
	buffer := make([]byte, 64<<10)
	mark := []byte(`{"metadata":{"messageId":"`)
	var rest []byte
	for {
		n, err := conn.Read(buffer)
		now := time.Now()
		if err != nil {
			return
		}
		m.frames.Add(int64(bytes.Count(buffer[:n], []byte("\n\n"))))
		if listener >= chatSamples {
			continue
		}
		rest = append(rest, buffer[:n]...)
		for i := bytes.Index(rest, mark); i >= 0 && len(rest) >= i+len(mark)+36; i = bytes.Index(rest, mark) {
			rest = rest[i+len(mark):]
			m.arrived.Store(fmt.Sprint(string(rest[:36]), listener), now)
		}
		rest = append([]byte(nil), rest[max(0, len(rest)-100):]...)
	}
}

func (m *messages) figures(d time.Duration) (figures, error) {
	var took []time.Duration
	m.arrived.Range(func(message, at any) bool {
		if answered, ok := m.posted.Load(message.(string)[:36]); ok {
			took = append(took, max(0, at.(time.Time).Sub(answered.(time.Time))))
		}
		return true
	})
	if len(took) == 0 {
		return figures{}, errors.New("no message arrived")
	}
	slices.Sort(took)
	return figures{PerSecond: float64(m.frames.Load()) / d.Seconds(), P50: took[len(took)/2], P99: took[len(took)*99/100]}, nil
}
