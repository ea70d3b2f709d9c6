package webhooks

import (
	"math/rand/v2"
	"time"
)

const (
	firstDelay = 5 * time.Second
	// maxDelay bounds the delays, and what a receiver may ask for.
	maxDelay = 6 * time.Hour
	// giveUpAfter is for how long a delivery is tried.
	giveUpAfter = 3 * 24 * time.Hour
)

// delay is how long to wait after a number of attempts that failed: three times
// longer each time, with up to a fifth more or less, so that what failed together
// is not tried together.
func delay(attempts int32, asked time.Duration) time.Duration {
	d := firstDelay
	for i := int32(1); i < attempts && d < maxDelay; i++ {
		d *= 3
	}
	d = min(d, maxDelay)
	d += time.Duration((rand.Float64() - 0.5) * 0.4 * float64(d))
	return max(d, asked)
}
