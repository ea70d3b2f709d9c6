package peer_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/moderato-live/moderato/internal/peer"
)

// clock is a clock that tests set.
type clock struct{ at time.Time }

func (c *clock) now() time.Time { return c.at }

// fail makes attempts that fail, until one is refused. It returns how many it made.
func fail(f *peer.Failures, most int, address func(i int) string) int {
	for i := range most {
		if f.Wait(address(i)) > 0 {
			return i
		}
		f.Add(address(i))
	}
	return most
}

func TestFailuresOfAnAddressAreBounded(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		address func(i int) string
		want    int
	}{
		"IPv4":        {func(i int) string { return fmt.Sprintf("192.0.2.1:%d", 1024+i) }, 100},
		"IPv6 /64":    {func(i int) string { return fmt.Sprintf("[2001:db8::%x]:443", i) }, 100},
		"IPv6 /56":    {func(i int) string { return fmt.Sprintf("2001:db8:0:%x::1", i%256) }, 400},
		"IPv6 /48":    {func(i int) string { return fmt.Sprintf("2001:db8:0:%x::1", i) }, 1000}, // that of all
		"mapped IPv4": {func(i int) string { return fmt.Sprintf("[::ffff:192.0.2.1]:%d", 1024+i) }, 100},
		"no IP":       {func(i int) string { return fmt.Sprint("@", i) }, 100},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			now := &clock{time.Unix(1, 0)}
			f := peer.NewFailures(now.now)
			if got := fail(f, 5000, c.address); got != c.want {
				t.Errorf("%d attempts may fail, want %d", got, c.want)
			}
			if f.Wait("198.51.100.1") > 0 {
				t.Error("another address is refused")
			}
			now.at = now.at.Add(time.Second)
			if got := fail(f, 5000, func(int) string { return c.address(0) }); got < 1 || got > 100 {
				t.Errorf("a second later, %d more attempts may fail", got)
			}
		})
	}
}

// TestAttemptsInProgressAreNoFailures has many users of one network begin at once.
func TestAttemptsInProgressAreNoFailures(t *testing.T) {
	t.Parallel()
	f := peer.NewFailures((&clock{time.Unix(1, 0)}).now)
	for range 1000 {
		if f.Wait("192.0.2.1") > 0 {
			t.Fatal("an attempt is refused, though none has failed")
		}
	}
}

// TestCommonRateSparesAddressesWithoutFailures has attempts from many addresses fail. Then
// each of them is refused, and no other one.
func TestCommonRateSparesAddressesWithoutFailures(t *testing.T) {
	t.Parallel()
	now := &clock{time.Unix(1, 0)}
	f := peer.NewFailures(now.now)
	crowd := func(i int) string { return fmt.Sprintf("192.0.%d.%d", i/250, i%250) }
	for i := range 1200 {
		if f.Wait(crowd(i)) > 0 {
			t.Fatalf("the first attempt of address %d is refused", i)
		}
		f.Add(crowd(i))
	}
	for i := range 1200 {
		if f.Wait(crowd(i)) == 0 {
			t.Fatalf("the second attempt of address %d is made", i)
		}
	}
	if f.Wait("198.51.100.1") > 0 {
		t.Fatal("an address without failures is refused")
	}
	now.at = now.at.Add(2 * time.Second)
	if got := fail(f, 1200, crowd); got < 100 {
		t.Errorf("2 s later, %d attempts are made", got)
	}
}
