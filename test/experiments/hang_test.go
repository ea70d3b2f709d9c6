package experiments_test

import (
	"net/http"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/moderato-live/moderato/server/store"
	"github.com/moderato-live/moderato/test/storetest"
	"github.com/moderato-live/moderato/test/testdb"
)

const (
	// unreadyWithin is how soon a server must say that its database does not respond.
	unreadyWithin = 5 * time.Second
	// leaseTime is how soon another server takes over from a sequencer that hangs.
	leaseTime = 5 * time.Second
)

// TestDatabaseHang stops the process of the database, which keeps its connections, and
// continues it.
func TestDatabaseHang(t *testing.T) {
	t.Parallel()
	onInstance(t, testdb.MySQL, func(t *testing.T, db *testdb.Instance, url store.URL) {
		s := newSite(t, url, options{servers: scaled(2, 3), channels: scaled(20, 100)})
		subscribers := subscribe(t, s)
		before := s.goroutines()
		l := startLoad(t, s, 100)
		l.untilAcknowledged(20)

		began := time.Now()
		s.must(db.Signal(syscall.SIGSTOP))
		s.wantUnready(began)
		s.wantHealthy()
		for hang := scaled(3*time.Second, 30*time.Second); time.Since(began) < hang; time.Sleep(200 * time.Millisecond) {
			s.wantHealthy()
		}
		s.must(db.Signal(syscall.SIGCONT))
		took := l.untilAcknowledged(10)
		t.Logf("changes were acknowledged %s after the database continued", took.Round(time.Millisecond))
		if took > within(servingWithin) {
			t.Errorf("no change was acknowledged within %s after the database continued", servingWithin)
		}
		for _, n := range s.servers {
			s.waitReady(t, n)
		}
		l.end()
		l.wantBounded()
		s.check(l, subscribers)
		s.checkLeaks(before)
	})
}

// wantHealthy checks that all servers say that they live.
func (s *site) wantHealthy() {
	s.t.Helper()
	for _, n := range s.servers {
		if status, body := n.admin("/healthz"); status != http.StatusOK {
			s.t.Errorf("/healthz of a living server: %d %s", status, body)
		}
	}
}

// wantUnready checks that all servers soon say that they are not ready.
func (s *site) wantUnready(since time.Time) {
	s.t.Helper()
	var all sync.WaitGroup
	for _, n := range s.servers {
		all.Go(func() {
			isUnready := func() bool { status, _ := n.admin("/readyz"); return status == http.StatusServiceUnavailable }
			if !eventually(within(unreadyWithin)-time.Since(since), isUnready) {
				s.t.Errorf("a server is still ready %s after the database stopped", unreadyWithin)
			}
		})
	}
	all.Wait()
	s.t.Logf("no server was ready %s after the database stopped", time.Since(since).Round(time.Millisecond))
}

// TestSequencerHang stops the process of the server that gives events their order until its
// lease has ended. Another server takes over, and the stopped one does nothing more of it.
func TestSequencerHang(t *testing.T) {
	t.Parallel()
	storetest.OneServer(t, func(t *testing.T, url store.URL) {
		proxy := storetest.NewProxy(t, url)
		s := newSite(t, url, options{servers: scaled(2, 3), channels: scaled(20, 100), via: proxy.URL})
		subscribers := subscribe(t, s)
		l := startLoad(t, s, 100)
		l.untilAcknowledged(20)
		// With it, the process is mostly stopped in the middle of a transaction.
		proxy.SetFault(storetest.Fault{Latency: 2 * time.Millisecond})
		valid, rounds := 0, scaled(1, 10)
		for range rounds {
			if s.hangSequencer() {
				valid++
			}
		}
		t.Logf("what the stale sequencer wrote is known of %d of %d hangs", valid, rounds)
		if isSoak() && valid == 0 {
			t.Error("it was never known what the stale sequencer wrote, so nothing was tested")
		}
		proxy.SetFault(storetest.Fault{})
		l.untilAcknowledged(10)
		l.end()
		s.check(l, subscribers)
	})
}

// hangSequencer stops the sequencer until another server has taken over, and continues it. It
// reports whether it could tell that the stale one wrote nothing after that.
func (s *site) hangSequencer() (valid bool) {
	s.t.Helper()
	var stale *node
	if !eventually(patience, func() bool { stale = s.sequencer(nil); return stale != nil }) {
		s.t.Fatal("no server gives events their order")
	}
	s.must(stale.Cmd.Process.Signal(syscall.SIGSTOP))
	began := time.Now()
	placed, known := s.placedBy(stale)
	if !eventually(within(leaseTime), func() bool { return s.sequencer(stale) != nil }) {
		s.t.Errorf("no server took over from a sequencer that hangs")
	}
	took, epoch := time.Since(began), s.epoch()
	s.must(stale.Cmd.Process.Signal(syscall.SIGCONT))
	s.waitReady(s.t, stale)
	s.t.Logf("another server took over after %s", took.Round(time.Millisecond))
	gaveUp := eventually(patience, func() bool {
		holds, err := stale.metric("moderato_event_sequencer")
		s.must(err)
		return holds == 0
	})
	time.Sleep(500 * time.Millisecond) // in which it could write
	after, err := stale.metric("moderato_events_sequenced_total")
	s.must(err)
	// On a busy machine the lease may have passed on again, and the stale one may have taken it.
	if s.epoch() != epoch {
		return false
	}
	if !gaveUp {
		s.t.Errorf("another server had taken over, and the stale sequencer still says that it holds the lease")
	}
	if known && after > placed {
		s.t.Errorf("after another server had taken over, the stale sequencer gave %v events their order", after-placed)
	}
	return known
}

// placedBy returns how many events a server that is stopped has given their order: all that
// have one, but those of the other servers. This includes the events of a COMMIT that had been
// sent, which the server counts only when it continues. Nothing is known if another server
// gave events their order meanwhile.
func (s *site) placedBy(stopped *node) (n float64, known bool) {
	s.t.Helper()
	others := func() (sum float64) {
		for _, n := range s.servers {
			if n == stopped {
				continue
			}
			placed, err := n.metric("moderato_events_sequenced_total")
			s.must(err)
			sum += placed
		}
		return sum
	}
	before, placed := others(), s.placed()
	isSettled := func() bool { // a COMMIT may be under way
		time.Sleep(100 * time.Millisecond)
		last := placed
		placed = s.placed()
		return placed == last
	}
	if !eventually(time.Second, isSettled) || s.sequencer(stopped) != nil || others() != before {
		return 0, false
	}
	return placed - before, true
}

// placed returns how many events have their place in the order of all events.
func (s *site) placed() (n float64) {
	s.t.Helper()
	s.must(s.eachRow("SELECT COUNT(*) FROM events WHERE position IS NOT NULL", nil, func(scan func(...any) error) error { return scan(&n) }))
	return n
}

// epoch returns how often the lease of the sequencer was taken.
func (s *site) epoch() (epoch int64) {
	s.t.Helper()
	s.must(s.eachRow("SELECT epoch FROM event_sequencers", nil, func(scan func(...any) error) error { return scan(&epoch) }))
	return epoch
}

// sequencer returns the server that gives events their order, if it is another one than
// this; nil if there is none.
func (s *site) sequencer(but *node) *node {
	for _, n := range s.servers {
		if n == but {
			continue
		}
		if v, err := n.metric("moderato_event_sequencer"); err == nil && v == 1 {
			return n
		}
	}
	return nil
}
