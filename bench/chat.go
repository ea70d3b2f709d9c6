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
	"sync"
	"sync/atomic"
	"time"

	"github.com/google/uuid"

	platformv1 "github.com/moderato-live/moderato/gen/moderato/platform/v1"
)

const (
	// chatPosters is how many connections post messages. Each waits for the response to its
	// post, so few of them would bound the rate.
	chatPosters = 32
	// chatSamples is how many of the listeners note when each message arrives.
	chatSamples = 20
)

// chatCase is a number of listeners of a channel, and of messages a second in it.
type chatCase struct{ listeners, perSecond int }

var chatCases = []chatCase{{1, 500}, {100, 500}, {1000, 20}, {1000, 100}, {1000, 500}, {1000, 2000}}

// chat measures the time from the response to a post until listeners have the message, on
// the server of the post and, with a database server, on another one. The floor stores
// nothing and writes the same frames to as many listeners.
func (b *bench) chat(ctx context.Context, store string) error {
	const what = "chat"
	if !b.wants(what, store, "SSE") {
		return nil
	}
	db, err := b.database(ctx, store, &writes)
	if err != nil {
		return err
	}
	floorDB, err := b.database(ctx, store, &floorWrites)
	if err != nil {
		return err
	}
	service, err := b.serviceToken(ctx, db)
	if err != nil {
		return err
	}
	moderato, err := b.startModerato(ctx, db)
	if err != nil {
		return err
	}
	floor, err := b.startFloor(ctx, floorDB)
	if err != nil {
		return err
	}
	for _, c := range chatCases {
		l := chatLoad(c, service, nil)
		r := row{What: fmt.Sprintf("%s: messages delivered, %d posts a second to %d listener(s)", what, c.perSecond, c.listeners), Store: store, Transport: "SSE", Connections: c.listeners}
		if err := b.report(b.inTurns(ctx, r, floor, moderato, l, l)); err != nil {
			return err
		}
	}
	floor.stop()
	if err := b.bansInChat(ctx, store, db, moderato, service); err != nil {
		return err
	}
	other, err := b.startModerato(ctx, db)
	if err != nil {
		return err
	}
	c := chatCase{100, 100}
	f, err := chatLoad(c, service, other)(ctx, moderato, c.listeners, b.leg)
	return b.report(row{
		What: fmt.Sprintf("%s: p99 on another server, %d posts a second to %d listeners", what, c.perSecond, c.listeners), Store: store, Transport: "SSE",
		Value: float64(f.P99) / float64(time.Millisecond), Unit: "ms", Target: 350, AtMost: true, Note: fmt.Sprintf("p50 %s", short(f.P50)),
	}, err)
}

// bansInChat measures bans while listeners receive chat.
func (b *bench) bansInChat(ctx context.Context, store, db string, s *server, service credentials) error {
	r := &raid{bench: b, store: store, service: service, next: others + 1000}
	var err error
	if r.moderators, err = b.issueOwners(ctx, s, db); err != nil {
		return err
	}
	conns, closeAll, err := dial(ctx, s, 1)
	if err != nil {
		return err
	}
	defer closeAll()
	r.conns = conns
	alone, err := r.bans(ctx, raided)
	if err != nil {
		return err
	}
	chatting, stop := context.WithCancel(ctx)
	ended := make(chan struct{})
	c := chatCase{1000, 20}
	go func() {
		defer close(ended)
		// The error says that the load was stopped, or that no message arrived in time.
		_, _ = chatLoad(c, service, nil)(chatting, s, c.listeners, time.Minute)
	}()
	time.Sleep(2 * time.Second) // until all listen
	meanwhile, err := r.bans(ctx, raided)
	stop()
	<-ended
	return b.report(compared(row{
		What:  fmt.Sprintf("chat: ban and unban while %d posts a second reach %d listeners, against alone", c.perSecond, c.listeners),
		Store: store, Transport: "gRPC", Connections: 1,
	}, alone, meanwhile), err)
}

// chatRun is a run of a chat load.
type chatRun struct {
	posted  sync.Map // when the post of a message was answered, by id
	arrived sync.Map // when a message arrived at the sampled listeners, by id: a list
	frames  atomic.Int64
}

// arrivals are the times at which a message arrived.
type arrivals struct {
	mu sync.Mutex
	at []time.Time
}

