package idempotency_test

import (
	"sync"
	"testing"
	"time"

	"github.com/moderato-live/moderato/server/store"
	"github.com/moderato-live/moderato/test/servertest"
	"github.com/moderato-live/moderato/test/storetest"
)

// two starts two servers on one database, on each kind of store. Queries of the first one
// can be held back.
func two(t *testing.T, test func(t *testing.T, a, b *servertest.Server, gate *storetest.Gate)) {
	t.Helper()
	storetest.EachKind(t, func(t *testing.T, url store.URL) {
		gate := &storetest.Gate{}
		config := servertest.Config(url)
		config.DBLayer = gate.Layer()
		a, b := servertest.Start(t, config), servertest.Start(t, servertest.Config(url))
		a.Load(t, servertest.World()...)
		test(t, a, b, gate)
	})
}

// TestConcurrentRequestsWithKeyHaveOneEffect makes a change many times at once, on two
// servers.
func TestConcurrentRequestsWithKeyHaveOneEffect(t *testing.T) {
	two(t, func(t *testing.T, a, b *servertest.Server, _ *storetest.Gate) {
		for range 5 {
			user := servertest.AddUsers(t, a.Store, 1)[0]
			c := mute(t, a, user)
			answers := make(chan answer, 12)
			var all sync.WaitGroup
			for i := range cap(answers) {
				all.Go(func() { answers <- c.overREST(t, []*servertest.Server{a, b}[i%2]) })
			}
			all.Wait()
			close(answers)
			effects := 0
			for got := range answers {
				switch {
				case got.reason == "OK" && !got.isReplay:
					effects++
				case got.reason == "OK":
				case got.reason != "IDEMPOTENCY_KEY_IN_USE" || got.rest.Status != 409 || got.rest.Header.Get("Retry-After") != "1":
					t.Errorf("got %d %s, Retry-After %q", got.rest.Status, got.reason, got.rest.Header.Get("Retry-After"))
				}
			}
			if effects != 1 {
				t.Errorf("%d requests took effect, want 1", effects)
			}
			wantAnswer(t, "afterwards", c.overREST(t, b), "OK", true)
		}
		if n := count(t, a, "events WHERE type = 'channel.mute'"); n != 5 {
			t.Errorf("%d mutes were announced, want 5", n)
		}
	})
}

// TestKeyIsInUseWhileFirstRequestIsInProgress holds the first request back in its
// transaction.
func TestKeyIsInUseWhileFirstRequestIsInProgress(t *testing.T) {
	two(t, func(t *testing.T, a, b *servertest.Server, gate *storetest.Gate) {
		c := mute(t, a, servertest.Raider)
		held := gate.Shut("FROM tokens t WHERE")
		answers := make(chan answer, 2)
		go func() { answers <- c.overREST(t, a) }()
		select {
		case <-held:
		case <-time.After(10 * time.Second):
			t.Fatal("the transaction has no such query")
		}
		wantAnswer(t, "on the same server", c.overREST(t, a), "IDEMPOTENCY_KEY_IN_USE", false)
		if storetest.IsSQLite(a.Store) { // the other transaction begins after the first one
			go func() { answers <- c.overREST(t, b) }()
			time.Sleep(100 * time.Millisecond)
			gate.Open()
			if first, second := <-answers, <-answers; first.reason != "OK" || second.reason != "OK" || first.isReplay == second.isReplay {
				t.Errorf("got %s and %s, replayed are %t and %t", first.reason, second.reason, first.isReplay, second.isReplay)
			}
			return
		}
		began := time.Now()
		wantAnswer(t, "on another server", c.overREST(t, b), "IDEMPOTENCY_KEY_IN_USE", false)
		if took := time.Since(began); took > 3*time.Second {
			t.Errorf("the other server responded after %s", took)
		}
		gate.Open()
		wantAnswer(t, "the first", <-answers, "OK", false)
		wantAnswer(t, "afterwards", c.overREST(t, b), "OK", true)
	})
}
