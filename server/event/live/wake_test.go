package live_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/moderato-live/moderato/server/event/live"
)

// woken returns how many listeners are woken when nothing moves any more.
func woken(listeners []*live.Listener) (number int) {
	synctest.Wait()
	for _, l := range listeners {
		number += len(l.Wake)
	}
	return number
}

func TestFewListenersTakeAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const number = 3 * live.TakingAtOnce
		listeners := live.WakeAll(t.Context(), number)
		for i, l := range listeners {
			if want := min(i+live.TakingAtOnce, number); woken(listeners) != want {
				t.Errorf("%d listeners are woken after %d have taken their messages, want %d", woken(listeners), i, want)
			}
			l.Take()
		}
	})
}

func TestSlowListenersHardlyDelayOthers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const number = 1000 * live.TakingAtOnce
		listeners := live.WakeAll(t.Context(), number)
		for want := live.TakingAtOnce; want <= number; want *= 2 {
			if got := woken(listeners); got != want {
				t.Errorf("%d listeners are woken, want %d", got, want)
			}
			time.Sleep(live.MaxTaking)
		}
	})
}
