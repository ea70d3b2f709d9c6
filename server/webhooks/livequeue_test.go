package webhooks

import (
	"log/slog"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/moderato-live/moderato/server/live"
	"github.com/moderato-live/moderato/server/uid"
)

// TestLiveQueueIsBounded adds more live events to a queue than may wait, and lets them wait
// for too long. The newest are lost in the first case, and the oldest in the second.
func TestLiveQueueIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := NewEngine(nil, nil, slog.New(slog.DiscardHandler), prometheus.NewRegistry(), Options{Timeout: AttemptTimeout, MaxAttempts: 4})
		l, c := e.live, candidateOf(1)
		post := func(n int) {
			for range n {
				m := &liveEvent{Message: live.Message{ID: uid.New()}, at: time.Now()}
				l.add(t.Context(), c, m)
			}
		}
		q := l.queue(c)
		q.senders = maxInFlight // so that no other sender starts
		post(maxLiveWaiting)
		first := q.waiting[0]
		post(7)
		if m, missed := l.take(t.Context(), q); m != first || missed != 7 {
			t.Errorf("got %v, having lost %d, want the first event and 7", m, missed)
		}
		q.busy = map[uid.ID]bool{}
		time.Sleep(AttemptTimeout + time.Millisecond)
		post(1)
		if m, missed := l.take(t.Context(), q); m == nil || m.at != time.Now() || missed != maxLiveWaiting-1 {
			t.Errorf("got %v, having lost %d, want the new event and %d", m, missed, maxLiveWaiting-1)
		}
		if l.waiting != 0 {
			t.Errorf("%d events wait in all queues, want none", l.waiting)
		}
	})
}
