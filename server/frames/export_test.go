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

// Delayed returns a connection like that of a Guard, which calls wait instead of waiting.
func Delayed(c net.Conn, wait func(time.Duration)) net.Conn {
	g := &Guard{delayed: prometheus.NewCounter(prometheus.CounterOpts{}), sleep: func(d time.Duration, _ <-chan struct{}) { wait(d) }}
	return g.Conn(c)
}
