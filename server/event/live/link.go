package live

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/moderato-live/moderato/internal/uid"
	"github.com/moderato-live/moderato/server/event/bus"
	"github.com/moderato-live/moderato/server/store"
	"github.com/moderato-live/moderato/server/store/jobs"
)

const (
	// pingInterval and maxPings are how often NATS is asked whether it lives, and how many
	// answers may be missing: a connection that hangs is noticed within 1.5 s.
	pingInterval = 400 * time.Millisecond
	maxPings     = 2
	// flushTimeout bounds a write to NATS.
	flushTimeout = time.Second
	// recentTime is of how long a server writes its messages to the table when a connection
	// to NATS was lost. It is longer than the loss takes to be noticed, so nothing that NATS
	// lost is left out.
	recentTime = 5 * time.Second
	// fallbackTime is how long a server writes to the table after another one wanted it, and
	// looks often for batches after it has read some.
	fallbackTime = 2 * time.Second
	// lookInterval is the interval between two looks for servers that read the table.
	lookInterval = 250 * time.Millisecond
	// maxSubscriptions is how many subjects a server subscribes to. With more channels, it
	// subscribes to all subjects at once.
	maxSubscriptions = 10_000
	// maxArrived is how many messages of other servers wait until they are taken. Further ones
	// are missed, and so are those larger than maxRowBytes.
	maxArrived = 4096
	// maxReconnectPause is the longest pause after a connection that NATS refused.
	maxReconnectPause = 5 * time.Second
	// refusedTime is how long a server waits until it asks NATS again for what was refused.
	refusedTime = 30 * time.Second
)

// link is a connection to NATS, over which servers exchange messages: each channel has a subject,
// to which the servers with listeners subscribe. A server that is not connected, or may not use a
// subject, writes what it posts to the table. If it has listeners, it announces that it reads the table, and all others
// write to the table as well. A look finds announcements and batches within lookInterval. Numbers tell
// which messages come twice, and which were lost.
type link struct {
	hub     *Hub
	config  bus.Config
	subject string // followed by the channel
	// written is the subject on which a server tells that it wrote events, and isWritten what
	// it then does on the others.
	written   string
	isWritten func()

	conn        atomic.Pointer[nats.Conn]
	refused     atomic.Pointer[refusal] // nil while the connection may do everything
	arrived     chan *nats.Msg
	isChanged   store.Signal // the channels, or the connection
	mustConnect store.Signal
	mustRenew   store.Signal

	mu      sync.Mutex
	dirty   map[uid.ID]bool // channels whose listeners changed
	waiting []chan struct{} // closed when the server is subscribed to what it wants

	subscribed map[uid.ID]*nats.Subscription // used by follow only, as is all
	all        *nats.Subscription            // of all channels
}

// refusal is a publication or subscription that NATS refused. The connection stays up.
type refusal struct {
	err error
	at  time.Time
}

// UseNATS makes the Hub exchange messages over NATS with the other servers, which must do so
// too. When one of them calls TellWritten, isWritten is called. UseNATS must be called before
// the Hub and its jobs run.
func (h *Hub) UseNATS(config bus.Config, subject string, isWritten func(), registry prometheus.Registerer) {
	l := &link{
		hub: h, config: config, subject: subject + ".", written: subject, isWritten: isWritten, arrived: make(chan *nats.Msg, maxArrived),
		isChanged: store.NewSignal(), mustConnect: store.NewSignal(), mustRenew: store.NewSignal(),
		dirty: map[uid.ID]bool{}, subscribed: map[uid.ID]*nats.Subscription{},
	}
	h.exchange.link = l
	registry.MustRegister(prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "moderato_chat_nats_connected", Help: "1 while this server exchanges chat messages over NATS.",
	}, func() float64 {
		if l.isUp() {
			return 1
		}
		return 0
	}))
}

// isUp reports whether the server is connected, and may do what it needs.
func (l *link) isUp() bool {
	conn := l.conn.Load()
	return conn != nil && conn.IsConnected() && l.refused.Load() == nil
}

