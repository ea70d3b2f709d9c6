package importer

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/moderato-live/moderato/server/store"
	"github.com/moderato-live/moderato/test/storetest"
)

// TestTransactionsAreShort imports with a clock on which each record takes a time of its own.
// Every transaction after the first is within the bound, and there is a gap between two.
func TestTransactionsAreShort(t *testing.T) {
	url := storetest.SQLite(t)
	storetest.Migrate(t, url)
	db, err := store.Open(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	for _, perRecord := range []time.Duration{20 * time.Microsecond, 200 * time.Microsecond, time.Millisecond, 5 * time.Millisecond} {
		var durations []time.Duration
		var now time.Time
		gaps, begun, stored := 0, true, 0
		pace := NewPace()
		pace.sleep = func(_ context.Context, d time.Duration) error {
			if gaps++; d < gap {
				t.Errorf("a gap of %s, want %s", d, gap)
			}
			return nil
		}
		size := 0
		pace.now = func() time.Time { // is called before and after each transaction
			if begun = !begun; !begun {
				return now
			}
			size = pace.weight() / recordWeight
			durations = append(durations, time.Duration(size)*perRecord)
			now = now.Add(time.Duration(size) * perRecord)
			return now
		}
		im := Importer{Store: db, Pace: pace, Progress: func(n int) {
			if n-stored > size {
				t.Errorf("a transaction has %d records, want at most %d", n-stored, size)
			}
			stored = n
		}}
		const lines = 3000
		n, err := im.ImportLines(t.Context(), strings.NewReader(strings.Repeat(`{"category":{"id":1,"name":"n","slug":"s"}}`+"\n", lines)))
		if err != nil || n != lines || gaps != len(durations)-1 {
			t.Fatalf("%d records, %d gaps of %d transactions, %v", n, gaps, len(durations), err)
		}
		for i, d := range durations[1:] {
			if d > maxTransaction {
				t.Errorf("%s a record: transaction %d takes %s", perRecord, i+2, d)
			}
		}
	}
}
