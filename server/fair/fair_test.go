package fair_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/moderato-live/moderato/server/fair"
)

// scene is a gate with waiting requests in a synctest bubble.
type scene struct {
	*testing.T
	gate  *fair.Gate
	slots []fair.Slot // the held slots, in the order of acquisition
	order []string    // the owners of the slots
	joins bool        // whether requests use AcquireOrJoin
}

func inBubble(t *testing.T, slots int, test func(*scene)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) { test(&scene{T: t, gate: fair.NewGate(slots)}) })
}

// ask requests a slot, and returns once the request waits or has the slot.
func (s *scene) ask(ctx context.Context, owner string, p fair.Priority, maxWait time.Duration) <-chan error {
	ended := make(chan error, 1)
	acquire := s.gate.Acquire
	if s.joins {
		acquire = s.gate.AcquireOrJoin
	}
	go func() {
		slot, err := acquire(as(ctx, owner, p, maxWait))
		if err == nil {
			s.order = append(s.order, owner)
			s.slots = append(s.slots, slot)
		}
		ended <- err
	}()
	synctest.Wait()
	return ended
}

// as returns the context of a request of an owner, which announces the name of the owner.
func as(ctx context.Context, owner string, p fair.Priority, maxWait time.Duration) context.Context {
	return fair.NewContext(ctx, fair.Request{Owner: fair.Owner{Client: owner}, Priority: p, MaxWait: maxWait, Announced: owner})
}

func (s *scene) askAll(p fair.Priority, owners ...string) {
	for _, owner := range owners {
		s.ask(s.Context(), owner, p, 0)
	}
}

// release releases the slot that was granted first, after it was held for a while.
func (s *scene) release(held time.Duration) {
	time.Sleep(held)
	slot := s.slots[0]
	s.slots = s.slots[1:]
	slot.Release()
	slot.Release() // has no effect
	synctest.Wait()
}

func (s *scene) releaseAll() {
	for len(s.slots) > 0 {
		s.release(0)
	}
}

func (s *scene) want(owners ...string) {
	s.Helper()
	if !slices.Equal(s.order, owners) {
		s.Errorf("got slots for %v, want %v", s.order, owners)
	}
}

func TestGateNeverExceedsItsSlots(t *testing.T) {
	inBubble(t, 2, func(s *scene) {
		s.askAll(fair.Normal, "a", "b", "c", "d")
		s.want("a", "b")
		s.release(0)
		s.want("a", "b", "c")
		s.releaseAll()
		s.want("a", "b", "c", "d")
		if !s.gate.IsIdle() {
			t.Error("the gate is not idle in the end")
		}
	})
}

func TestOwnersAreServedRoundRobin(t *testing.T) {
	inBubble(t, 1, func(s *scene) {
		s.askAll(fair.Normal, "a", "a", "a", "a", "b", "c", "b")
		s.releaseAll()
		s.want("a", "a", "b", "c", "a", "b", "a")
	})
}

func TestNextReturnsOrderOfService(t *testing.T) {
	isOf := func(announced any, owner string) bool { return announced == owner }
	for n := range 30 {
		inBubble(t, 1, func(s *scene) {
			s.joins = true
			s.askAll(fair.High, "first", "a", "a", "a", "b", "c", "b")
			alone := s.slots[0].Next(n, fair.High)
			s.askAll(fair.High, slices.Repeat([]string{"d"}, 20)...)
			s.askAll(fair.Normal, "normal 1", "normal 2", "normal 1")
			high, all := s.slots[0].Next(n, fair.High), s.slots[0].Next(n, fair.Normal)
			s.releaseAll()
			if want := []string{"a", "b", "c", "a", "b", "a"}[:min(n, 6)]; !slices.EqualFunc(alone, want, isOf) {
				t.Errorf("the next %d are %v, want %v", n, alone, want)
			}
			if want := s.order[1 : 1+min(n, 16)]; !slices.EqualFunc(high, want, isOf) { // then a normal one has its turn
				t.Errorf("the next %d with high priority are %v, want %v", n, high, want)
			}
			if len(all) != n || n == 29 && all[26] != any("normal 1") {
				t.Errorf("the next %d are %v, want those with high priority and then the normal ones", n, all)
			}
		})
	}
}

