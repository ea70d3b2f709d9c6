package frames

import (
	"errors"
	"time"

	lru "github.com/hashicorp/golang-lru/v2"
	"github.com/prometheus/client_golang/prometheus"
	"golang.org/x/time/rate"
)

const (
	// unansweredPerSecond is how many connections without a response an address may end in
	// a second, and unansweredBurst how many at once. A client whose connection was closed for
	// what it sent opens the next one, and a connection costs more than a request.
	unansweredPerSecond = 100
	unansweredBurst     = 100
	// maxDelay is how long a new connection waits. If it would have to wait longer, it is
	// closed then.
	maxDelay = 2 * time.Second
	// maxAddresses bounds the memory of the counts. An address that was evicted may end
	// unansweredBurst connections again.
	maxAddresses = 10_000
)

var errTooMany = errors.New("too many connections from this address ended without a response")

// unanswered counts the connections that ended without a response, by address. Connections
// that have carried a response do not count: a proxy may open one for each request.
type unanswered struct {
	addresses *lru.Cache[string, *rate.Limiter]
	delayed   *prometheus.CounterVec
}

func newUnanswered() *unanswered {
	addresses, _ := lru.New[string, *rate.Limiter](maxAddresses) // fails only for a size below 1
	return &unanswered{addresses, prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "moderato_grpc_connections_delayed_total",
		Help: "New gRPC connections that waited or were closed because too many connections from their address had ended without a response, by outcome.",
	}, []string{"outcome"})}
}

// count counts a connection that ended without a response.
func (u *unanswered) count(address string) {
	r := rate.NewLimiter(unansweredPerSecond, unansweredBurst)
	if before, ok, _ := u.addresses.PeekOrAdd(address, r); ok {
		r = before
	}
	r.Reserve()
}

// delay returns how long a new connection from an address has to wait.
func (u *unanswered) delay(address string) time.Duration {
	r, ok := u.addresses.Get(address)
	if !ok {
		return 0
	}
	return time.Duration(-min(0, r.Tokens()) / unansweredPerSecond * float64(time.Second))
}

// admit waits until a new connection from an address may begin. A client that would wait too
// long waits as well before its connection is closed, so that it does not open the next one.
func (g *Guard) admit(address string) error {
	delay := g.unanswered.delay(address)
	if delay == 0 {
		return nil
	}
	g.sleep(min(delay, maxDelay), nil)
	if delay > maxDelay {
		g.unanswered.delayed.WithLabelValues("closed").Inc()
		return errTooMany
	}
	g.unanswered.delayed.WithLabelValues("waited").Inc()
	return nil
}
