package socketio

import "testing"

// Each session costs two transactions, and needs no token.
func TestNewConnectionsOfAnAddressAreLimited(t *testing.T) {
	t.Parallel()
	c := newIdleCounts(Limits{})
	n := 0
	for n < 2*connectBurst && c.mayConnect("192.0.2.1") {
		n++
	}
	if n < connectBurst || n > connectBurst+connectRate {
		t.Errorf("one address opened %d connections at once, want %d", n, connectBurst)
	}
	if !c.mayConnect("192.0.2.2") {
		t.Error("another address may not connect")
	}
}