// TestNextEndsAtRequestThatCannotJoin lets a request wait to which the slot cannot be passed.
// Next does not return the requests after it.
func TestNextEndsAtRequestThatCannotJoin(t *testing.T) {
	inBubble(t, 1, func(s *scene) {
		s.joins = true
		s.askAll(fair.High, "first", "a")
		s.joins = false
		s.askAll(fair.High, "b")
		s.joins = true
		s.askAll(fair.High, "c")
		s.askAll(fair.Normal, "normal")
		if got := s.slots[0].Next(10, fair.Normal); !slices.Equal(got, []any{"a"}) {
			t.Errorf("the next ones are %v, want a", got)
		}
		s.releaseAll()
	})
}

func TestHighPriorityRequestsOvertakeNormalOnes(t *testing.T) {
	inBubble(t, 1, func(s *scene) {
		s.askAll(fair.Normal, "first", "normal")
		s.askAll(fair.High, "high 1", "high 2")
		s.releaseAll()
		s.want("first", "high 1", "high 2", "normal")
	})
}

func TestNormalRequestsAreNotStarved(t *testing.T) {
	inBubble(t, 1, func(s *scene) {
		s.askAll(fair.Normal, "first", "normal")
		for range 40 {
			s.askAll(fair.High, "high")
		}
		s.releaseAll()
		if at := slices.Index(s.order, "normal"); at != 1+16 {
			t.Errorf("got the slot of the normal request after %d others, want 17", at)
		}
		if len(s.order) != 42 {
			t.Errorf("got %d slots, want 42", len(s.order))
		}
	})
}

func TestRequestWithTooLongWaitIsRejectedImmediately(t *testing.T) {
	inBubble(t, 1, func(s *scene) {
		// Each holder keeps its slot for 100 ms.
		for range 50 {
			s.askAll(fair.Normal, "a")
			s.release(100 * time.Millisecond)
		}
		s.askAll(fair.Normal, slices.Repeat([]string{"a"}, 20)...)
		rejected := s.ask(s.Context(), "a", fair.Normal, 1500*time.Millisecond)
		var overloaded *fair.OverloadedError
		if err := <-rejected; !errors.As(err, &overloaded) {
			t.Fatalf("got %v, want an OverloadedError", err)
		}
		if got := overloaded.RetryAfter; got < 1500*time.Millisecond || got > 2500*time.Millisecond {
			t.Errorf("got RetryAfter %s, want about 2 s", got)
		}
		if err := s.gate.Check(as(s.Context(), "a", fair.Normal, 1500*time.Millisecond)); err == nil {
			t.Error("Check: got nil, want the same error")
		}
		// Another owner is served next, and a high-priority request before that.
		for _, accepted := range []<-chan error{
			s.ask(s.Context(), "b", fair.Normal, 1500*time.Millisecond),
			s.ask(s.Context(), "a", fair.High, 1500*time.Millisecond),
		} {
			select {
			case err := <-accepted:
				t.Errorf("got %v, want that the request waits", err)
			default:
			}
		}
		s.releaseAll()
	})
}

// TestOwnerWithManyWaitingRequestsIsRejected has as many requests wait as an owner may have.
// The wait of each would be short.
func TestOwnerWithManyWaitingRequestsIsRejected(t *testing.T) {
	inBubble(t, 1, func(s *scene) {
		s.gate.MaxWaiting = 20
		asks := func(owner string) error { return s.gate.Check(as(s.Context(), owner, fair.Normal, time.Second)) }
		s.askAll(fair.Normal, slices.Repeat([]string{"a"}, 20)...) // the first has the slot
		if err := asks("a"); err != nil {
			t.Errorf("the last of 20 waiting requests: got %v", err)
		}
		s.askAll(fair.Normal, "a")
		if asks("a") == nil {
			t.Error("one more than 20 requests of an owner may wait")
		}
		if err := asks("b"); err != nil {
			t.Errorf("another owner: got %v", err)
		}
		s.releaseAll()
	})
}

func TestRequestWaitIsLimited(t *testing.T) {
	inBubble(t, 1, func(s *scene) {
		s.askAll(fair.Normal, "holds")
		late := s.ask(s.Context(), "late", fair.Normal, time.Second)
		start := time.Now()
		var overloaded *fair.OverloadedError
		if err := <-late; !errors.As(err, &overloaded) || time.Since(start) != time.Second {
			t.Errorf("got %v after %s, want an OverloadedError after 1 s", err, time.Since(start))
		}
		s.releaseAll()
		s.want("holds")
		if !s.gate.IsIdle() {
			t.Error("the gate is not idle in the end")
		}
	})
}

