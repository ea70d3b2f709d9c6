// Package cluster connects to the writable primary of a database cluster: of MySQL group
// replication, of a primary with replicas, or of Galera. A Connector probes the members,
// follows a failover, and ends the connections to a former primary.
//
// Every connection is checked before its first use, so that a replica is never written to:
// see inspect. A connection ends when a later probe finds that its member is no longer the
// primary.
package cluster

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"sync"
	"sync/atomic"
)

// maxTries is how many connections Connect tries, each after another round of probes.
const maxTries = 3

// ErrNoPrimary is the error of Connect when no member is the writable primary.
var ErrNoPrimary = errors.New("no member of the database cluster is the writable primary")

// Config configures a Connector.
type Config struct {
	// Hosts are the members, as host:port. If several members may be written to, the first
	// of them is the primary.
	Hosts []string
	// Connect returns the connector of a member. Its connections must be dialed with Dial.
	Connect func(host string) (driver.Connector, error)
	// Settings returns the statements with which a session begins on a server of this
	// version; nil means none.
	Settings func(version string) []string
	// IsPinned makes the Connector stay with the first primary that it finds, and fail after
	// a failover.
	IsPinned bool
	// Log is the logger of failovers; nil means none.
	Log *slog.Logger
}

// Connector is a driver.Connector whose connections lead to the primary.
type Connector struct {
	config  Config
	members []*member
	metrics *metrics
	wake    chan struct{}
	stop    context.CancelFunc
	probing sync.WaitGroup

	mu      sync.Mutex
	current *primary      // nil while there is none
	last    string        // the host of the last primary
	problem error         // why there is no primary
	misses  int           // rounds in which the primary did not answer
	split   []int         // the members that were writable at the same time, until all but one are not
	round   chan struct{} // closed at the end of the round of probes under way
}

// primary is a member for as long as it is the primary.
type primary struct {
	*member

	ended   atomic.Bool
	over    chan struct{} // closed when ended becomes true
	mu      sync.Mutex
	sockets map[net.Conn]bool
}

func newPrimary(m *member) *primary {
	return &primary{member: m, over: make(chan struct{}), sockets: map[net.Conn]bool{}}
}

// New returns a Connector, which probes the members until Close.
func New(config Config) (*Connector, error) {
	if config.Log == nil {
		config.Log = slog.New(slog.DiscardHandler)
	}
	c := &Connector{config: config, metrics: newMetrics(config.Hosts), wake: make(chan struct{}, 1), round: make(chan struct{})}
	for _, host := range config.Hosts {
		connector, err := config.Connect(host)
		if err != nil {
			return nil, err
		}
		c.members = append(c.members, &member{host: host, connector: connector})
	}
	ctx, stop := context.WithCancel(context.Background())
	c.stop = stop
	c.probing.Go(func() { c.follow(ctx) })
	return c, nil
}

// Close stops the probes.
func (c *Connector) Close() {
	c.stop()
	c.probing.Wait()
}

// Driver returns the driver of the members.
func (c *Connector) Driver() driver.Driver { return c.members[0].connector.Driver() }

// Primary returns the host:port of the current primary; empty if there is none.
func (c *Connector) Primary() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.current == nil {
		return ""
	}
	return c.current.host
}

// Doubt starts a round of probes soon, after a statement failed as it does when the
// primary has changed.
func (c *Connector) Doubt() {
	select {
	case c.wake <- struct{}{}:
	default:
	}
}

// Connect opens a connection to the primary. Without a primary, it waits for the end of the
// round of probes under way, and returns an error that wraps ErrNoPrimary if the round finds
// none.
func (c *Connector) Connect(ctx context.Context) (driver.Conn, error) {
	for try := 1; ; try++ {
		p, err := c.find(ctx)
		if err != nil {
			return nil, err
		}
		conn, err := c.open(ctx, p)
		if err == nil || ctx.Err() != nil || try == maxTries {
			return conn, err
		}
		if err := c.nextRound(ctx); err != nil {
			return nil, err
		}
	}
}

// find returns the primary.
func (c *Connector) find(ctx context.Context) (*primary, error) {
	c.mu.Lock()
	p := c.current
	c.mu.Unlock()
	if p != nil {
		return p, nil
	}
	if err := c.nextRound(ctx); err != nil {
		return nil, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.current == nil {
		return nil, c.problem
	}
	return c.current, nil
}

// nextRound waits for the end of a round of probes.
func (c *Connector) nextRound(ctx context.Context) error {
	c.mu.Lock()
	round := c.round
	c.mu.Unlock()
	c.Doubt()
	select {
	case <-round:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("%w: %w", ErrNoPrimary, ctx.Err())
	}
}

// open opens a connection to a member, and checks that the member is the primary. It fails
// as soon as the member no longer is the primary: a member that hangs would never answer.
func (c *Connector) open(ctx context.Context, p *primary) (driver.Conn, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	go func() {
		select {
		case <-p.over:
			cancel()
		case <-ctx.Done():
		}
	}()
	var socket net.Conn
	inner, err := p.connector.Connect(context.WithValue(ctx, dialedKey{}, &socket))
	if err != nil {
		return nil, p.explain(err)
	}
	opened, err := c.prepare(ctx, p, inner)
	if err == nil && !p.keep(socket) {
		err = context.Canceled
	}
	if err != nil {
		_ = inner.Close()
		return nil, p.explain(err)
	}
	return &conn{connection: opened, primary: p, socket: socket}, nil
}

// explain returns the error of a connection that was being opened.
func (p *primary) explain(err error) error {
	if p.ended.Load() {
		return fmt.Errorf("%w: %s was it until now", ErrNoPrimary, p.host)
	}
	return err
}

// prepare checks that a connection leads to the primary, and begins its session.
func (c *Connector) prepare(ctx context.Context, p *primary, inner driver.Conn) (connection, error) {
	opened, ok := inner.(connection)
	if !ok {
		return nil, fmt.Errorf("a %T does not have the methods of a store's connection", inner)
	}
	r, err := inspect(ctx, inner)
	if err != nil {
		return nil, err
	}
	if r.problem != "" {
		return nil, fmt.Errorf("%w: %s %s", ErrNoPrimary, p.host, r.problem)
	}
	settings := r.settings()
	if c.config.Settings != nil {
		settings = append(settings, c.config.Settings(r.version)...)
	}
	for _, statement := range settings {
		if _, err := opened.ExecContext(ctx, statement, nil); err != nil {
			return nil, fmt.Errorf("%s: %w", statement, err)
		}
	}
	return opened, nil
}

// keep remembers the socket of a connection. It reports whether the member still is the
// primary.
func (p *primary) keep(socket net.Conn) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.ended.Load() {
		return false
	}
	if socket != nil {
		p.sockets[socket] = true
	}
	return true
}

func (p *primary) forget(socket net.Conn) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.sockets, socket)
}

// end ends the connections to a former primary, also those being opened. Statements under
// way fail at once: a member that is unreachable would never answer them.
func (p *primary) end() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.ended.Store(true)
	close(p.over)
	for socket := range p.sockets {
		_ = socket.Close()
	}
	clear(p.sockets)
}
