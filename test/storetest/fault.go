package storetest

import (
	"net"
	"sync"
	"time"
)

// Fault is a fault of the network between a server and its database.
type Fault struct {
	// Latency delays each packet, in both directions.
	Latency time.Duration
	// LoseRequests and LoseResponses lose all packets of a direction, and also the end of a
	// connection. As with TCP, the packets of a connection that still exists are
	// retransmitted when the fault is over.
	LoseRequests, LoseResponses bool
}

// weather is the present fault of a Proxy.
type weather struct {
	fault   Fault
	changed sync.Cond
}

// direction is a direction of packets.
type direction int

const (
	requests direction = iota
	responses
)

// SetFault replaces the fault of all connections, also of new ones.
func (p *Proxy) SetFault(f Fault) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.fault = f
	p.changed.Broadcast()
}

// Reset resets all connections.
func (p *Proxy) Reset() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for conn := range p.open {
		if tcp, ok := conn.(*net.TCPConn); ok {
			_ = tcp.SetLinger(0)
		}
		_ = conn.Close()
	}
}

// pass returns when a packet may pass.
func (p *Proxy) pass(d direction) {
	p.mu.Lock()
	for (d == requests && p.fault.LoseRequests) || (d == responses && p.fault.LoseResponses) {
		p.changed.Wait()
	}
	latency := p.fault.Latency
	p.mu.Unlock()
	time.Sleep(latency)
}

// copyResponses passes the packets of the database on, until a connection ends.
func (p *Proxy) copyResponses(client, server net.Conn) {
	packet := make([]byte, 64<<10)
	for {
		n, err := server.Read(packet)
		p.pass(responses)
		if err != nil {
			return
		}
		if _, err := client.Write(packet[:n]); err != nil {
			return
		}
	}
}