// One holder that hung does not predict the hold time of the next ones.
func TestHungHolderDoesNotCauseRejections(t *testing.T) {
	inBubble(t, 1, func(s *scene) {
		s.askAll(fair.Normal, "hangs")
		s.release(time.Minute)
		s.askAll(fair.Normal, slices.Repeat([]string{"a"}, 50)...)
		if err := s.gate.Check(as(s.Context(), "a", fair.Normal, time.Second)); err != nil {
			t.Errorf("got %v, want that the request may wait", err)
		}
		s.releaseAll()
	})
}

func TestCancelledRequestLeavesQueue(t *testing.T) {
	inBubble(t, 1, func(s *scene) {
		s.askAll(fair.Normal, "first")
		ctx, cancel := context.WithCancel(s.Context())
		ended := s.ask(ctx, "gives up", fair.Normal, 0)
		s.askAll(fair.Normal, "second")
		if n := s.gate.Waiting(); n != 2 {
			t.Errorf("got %d waiting, want 2", n)
		}
		cancel()
		if err := <-ended; !errors.Is(err, context.Canceled) {
			t.Errorf("got %v, want context.Canceled", err)
		}
		s.releaseAll()
		s.want("first", "second")
	})
}

// A slot that is granted while its request is cancelled is not lost.
func TestUnclaimedSlotGoesToNextRequest(t *testing.T) {
	for range 100 { // the order of the two is random
		inBubble(t, 1, func(s *scene) {
			s.askAll(fair.Normal, "first")
			ctx, cancel := context.WithCancel(s.Context())
			s.ask(ctx, "gives up", fair.Normal, 0)
			cancel()
			s.release(0)
			s.releaseAll()
			s.order = nil
			s.askAll(fair.Normal, "next")
			s.want("next")
			s.releaseAll()
		})
	}
}

func TestSlotIsPassedToRequestThatJoins(t *testing.T) {
	inBubble(t, 1, func(s *scene) {
		first, err := s.gate.Acquire(s.Context())
		if err != nil || first.Passed() != nil {
			t.Fatalf("got a slot with %v (%v), want a free one", first.Passed(), err)
		}
		if first.Pass("nobody waits", fair.Normal) {
			t.Error("the slot was passed to nobody")
		}
		joined := make(chan fair.Slot, 1)
		go func() {
			slot, err := s.gate.AcquireOrJoin(s.Context())
			if err != nil {
				t.Error(err)
			}
			joined <- slot
		}()
		synctest.Wait()
		s.ask(s.Context(), "does not join", fair.Normal, 0)
		if first.Pass("a baton", fair.High) {
			t.Error("the slot was passed to a request of lower priority")
		}
		if !first.Pass("a baton", fair.Normal) {
			t.Fatal("the slot was not passed")
		}
		first.Release() // has no effect
		synctest.Wait()
		s.want()
		second := <-joined
		if second.Passed() != "a baton" {
			t.Errorf("got %v with the slot", second.Passed())
		}
		if second.Pass("another", fair.Normal) {
			t.Error("the slot was passed to a request that does not join")
		}
		second.Release()
		synctest.Wait()
		s.want("does not join")
	})
}

// TestPassedSlotIsNotLost ends the context of a waiting request at the moment when a slot is
// passed to it.
func TestPassedSlotIsNotLost(t *testing.T) {
	for range 200 {
		inBubble(t, 1, func(s *scene) {
			first, _ := s.gate.Acquire(s.Context())
			ctx, cancel := context.WithCancel(s.Context())
			joined := make(chan fair.Slot, 1)
			go func() {
				if slot, err := s.gate.AcquireOrJoin(ctx); err == nil {
					joined <- slot
				}
				close(joined)
			}()
			synctest.Wait()
			cancel()
			if !first.Pass("a baton", fair.Normal) {
				first.Release()
				return
			}
			if second := <-joined; second.Passed() != "a baton" {
				t.Error("what was passed is lost")
			} else {
				second.Release()
			}
			if !s.gate.IsIdle() {
				t.Error("the gate is not idle in the end")
			}
		})
	}
}
