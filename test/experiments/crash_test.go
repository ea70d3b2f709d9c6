package experiments_test

import (
	"context"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/moderato-live/moderato/server/store"
	"github.com/moderato-live/moderato/test/storetest"
	"github.com/moderato-live/moderato/test/testdb"
)

// readyWithin is how soon a server must be ready that is started after a crash.
const readyWithin = 3 * time.Second

// TestServerCrash kills servers at random moments under load.
func TestServerCrash(t *testing.T) {
	t.Parallel()
	storetest.EachKind(t, func(t *testing.T, url store.URL) {
		s := newSite(t, url, options{servers: serversOn(url), channels: scaled(20, 100)})
		subscribers := subscribe(t, s)
		l := startLoad(t, s, scaled(100, 500))
		slowest := time.Duration(0)
		for range scaled(3, 50) {
			l.untilAcknowledged(10)
			time.Sleep(rand.N(scaled(200*time.Millisecond, time.Second)))
			i := rand.IntN(len(s.servers))
			s.servers[i].Kill()
			slowest = max(slowest, s.restart(i))
		}
		l.untilAcknowledged(10)
		l.end()
		t.Logf("a server was ready again after %s at most", slowest.Round(time.Millisecond))
		if slowest > within(readyWithin) {
			t.Errorf("a server was ready after %s, want %s", slowest, readyWithin)
		}
		s.check(l, subscribers)
	})
}

// serversOn returns the number of servers of a site: SQLite is for one host.
func serversOn(url store.URL) int {
	if url.Path != "" {
		return 1
	}
	return 3
}

// TestDatabaseCrash kills the database under load. What was acknowledged must be there after
// the database has recovered.
func TestDatabaseCrash(t *testing.T) {
	t.Parallel()
	onInstance(t, testdb.MariaDB, func(t *testing.T, db *testdb.Instance, url store.URL) {
		s := newSite(t, url, options{servers: 3, channels: scaled(20, 100)})
		subscribers := subscribe(t, s)
		l := startLoad(t, s, scaled(100, 300))
		slowest := time.Duration(0)
		for range scaled(2, 25) {
			l.untilAcknowledged(10)
			time.Sleep(rand.N(scaled(200*time.Millisecond, 2*time.Second)))
			db.Kill()
			if err := db.Restart(context.Background()); err != nil {
				t.Fatal(err)
			}
			slowest = max(slowest, l.untilAcknowledged(1))
		}
		l.untilAcknowledged(10)
		l.end()
		t.Logf("changes were acknowledged again %s after the database's return at most", slowest.Round(time.Millisecond))
		if slowest > within(servingWithin) {
			t.Errorf("no change was acknowledged within %s of the database's return, want %s", slowest, servingWithin)
		}
		s.check(l, subscribers)
	})
}
