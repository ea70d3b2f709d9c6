package buckets

import (
	"testing"

	"github.com/moderato-live/moderato/internal/uid"
)

var channel = uid.MustParse("0b6f0001-0000-4000-8000-00000000000a")

// take returns the changed counters of the fine intervals.
func take(c *Counters) (fine []Row) {
	for _, row := range c.Take() {
		if row.Length == Fine {
			fine = append(fine, row)
		}
	}
	return fine
}

// TestRowsReplaceEarlierRows checks that a counter is written as a whole: its row replaces that of
// an earlier write, so that no write counts twice.
func TestRowsReplaceEarlierRows(t *testing.T) {
	var c Counters
	c.Add(channel, 12_345, Counts{Messages: 1})
	first := take(&c)
	if len(first) != 1 || first[0].StartedAt != 10_000 || first[0].Messages != 1 {
		t.Fatalf("got %+v, want one message in the interval from 10 s", first)
	}
	if again := take(&c); len(again) != 0 {
		t.Errorf("without a change: got %+v", again)
	}
	c.Add(channel, 14_999, Counts{Messages: 2, Bans: 1})
	second := take(&c)
	if len(second) != 1 || second[0].ID != first[0].ID || second[0].Messages != 3 || second[0].Bans != 1 {
		t.Errorf("got %+v, want the same counter with 3 messages and a ban", second)
	}
	c.Return(second)
	if again := take(&c); len(again) != 1 || again[0] != second[0] {
		t.Errorf("after a write that failed: got %+v, want %+v", again, second)
	}
}

// TestLateCountsHaveRowsOfTheirOwn counts in an interval that was written and forgotten. The new
// row must not replace the earlier one.
func TestLateCountsHaveRowsOfTheirOwn(t *testing.T) {
	var c Counters
	c.Add(channel, 12_345, Counts{Messages: 5})
	first := take(&c)
	c.Add(channel, 20_000, Counts{Messages: 1})
	take(&c)
	if n := len(c.all); n != 2 { // the one at 20 s and the coarse one
		t.Errorf("%d counters are in memory, want 2: intervals that are over are forgotten", n)
	}
	c.Add(channel, 12_345, Counts{Messages: 1})
	late := take(&c)
	if len(late) != 1 || late[0].StartedAt != 10_000 || late[0].Messages != 1 || late[0].ID == first[0].ID {
		t.Errorf("got %+v, want a new counter with one message", late)
	}
}

// TestViewersAreTheHighest checks that the highest number of an interval counts.
func TestViewersAreTheHighest(t *testing.T) {
	var c Counters
	for _, n := range []int64{7, 9, 0} {
		c.Add(channel, 1, Counts{Viewers: &n})
	}
	if rows := take(&c); len(rows) != 1 || *rows[0].Viewers != 9 {
		t.Errorf("got %+v, want 9 viewers", rows)
	}
}

// TestMemoryIsBounded counts in many intervals while nothing can be written.
func TestMemoryIsBounded(t *testing.T) {
	var c Counters
	for range maxCounters {
		c.Add(uid.New(), 1, Counts{Messages: 1})
	}
	if n := len(c.all); n > maxCounters {
		t.Errorf("%d counters are in memory, want at most %d", n, maxCounters)
	}
	c.Take()
	c.Take()
	c.Add(uid.New(), 1, Counts{Messages: 1})
	if rows := take(&c); len(rows) != 1 {
		t.Errorf("after everything was written: got %d rows, want 1", len(rows))
	}
}

// BenchmarkAdd counts messages in 100 channels.
func BenchmarkAdd(b *testing.B) {
	var c Counters
	channels := make([]uid.ID, 100)
	for i := range channels {
		channels[i] = uid.New()
	}
	for i := 0; b.Loop(); i++ {
		c.Add(channels[i%len(channels)], 1, Counts{Messages: 1})
	}
}
