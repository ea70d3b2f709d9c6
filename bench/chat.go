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
	if !b.wants("chat", store, "SSE") {
		return nil
	}
	c := chatBench{bench: b, store: store}
	db, err := b.database(ctx, store, &writes)
	if err != nil {
		return err
	}
	floorDB, err := b.database(ctx, store, &floorWrites)
	if err != nil {
		return err
	}
	if c.service, err = b.serviceToken(ctx, db); err != nil {
		return err
	}
	if c.moderato, err = b.startModerato(ctx, db); err != nil {
		return err
	}
	if c.floor, err = b.startFloor(ctx, floorDB); err != nil {
		return err
	}
	for _, load := range chatCases {
		if err := c.delivery(ctx, load); err != nil {
			return err
		}
	}
	if err := c.bans(ctx, db); err != nil {
		return err
	}
	c.floor.stop()
	return c.otherServer(ctx, db)
}

// chatBench measures chat on a store.
type chatBench struct {
	*bench

	store           string
	service         credentials
	moderato, floor *server
}

// delivery measures how many messages reach listeners, and after which time.
func (c *chatBench) delivery(ctx context.Context, of chatCase) error {
	load := chatLoad(of, c.service, nil)
	r := row{Store: c.store, Transport: "SSE", Connections: of.listeners}
	r.What = fmt.Sprintf("chat: messages delivered, %d posts a second to %d listener(s)", of.perSecond, of.listeners)
	r, err := c.inTurns(ctx, r, c.floor, c.moderato, load, load)
	if err := c.report(r, err); err != nil || of.perSecond < 2000 {
		return err
	}
	return c.report(row{
		What:  fmt.Sprintf("chat: p99 on the same server, %d posts a second to %d listeners", of.perSecond, of.listeners),
		Store: c.store, Transport: "SSE", Connections: of.listeners,
		Value: milliseconds(r.Moderato.P99), Unit: "ms", Target: 100, AtMost: true, Note: "p50 " + short(r.Moderato.P50),
	}, nil)
}

// otherServer measures how long messages take to the listeners of another server.
func (c *chatBench) otherServer(ctx context.Context, db string) error {
	other, err := c.startModerato(ctx, db)
	if err != nil {
		return err
	}
	of := chatCase{100, 100}
	f, err := chatLoad(of, c.service, other)(ctx, c.moderato, of.listeners, c.leg)
	return c.report(row{
		What:  fmt.Sprintf("chat: p99 on another server, %d posts a second to %d listeners", of.perSecond, of.listeners),
		Store: c.store, Transport: "SSE", Value: milliseconds(f.P99), Unit: "ms", Target: 350, AtMost: true, Note: "p50 " + short(f.P50),
	}, err)
}

func milliseconds(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

// bans measures bans while listeners receive chat: from the floor, in another process, and
// then from the server that bans.
func (c *chatBench) bans(ctx context.Context, db string) error {
	r := &raid{bench: c.bench, store: c.store, service: c.service, next: others + 1000}
	var err error
	if r.moderators, err = c.issueOwners(ctx, c.moderato, db); err != nil {
		return err
	}
	conns, closeAll, err := dial(ctx, c.moderato, 1)
	if err != nil {
		return err
	}
	defer closeAll()
	r.conns = conns
	alone, err := r.bans(ctx, raided, 5*fewBans)
	if err != nil {
		return err
	}
	of := chatCase{1000, 20}
	beside, err := c.bansDuring(ctx, r, of, c.floor)
	if err != nil {
		return err
	}
	meanwhile, err := c.bansDuring(ctx, r, of, c.moderato)
	return c.report(compared(row{
		What:  fmt.Sprintf("chat: ban and unban while %d posts a second reach %d listeners, against while the floor fans them out", of.perSecond, of.listeners),
		Store: c.store, Transport: "gRPC", Connections: 1, Note: fmt.Sprintf("alone %s", short(alone)),
	}, beside, meanwhile), err)
}

// bansDuring measures bans while a server delivers chat.
func (c *chatBench) bansDuring(ctx context.Context, r *raid, of chatCase, s *server) (time.Duration, error) {
	chatting, stop := context.WithCancel(ctx)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		// The error says that the load was stopped, or that no message arrived in time.
		_, _ = chatLoad(of, c.service, nil)(chatting, s, of.listeners, time.Minute)
	}()
	defer func() { stop(); <-ended }()
	time.Sleep(2 * time.Second) // until all listen
	return r.bans(ctx, raided, 5*fewBans)
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
