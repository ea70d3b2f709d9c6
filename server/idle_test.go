package server_test

import (
	"strings"
	"testing"
	"time"

	"github.com/moderato-live/moderato/server/store"
	"github.com/moderato-live/moderato/test/servertest"
	"github.com/moderato-live/moderato/test/storetest"
)

// TestIdleServerSendsFewStatements watches a server without users, listeners or work. It may
// look for work, and renew the lease of the sequencer. A job that polls in another way must get
// a Due.
func TestIdleServerSendsFewStatements(t *testing.T) {
	const watched, maxPerSecond = 5 * time.Second, 8
	storetest.EachKind(t, func(t *testing.T, url store.URL) {
		recorder := &storetest.Recorder{}
		config := servertest.Config(url)
		config.DBLayer = recorder.Layer()
		servertest.Start(t, config)
		time.Sleep(2 * time.Second) // for what a server does once
		before := len(recorder.Sent()) + len(recorder.Executed())
		reads, writes := len(recorder.Sent()), len(recorder.Executed())
		time.Sleep(watched)
		for _, s := range append(recorder.Sent()[reads:], recorder.Executed()[writes:]...) {
			switch {
			case strings.HasPrefix(s.Text, "SELECT EXISTS (SELECT 1 FROM "): // a look for work
			case s.Text == "SELECT sequence FROM events WHERE position IS NULL LIMIT 1":
			case strings.HasPrefix(s.Text, "UPDATE event_sequencers SET expires_at = "):
			default:
				t.Errorf("an idle server sends %s", s.Text)
			}
		}
		if n := len(recorder.Sent()) + len(recorder.Executed()) - before; n > maxPerSecond*int(watched/time.Second) {
			t.Errorf("an idle server sends %d statements in %s, want at most %d a second", n, watched, maxPerSecond)
		} else {
			t.Logf("an idle server sends %.1f statements a second", float64(n)/watched.Seconds())
		}
	})
}
