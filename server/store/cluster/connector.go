// Package cluster connects to the primary of a database cluster: of MySQL group replication,
// of a server with replicas, or of Galera. Elections are the business of the cluster. The
// primary is the first host that can be written to. Each host is asked once a second. When the
// primary changes, the connections to the former one are closed.
package cluster

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"strings"
	"sync"

	"github.com/prometheus/client_golang/prometheus"
)

// ErrNoPrimary is the error of Connect when no member can be written to.
var ErrNoPrimary = errors.New("the database cluster has no primary")

// Connector is a driver.Connector whose connections lead to the primary.
type Connector struct {
	log       *slog.Logger
	members   []*member
	isPrimary *prometheus.GaugeVec
	failovers prometheus.Counter
	stop      context.CancelFunc
	probing   sync.WaitGroup

	mu      sync.Mutex
	current *term  // nil while there is no primary
	last    string // the host of the last primary
}

// term is the time in which a member is the primary.
type term struct {
	*member

	ctx context.Context //nolint:containedctx // ends with the term
	end context.CancelFunc
}

// New returns a Connector for hosts, as host:port, and asks them until Close. The function
// connect returns the connector of a member, whose connections must be dialed with Dial.
func New(hosts []string, connect func(host string) (driver.Connector, error), log *slog.Logger) (*Connector, error) {
	c := &Connector{
		log: log,
		isPrimary: prometheus.NewGaugeVec(prometheus.GaugeOpts{
			Name: "moderato_database_primary", Help: "1 for the member of the database cluster that this server uses as the primary.",
		}, []string{"host"}),
		failovers: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "moderato_database_failovers_total", Help: "Changes from one primary of the database cluster to another.",
		}),
	}
	for _, host := range hosts {
		connector, err := connect(host)
		if err != nil {
			return nil, err
		}
		c.isPrimary.WithLabelValues(host).Set(0)
		c.members = append(c.members, &member{host: host, connector: connector, state: state{problem: errNotAsked}})
	}
	ctx, stop := context.WithCancel(context.Background())
	c.stop = stop
	for _, m := range c.members {
		c.probing.Go(func() { m.watch(ctx, c.learn) })
	}
	return c, nil
}

// Close stops the probes.
func (c *Connector) Close() {
	c.stop()
	c.probing.Wait()
}

// Register registers the metrics of the Connector.
func (c *Connector) Register(r prometheus.Registerer) { r.MustRegister(c.isPrimary, c.failovers) }

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

// Connect opens a connection to the primary. Without a primary, the error wraps ErrNoPrimary.
func (c *Connector) Connect(ctx context.Context) (driver.Conn, error) {
	c.mu.Lock()
	t, err := c.current, c.problem()
	c.mu.Unlock()
	if t == nil {
		return nil, err
	}
	return t.open(ctx)
}

// problem returns the error that says of each member why it is not the primary.
func (c *Connector) problem() error {
	var why []string
	for _, m := range c.members {
		if m.problem != nil {
			why = append(why, fmt.Sprintf("%s: %v", m.host, m.problem))
		}
	}
	return fmt.Errorf("%w: %s", ErrNoPrimary, strings.Join(why, "; "))
}

// learn records what a member says about itself, and follows a change of the primary.
func (c *Connector) learn(m *member, s state) {
	c.mu.Lock()
	defer c.mu.Unlock()
	m.state = s
	next := c.choose()
	if c.current != nil {
		if c.current.member == next {
			return
		}
		c.isPrimary.WithLabelValues(c.current.host).Set(0)
		c.current.end()
		c.current = nil
		if next == nil {
			c.log.Warn("the database cluster has no primary", "error", c.problem())
		}
	}
	if next != nil {
		c.follow(next)
	}
}

// choose returns the first member that can be written to, unless one before it was not asked
// yet. The primary of a group stays: a former one that was unreachable may seem to be it too.
func (c *Connector) choose() *member {
	if c.current != nil && c.current.isInGroup && c.current.problem == nil {
		return c.current.member
	}
	for _, m := range c.members {
		if m.problem == nil {
			return m
		}
		if errors.Is(m.problem, errNotAsked) {
			return nil
		}
	}
	return nil
}

// follow makes a member the primary.
func (c *Connector) follow(m *member) {
	ctx, end := context.WithCancel(context.Background())
	c.current = &term{m, ctx, end}
	c.isPrimary.WithLabelValues(m.host).Set(1)
	c.log.Info("the database cluster has a primary", "primary", m.host, "before", c.last)
	if c.last != "" && c.last != m.host {
		c.failovers.Inc()
	}
	c.last = m.host
}

// open opens a connection, and checks that it leads to the primary. It fails when the term
// ends: a member that hangs would never answer.
func (t *term) open(ctx context.Context) (driver.Conn, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(t.ctx, cancel)()
	var socket net.Conn
	opened, s, err := t.connect(context.WithValue(ctx, dialedKey{}, &socket))
	if err == nil && s.begin != "" {
		_, err = opened.ExecContext(ctx, s.begin, nil)
	}
	if s.problem != nil || t.ctx.Err() != nil {
		err = fmt.Errorf("%w: %s is no longer the primary", ErrNoPrimary, t.host)
	}
	if err != nil {
		if opened != nil {
			_ = opened.Close()
		}
		return nil, err
	}
	return &conn{opened, t, context.AfterFunc(t.ctx, func() { _ = socket.Close() })}, nil
}
