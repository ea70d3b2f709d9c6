package socketio

import (
	"cmp"
	"sync"

	lru "github.com/hashicorp/golang-lru/v2"
	"golang.org/x/time/rate"
)

const (
	// connectRate is how many connections a second an address may open, and connectBurst
	// how many at once: each session costs two transactions, and needs no token.
	connectRate  = 5
	connectBurst = 200
	// maxBuckets bounds the memory of the rates. An address that was evicted starts again
	// with connectBurst.
	maxBuckets = 100_000
)

// idleCounts counts the connections without a subscription.
type idleCounts struct {
	limits Limits

	mu        sync.Mutex
	addresses map[string]string // of the connections, by their ids
	byAddress map[string]int
	rates     *lru.Cache[string, *rate.Limiter] // by address
}

func newIdleCounts(limits Limits) *idleCounts {
	rates, _ := lru.New[string, *rate.Limiter](maxBuckets) // fails only for a size below 1
	return &idleCounts{
		rates: rates,
		limits: Limits{
			IdlePerAddress: cmp.Or(limits.IdlePerAddress, DefaultIdlePerAddress),
			Idle:           cmp.Or(limits.Idle, DefaultIdle),
			IdleTime:       cmp.Or(limits.IdleTime, DefaultIdleTime),
		},
		addresses: map[string]string{}, byAddress: map[string]int{},
	}
}

// mayConnect reports whether an address may open another connection now.
func (c *idleCounts) mayConnect(address string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	r, ok := c.rates.Get(address)
	if !ok {
		r = rate.NewLimiter(connectRate, max(connectBurst, c.limits.IdlePerAddress))
		c.rates.Add(address, r)
	}
	return r.Allow()
}

// add counts a connection as idle, and reports whether there was room for it.
func (c *idleCounts) add(conn, address string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.addresses) >= c.limits.Idle || c.byAddress[address] >= c.limits.IdlePerAddress {
		return false
	}
	c.count(conn, address)
	return true
}

// addAgain counts a connection whose last subscription ended, whether or not there is room
// for it.
func (c *idleCounts) addAgain(conn, address string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if _, ok := c.addresses[conn]; !ok {
		c.count(conn, address)
	}
}

// count counts a connection as idle. The caller holds mu.
func (c *idleCounts) count(conn, address string) {
	c.addresses[conn] = address
	c.byAddress[address]++
}

// remove stops counting a connection, because it has a subscription or is closed.
func (c *idleCounts) remove(conn string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	address, ok := c.addresses[conn]
	if !ok {
		return
	}
	delete(c.addresses, conn)
	if c.byAddress[address]--; c.byAddress[address] == 0 {
		delete(c.byAddress, address)
	}
}
