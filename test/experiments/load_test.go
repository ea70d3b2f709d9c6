package experiments_test

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/moderato-live/moderato/internal/uid"
	"github.com/moderato-live/moderato/test/servertest"
)

const (
	// targetsOfWorker is the number of users that a worker changes in turn.
	targetsOfWorker = 8
	// repeatInterval is how long a client waits before it repeats an operation.
	repeatInterval = 50 * time.Millisecond
	// repeatsFor is how long a client repeats an operation. It is longer than any fault lasts.
	repeatsFor = 2 * time.Minute
)

// target is a user in a channel, whom one worker changes. So the worker knows its state.
type target struct {
	channel, user                           uid.ID
	isBanned, isMuted, isModerator, follows bool
}

// String returns the state as a person reads it.
func (g *target) String() string {
	return fmt.Sprintf("%s in %s: banned %t, muted %t, moderator %t, follows %t", g.user, g.channel, g.isBanned, g.isMuted, g.isModerator, g.follows)
}

// choose returns an operation that changes the state of the target.
func (g *target) choose() kind {
	toggle := func(is bool, on, off kind) kind {
		if is {
			return off
		}
		return on
	}
	switch n := rand.IntN(10); {
	case n < 3:
		return toggle(g.isBanned, ban, unban)
	case n < 5:
		return toggle(g.isMuted, mute, unmute)
	case n < 6:
		return toggle(g.isModerator, addModerator, removeModerator)
	case n < 8 || g.isBanned || g.isMuted:
		return toggle(g.follows, follow, unfollow)
	}
	return message
}

// apply changes the state by an operation that happened.
func (g *target) apply(k kind) {
	switch k {
	case ban, unban:
		g.isBanned = k == ban
	case mute, unmute:
		g.isMuted = k == mute
	case addModerator, removeModerator:
		g.isModerator = k == addModerator
	case follow, unfollow:
		g.follows = k == follow
	}
}

// load changes targets at a bounded rate until it is stopped. Every other worker sends
// idempotency keys, and repeats an operation until it knows the outcome. The others leave a
// target alone after an operation of unknown outcome, and continue with another.
type load struct {
	*client

	t       *testing.T
	journal *journal
	began   time.Time
	tickets chan struct{}
	stopped context.Context // no more operations begin
	stop    context.CancelFunc
	ended   context.Context // operations are given up: the test has failed
	giveUp  context.CancelFunc
	working sync.WaitGroup

	mu      sync.Mutex
	used    int // targets that were handed out
	codes   map[string]int
	first   map[string]string // the text of the first response with each code, and what was logged
	slowest time.Duration
	lasted  time.Duration
}

// startLoad changes channels at a rate per second.
func startLoad(t *testing.T, s *site, rate int) *load {
	t.Helper()
	l := &load{client: newClient(s), t: t, journal: newJournal(t), began: time.Now(), tickets: make(chan struct{}, 16), codes: map[string]int{}, first: map[string]string{}}
	l.ended, l.giveUp = context.WithCancel(context.Background())
	l.stopped, l.stop = context.WithCancel(l.ended)
	t.Cleanup(func() {
		l.giveUp()
		l.working.Wait()
		l.journal.close()
	})
	for i := range min(max(rate/4, 16), 64) {
		l.working.Go(func() { l.work(i%2 == 0) })
	}
	l.working.Go(func() { l.pace(rate) })
	return l
}

// pace issues tickets at the rate. While no worker is free, it issues none.
func (l *load) pace(rate int) {
	issued := 0
	for tick := time.NewTicker(2 * time.Millisecond); ; {
		select {
		case <-l.stopped.Done():
			tick.Stop()
			return
		case <-tick.C:
		}
		due := int(time.Since(l.began).Seconds() * float64(rate))
		for ; issued < due; issued++ {
			select {
			case l.tickets <- struct{}{}:
			default:
			}
		}
	}
}

// end stops the load, and returns when the last outcome is in the journal.
func (l *load) end() {
	l.t.Helper()
	l.stop()
	l.working.Wait()
	l.lasted = time.Since(l.began)
	l.journal.close()
	l.mu.Lock()
	defer l.mu.Unlock()
	all := 0
	for _, n := range l.codes {
		all += n
	}
	l.t.Logf("%.0f acknowledged changes/s over %s, %d responses %v, the slowest after %s",
		float64(l.codes["OK"])/l.lasted.Seconds(), l.lasted.Round(100*time.Millisecond), all, l.codes, l.slowest.Round(time.Millisecond))
	if l.codes["OK"] == 0 {
		l.t.Error("no change was acknowledged, so nothing was tested")
	}
}

// count returns how often each code was received so far.
func (l *load) count() map[string]int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return maps.Clone(l.codes)
}

// acknowledged returns how many changes were acknowledged so far.
func (l *load) acknowledged() int { return l.count()["OK"] }

