package experiments_test

import (
	"strings"
	"testing"
	"time"

	"github.com/moderato-live/moderato/server/store"
	"github.com/moderato-live/moderato/test/storetest"
)

// drainDelay is longer than the balancer takes to notice that a server stops. Its probe of a
// server whose database does not answer lasts for pageTimeout.
const drainDelay = pageTimeout + time.Second

// TestRollingRestart restarts the servers one by one under load. No call may fail because of
// that. If the database pauses for two seconds, servers cannot check tokens, and say so.
func TestRollingRestart(t *testing.T) {
	t.Parallel()
	storetest.OneServer(t, func(t *testing.T, url store.URL) {
		s := newSite(t, url, options{servers: 3, channels: scaled(20, 100), args: []string{"--drain-delay=" + drainDelay.String(), "--max-wait=10s"}})
		subscribers := subscribe(t, s)
		l := startLoad(t, s, scaled(100, 200))
		for range scaled(1, 20) {
			for i := range s.servers {
				l.untilAcknowledged(5)
				if code := s.servers[i].Terminate(); code != 0 {
					t.Errorf("a server that was told to stop exited with %d:\n%s", code, s.servers[i].Log())
				}
				s.restart(i)
			}
		}
		l.untilAcknowledged(10)
		l.end()
		l.wantOnly("UNAVAILABLE")
		for _, n := range s.everStarted() {
			for line := range strings.Lines(n.Log()) {
				if strings.Contains(line, `"error":"UNAVAILABLE"`) { // not because of the database
					t.Errorf("a server that stops refused a call: %s", line)
				}
			}
		}
		s.check(l, subscribers)
	})
}
