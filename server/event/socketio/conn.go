package socketio

import (
	"bytes"
	"context"
	"crypto/rand"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sync/semaphore"
	"golang.org/x/time/rate"

	"github.com/moderato-live/moderato/internal/peer"
)

const (
	pingInterval = 25 * time.Second
	pingTimeout  = 20 * time.Second
	// joinTimeout is how long a client may take to join a namespace.
	joinTimeout = 10 * time.Second
	// maxReceived is how many packets a second a client may send. Clients have nothing to say
	// but that they are alive.
	maxReceived = 10
	// maxUnsent is how many bytes of events may wait for a client.
	maxUnsent = 64 << 10
)

// The packets of Engine.IO, and the beginnings of those of Socket.IO.
const (
	closePacket, pingPacket, pongPacket, upgradePacket, noopPacket = "1", "2", "3", "5", "6"
	connectPacket, disconnectPacket, eventPacket, errorPacket      = "40", "41", "42", "44"
)

// conn is a connection of Engine.IO 4. Its client polls, or has a WebSocket.
type conn struct {
	id        string // a secret of the client
	networks  []peer.Network
	ctx       context.Context //nolint:containedctx // ends with the connection
	end       context.CancelFunc
	received  *rate.Limiter
	room      *semaphore.Weighted // for the bytes of events
	transport atomic.Int32
	hasJoined atomic.Bool
	namespace string // as it stands in packets: nothing for "/"
	heartbeat *time.Timer
	isPinged  atomic.Bool   // the client has to answer
	polled    chan struct{} // full while a request of the client waits
	wake      chan struct{} // full when a packet may wait

	mu    sync.Mutex
	queue [][]byte // packets for the client
}

func newConn(ctx context.Context, address string, transport int32) *conn {
	c := &conn{
		id: rand.Text(), networks: peer.Networks(address), received: rate.NewLimiter(maxReceived, maxReceived), room: semaphore.NewWeighted(maxUnsent),
		polled: make(chan struct{}, 1), wake: make(chan struct{}, 1),
	}
	c.ctx, c.end = context.WithCancel(ctx)
	c.transport.Store(transport)
	upgrades := ""
	if transport == polling {
		upgrades = `"websocket"`
	}
	c.queue = [][]byte{fmt.Appendf(nil, `0{"sid":%q,"upgrades":[%s],"pingInterval":%d,"pingTimeout":%d,"maxPayload":%d}`,
		c.id, upgrades, pingInterval.Milliseconds(), pingTimeout.Milliseconds(), maxMessage)}
	c.heartbeat = time.AfterFunc(time.Hour, c.beat)
	c.heartbeat.Reset(joinTimeout)
	return c
}

// close ends the connection. The client still receives last, if it is not empty, but nothing
// else that waits.
func (c *conn) close(last string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.isClosed() {
		return
	}
	c.queue = nil
	if last != "" {
		c.queue = [][]byte{[]byte(last)}
	}
	c.heartbeat.Stop()
	c.end()
}

func (c *conn) isClosed() bool { return c.ctx.Err() != nil }

// push adds a packet to the queue. Events need room.
func (c *conn) push(packet []byte) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.isClosed() {
		return
	}
	c.queue = append(c.queue, packet)
	select {
	case c.wake <- struct{}{}:
	default:
	}
}

// size returns the room that a packet takes. A large event takes all, and packets that are no
// events none, because there are few.
func size(packet []byte) int64 {
	if !bytes.HasPrefix(packet, []byte(eventPacket)) {
		return 0
	}
	return min(int64(len(packet)), maxUnsent)
}

// next removes the packets from the queue. It waits until there is one, ctx or the connection
// ends, or the client leaves polling.
func (c *conn) next(ctx context.Context) [][]byte {
	for {
		c.mu.Lock()
		packets, isOver := c.queue, c.isClosed() || c.transport.Load() == leaving
		c.queue = nil
		c.mu.Unlock()
		if len(packets) > 0 || isOver || ctx.Err() != nil {
			return packets
		}
		select {
		case <-c.wake:
		case <-ctx.Done():
		case <-c.ctx.Done():
		}
	}
}

// sent makes room after packets were sent.
func (c *conn) sent(packets [][]byte) {
	for _, packet := range packets {
		c.room.Release(size(packet))
	}
}

// beat sends a ping. It closes a connection whose client did not answer the last one, or has
// not joined.
func (c *conn) beat() {
	if c.isPinged.Swap(true) || !c.hasJoined.Load() {
		c.close("")
		return
	}
	c.heartbeat.Reset(pingTimeout)
	c.push([]byte(pingPacket))
}

// pong records the answer to a ping, and reports whether there was one.
func (c *conn) pong() bool {
	return c.isPinged.CompareAndSwap(true, false) && c.heartbeat.Reset(pingInterval)
}

// join records that the client joins a namespace, and reports whether it may: once, and one
// of this service. What it sends as auth is ignored.
func (c *conn) join(packet string) bool {
	namespace, auth := "/", packet
	if strings.HasPrefix(packet, "/") {
		namespace, auth, _ = strings.Cut(packet, ",")
	}
	if namespace != "/" && namespace != Path {
		c.close(errorPacket + namespace + `,{"message":"Invalid namespace"}`)
	}
	if c.isClosed() || auth != "" && auth[0] != '{' || c.hasJoined.Swap(true) {
		return false
	}
	if namespace != "/" {
		c.namespace = namespace + ","
	}
	return true
}
