package peer

import (
	"net/netip"
	"sync"
	"time"

	lru "github.com/hashicorp/golang-lru/v2"
)

const (
	// failureBurst is how many attempts of an address may fail at once, and failureRate how
	// many more a second.
	failureBurst = 100
	failureRate  = 5
	// allBurst and allRate are the same for all addresses together. They apply only to
	// addresses with failures.
	allBurst = 1000
	allRate  = 200
	// maxNetworks bounds the memory. A network that was evicted starts again without failures.
	maxNetworks = 100_000
)

// Failures bounds the attempts that fail, such as look-ups of tokens that do not exist. Its
// methods may be called concurrently.
type Failures struct {
	now func() time.Time

	mu       sync.Mutex
	networks *lru.Cache[netip.Prefix, *level]
	all      level
}

// NewFailures returns a Failures with a clock.
func NewFailures(now func() time.Time) *Failures {
	networks, _ := lru.New[netip.Prefix, *level](maxNetworks) // fails only for a size below 1
	return &Failures{now: now, networks: networks, all: level{most: allBurst, rate: allRate}}
}

// level is a number of failures, which sinks with time.
type level struct {
	count, most float64
	rate        float64 // by which it sinks a second
	at          time.Time
}

func (l *level) sink(now time.Time) {
	elapsed := max(0, now.Sub(l.at)) // the clock may be set back
	l.count = max(0, l.count-l.rate*elapsed.Seconds())
	l.at = now
}

// Wait returns how long an address has to wait until its next attempt, because too many have
// failed; 0 if it may try now.
func (f *Failures) Wait(address string) time.Duration {
	f.mu.Lock()
	defer f.mu.Unlock()
	isClean, isFull := true, false
	for _, l := range f.levels(address) {
		isClean = isClean && l.count == 0
		isFull = isFull || l.count+1 > l.most
	}
	if isFull || f.all.count+1 > f.all.most && !isClean {
		return time.Second
	}
	return 0
}

// Add counts an attempt of an address that failed. Attempts in progress do not count, so that
// many users of one network can begin at once.
func (f *Failures) Add(address string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, l := range append(f.levels(address), &f.all) {
		l.count++
	}
}

// levels returns the current levels of the networks that contain an address. It also updates
// the common level. The caller holds mu.
func (f *Failures) levels(address string) (levels []*level) {
	now := f.now()
	f.all.sink(now)
	for _, n := range Networks(address) {
		l, _ := f.networks.Get(n.Prefix)
		if l == nil {
			l = &level{at: now, most: float64(failureBurst * n.Share), rate: float64(failureRate * n.Share)}
			f.networks.Add(n.Prefix, l)
		}
		l.sink(now)
		levels = append(levels, l)
	}
	return levels
}
