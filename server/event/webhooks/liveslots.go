package webhooks

import (
	"context"
	"slices"
	"time"
)

// liveAttempt is an attempt to deliver a live event. It ends when a slot is needed for
// other events.
type liveAttempt struct {
	owner  owner
	since  time.Time
	cancel context.CancelCauseFunc
}

// acquireLive begins an attempt to deliver a live event, or returns nil if there is no
// room. Live events use at most a quarter of the slots, and only those that other events
// leave free. If there is no room, the attempt that has run longest ends for the new one,
// provided that its receiver is slow.
func (s *slots) acquireLive(o owner, cancel context.CancelCauseFunc) *liveAttempt {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.live.byOwner[o] >= s.live.share(o) {
		return nil
	}
	if (s.live.used >= s.live.size || s.isExhausted()) && !s.endLive(slowAfter) {
		return nil
	}
	a := &liveAttempt{owner: o, since: time.Now(), cancel: cancel}
	s.live.add(o, 1)
	s.liveAttempts = append(s.liveAttempts, a)
	return a
}

// releaseLive ends an attempt, unless it was ended for others.
func (s *slots) releaseLive(a *liveAttempt) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if i := slices.Index(s.liveAttempts, a); i >= 0 {
		s.removeLive(i)
	}
}

// makeRoom ends attempts for live events while more slots are in use than there are. The
// caller must hold mu.
func (s *slots) makeRoom() {
	for s.used() > s.size && s.endLive(0) {
	}
}

// endLive ends the attempt for a live event that has run longest, if it has run for at
// least a time. The caller must hold mu.
func (s *slots) endLive(age time.Duration) bool {
	if len(s.liveAttempts) == 0 || time.Since(s.liveAttempts[0].since) < age {
		return false
	}
	s.liveAttempts[0].cancel(errNoRoom)
	s.removeLive(0)
	return true
}

// removeLive removes an attempt. The caller must hold mu.
func (s *slots) removeLive(i int) {
	s.live.add(s.liveAttempts[i].owner, -1)
	s.liveAttempts = slices.Delete(s.liveAttempts, i, i+1)
}

func (s *slots) used() int { return s.fast.used + s.slow.used + s.live.used }

func (s *slots) isExhausted() bool { return s.used() >= s.size }
