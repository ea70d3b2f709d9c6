package webhooks

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/moderato-live/moderato/internal/uid"
)

func candidateOf(o byte) candidate {
	return candidate{owner: owner{user: uid.ID{o}}}
}

// acquireAll acquires slots until none are left, and returns them.
func acquireAll(s *slots, c candidate) (all []*slot) {
	for slot := s.acquire(c); slot != nil; slot = s.acquire(c) {
		all = append(all, slot)
	}
	return all
}

// slowDown moves slots to the slow slots, or releases them.
func slowDown(all []*slot) {
	for _, slot := range all {
		if !slot.slowDown() {
			slot.release()
		}
	}
}

func TestSlowReceiversOfOneOwnerAreLimited(t *testing.T) {
	t.Parallel()
	s := newSlots(80) // 20 fast and 40 slow
	for o := range byte(60) {
		slowDown(acquireAll(s, candidateOf(o)))
	}
	if s.slow.used != 60 || s.fast.used != 0 {
		t.Fatalf("got %d slow and %d fast, want all slow ones and no fast one", s.slow.used, s.fast.used)
	}
	if got := s.acquire(candidateOf(0)); got != nil {
		t.Error("an owner with a slow receiver got another slot")
	}
	slow := candidateOf(100)
	slow.isSlow = true
	if s.acquire(slow) != nil {
		t.Error("a slow receiver got a slot beyond those for slow ones")
	}
	unknown := acquireAll(s, candidateOf(101))
	if len(unknown) != 1 || unknown[0].pool != &s.fast {
		t.Errorf("an unknown receiver of another owner: got %d slots, want one", len(unknown))
	}
	proven := candidateOf(102)
	proven.isProven = true
	if got := acquireAll(s, proven); len(got) < 2 || got[0].pool != &s.fast {
		t.Errorf("a fast receiver of another owner: got %d slots", len(got))
	}
}

func TestSlotsAreSharedFairlyByOwners(t *testing.T) {
	t.Parallel()
	s := newSlots(80)
	proven := func(o byte) candidate {
		c := candidateOf(o)
		c.isProven = true
		return c
	}
	if got := len(acquireAll(s, proven(1))); got != 10 {
		t.Errorf("the first owner got %d of 20, want half", got)
	}
	if got := len(acquireAll(s, proven(2))); got != 6 {
		t.Errorf("the second owner got %d, want a third", got)
	}
	if s.acquire(proven(3)) == nil {
		t.Error("the third owner got nothing")
	}
}

func TestWebhookYieldsToWaitingOwners(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSlots(80)
		slow := candidateOf(1)
		slow.isSlow = true
		first := s.acquire(slow)
		if got := first.resize(8); got != 8 {
			t.Errorf("got room for %d attempts, want 8", got)
		}
		time.Sleep(turnTime)
		if first.yields() {
			t.Error("it yields, and nobody waits")
		}
		for o := range byte(100) {
			c := candidateOf(o)
			c.isSlow = true
			acquireAll(s, c)
		}
		if !first.yields() {
			t.Error("it does not yield, and others wait")
		}
		if got := first.resize(2); got != 2 {
			t.Errorf("got room for %d attempts, want 2", got)
		}
		if got := first.resize(3); got != 2 {
			t.Errorf("got room for %d attempts while others wait, want 2", got)
		}
		used := s.slow.used
		first.release()
		first.slowDown() // as for an attempt that ends later
		if s.slow.used != used-2 || len(s.fast.byOwner) != 0 {
			t.Errorf("after its release %d are used, want %d", s.slow.used, used-2)
		}
	})
}

func TestSlotsAreLimited(t *testing.T) {
	t.Parallel()
	s := newSlots(80)
	n := 0
	for o := range 1000 {
		c := candidate{owner: owner{user: uid.ID{byte(o), byte(o >> 8)}}}
		all := acquireAll(s, c)
		n = max(n, s.fast.used+s.slow.used)
		slowDown(all[:len(all)/2])
	}
	if n > 80 || !s.isFull() || s.mayGrant(candidateOf(1)) {
		t.Errorf("got %d slots, want at most 80", n)
	}
}

// TestLiveAttemptsMakeRoom fills the slots with attempts for live events. Other events must
// get as many slots as without them.
func TestLiveAttemptsMakeRoom(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSlots(80)
		ended := 0
		begin := func(o byte) *liveAttempt { return s.acquireLive(candidateOf(o).owner, func(error) { ended++ }) }
		own := 0
		for begin(0) != nil {
			own++
		}
		for o := range byte(100) {
			begin(o)
		}
		if own != 10 || s.live.used != 20 {
			t.Errorf("one owner got %d and all got %d slots for live events, want 10 and 20", own, s.live.used)
		}
		if begin(200) != nil || ended != 0 {
			t.Error("an attempt that is not slow ended for another live event")
		}
		time.Sleep(slowAfter)
		if begin(200) == nil || ended != 1 {
			t.Errorf("%d slow attempts ended for another owner, want 1", ended)
		}
		slow := func(o byte) candidate { c := candidateOf(o); c.isSlow = true; return c }
		for o := range byte(100) {
			slowDown(acquireAll(s, candidateOf(o)))
			acquireAll(s, slow(o))
		}
		if s.slow.used != 60 || s.used() > 80 {
			t.Errorf("%d slow slots and %d in all are used, want 60 and at most 80", s.slow.used, s.used())
		}
		proven := candidateOf(201)
		proven.isProven = true
		if got := len(acquireAll(s, proven)); got != 10 || s.used() != 80 || ended != 1+20-s.live.used {
			t.Errorf("%d slots for other events; %d are used, and %d attempts ended; want 10, 80 and %d", got, s.used(), ended, 1+20-s.live.used)
		}
	})
}
