package web

import (
	"net"
	"net/http"
	"net/netip"
	"strings"
	"sync"
	"time"

	lru "github.com/hashicorp/golang-lru/v2"
	"golang.org/x/time/rate"

	moderatov1 "github.com/moderato-live/moderato/gen/moderato/v1"
	"github.com/moderato-live/moderato/server/apierr"
)

// maxBuckets bounds the memory of the limits. Whoever's bucket was evicted starts again
// with a full one.
const maxBuckets = 100_000

// requestShare is the share of the limit of an address for requests that store a row before
// anybody has authenticated: the requests of browsers and devices.
const requestShare = 10

// limits holds a token bucket for each address and for each client.
type limits struct {
	perMinute int
	now       func() time.Time

	mu      sync.Mutex
	buckets *lru.Cache[string, *rate.Limiter]
}

func newLimits(perMinute int, now func() time.Time) *limits {
	buckets, _ := lru.New[string, *rate.Limiter](maxBuckets) // fails only for a size below 1
	return &limits{perMinute: perMinute, now: now, buckets: buckets}
}

// allow takes a token from the bucket with a key. It returns RATE_LIMITED if the bucket is
// empty.
func (l *limits) allow(key string, perMinute int) error {
	if l.perMinute == 0 {
		return nil
	}
	perMinute = max(perMinute, 1)
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
	return &apierr.Error{Reason: moderatov1.Reason_REASON_RATE_LIMITED, RetryAfter: time.Duration(wait)}
}

// address limits the requests from an address.
func (l *limits) address(x *exchange) error { return l.allow("address "+x.address, l.perMinute) }

// begin limits the sign-ins that an address begins.
func (l *limits) begin(x *exchange) error {
	return l.allow("begin "+x.address, l.perMinute/requestShare)
}

// client limits the requests of a client that was authenticated. Anybody may use the id of a
// public client, so that it is limited together with the address: otherwise one caller
// could keep the users of the client from signing in.
func (l *limits) client(x *exchange, id string, isPublic bool) error {
	key := "client " + id
	if isPublic {
		key += " " + x.address
	}
	return l.allow(key, l.perMinute)
}

// addressOf returns the address from which a request comes. If a proxy in a private network
// passed the request on, it is the address that the proxy added to X-Forwarded-For. An IPv6
// address is shortened to the network that one customer usually has.
func addressOf(r *http.Request) string {
	host, _, err := net.SplitHostPort(r.RemoteAddr)
	if err != nil {
		host = r.RemoteAddr
	}
	ip, err := netip.ParseAddr(host)
	if err != nil {
		return host
	}
	if ip.Unmap().IsPrivate() || ip.Unmap().IsLoopback() {
		hops := strings.Split(strings.Join(r.Header.Values("X-Forwarded-For"), ","), ",")
		if from, err := netip.ParseAddr(strings.TrimSpace(hops[len(hops)-1])); err == nil {
			ip = from
		}
	}
	if ip = ip.Unmap(); ip.Is6() {
		if network, err := ip.WithZone("").Prefix(64); err == nil {
			return network.String()
		}
	}
	return ip.String()
}
