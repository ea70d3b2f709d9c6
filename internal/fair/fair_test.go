package fair_test

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/moderato-live/moderato/internal/fair"
)

// scene is a gate with waiting requests in a synctest bubble.
type scene struct {
	*testing.T
	gate  *fair.Gate
	slots []fair.Slot // the held slots, in the order of acquisition
	order []string    // the owners of the slots
	work  any         // of the requests; nil if they have none that a holder can take
	mu    sync.Mutex
	taken []string // the owners of the requests whose work was taken
}

func inBubble(t *testing.T, slots int, test func(*scene)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) { test(&scene{T: t, gate: fair.NewGate(slots)}) })
}

// ask requests a slot, and returns once the request waits or has the slot.
func (s *scene) ask(ctx context.Context, owner string, p fair.Priority, maxWait time.Duration) <-chan error {
	ended := make(chan error, 1)
	work := s.work
	if work != nil {
		work = owner
	}
	go func() {
		slot, err := s.gate.AcquireOrJoin(as(ctx, owner, p, maxWait), work)
		s.mu.Lock() // several requests are told at once that their work was taken
		defer s.mu.Unlock()
		switch {
		case err != nil:
		case slot.IsHeld():
			s.order = append(s.order, owner)
			s.slots = append(s.slots, slot)
		default:
			s.taken = append(s.taken, owner)
		}
		ended <- err
	}()
	synctest.Wait()
	return ended
}

// as returns the context of a request of an owner.
func as(ctx context.Context, owner string, p fair.Priority, maxWait time.Duration) context.Context {
	return fair.NewContext(ctx, fair.Request{Owner: fair.Owner{Client: owner}, Priority: p, MaxWait: maxWait})
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

func anyWork(any) bool { return true }

func TestTakeFollowsOrderOfService(t *testing.T) {
	for n := range 24 {
		inBubble(t, 1, func(s *scene) {
			s.work = true
			queue := func() {
				s.askAll(fair.High, "first", "a", "a", "b", "c")
				s.askAll(fair.High, slices.Repeat([]string{"d"}, 16)...)
				s.askAll(fair.Normal, "normal 1", "normal 2")
			}
			queue()
			s.releaseAll()
			served := s.order[1:]
			s.order = nil
			queue()
			taken := s.slots[0].Take(n, anyWork)
			synctest.Wait()
			if want := served[:min(n, len(served))]; !slices.EqualFunc(taken, want, func(work any, owner string) bool { return work == owner }) {
				t.Errorf("the next %d are %v, want %v", n, taken, want)
			}
			slices.Sort(s.taken)
			if want := slices.Sorted(slices.Values(served[:len(taken)])); !slices.Equal(s.taken, want) {
				t.Errorf("told %v that their work was taken, want %v", s.taken, want)
			}
			s.releaseAll()
			if !slices.Equal(s.order[1:], served[len(taken):]) || !s.gate.IsIdle() {
				t.Errorf("got slots for %v, want %v", s.order[1:], served[len(taken):])
			}
		})
	}
}

// TestTakeEndsAtOtherWork lets requests wait whose work is of another kind, or cannot be taken.
// Take does not return the requests after them.
func TestTakeEndsAtOtherWork(t *testing.T) {
	for _, takable := range []bool{true, false} {
		inBubble(t, 1, func(s *scene) {
			s.work = true
			s.askAll(fair.High, "first", "a")
			if !takable {
				s.work = nil
			}
			s.askAll(fair.High, "b")
			s.work = true
			s.askAll(fair.High, "c")
			s.askAll(fair.Normal, "normal")
			taken := s.slots[0].Take(10, func(work any) bool { return work != "b" })
			if !slices.Equal(taken, []any{"a"}) {
				t.Errorf("took %v, want a", taken)
			}
			s.releaseAll()
			s.want("first", "b", "c", "normal")
		})
	}
}

// TestTakenRequestDoesNotWait has the work of a request taken at the moment when its context
// ends. It is told that its work was taken, because somebody does it.
func TestTakenRequestDoesNotWait(t *testing.T) {
	for range 100 { // the order of the two is random
		inBubble(t, 1, func(s *scene) {
			s.work = true
			s.askAll(fair.Normal, "first")
			ctx, cancel := context.WithCancel(s.Context())
			ended := s.ask(ctx, "a", fair.Normal, 0)
			cancel()
			taken := s.slots[0].Take(1, anyWork)
			synctest.Wait()
			if err := <-ended; (err == nil) != (len(taken) == 1) {
				t.Errorf("got %v after %v were taken", err, taken)
			}
			s.releaseAll()
			if !s.gate.IsIdle() {
				t.Error("the gate is not idle in the end")
			}
		})
	}
}

// TestTakenWorkCounts has each holder take the work of nine others, and hold its slot for a
// second. A request behind 50 others then waits for five seconds.
func TestTakenWorkCounts(t *testing.T) {
	inBubble(t, 1, func(s *scene) {
		s.work = true
		for range 50 {
			s.askAll(fair.Normal, slices.Repeat([]string{"a"}, 10)...)
			s.slots[0].Take(9, anyWork)
			s.release(time.Second)
		}
		s.askAll(fair.Normal, slices.Repeat([]string{"a"}, 50)...)
		if err := s.gate.Check(as(s.Context(), "a", fair.Normal, 8*time.Second)); err != nil {
			t.Errorf("got %v, want that the request may wait", err)
		}
		if err := s.gate.Check(as(s.Context(), "a", fair.Normal, 4*time.Second)); err == nil {
			t.Error("a request may wait for 4 s behind 50 others that take 100 ms each")
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
