// Package standing answers whether a user may post in a channel of Moderato without a
// request. It is for chat servers, which need a service token.
//
// A Client keeps the bans, mutes and roles of some channels, or of all, in memory. It
// receives a snapshot of them and then every change, within some milliseconds, from
// ChatService.WatchStandings. Check answers from this memory in about 100 ns, as
// ChatService.GetStanding would.
//
// If the stream is interrupted, the Client opens it again and resumes where it stopped. The
// memory meanwhile answers as before, until it is older than Options.MaxStaleness. Then,
// and before the first snapshot, Options.OnFailure decides. If the server can no longer
// resume, it sends a new snapshot, which replaces the memory at once when it is complete.
//
// Bans and mutes with an end end by the server's clock, which the Client estimates from the
// server's messages.
package standing

import (
	"context"
	"errors"
	"math"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/google/uuid"
	"google.golang.org/grpc"

	platformv1 "github.com/moderato-live/moderato/gen/moderato/platform/v1"
)

// ErrClosed is the error of Wait if the Client was closed.
var ErrClosed = errors.New("standing: the client is closed")

// Client answers from memory whether users may post. It is safe for concurrent use.
type Client struct {
	options Options
	chat    platformv1.ChatServiceClient
	asks    chan struct{}
	clock   *clock
	counts  counts

	// current is what Check answers from. It is nil while nothing is known.
	current atomic.Pointer[state]

	cancel context.CancelFunc
	done   chan struct{}

	mu sync.Mutex
	// latest is the latest state that the server confirmed. It is complete up to asOf, by
	// the server's clock. expiry ends its use.
	latest *state
	asOf   int64
	expiry *time.Timer
	// refusal is the error of a server that refuses the stream, until it accepts one.
	// changed is closed when a waiter must look again.
	refusal, lastError error
	isConnected        bool
	changed            chan struct{}
}

// New returns a Client that watches the channels in the options until ctx ends or Close is
// called. The connection, such as that of moderato.Client.Conn, must send a service token
// and remains open after Close. New does not wait for the server: see Wait.
func New(ctx context.Context, conn grpc.ClientConnInterface, options Options) (*Client, error) {
	options, err := options.withDefaults()
	if err != nil {
		return nil, err
	}
	options.Channels = slices.Clone(options.Channels)
	ctx, cancel := context.WithCancel(ctx)
	c := &Client{
		options: options, chat: platformv1.NewChatServiceClient(conn), asks: make(chan struct{}, options.MaxAsks),
		clock: newClock(), cancel: cancel, done: make(chan struct{}), changed: make(chan struct{}),
	}
	c.expiry = time.AfterFunc(math.MaxInt64, c.expire)
	go func() {
		defer close(c.done)
		defer c.stop()
		c.run(ctx)
	}()
	return c, nil
}

// Close ends the stream and waits for it. Check then does what Options.OnFailure says.
func (c *Client) Close() error {
	c.cancel()
	<-c.done
	return nil
}

// Check returns the standing of a user in a channel: from memory, and otherwise as
// Options.OnFailure says. It neither blocks nor allocates, unless it asks the server.
//
// Check does not know which users exist. A user of whom nothing is known may post.
func (c *Client) Check(channel, user uuid.UUID) Standing {
	if s := c.current.Load(); s != nil {
		if standing, ok := s.check(channel, user, c.clock); ok {
			return standing
		}
	}
	return c.fail(channel, user)
}

// Wait waits until the first snapshot is complete. It returns an error if ctx ends, if the
// Client is closed, or if the server refuses the stream, for example because of the token.
// The Client continues its attempts after a refusal.
func (c *Client) Wait(ctx context.Context) error {
	for {
		c.mu.Lock()
		isLoaded, refusal, changed := c.latest != nil, c.refusal, c.changed
		c.mu.Unlock()
		switch {
		case isLoaded:
			return nil
		case refusal != nil:
			return refusal
		}
		select {
		case <-changed:
		case <-c.done:
			return ErrClosed
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// Staleness returns how old the memory is: the time since the server confirmed that the
// memory has every change. It is the maximum Duration before the first snapshot. While the
// stream is open, the staleness stays below about 2 s.
func (c *Client) Staleness() time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.staleness()
}

// staleness is Staleness with mu held.
func (c *Client) staleness() time.Duration {
	if c.asOf == 0 {
		return math.MaxInt64
	}
	return time.Duration(max(c.clock.now()-c.asOf, 0)) * time.Millisecond
}

// confirm says that a state is complete up to a time of the server; 0 if the server does
// not say. An earlier state answers until the server does. The latest time counts, even if
// an earlier one was later: the server's clock may have been set back.
func (c *Client) confirm(s *state, asOf int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.isConnected, c.refusal = true, nil
	if asOf == 0 {
		return
	}
	isFirst := c.latest == nil
	c.latest, c.asOf = s, asOf
	c.use()
	if isFirst {
		c.wake()
	}
}

// use makes Check answer from the latest state until it is too old.
func (c *Client) use() {
	left := c.options.MaxStaleness - c.staleness()
	if left <= 0 {
		c.current.Store(nil)
		return
	}
	c.current.Store(c.latest)
	c.expiry.Reset(left)
}

// expire ends the use of the latest state, unless it was confirmed meanwhile.
func (c *Client) expire() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.latest != nil {
		c.use()
	}
}

// disconnected notes that a stream ended with an error.
func (c *Client) disconnected(err error) {
	c.mu.Lock()
	c.isConnected, c.lastError = false, err
	if isRefusal(err) {
		c.refusal = err
		c.wake()
	}
	c.mu.Unlock()
	if c.options.OnError != nil {
		c.options.OnError(err)
	}
}

// wake wakes what waits for a change.
func (c *Client) wake() {
	close(c.changed)
	c.changed = make(chan struct{})
}

// stop ends the use of the memory.
func (c *Client) stop() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.expiry.Stop()
	c.latest, c.asOf, c.isConnected = nil, 0, false
	c.current.Store(nil)
}