// chatLoad posts messages at a steady rate to a server. The listeners are on the same
// server, unless other is not nil.
func chatLoad(c chatCase, service credentials, other *server) load {
	return func(ctx context.Context, s *server, _ int, d time.Duration) (figures, error) {
		at := s
		if other != nil {
			at = other
		}
		run := &chatRun{}
		ctx, stop := context.WithCancel(ctx)
		defer stop()
		var listeners sync.WaitGroup
		defer listeners.Wait()
		defer stop()
		for i := range c.listeners {
			body, err := listenTo(ctx, at, service, raided, "channel.chat.message")
			if err != nil {
				return figures{}, err
			}
			listeners.Go(func() { run.listen(body, i < chatSamples) })
			defer func() { _ = body.Close() }()
		}
		began := time.Now()
		if err := run.post(ctx, s, service, c.perSecond, d); err != nil {
			return figures{}, err
		}
		elapsed := time.Since(began)
		time.Sleep(500 * time.Millisecond) // until the last ones arrive
		return run.figures(elapsed)
	}
}

// listenTo opens an event stream over a connection of its own, and returns the connection
// after the first line of the body.
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
	if err == nil && !bytes.Contains([]byte(status), []byte(" 200 ")) {
		err = errors.New(status)
	}
	for line := status; err == nil && !bytes.HasPrefix([]byte(line), []byte(": listening")); {
		line, err = first.ReadString('\n')
	}
	return conn, err
}

// listen counts the frames that arrive, and notes when if the listener is sampled.
func (r *chatRun) listen(conn net.Conn, isSampled bool) {
	buffer := make([]byte, 64<<10)
	mark := []byte(`{"metadata":{"messageId":"`)
	var rest []byte
	for {
		n, err := conn.Read(buffer)
		now := time.Now()
		if err != nil {
			return
		}
		r.frames.Add(int64(bytes.Count(buffer[:n], []byte("\n\n"))))
		if !isSampled {
			continue
		}
		rest = append(rest, buffer[:n]...)
		for {
			i := bytes.Index(rest, mark)
			if i < 0 || len(rest) < i+len(mark)+36 {
				break
			}
			rest = rest[i+len(mark):]
			list, _ := r.arrived.LoadOrStore(string(rest[:36]), &arrivals{})
			a := list.(*arrivals)
			a.mu.Lock()
			a.at = append(a.at, now)
			a.mu.Unlock()
		}
		rest = append([]byte(nil), rest[max(0, len(rest)-100):]...)
	}
}

// post posts messages at a steady rate for some time. If the server does not keep up, it
// posts fewer.
func (r *chatRun) post(ctx context.Context, s *server, service credentials, perSecond int, d time.Duration) error {
	conns, closeAll, err := dial(ctx, s, chatPosters)
	if err != nil {
		return err
	}
	defer closeAll()
	due := make(chan struct{}, perSecond)
	failures := make([]error, len(conns))
	var posters sync.WaitGroup
	for i, conn := range conns {
		posters.Go(func() {
			for range due {
				message := uuid.NewString()
				_, err := platformv1.NewChatServiceClient(conn).PostMessage(service.outgoing(ctx),
					&platformv1.PostMessageRequest{ChannelId: id(raided), UserId: id(others), Text: "a message of usual length in chat", MessageId: message})
				r.posted.Store(message, time.Now())
				failures[i] = errors.Join(failures[i], err)
			}
		})
	}
	const tick = 5 * time.Millisecond
	ticker := time.NewTicker(tick)
	defer ticker.Stop()
	began, sent := time.Now(), 0
	for time.Since(began) < d && ctx.Err() == nil {
		<-ticker.C
		for want := int(time.Since(began).Seconds() * float64(perSecond)); sent < want; sent++ {
			select {
			case due <- struct{}{}:
			default:
			}
		}
	}
	for len(due) > 0 {
		<-due
	}
	close(due)
	posters.Wait()
	return errors.Join(failures...)
}

func (r *chatRun) figures(elapsed time.Duration) (figures, error) {
	var took []time.Duration
	r.arrived.Range(func(message, list any) bool {
		if answered, ok := r.posted.Load(message); ok {
			for _, at := range list.(*arrivals).at {
				took = append(took, max(0, at.Sub(answered.(time.Time))))
			}
		}
		return true
	})
	if len(took) == 0 {
		return figures{}, errors.New("no message arrived")
	}
	slices.Sort(took)
	return figures{
		PerSecond: float64(r.frames.Load()) / elapsed.Seconds(), P50: took[len(took)/2], P99: took[len(took)*99/100],
	}, nil
}
