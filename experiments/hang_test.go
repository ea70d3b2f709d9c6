package experiments_test

import (
	"net/http"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/moderato-live/moderato/server/servertest"
	"github.com/moderato-live/moderato/server/store"
	"github.com/moderato-live/moderato/server/store/storetest"
	"github.com/moderato-live/moderato/testdb"
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
		for hang := scaled(3*time.Second, 30*time.Second); time.Since(began) < hang; time.Sleep(200 * time.Millisecond) {
			for _, n := range s.servers {
				if status, body := n.admin("/healthz"); status != http.StatusOK {
					t.Errorf("/healthz of a living server: %d %s", status, body)
				}
			}
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
		if l.slowest > callBound+servertest.Slack/2 {
			t.Errorf("a call took %s, want at most %s", l.slowest, callBound)
		}
		s.check(l, subscribers)
		s.checkLeaks(before)
	})
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
		for range scaled(1, 10) {
			s.hangSequencer()
		}
		proxy.SetFault(storetest.Fault{})
		l.untilAcknowledged(10)
		l.end()
		s.check(l, subscribers)
	})
}

func (s *site) hangSequencer() {
	s.t.Helper()
	var stale *node
	if !eventually(patience, func() bool { stale = s.sequencer(nil); return stale != nil }) {
		s.t.Fatal("no server gives events their order")
	}
	s.must(stale.Cmd.Process.Signal(syscall.SIGSTOP))
	began := time.Now()
	if !eventually(within(leaseTime), func() bool { return s.sequencer(stale) != nil }) {
		s.t.Errorf("no server took over from a sequencer that hangs")
	}
	took, epoch := time.Since(began), s.epoch()
	time.Sleep(500 * time.Millisecond)
	s.must(stale.Cmd.Process.Signal(syscall.SIGCONT))
	s.waitReady(s.t, stale)
	before, err := stale.metric("moderato_events_sequenced_total")
	s.must(err)
	time.Sleep(300 * time.Millisecond)
	after, err := stale.metric("moderato_events_sequenced_total")
	s.must(err)
	holds, err := stale.metric("moderato_event_sequencer")
	s.must(err)
	// On a busy machine the lease may have passed on again, and the stale one may have taken it.
	if s.epoch() == epoch && (after != before || holds != 0) {
		s.t.Errorf("after another server had taken over, the stale sequencer holds the lease (%v) or wrote %v events", holds, after-before)
	}
	s.t.Logf("another server took over after %s", took.Round(time.Millisecond))
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
