package socketio

import (
	"cmp"
	"net/netip"
	"sync"
	"time"

	lru "github.com/hashicorp/golang-lru/v2"
	"golang.org/x/time/rate"

	"github.com/moderato-live/moderato/internal/peer"
)

const (
	// connectRate is how many connections a second an address may open, and connectBurst
	// how many at once: each session costs two transactions, and needs no token.
	connectRate  = 5
	connectBurst = 200
	// maxBuckets bounds the memory of the rates. A network that was evicted starts again with
	// its burst.
	maxBuckets = 100_000
)

// Defaults of Limits.
const (
	DefaultIdlePerAddress = 100
	DefaultIdle           = 10_000
	DefaultIdleTime       = time.Minute
)

// Limits bounds the connections without a subscription.
type Limits struct {
	// IdlePerAddress is the limit for an IP address; 0 is DefaultIdlePerAddress. The networks
	// around it have as many times as much as peer.Networks says.
	IdlePerAddress int
	// Idle is the limit for the server; 0 is DefaultIdle.
	Idle int
	// IdleTime is how long a session may have no subscription; 0 is DefaultIdleTime.
	IdleTime time.Duration
}

// everybody is all addresses together, for the rate of connections.
var everybody = peer.Network{Share: 40}

// idleConns are the connections without a subscription.
type idleConns struct {
	limits Limits

	mu     sync.Mutex
	places map[*conn]place
	crowds map[netip.Prefix]*crowd
	rates  *lru.Cache[netip.Prefix, *rate.Limiter]
}

// place is what an idle connection takes.
type place struct {
	since  time.Time
	crowds []*crowd // of the networks of its client
}

// size returns how many connections the crowd has that is the largest for its share.
func (p place) size() (size float64) {
	for _, c := range p.crowds {
		size = max(size, float64(c.conns)/float64(c.share))
	}
	return size
}

// crowd is the idle connections of a network.
type crowd struct{ conns, share int }

func newIdleConns(limits Limits) *idleConns {
	rates, _ := lru.New[netip.Prefix, *rate.Limiter](maxBuckets) // fails only for a size below 1
	return &idleConns{
		rates: rates,
		limits: Limits{
			IdlePerAddress: cmp.Or(limits.IdlePerAddress, DefaultIdlePerAddress),
			Idle:           cmp.Or(limits.Idle, DefaultIdle),
			IdleTime:       cmp.Or(limits.IdleTime, DefaultIdleTime),
		},
		places: map[*conn]place{}, crowds: map[netip.Prefix]*crowd{},
	}
}

// add counts a new connection, and returns an error if there is no room for it. If the server
// has as many as it may, the connection takes the place of one whose networks have more.
func (i *idleConns) add(c *conn) error {
	i.mu.Lock()
	defer i.mu.Unlock()
	if !i.mayConnect(c) {
		return errTooFast
	}
	i.take(c)
	size := i.places[c].size()
	isFull := size > float64(i.limits.IdlePerAddress)
	if !isFull && len(i.places) > i.limits.Idle {
		evicted, most := i.mostCrowded()
		if isFull = size >= most; !isFull {
			i.leave(evicted)
			evicted.close("")
		}
	}
	if isFull {
		i.leave(c)
		return errFull
	}
	return nil
}

// mayConnect reports whether the networks of a connection, and everybody, may open another one
// now. The caller holds mu.
func (i *idleConns) mayConnect(c *conn) bool {
	may := true
	for _, n := range append(c.networks, everybody) {
		r, ok := i.rates.Get(n.Prefix)
		if !ok {
			r = rate.NewLimiter(rate.Limit(connectRate*n.Share), n.Share*max(connectBurst, i.limits.IdlePerAddress))
			i.rates.Add(n.Prefix, r)
		}
		may = may && r.Allow()
	}
	return may
}

// mostCrowded returns the oldest connection of those in the largest crowd. The caller holds mu.
func (i *idleConns) mostCrowded() (oldest *conn, size float64) {
	for c, p := range i.places {
		if of := p.size(); of > size || of == size && p.since.Before(i.places[oldest].since) {
			oldest, size = c, of
		}
	}
	return oldest, size
}

// take counts a connection. The caller holds mu.
func (i *idleConns) take(c *conn) {
	p := place{since: time.Now()}
	for _, n := range c.networks {
		if i.crowds[n.Prefix] == nil {
			i.crowds[n.Prefix] = &crowd{share: n.Share}
		}
		i.crowds[n.Prefix].conns++
		p.crowds = append(p.crowds, i.crowds[n.Prefix])
	}
	i.places[c] = p
}

// leave stops counting a connection. The caller holds mu.
func (i *idleConns) leave(c *conn) {
	delete(i.places, c)
	for _, n := range c.networks {
		if i.crowds[n.Prefix].conns--; i.crowds[n.Prefix].conns == 0 {
			delete(i.crowds, n.Prefix)
		}
	}
}

// set records whether a connection has no subscription. One whose last subscription ended is
// counted whether or not there is room for it.
func (i *idleConns) set(c *conn, isIdle bool) {
	i.mu.Lock()
	defer i.mu.Unlock()
	switch _, wasIdle := i.places[c]; {
	case wasIdle && !isIdle:
		i.leave(c)
	case !wasIdle && isIdle && !c.isClosed():
		i.take(c)
	}
}
