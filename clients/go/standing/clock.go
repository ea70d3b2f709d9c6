package standing

import (
	"math"
	"sync/atomic"
	"time"
)

// clockWindow is how long the smallest difference between clocks counts at least. It
// follows the drift of the clocks.
const clockWindow = time.Minute

// clock estimates the time of the server. A response that was sent at server_time arrives
// later by the time that it travels, so the smallest difference between the arrival and
// server_time is the best estimate. The estimate is behind the server by the shortest
// travel time. So no ban ends here before it ends there.
//
// The local time is monotonic: setting the clock of this machine changes nothing.
type clock struct {
	start time.Time
	// ahead is how much the local time is ahead of the server's, in milliseconds.
	ahead atomic.Int64

	// The smallest differences in this window and in the one before. One goroutine uses
	// them.
	current, previous int64
	windowEnds        int64
}

func newClock() *clock {
	return &clock{start: time.Now(), current: math.MaxInt64, previous: math.MaxInt64, windowEnds: math.MinInt64}
}

// local returns the local time in milliseconds since the start.
func (c *clock) local() int64 { return time.Since(c.start).Milliseconds() }

// now returns the estimated time of the server, in milliseconds since 1970.
func (c *clock) now() int64 { return c.local() - c.ahead.Load() }

// observe takes the server_time of a response that arrives now.
func (c *clock) observe(serverTime int64) {
	if serverTime <= 0 {
		return
	}
	local := c.local()
	if local >= c.windowEnds {
		c.previous, c.current = c.current, math.MaxInt64
		c.windowEnds = local + clockWindow.Milliseconds()
	}
	c.current = min(c.current, local-serverTime)
	c.ahead.Store(min(c.current, c.previous))
}
