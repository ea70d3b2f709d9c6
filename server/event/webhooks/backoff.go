package webhooks

import (
	"math/rand/v2"
	"time"
)

const (
	firstDelay = 5 * time.Second
	// maxDelay is the longest delay between attempts, before jitter, and the longest
	// that a receiver may ask for.
	maxDelay = 6 * time.Hour
	// giveUpAfter is how long a delivery is retried, counted from its first attempt.
	giveUpAfter = 3 * 24 * time.Hour
)

// delay returns how long to wait after a number of failed attempts. The delay triples
// with each attempt. A jitter of up to 20 % in both directions prevents deliveries that
// failed at the same time from being retried at the same time. The delay is at least
// what the receiver asked for.
func delay(attempts int32, asked time.Duration) time.Duration {
	d := firstDelay
	for i := int32(1); i < attempts && d < maxDelay; i++ {
		d *= 3
	}
	d = min(d, maxDelay)
	d += time.Duration((rand.Float64() - 0.5) * 0.4 * float64(d))
	return max(d, asked)
}
