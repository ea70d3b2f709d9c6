package chain

import (
	"context"
	"fmt"
	"strconv"
	"sync"
	"time"

	lru "github.com/hashicorp/golang-lru/v2"
	"golang.org/x/time/rate"
	"google.golang.org/grpc"
	"google.golang.org/grpc/metadata"

	moderatov1 "github.com/moderato-live/moderato/gen/moderato/v1"
	"github.com/moderato-live/moderato/server/auth"
	"github.com/moderato-live/moderato/server/fault"
	"github.com/moderato-live/moderato/server/uid"
)

// Metadata, and over REST headers, that tell a caller about their bucket.
const (
	LimitKey     = "ratelimit-limit"
	RemainingKey = "ratelimit-remaining"
	ResetKey     = "ratelimit-reset"
)

// maxBuckets bounds the memory of the limiter. Whoever is pushed out starts
// again with a full bucket.
const maxBuckets = 100_000

// Limiter is a token bucket for each client and user: so many requests a
// minute, of which as many may come at once. Service tokens have no limit.
type Limiter struct {
	perMinute int
	now       func() time.Time

	mu      sync.Mutex
	buckets *lru.Cache[bucketKey, *rate.Limiter]
}

type bucketKey struct {
	client string
	user   uid.ID
}

// NewLimiter makes a limiter; perMinute 0 limits nothing.
func NewLimiter(perMinute int, now func() time.Time) *Limiter {
	buckets, _ := lru.New[bucketKey, *rate.Limiter](maxBuckets) // fails only for a size below 1
	return &Limiter{perMinute: perMinute, now: now, buckets: buckets}
}

// Allow takes one from the caller's bucket; RATE_LIMITED if it is empty.
func (l *Limiter) Allow(ctx context.Context, c *auth.Caller) error {
	if l.perMinute == 0 || c.Kind == auth.Service {
		return nil
	}
	bucket := l.bucket(bucketKey{c.ClientID, c.UserID})
	now := l.now()
	allowed := bucket.AllowN(now, 1)
	left := bucket.TokensAt(now)
	perSecond := float64(l.perMinute) / 60
	_ = grpc.SetHeader(ctx, metadata.Pairs(
		LimitKey, strconv.Itoa(l.perMinute),
		RemainingKey, strconv.Itoa(max(0, int(left))),
		ResetKey, strconv.Itoa(int((float64(l.perMinute)-left)/perSecond+0.999)),
	))
	if allowed {
		return nil
	}
	wait := time.Duration((1 - left) / perSecond * float64(time.Second))
	return &fault.Error{
		Reason:     moderatov1.Reason_REASON_RATE_LIMITED,
		Message:    fmt.Sprintf("More than %d requests a minute for this client and user; wait as long as Retry-After says.", l.perMinute),
		RetryAfter: wait,
	}
}

func (l *Limiter) bucket(key bucketKey) *rate.Limiter {
	l.mu.Lock()
	defer l.mu.Unlock()
	if b, ok := l.buckets.Get(key); ok {
		return b
	}
	b := rate.NewLimiter(rate.Limit(float64(l.perMinute)/60), l.perMinute)
	l.buckets.Add(key, b)
	return b
}
