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
	return &Failures{now: now, networks: networks}
}

// level is a number of failures, which sinks with time.
type level struct {
	count float64
	at    time.Time
}

func (l *level) sink(now time.Time, perSecond float64) {
	elapsed := max(0, now.Sub(l.at)) // the clock may be set back
	l.count = max(0, l.count-perSecond*elapsed.Seconds())
	l.at = now
}

// Attempt counts an attempt of an address as failed, until succeeded is called. It returns how
// long to wait if too many have failed.
func (f *Failures) Attempt(address string) (succeeded func(), wait time.Duration) {
	f.mu.Lock()
	defer f.mu.Unlock()
	now, counted := f.now(), []*level{&f.all}
	f.all.sink(now, allRate)
	isClean := true
	for _, n := range Networks(address) {
		l, _ := f.networks.Get(n.Prefix)
		if l == nil {
			l = &level{at: now}
			f.networks.Add(n.Prefix, l)
		}
		l.sink(now, float64(failureRate*n.Share))
		isClean = isClean && l.count == 0
		if l.count+1 > float64(failureBurst*n.Share) {
			wait = max(wait, time.Second)
		}
		counted = append(counted, l)
	}
	if f.all.count+1 > allBurst && !isClean {
		wait = max(wait, time.Second)
	}
	if wait > 0 {
		return nil, wait
	}
	f.add(counted, 1)
	return func() {
		f.mu.Lock()
		defer f.mu.Unlock()
		f.add(counted, -1)
	}, 0
}

// add changes levels. The caller holds mu.
func (f *Failures) add(levels []*level, n float64) {
	for _, l := range levels {
		l.count = max(0, l.count+n)
	}
}
