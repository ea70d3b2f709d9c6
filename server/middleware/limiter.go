package middleware

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
	"github.com/moderato-live/moderato/internal/uid"
	"github.com/moderato-live/moderato/server/rpc/apierr"
	"github.com/moderato-live/moderato/server/rpc/authn"
)

// Names of the metadata, and over REST of the headers, that describe a caller's bucket.
const (
	LimitKey     = "ratelimit-limit"
	RemainingKey = "ratelimit-remaining"
	ResetKey     = "ratelimit-reset"
)

// maxBuckets bounds the memory of the limiter. A caller whose bucket was evicted starts
// again with a full one.
const maxBuckets = 100_000

// Limiter is a token bucket for each client and user. A bucket allows a number of
// requests per minute, and a burst of the same number. Service tokens have no limit.
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

// NewLimiter returns a Limiter. If perMinute is 0, there is no limit.
func NewLimiter(perMinute int, now func() time.Time) *Limiter {
	buckets, _ := lru.New[bucketKey, *rate.Limiter](maxBuckets) // fails only for a size below 1
	return &Limiter{perMinute: perMinute, now: now, buckets: buckets}
}

// Allow takes one token from the caller's bucket. It returns RATE_LIMITED if the bucket
// is empty.
func (l *Limiter) Allow(ctx context.Context, c *authn.Caller) error {
	if l.perMinute == 0 || c.Kind == authn.Service {
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
	return &apierr.Error{
		Reason:     moderatov1.Reason_REASON_RATE_LIMITED,
		Message:    fmt.Sprintf("More than %d requests a minute for this client and user. Wait for the time in Retry-After.", l.perMinute),
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