// untilAcknowledged waits until n more changes were acknowledged, and returns how long that
// took.
func (l *load) untilAcknowledged(n int) time.Duration {
	l.t.Helper()
	began, want := time.Now(), l.acknowledged()+n
	if !eventually(patience, func() bool { return l.acknowledged() >= want }) {
		l.t.Fatalf("no change is acknowledged any more; responses: %v", l.count())
	}
	return time.Since(began)
}

func (l *load) work(withKeys bool) {
	targets := make([]*target, targetsOfWorker)
	for i := range targets {
		targets[i] = l.newTarget()
	}
	for {
		select {
		case <-l.stopped.Done():
			return
		case <-l.tickets:
		}
		i := rand.IntN(len(targets))
		o := operation{ID: uid.New().String(), Kind: targets[i].choose(), Channel: targets[i].channel, User: targets[i].user}
		switch l.perform(o, withKeys) {
		case done:
			targets[i].apply(o.Kind)
		case unknown:
			targets[i] = l.newTarget()
		}
	}
}

// newTarget returns a target that no worker has.
func (l *load) newTarget() *target {
	l.mu.Lock()
	defer l.mu.Unlock()
	n := l.used
	l.used++
	if n >= len(l.channels)*len(l.users) {
		l.t.Error("there are no more targets")
		n = 0
	}
	return &target{channel: l.channels[n%len(l.channels)], user: l.users[n/len(l.channels)]}
}

// perform sends an operation and records its outcome.
func (l *load) perform(o operation, withKey bool) outcome {
	l.journal.write(entry{Intent: &o})
	result := l.send(o, withKey)
	for begun := time.Now(); withKey && result != done && time.Since(begun) < repeatsFor && l.ended.Err() == nil; {
		time.Sleep(repeatInterval)
		if again := l.send(o, withKey); result != unknown || again == done {
			result = again
		}
	}
	if withKey && result == unknown && l.ended.Err() == nil && l.isReady() {
		l.t.Errorf("%s of %s in %s: the outcome is unknown after repeats for %s; the servers log: %s", o.Kind, o.User, o.Channel, repeatsFor, l.logged(o.ID))
	}
	l.journal.write(entry{ID: o.ID, Outcome: result})
	return result
}

// isReady reports whether a server is ready, so that its database responds.
func (l *load) isReady() bool {
	l.balancer.mu.Lock()
	defer l.balancer.mu.Unlock()
	return slices.Contains(slices.Collect(maps.Values(l.backends)), true)
}

func (l *load) send(o operation, withKey bool) outcome {
	began := time.Now()
	code, text := l.do(l.ended, o, withKey)
	took := time.Since(began)
	l.mu.Lock()
	l.codes[code]++
	if l.codes[code] == 1 && code != "OK" {
		l.first[code] = fmt.Sprintf("%s of %s in %s after %s: %s; the servers log: %s", o.Kind, o.User, o.Channel, took, text, l.logged(o.ID))
	}
	l.slowest = max(l.slowest, took)
	l.mu.Unlock()
	result, ok := outcomeOf(code)
	if !ok {
		l.t.Errorf("%s of %s in %s: got %s, %s; the servers log: %s", o.Kind, o.User, o.Channel, code, text, l.logged(o.ID))
	}
	return result
}

// logged returns what the servers logged about a request.
func (l *load) logged(id string) (lines string) {
	for _, n := range l.everStarted() {
		for line := range strings.Lines(n.Log()) {
			if strings.Contains(line, id) {
				lines += line
			}
		}
	}
	return lines
}

// wantBounded checks that no call took longer than promised.
func (l *load) wantBounded() {
	l.t.Helper()
	if bound := scaled(callBound+servertest.Slack/2, callBound); l.slowest > bound {
		l.t.Errorf("a call took %s, want at most %s", l.slowest, bound)
	}
}

// wantOnly checks that no other codes than OK and these were received.
func (l *load) wantOnly(codes ...string) {
	l.t.Helper()
	for code, n := range l.count() {
		if code != "OK" && !slices.Contains(codes, code) {
			l.t.Errorf("got %d × %s, want only OK and %v; the first: %s", n, code, codes, l.first[code])
		}
	}
}

// wantHardlyAnyFailed checks that failed calls may be repeated and, in a soak, that they are
// at most one of 100,000. A disk or a processor may pause for seconds.
func (l *load) wantHardlyAnyFailed() {
	l.t.Helper()
	l.wantOnly("OVERLOADED", "UNAVAILABLE")
	failed, all := 0, 0
	for code, n := range l.count() {
		all += n
		if code != "OK" {
			failed += n
		}
	}
	if isSoak() && failed*100_000 > all {
		l.t.Errorf("%d of %d calls failed", failed, all)
	}
}
