package feed_test

import (
	"context"
	"sync"
	"testing"
	"time"

	"google.golang.org/protobuf/proto"

	"github.com/moderato-live/moderato/server/domain/audience"
	"github.com/moderato-live/moderato/server/store"
	"github.com/moderato-live/moderato/test/servertest"
)

// TestSubscriptionLapseIsEmittedOnce has a subscription expire while several sweepers
// run, including those of two servers.
func TestSubscriptionLapseIsEmittedOnce(t *testing.T) {
	eachPair(t, func(t *testing.T, f *platformFeed, other *servertest.Server) {
		for range 5 {
			p := period{from: f.now, to: f.now.Add(time.Hour), renewed: 3, streak: 2}
			f.must(p.put())
			f.wantEvents(servertest.Owner, p.subscribed())
			f.wantActivities(servertest.Owner, p.note())
			f.to(p.to - 1)
			f.sweep()
			f.wantActive(p)
			f.wantEvents(servertest.Owner)

			f.to(p.to)
			other.Store.Clock.Freeze(p.to)
			f.wantNoSubscriber(p)
			var all sync.WaitGroup
			for _, s := range []*store.Store{f.Store, other.Store, f.Store, other.Store} {
				all.Go(func() {
					if err := (&audience.Sweeper{Store: s}).Sweep(context.Background()); err != nil {
						t.Error(err)
					}
				})
			}
			all.Wait()
			f.wantEvents(servertest.Owner, p.lapsed())
			f.wantActivities(servertest.Owner)
			f.wantNoSubscriber(p)
			servertest.CheckCounters(t, f.Store, "after the lapse")

			// An ended subscription does not end again.
			f.must(endSubscription())
			f.must(p.put())
			f.sweep()
			f.wantEvents(servertest.Owner)
			f.later(time.Minute)
		}
	})
}

// TestPutSubscriptionAfterLapse puts another period after the expiration, before or after
// the sweep: first the end must be emitted without an actor, then the new period with the
// backend as its actor.
func TestPutSubscriptionAfterLapse(t *testing.T) {
	eachFeed(t, func(t *testing.T, f *platformFeed) {
		for _, isSwept := range []bool{false, true} {
			old := period{from: f.now, to: f.now.Add(time.Hour)}
			f.must(old.put())
			f.wantEvents(servertest.Owner, old.subscribed())
			f.wantActivities(servertest.Owner, old.note())
			f.to(old.to)
			if isSwept {
				f.sweep()
			}
			fresh := period{from: f.now, to: f.now.Add(time.Hour)}
			f.must(period{to: fresh.to}.put())
			f.sweep()
			f.wantEvents(servertest.Owner, old.lapsed(), fresh.subscribed())
			f.wantActivities(servertest.Owner, fresh.note())
			f.wantActive(fresh)
			f.must(endSubscription())
			f.sweep()
			f.wantEvents(servertest.Owner, period{from: fresh.from, to: f.now}.ended())
			servertest.CheckCounters(t, f.Store, "after the lapse")
		}
	})
}

// TestRepeatedSubscriptionAfterLapse repeats the call that put the subscription, or ends
// it, before the sweep: the lapse must be emitted once, and nothing else.
func TestRepeatedSubscriptionAfterLapse(t *testing.T) {
	eachFeed(t, func(t *testing.T, f *platformFeed) {
		for _, isPut := range []bool{false, true} {
			p := period{from: f.now, to: f.now.Add(time.Hour)}
			answer := f.must(period{to: p.to}.put())
			f.wantEvents(servertest.Owner, p.subscribed())
			f.wantActivities(servertest.Owner, p.note())
			f.to(p.to)
			if isPut {
				if got := f.must(period{to: p.to}.put()); !proto.Equal(got, answer) {
					t.Errorf("the repeat answers %v, want %v", got, answer)
				}
			} else {
				f.must(endSubscription())
			}
			f.sweep()
			f.wantEvents(servertest.Owner, p.lapsed())
			f.wantActivities(servertest.Owner)
			f.wantNoSubscriber(p)
			servertest.CheckCounters(t, f.Store, "after the lapse")
		}
	})
}
