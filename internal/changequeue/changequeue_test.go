package changequeue_test

import (
	"context"
	"errors"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/moderato-live/moderato/internal/changequeue"
	"github.com/moderato-live/moderato/internal/fair"
	"github.com/moderato-live/moderato/internal/uid"
)

// scene is a channel that is being changed, with other changes queued.
type scene struct {
	*testing.T
	queues  *changequeue.Queues
	channel uid.ID
	mu      sync.Mutex
	done    []func() // the done functions of running changes, in order of acquisition
	order   []string // their names
	cancel  context.CancelFunc
	ctx     context.Context // the context of queued changes
}

func newScene(t *testing.T) *scene {
	s := &scene{T: t, queues: changequeue.New(), channel: uid.New()}
	s.ctx, s.cancel = context.WithCancel(t.Context())
	s.enqueue("first", fair.Normal)
	return s
}

// enqueue queues a change, and returns once it is queued.
func (s *scene) enqueue(name string, p fair.Priority) { s.enqueueWith(name, p, s.queues.Acquire) }

func (s *scene) enqueueWith(name string, p fair.Priority, acquire func(context.Context, uid.ID) (*changequeue.Turn, error)) {
	go func() {
		turn, err := acquire(fair.WithPriority(s.ctx, p), s.channel)
		s.mu.Lock()
		defer s.mu.Unlock()
		if err != nil {
			s.order = append(s.order, name+": "+err.Error())
			return
		}
		s.order = append(s.order, name)
		s.done = append(s.done, turn.End)
	}()
	synctest.Wait()
}

// finish ends the change that has run the longest.
func (s *scene) finish() {
	s.mu.Lock()
	done := s.done[0]
	s.done = s.done[1:]
	s.mu.Unlock()
	done()
	synctest.Wait()
}

// finishAll ends all changes, including those that start meanwhile.
func (s *scene) finishAll() {
	for s.isRunning() {
		s.finish()
	}
}

func (s *scene) isRunning() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.done) > 0
}

func (s *scene) want(names ...string) {
	s.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	if !slices.Equal(s.order, names) {
		s.Errorf("got %v, want %v", s.order, names)
	}
}

func inBubble(t *testing.T, test func(*testing.T, *scene)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) { test(t, newScene(t)) })
}

func TestChangesOfOneChannelRunInOrder(t *testing.T) {
	inBubble(t, func(_ *testing.T, s *scene) {
		s.enqueue("second", fair.Normal)
		s.enqueue("third", fair.Normal)
		s.want("first")
		s.finish()
		s.want("first", "second")
		s.finishAll()
		s.want("first", "second", "third")
	})
}

func TestModerationHasPriority(t *testing.T) {
	inBubble(t, func(_ *testing.T, s *scene) {
		s.enqueue("follow", fair.Normal)
		s.enqueue("ban", fair.High)
		s.enqueue("mute", fair.High)
		s.finishAll()
		s.want("first", "ban", "mute", "follow")
	})
}

func TestOtherChannelsDoNotWait(t *testing.T) {
	inBubble(t, func(_ *testing.T, s *scene) {
		s.enqueue("waits", fair.Normal)
		s.channel = uid.New()
		s.enqueue("other channel", fair.Normal)
		s.want("first", "other channel")
		s.cancel()
	})
}

func TestCancelledChangeLeavesQueue(t *testing.T) {
	inBubble(t, func(_ *testing.T, s *scene) {
		s.enqueue("gives up", fair.Normal)
		s.cancel()
		synctest.Wait()
		s.ctx = s.Context()
		s.enqueue("second", fair.Normal)
		s.finish()
		s.want("first", "gives up: context canceled", "second")
	})
}

func TestLongChangesLeaveHalfTheTimeToModerators(t *testing.T) {
	const duration = 80 * time.Millisecond
	for _, test := range []struct {
		name     string
		priority fair.Priority
		rests    bool
	}{
		{"ban", fair.High, true},
		{"follow", fair.Normal, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			inBubble(t, func(_ *testing.T, s *scene) {
				s.finish()
				s.enqueueWith("batch", fair.High, s.queues.AcquireLong)
				s.enqueue(test.name, test.priority)
				s.enqueueWith("batch 2", fair.High, s.queues.AcquireLong)
				time.Sleep(duration)
				s.finish()
				s.finish() // the short change
				if !test.rests {
					s.want("first", "batch", test.name, "batch 2")
					s.finishAll()
					return
				}
				s.enqueue("ban 2", fair.High)
				s.finish()
				time.Sleep(duration - time.Millisecond)
				synctest.Wait()
				s.want("first", "batch", "ban", "ban 2")
				time.Sleep(time.Millisecond)
				synctest.Wait()
				s.want("first", "batch", "ban", "ban 2", "batch 2")
				s.finishAll()
			})
		})
	}
}

func TestLongChangesFollowEachOtherIfNobodyWaits(t *testing.T) {
	inBubble(t, func(_ *testing.T, s *scene) {
		s.finish()
		s.enqueueWith("batch", fair.High, s.queues.AcquireLong)
		s.enqueueWith("batch 2", fair.High, s.queues.AcquireLong)
		time.Sleep(80 * time.Millisecond)
		s.finish()
		s.want("first", "batch", "batch 2")
		s.finishAll()
	})
}

// TestOwnerWithManyWaitingLongChangesIsRejected has as many long changes wait as an owner may
// have, and one more.
func TestOwnerWithManyWaitingLongChangesIsRejected(t *testing.T) {
	inBubble(t, func(t *testing.T, s *scene) {
		var rejected atomic.Int32
		begin := func(client string) {
			ctx := fair.NewContext(s.ctx, fair.Request{Owner: fair.Owner{Client: client}, MaxWait: 24 * time.Hour})
			go func() {
				var overloaded *fair.OverloadedError
				if _, err := s.queues.AcquireLong(ctx, s.channel); errors.As(err, &overloaded) {
					rejected.Add(1)
				}
			}()
			synctest.Wait()
		}
		for range 1001 { // the first one waits for the short change, at the head of the line
			begin("a")
		}
		if n := rejected.Load(); n != 0 {
			t.Errorf("%d of 1,000 waiting changes are rejected", n)
		}
		begin("a")
		begin("b")
		if n := rejected.Load(); n != 1 {
			t.Errorf("%d changes are rejected, want the one of the owner with 1,000", n)
		}
		s.cancel()
	})
}

func TestMetricReportsQueueLength(t *testing.T) {
	inBubble(t, func(t *testing.T, s *scene) {
		registry := prometheus.NewRegistry()
		s.queues.Register(registry)
		waiting := func() float64 {
			families, err := registry.Gather()
			if err != nil {
				t.Fatal(err)
			}
			for _, f := range families {
				if f.GetName() == "moderato_changes_waiting" {
					return f.GetMetric()[0].GetGauge().GetValue()
				}
			}
			t.Fatal("there is no metric of waiting changes")
			return 0
		}
		s.enqueue("third", fair.Normal)
		s.enqueue("fourth", fair.High)
		if n := waiting(); n != 2 {
			t.Errorf("got %v waiting, want 2", n)
		}
		s.finishAll()
		if n := waiting(); n != 0 {
			t.Errorf("got %v waiting at the end, want 0", n)
		}
	})
}
