package webhooks

import (
	"log/slog"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/moderato-live/moderato/internal/uid"
	"github.com/moderato-live/moderato/server/event/live"
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
		if l.waiting.used != 0 {
			t.Errorf("%d events wait in all queues, want none", l.waiting.used)
		}
	})
}

// TestLiveEventsOfOneOwnerLeaveRoom fills the queues of an owner until no more live events may
// wait. Those of other owners wait nevertheless, until all owners have as many.
func TestLiveEventsOfOneOwnerLeaveRoom(t *testing.T) {
	t.Parallel()
	l := NewEngine(nil, nil, slog.New(slog.DiscardHandler), prometheus.NewRegistry(), Options{Timeout: AttemptTimeout, MaxAttempts: 4}).live
	post := func(o byte, webhooks int) {
		for i := range webhooks {
			c := candidateOf(o)
			c.id = uid.ID{o, byte(i)}
			l.queue(c).senders = maxInFlight // so that no other sender starts
			for range maxLiveWaiting {
				l.add(t.Context(), c, &liveEvent{Message: live.Message{ID: uid.New()}, at: time.Now()})
			}
		}
	}
	waiting := func(o byte) int { return l.waiting.byOwner[candidateOf(o).owner] }
	post(1, 150)
	if waiting(1) != maxLiveEvents {
		t.Errorf("%d events of the only owner wait, want %d", waiting(1), maxLiveEvents)
	}
	post(2, 1)
	if waiting(2) != maxLiveWaiting {
		t.Errorf("%d events of another owner wait, want %d", waiting(2), maxLiveWaiting)
	}
	post(3, 150)
	post(1, 150)
	if least := maxLiveEvents/2 - 2*maxLiveWaiting; waiting(1) < least || waiting(2) != maxLiveWaiting || waiting(3) < least {
		t.Errorf("%d, %d and %d events of three owners wait", waiting(1), waiting(2), waiting(3))
	}
	n := 0
	for _, q := range l.queues {
		n += len(q.waiting)
	}
	if n != l.waiting.used || n > maxLiveEvents {
		t.Errorf("%d events wait, and %d are counted, want at most %d", n, l.waiting.used, maxLiveEvents)
	}
}
