package idempotency

import (
	"fmt"
	"sync"
	"time"

	lru "github.com/hashicorp/golang-lru/v2"
	"golang.org/x/time/rate"

	moderatov1 "github.com/moderato-live/moderato/gen/moderato/v1"
	"github.com/moderato-live/moderato/internal/uid"
	"github.com/moderato-live/moderato/server/rpc/apierr"
)

const (
	// longResponse is the size in bytes from which on a response counts. Shorter ones are
	// about as long as the rows of a change, which the rate limit bounds.
	longResponse = 1 << 10
	// dailyBudget is how many bytes of long responses an owner may store in Lifetime.
	dailyBudget = 128 << 20
	// maxBudgets bounds the memory of the budgets. An owner whose budget was evicted starts
	// again with a full one.
	maxBudgets = 10_000
)

// owner is the client and the user who make a call.
type owner struct {
	clientID string
	userID   uid.ID
}

// budgets holds a token bucket for each owner who stores long responses. A token is a byte.
type budgets struct {
	daily int

	mu      sync.Mutex
	buckets *lru.Cache[owner, *rate.Limiter]
}

func newBudgets(daily int) *budgets {
	buckets, _ := lru.New[owner, *rate.Limiter](maxBudgets) // fails only for a size below 1
	return &budgets{daily: daily, buckets: buckets}
}

// take takes the bytes of a response from the budget of its owner. It returns RATE_LIMITED if
// fewer remain.
func (b *budgets) take(o owner, bytes int, now time.Time) error {
	if bytes < longResponse {
		return nil
	}
	bucket := b.bucket(o)
	if bucket.AllowN(now, bytes) {
		return nil
	}
	wait := (float64(bytes) - bucket.TokensAt(now)) / float64(bucket.Limit()) * float64(time.Second)
	return &apierr.Error{
		Reason: moderatov1.Reason_REASON_RATE_LIMITED,
		Message: fmt.Sprintf("The long responses to changes with an idempotency key exceed %d MiB a day for this client and user. "+
			"Nothing was changed; wait for the time in Retry-After, or send no idempotency key.", b.daily>>20),
		RetryAfter: time.Duration(wait),
	}
}

func (b *budgets) bucket(o owner) *rate.Limiter {
	b.mu.Lock()
	defer b.mu.Unlock()
	if bucket, ok := b.buckets.Get(o); ok {
		return bucket
	}
	bucket := rate.NewLimiter(rate.Limit(float64(b.daily)/Lifetime.Seconds()), b.daily)
	b.buckets.Add(o, bucket)
	return bucket
}
