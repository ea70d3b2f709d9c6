//go:build !race

package match_test

import (
	"math/rand/v2"
	"testing"
	"time"
)

// TestPostsTakeLittleProcessorTime matches ordinary messages with 100 rules and 10,000 terms: a post
// takes 50 µs at most, and twice as much if hardly a letter is an ordinary one. The race detector would take most of the time.
func TestPostsTakeLittleProcessorTime(t *testing.T) {
	const most, rounds, posts = 50 * time.Microsecond, 5, 200
	s := compiled(t, channelRules(rand.New(rand.NewPCG(1, 2)), 100, 100)...)
	for kind, texts := range messages {
		best := time.Hour
		for range rounds {
			start := processorTime(t)
			for i := range posts {
				matchOnce(s, texts[i%len(texts)])
			}
			best = min(best, (processorTime(t)-start)/posts)
		}
		t.Logf("%s: %s", kind, best)
		limit := most
		if kind == "500 disguised" {
			limit *= 2
		}
		if best > limit {
			t.Errorf("a message of %s takes %s, want %s at most", kind, best, limit)
		}
	}
}