// jobs returns the jobs of an exchange that uses NATS.
func (l *link) jobs(announce, read jobs.Job) []jobs.Job {
	x := &l.hub.exchange
	announce.Wake = l.mustRenew
	read.IsActive = func() bool { return x.reads() || x.read.IsWithin(fallbackTime) }
	read.Due = func() (string, []any) {
		now, args := l.hub.store.Clock.Expression()
		return fmt.Sprintf("SELECT 1 FROM chat_batches WHERE created_at > %s - %d AND server_id <> ?", now, fallbackTime.Milliseconds()), append(args, x.id)
	}
	read.IsUncounted = true
	return []jobs.Job{
		announce, read,
		{
			Name: "find readers of chat", Interval: lookInterval, Due: x.readers, IsUncounted: true,
			Run: jobs.All(func(context.Context) error { x.wanted.Note(); x.wake.Raise(); return nil }),
		},
		{
			Name: "connect chat to NATS", Interval: time.Second, MaxPause: maxReconnectPause, Wake: l.mustConnect, Run: jobs.All(l.connect),
			Stop: func(context.Context) {
				if conn := l.conn.Load(); conn != nil {
					conn.Close()
				}
			},
		},
	}
}

var errDown = errors.New("NATS does not answer; chat is exchanged through the database")

// connect connects, and returns an error while the server is not connected, or NATS refuses what
// it needs.
func (l *link) connect(ctx context.Context) error {
	if err := l.hub.exchange.begin(ctx); err != nil {
		return err
	}
	if conn := l.conn.Load(); conn != nil {
		if !conn.IsConnected() {
			return errors.Join(errDown, conn.LastError())
		}
		return l.ask(conn)
	}
	log := l.hub.log
	conn, err := l.config.Dial(context.WithoutCancel(ctx), log,
		nats.NoEcho(), nats.PingInterval(pingInterval), nats.MaxPingsOutstanding(maxPings), nats.FlusherTimeout(flushTimeout),
		// A password that is changed back works again.
		nats.IgnoreAuthErrorAbort(),
		nats.DisconnectErrHandler(func(_ *nats.Conn, err error) {
			if err != nil {
				log.WarnContext(ctx, "NATS connection lost; chat is exchanged through the database", "error", err)
			}
			l.changed()
		}),
		// It comes before the errors of the new connection.
		nats.ReconnectHandler(func(*nats.Conn) { l.refused.Store(nil); l.changed() }),
		nats.ErrorHandler(func(_ *nats.Conn, _ *nats.Subscription, err error) {
			if !errors.Is(err, nats.ErrPermissionViolation) && !errors.Is(err, nats.ErrMaxSubscriptionsExceeded) {
				log.WarnContext(ctx, "chat over NATS failed", "error", err)
			} else if l.refused.CompareAndSwap(nil, &refusal{err, time.Now()}) {
				l.changed()
			}
		}))
	if err != nil {
		return err
	}
	if _, err = conn.Subscribe(l.written, func(*nats.Msg) { l.isWritten() }); err == nil {
		err = conn.FlushTimeout(flushTimeout)
	}
	if err != nil {
		conn.Close()
		return err
	}
	l.conn.Store(conn)
	l.changed()
	return nil
}

// ask returns an error while NATS refuses what the server needs. After a time, it connects again:
// NATS then gets all subscriptions once more.
func (l *link) ask(conn *nats.Conn) error {
	refused := l.refused.Load()
	if refused == nil {
		return nil
	}
	err := fmt.Errorf("NATS refuses what chat needs, so chat is exchanged through the database; allow the account to publish and subscribe to %s and %s*, and %d subscriptions: %w",
		l.written, l.subject, maxSubscriptions+1, refused.err)
	if time.Since(refused.at) > refusedTime {
		return errors.Join(err, conn.ForceReconnect())
	}
	return err
}

// TellWritten tells the other servers that this one wrote events. If it gets lost, they find
// the events at their next look.
func (h *Hub) TellWritten() {
	if l := h.exchange.link; l != nil && l.isUp() {
		_ = l.conn.Load().Publish(l.written, nil)
	}
}

// changed tells everyone that the connection was made or lost.
func (l *link) changed() {
	l.mustConnect.Raise()
	l.mustRenew.Raise()
	l.hub.exchange.wake.Raise()
	l.markAll()
}

// publish publishes messages. If one is lost, other servers notice a gap in the numbers of those
// that follow.
func (l *link) publish(all []posted) {
	conn := l.conn.Load()
	for _, m := range all {
		if data, err := appendNumbered(nil, l.hub.exchange.id, m); err == nil {
			_ = conn.Publish(l.subject+m.ChannelID.String(), data)
		}
	}
}

// receive takes the messages of other servers until ctx ends. If they come faster than it can
// take them, the client drops some.
func (l *link) receive(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case m := <-l.arrived:
			if len(m.Data) <= maxRowBytes {
				l.hub.exchange.take(ctx, m.Data)
			}
		}
	}
}
