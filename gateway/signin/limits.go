package signin

import (
	"sync"
	"time"

	lru "github.com/hashicorp/golang-lru/v2"
	"golang.org/x/time/rate"

	moderatov1 "github.com/moderato-live/moderato/gen/moderato/v1"
	"github.com/moderato-live/moderato/internal/peer"
	"github.com/moderato-live/moderato/server/rpc/apierr"
)

// maxBuckets bounds the memory of the limits. Whoever's bucket was evicted starts again
// with a full one.
const maxBuckets = 100_000

// requestShare is the share of the limit of an address for requests that store a row before
// anybody has authenticated: the requests of browsers and devices.
const requestShare = 10

// crowdShare is how many times as much as one address all requests together may do that come
// without credentials. Whoever can send from many addresses would otherwise have the share of
// each.
const crowdShare = 30

// limits holds a token bucket for each address and for each client.
type limits struct {
	perMinute int
	now       func() time.Time

	// failures bounds attempts with wrong credentials of clients.
	failures *peer.Failures

	mu      sync.Mutex
	buckets *lru.Cache[string, *rate.Limiter]
}

func newLimits(perMinute int, now func() time.Time) *limits {
	buckets, _ := lru.New[string, *rate.Limiter](maxBuckets) // fails only for a size below 1
	return &limits{perMinute: perMinute, now: now, buckets: buckets, failures: peer.NewFailures(now)}
}

// allow takes a token from the bucket with a key. It returns RATE_LIMITED if the bucket is
// empty.
func (l *limits) allow(key string, perMinute int) error {
	if l.perMinute == 0 {
		return nil
	}
	now := l.now()
	l.mu.Lock()
	b, ok := l.buckets.Get(key)
	if !ok {
		b = rate.NewLimiter(rate.Limit(float64(perMinute)/60), perMinute)
		l.buckets.Add(key, b)
	}
	l.mu.Unlock()
	if b.AllowN(now, 1) {
		return nil
	}
	wait := (1 - b.TokensAt(now)) / float64(b.Limit()) * float64(time.Second)
	return rateLimited(time.Duration(wait))
}

func rateLimited(wait time.Duration) error {
	return &apierr.Error{Reason: moderatov1.Reason_REASON_RATE_LIMITED, RetryAfter: wait}
}

// allowFrom is allow for each network of the address of a request.
func (l *limits) allowFrom(x *exchange, key string, perMinute int) error {
	for _, n := range peer.Networks(x.r.RemoteAddr) {
		if err := l.allow(key+" "+n.Prefix.String(), n.Share*perMinute); err != nil {
			return err
		}
	}
	return nil
}

// address limits the requests from an address.
func (l *limits) address(x *exchange) error { return l.allowFrom(x, "address", l.perMinute) }

// begin limits the sign-ins that an address begins, and those that all begin.
func (l *limits) begin(x *exchange) error {
	perMinute := max(l.perMinute/requestShare, 1)
	if err := l.allowFrom(x, "begin", perMinute); err != nil {
		return err
	}
	return l.allow("begin", perMinute*crowdShare)
}

// client limits the requests of a client that was authenticated. Anybody may use the id of a
// public client, so that it is limited together with the address, and with everybody who has no
// credentials: otherwise one caller could keep the users of the client from signing in.
func (l *limits) client(x *exchange, id string, isPublic bool) error {
	if !isPublic {
		return l.allow("client "+id, l.perMinute)
	}
	if err := l.allowFrom(x, "client "+id, l.perMinute); err != nil {
		return err
	}
	return l.allow("public clients", l.perMinute*crowdShare)
}
