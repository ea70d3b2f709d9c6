package experiments_test

import (
	"math"
	"slices"
	"testing"
	"time"

	"github.com/moderato-live/moderato/server/store"
	"github.com/moderato-live/moderato/test/storetest"
)

const (
	// callBound is how long a server lets a call take: 15 s, and up to 0.5 s for the response.
	callBound = 15*time.Second + 500*time.Millisecond
	// idleSlack is how many goroutines more than before a server may have when it is idle.
	idleSlack = 10
)

// TestNetwork cuts connections between the servers and the database in COMMIT, delays, loses
// and resets them under load.
func TestNetwork(t *testing.T) {
	t.Parallel()
	storetest.OneServer(t, func(t *testing.T, url store.URL) {
		proxy := storetest.NewProxy(t, url)
		s := newSite(t, url, options{servers: scaled(2, 3), channels: scaled(20, 100), via: proxy.URL})
		subscribers := subscribe(t, s)
		before := s.goroutines()
		l := startLoad(t, s, scaled(100, 200))
		l.untilAcknowledged(50)

		cutCommits(t, l, proxy, scaled(80, 200))
		for _, f := range []struct {
			name  string
			fault storetest.Fault
			lasts time.Duration
		}{
			{"latency", storetest.Fault{Latency: 20 * time.Millisecond}, scaled(300*time.Millisecond, 20*time.Second)},
			{"black hole", storetest.Fault{LoseRequests: true, LoseResponses: true}, scaled(time.Second, 30*time.Second)},
			{"loss of requests", storetest.Fault{LoseRequests: true}, scaled(500*time.Millisecond, 10*time.Second)},
			{"loss of responses", storetest.Fault{LoseResponses: true}, scaled(500*time.Millisecond, 10*time.Second)},
		} {
			proxy.SetFault(f.fault)
			time.Sleep(f.lasts)
			proxy.SetFault(storetest.Fault{})
			t.Logf("%s for %s: acknowledged again after %s", f.name, f.lasts, l.untilAcknowledged(10).Round(time.Millisecond))
		}
		for range scaled(2, 20) {
			proxy.Reset()
			l.untilAcknowledged(10)
		}
		l.end()
		l.wantOnly("UNAVAILABLE", "DEADLINE_EXCEEDED", "OVERLOADED", "IDEMPOTENCY_KEY_IN_USE", "NO_RESPONSE")
		l.wantBounded()
		s.check(l, subscribers)
		s.checkLeaks(before)
	})
}

// cutCommits cuts n connections in COMMIT: before it reaches the database, or before its
// response reaches the server.
func cutCommits(t *testing.T, l *load, proxy *storetest.Proxy, n int) {
	t.Helper()
	made := 0
	for made < n {
		cuts := slices.Repeat([]storetest.Cut{storetest.BeforeCommit, storetest.Nowhere, storetest.AfterCommit, storetest.Nowhere}, 2)
		proxy.CutNext(cuts...)
		want := min(4, n-made)
		if !eventually(patience, func() bool { return proxy.Made() >= want }) {
			t.Fatal("nothing is committed any more")
		}
		made += proxy.Made()
	}
	proxy.CutNext()
	t.Logf("%d connections were cut in COMMIT", made)
}

// goroutines returns the number of goroutines of each server that do not belong to a
// connection of its pool.
func (s *site) goroutines() (all []float64) {
	s.t.Helper()
	s.closeIdle()
	for _, n := range s.servers {
		count, err := n.metric("go_goroutines")
		s.must(err)
		open, err := n.metric("go_sql_open_connections")
		s.must(err)
		all = append(all, count-open)
	}
	return all
}

// checkLeaks waits until the servers, which have no load any more, have no more goroutines
// than before, no connection in use, and no other connection at the database than those of
// their pools.
func (s *site) checkLeaks(before []float64) {
	s.t.Helper()
	var after []float64
	var used, open float64
	atDatabase := 0
	isIdle := func() bool {
		used, open = 0, 0
		for _, n := range s.servers {
			u, err := n.metric("go_sql_in_use_connections")
			s.must(err)
			o, err := n.metric("go_sql_open_connections")
			s.must(err)
			used, open = used+u, open+o
		}
		after, atDatabase = s.goroutines(), s.connections()
		for i := range after {
			if after[i] > before[i]+idleSlack {
				return false
			}
		}
		return used <= 1 && atDatabase <= int(open)
	}
	if !eventually(patience, isIdle) {
		s.t.Errorf("after the experiment: goroutines %v (before: %v), %v connections in use, %v open, %d at the database", after, before, used, open, atDatabase)
		return
	}
	s.t.Logf("after the experiment: goroutines %v (before: %v), %v connections open, %d at the database", after, before, open, atDatabase)
}

// connections returns the number of connections of the servers at the database. MySQL cannot
// count them while one of them runs a statement with binary text; then connections returns
// more than there can be.
func (s *site) connections() (n int) {
	err := s.eachRow("SELECT COUNT(*) FROM information_schema.processlist WHERE db = DATABASE()", nil, func(scan func(...any) error) error {
		return scan(&n)
	})
	if err != nil {
		return math.MaxInt
	}
	return n - s.store.DB().Stats().OpenConnections
}
