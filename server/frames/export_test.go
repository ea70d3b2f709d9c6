package frames

import (
	"net"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// Frames returns the types of the frames in what a client or a server sends in pieces.
func Frames(fromServer bool, pieces ...[]byte) (types []byte) {
	p := parser{}
	if fromServer {
		p.state = atSettings
	}
	for _, b := range pieces {
		p.parse(b, func(f frame) { types = append(types, byte(f.kind)) })
	}
	return types
}

// NewGuard returns a Guard that calls wait instead of waiting.
func NewGuard(wait func(time.Duration)) *Guard {
	return &Guard{
		delayed: prometheus.NewCounter(prometheus.CounterOpts{}), unanswered: newUnanswered(),
		sleep: func(d time.Duration, _ <-chan struct{}) { wait(d) },
	}
}

// Conn returns a connection that reads from c.
func (g *Guard) Conn(c net.Conn) net.Conn { return g.conn(c) }
