package socketio

import (
	"errors"
	"fmt"
	"testing"
)

// Each session costs two transactions, and needs no token.
func TestNewConnectionsOfAnAddressAreLimited(t *testing.T) {
	t.Parallel()
	var idle *idleConns
	connects := func(address string) bool {
		c := newConn(t.Context(), address, streaming)
		defer c.close("")
		defer idle.set(c, false)
		return !errors.Is(idle.add(c), errTooFast)
	}
	for name, test := range map[string]struct {
		address func(n int) string
		share   int
	}{
		"an address of IPv4": {func(int) string { return "192.0.2.1" }, 1},
		"a /64":              {func(n int) string { return fmt.Sprintf("2001:db8:1:1::%x", n) }, 1},
		"a /48":              {func(n int) string { return fmt.Sprintf("2001:db8:2:%x::1", n*16) }, 16},
		"all together":       {func(n int) string { return fmt.Sprintf("2001:db8:%x::1", n) }, everybody.Share},
	} {
		idle = newIdleConns(Limits{})
		n := 0
		for n < 2*test.share*connectBurst && connects(test.address(n)) {
			n++
		}
		if n < test.share*connectBurst || n > test.share*(connectBurst+connectRate) {
			t.Errorf("%s: opened %d connections at once, want %d", name, n, test.share*connectBurst)
		}
	}
}

// TestFullServerEvictsFromTheFullestNetwork has as many idle connections as a server may, and
// opens another one.
func TestFullServerEvictsFromTheFullestNetwork(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		idle    []string // addresses, oldest first
		address string
		evicts  int // the index of the evicted connection; -1 if the new one is refused
	}{
		"one address":                        {[]string{"192.0.2.9", "192.0.2.1", "192.0.2.1", "192.0.2.1"}, "192.0.2.2", 1},
		"the same address":                   {[]string{"192.0.2.1", "192.0.2.1", "192.0.2.1", "192.0.2.1"}, "192.0.2.1", -1},
		"an address with as many":            {[]string{"192.0.2.1", "192.0.2.1", "192.0.2.2", "192.0.2.2"}, "192.0.2.1", -1},
		"an address that would have as many": {[]string{"192.0.2.1", "192.0.2.1", "192.0.2.2", "192.0.2.3"}, "192.0.2.2", -1},
		"addresses with one each":            {[]string{"192.0.2.1", "192.0.2.2", "192.0.2.3", "192.0.2.4"}, "192.0.2.5", -1},
		"a network of IPv6":                  {[]string{"192.0.2.1", "2001:db8::1", "2001:db8::2", "2001:db8::3"}, "2001:db8:0:1::1", 1},
	} {
		i := newIdleConns(Limits{Idle: len(test.idle)})
		var conns []*conn
		for _, address := range test.idle {
			conns = append(conns, newConn(t.Context(), address, streaming))
			if err := i.add(conns[len(conns)-1]); err != nil {
				t.Fatal(err)
			}
		}
		if err := i.add(newConn(t.Context(), test.address, streaming)); (err == nil) != (test.evicts >= 0) {
			t.Errorf("%s: got %v", name, err)
		}
		for at, c := range conns {
			if c.isClosed() != (at == test.evicts) {
				t.Errorf("%s: the connection %d is closed: %t", name, at, c.isClosed())
			}
		}
	}
}

// TestNetworksOfAnAddressAddUp has idle connections of many addresses of one provider.
func TestNetworksOfAnAddressAddUp(t *testing.T) {
	t.Parallel()
	const places = 100
	i := newIdleConns(Limits{Idle: places})
	var conns []*conn
	for n := range places {
		conns = append(conns, newConn(t.Context(), fmt.Sprintf("2001:db8:0:%x::1", n*256), streaming)) // a /56 each
		if err := i.add(conns[n]); err != nil {
			t.Fatal(err)
		}
	}
	if err := i.add(newConn(t.Context(), "192.0.2.1", streaming)); err != nil || !conns[0].isClosed() {
		t.Errorf("another address: got %v", err)
	}
	i = newIdleConns(Limits{IdlePerAddress: 2})
	for n := 0; ; n++ {
		err := i.add(newConn(t.Context(), fmt.Sprintf("2001:db8:0:%x::1", n*256), streaming))
		if n < 2*16 && err != nil || n == 2*16 && !errors.Is(err, errFull) {
			t.Fatalf("the idle connection %d of a /48: got %v", n, err)
		}
		if n == 2*16 {
			return
		}
	}
}
