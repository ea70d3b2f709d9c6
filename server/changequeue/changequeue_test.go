package changequeue_test

import (
	"context"
	"slices"
	"testing"
	"testing/synctest"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/moderato-live/moderato/server/changequeue"
	"github.com/moderato-live/moderato/server/fair"
	"github.com/moderato-live/moderato/server/uid"
)

// scene is a channel that is being changed, with other changes queued.
type scene struct {
	*testing.T
	queues  *changequeue.Queues
	channel uid.ID
	done    []func() // the done functions of running changes, in order of acquisition
	order   []string // their names
	cancel  context.CancelFunc
	ctx     context.Context // the context of queued changes
}

func newScene(t *testing.T) *scene {
	s := &scene{T: t, queues: changequeue.New(), channel: uid.New()}
	s.ctx, s.cancel = context.WithCancel(t.Context())
	s.lineUp("first", fair.Normal)
	return s
}

// lineUp queues a change, and returns once it is queued.
func (s *scene) lineUp(name string, p fair.Priority) {
	go func() {
		done, err := s.queues.Acquire(fair.WithPriority(s.ctx, p), s.channel)
		if err != nil {
			s.order = append(s.order, name+": "+err.Error())
			return
		}
		s.order = append(s.order, name)
		s.done = append(s.done, done)
	}()
	synctest.Wait()
}

// pass ends the change that has run the longest.
func (s *scene) pass() {
	done := s.done[0]
	s.done = s.done[1:]
	done()
	synctest.Wait()
}

// passAll ends all changes, including those that start meanwhile.
func (s *scene) passAll() {
	for len(s.done) > 0 {
		s.pass()
	}
}

func (s *scene) want(names ...string) {
	s.Helper()
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
		s.lineUp("second", fair.Normal)
		s.lineUp("third", fair.Normal)
		s.want("first")
		s.pass()
		s.want("first", "second")
		s.passAll()
		s.want("first", "second", "third")
	})
}

func TestModerationHasPriority(t *testing.T) {
	inBubble(t, func(_ *testing.T, s *scene) {
		s.lineUp("follow", fair.Normal)
		s.lineUp("ban", fair.High)
		s.lineUp("mute", fair.High)
		s.passAll()
		s.want("first", "ban", "mute", "follow")
	})
}

func TestOtherChannelsDoNotWait(t *testing.T) {
	inBubble(t, func(_ *testing.T, s *scene) {
		s.lineUp("waits", fair.Normal)
		s.channel = uid.New()
		s.lineUp("other channel", fair.Normal)
		s.want("first", "other channel")
		s.cancel()
	})
}

func TestCancelledChangeLeavesQueue(t *testing.T) {
	inBubble(t, func(_ *testing.T, s *scene) {
		s.lineUp("gives up", fair.Normal)
		s.cancel()
		synctest.Wait()
		s.ctx = s.Context()
		s.lineUp("second", fair.Normal)
		s.pass()
		s.want("first", "gives up: context canceled", "second")
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
			return families[1].GetMetric()[0].GetGauge().GetValue()
		}
		s.lineUp("third", fair.Normal)
		s.lineUp("fourth", fair.High)
		if n := waiting(); n != 2 {
			t.Errorf("got %v waiting, want 2", n)
		}
		s.passAll()
		if n := waiting(); n != 0 {
			t.Errorf("got %v waiting at the end, want 0", n)
		}
	})
}
