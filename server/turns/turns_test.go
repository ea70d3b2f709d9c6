package turns_test

import (
	"context"
	"slices"
	"testing"
	"testing/synctest"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/moderato-live/moderato/server/turns"
	"github.com/moderato-live/moderato/server/uid"
)

// scene is a channel that somebody is changing, with others in line.
type scene struct {
	*testing.T
	turns   *turns.Turns
	channel uid.ID
	done    []func() // of those who have a turn, in the order in which they got it
	order   []string // their names
	cancel  context.CancelFunc
	ctx     context.Context // of those who wait
}

func newScene(t *testing.T) *scene {
	s := &scene{T: t, turns: turns.New(), channel: uid.New()}
	s.ctx, s.cancel = context.WithCancel(t.Context())
	s.lineUp("first", turns.Ordinary)
	return s
}

// lineUp has somebody wait for their turn, who has joined the line when it
// returns.
func (s *scene) lineUp(name string, p turns.Priority) {
	go func() {
		done, err := s.turns.Take(s.ctx, s.channel, p)
		if err != nil {
			s.order = append(s.order, name+": "+err.Error())
			return
		}
		s.order = append(s.order, name)
		s.done = append(s.done, done)
	}()
	synctest.Wait()
}

// pass gives back the turn of who got theirs first.
func (s *scene) pass() {
	done := s.done[0]
	s.done = s.done[1:]
	done()
	synctest.Wait()
}

// passAll gives back all turns, those too that come of it.
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

func TestChangesOfAChannelHaveTheirTurnsInOrder(t *testing.T) {
	inBubble(t, func(_ *testing.T, s *scene) {
		s.lineUp("second", turns.Ordinary)
		s.lineUp("third", turns.Ordinary)
		s.want("first")
		s.pass()
		s.want("first", "second")
		s.passAll()
		s.want("first", "second", "third")
	})
}

func TestModerationGoesAhead(t *testing.T) {
	inBubble(t, func(_ *testing.T, s *scene) {
		s.lineUp("follow", turns.Ordinary)
		s.lineUp("ban", turns.Ahead)
		s.lineUp("mute", turns.Ahead)
		s.passAll()
		s.want("first", "ban", "mute", "follow")
	})
}

func TestNobodyWaitsForeverBehindModeration(t *testing.T) {
	inBubble(t, func(t *testing.T, s *scene) {
		s.lineUp("follow", turns.Ordinary)
		for range 40 {
			s.lineUp("ban", turns.Ahead)
		}
		s.passAll()
		if at := slices.Index(s.order, "follow"); at != 1+16 {
			t.Errorf("got the follow's turn after %d others, want 17", at)
		}
		if len(s.order) != 42 {
			t.Errorf("got %d turns, want 42", len(s.order))
		}
	})
}

func TestOtherChannelsDoNotWait(t *testing.T) {
	inBubble(t, func(_ *testing.T, s *scene) {
		s.lineUp("waits", turns.Ordinary)
		s.channel = uid.New()
		s.lineUp("other channel", turns.Ordinary)
		s.want("first", "other channel")
		s.cancel()
	})
}

func TestWhoGivesUpLeavesTheLine(t *testing.T) {
	inBubble(t, func(_ *testing.T, s *scene) {
		s.lineUp("gives up", turns.Ordinary)
		s.cancel()
		synctest.Wait()
		s.ctx = s.Context()
		s.lineUp("second", turns.Ordinary)
		s.pass()
		s.want("first", "gives up: context canceled", "second")
	})
}

// A turn that comes while its owner gives up is not lost: else nobody would change
// the channel for as long as the server runs.
func TestATurnThatNobodyTakesGoesToTheNext(t *testing.T) {
	for range 100 { // which of the two comes to the lines first is chance
		inBubble(t, func(t *testing.T, s *scene) {
			s.lineUp("second", turns.Ordinary)
			s.cancel()
			s.pass()
			s.ctx = t.Context()
			s.passAll()
			s.order = nil
			s.lineUp("third", turns.Ordinary)
			s.want("third")
			s.passAll()
		})
	}
}

func TestTheMetricTellsHowManyWait(t *testing.T) {
	inBubble(t, func(t *testing.T, s *scene) {
		registry := prometheus.NewRegistry()
		s.turns.Register(registry)
		waiting := func() float64 {
			families, err := registry.Gather()
			if err != nil {
				t.Fatal(err)
			}
			return families[0].GetMetric()[0].GetGauge().GetValue()
		}
		s.lineUp("third", turns.Ordinary)
		s.lineUp("fourth", turns.Ahead)
		if n := waiting(); n != 2 {
			t.Errorf("got %v waiting, want 2", n)
		}
		s.passAll()
		if n := waiting(); n != 0 {
			t.Errorf("got %v waiting at the end, want 0", n)
		}
	})
}
