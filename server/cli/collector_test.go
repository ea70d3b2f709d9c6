package cli

import "testing"

func TestGCPercentBoundsGarbage(t *testing.T) {
	for live, want := range map[uint64]int{0: 400, 8 << 20: 400, 24 << 20: 200, 48 << 20: 100, 1 << 30: 75} {
		if got := gcPercent(live); got != want {
			t.Errorf("%d MiB live: got %d%%, want %d%%", live>>20, got, want)
		}
	}
}
