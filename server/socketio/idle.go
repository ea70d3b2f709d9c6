package socketio

import (
	"cmp"
	"sync"
)

// idleCounts counts the connections without a subscription.
type idleCounts struct {
	limits Limits

	mu        sync.Mutex
	addresses map[string]string // of the connections, by their ids
	byAddress map[string]int
}

func newIdleCounts(limits Limits) *idleCounts {
	return &idleCounts{
		limits: Limits{
			IdlePerAddress: cmp.Or(limits.IdlePerAddress, DefaultIdlePerAddress),
			Idle:           cmp.Or(limits.Idle, DefaultIdle),
			IdleTime:       cmp.Or(limits.IdleTime, DefaultIdleTime),
		},
		addresses: map[string]string{}, byAddress: map[string]int{},
	}
}

// hasRoom reports whether another connection from an address may be idle.
func (c *idleCounts) hasRoom(address string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.addresses) < c.limits.Idle && c.byAddress[address] < c.limits.IdlePerAddress
}

// add counts a connection as idle, and reports whether there was room for it.
func (c *idleCounts) add(conn, address string) bool {
	if !c.hasRoom(address) {
		return false
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.addresses[conn] = address
	c.byAddress[address]++
	return true
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
