//go:build !race

package textmatch_test

import (
	"testing"

	"github.com/moderato-live/moderato/internal/textmatch"
)

// Match makes no garbage for a message in NFKC, however many messages a sweep has. With
// the race detector, sync.Pool drops buffers at random.
func TestMatchDoesNotAllocate(t *testing.T) {
	phrase, pattern := matcher(t, "free sub"), matcher(t, `/free\s+sub/`)
	for _, text := range []string{"did anyone catch that last play?", "это был лучший момент за весь стрим", "今日の配信も最高でした", "c'était génial 😂"} {
		for _, m := range []textmatch.Matcher{phrase, pattern} {
			if n := testing.AllocsPerRun(100, func() { m.Match(text) }); n >= 1 {
				t.Errorf("%q: %v allocations", text, n)
			}
		}
	}
}
