package experiments_test

import (
	"testing"
	"time"

	"github.com/moderato-live/moderato/server/store"
	"github.com/moderato-live/moderato/test/storetest"
)

// TestSoak runs mixed load without a fault. Memory and goroutines must not grow, and events
// must get their position soon.
func TestSoak(t *testing.T) {
	t.Parallel()
	storetest.OneServer(t, func(t *testing.T, url store.URL) {
		s := newSite(t, url, options{servers: 3, channels: scaled(20, 100)})
		subscribers := subscribe(t, s)
		l := startLoad(t, s, scaled(100, 200))
		lasts := scaled(2*time.Second, *soakFor)
		time.Sleep(lasts / 5)
		memory, goroutines := s.sum("process_resident_memory_bytes"), s.sum("go_goroutines")
		time.Sleep(lasts * 4 / 5)
		memoryAfter, goroutinesAfter := s.sum("process_resident_memory_bytes"), s.sum("go_goroutines")
		delayed, all := s.sequenced()
		l.end()
		l.wantHardlyAnyFailed()
		t.Logf("after %s and %s: memory of all servers %.0f and %.0f MiB, %v and %v goroutines; %v of %v events were sequenced later than 1 s",
			lasts/5, lasts, memory/(1<<20), memoryAfter/(1<<20), goroutines, goroutinesAfter, delayed, all)
		// A server's memory follows the load of the moment; a leak exceeds this in hours.
		if memoryAfter > memory*5/4+float64(len(s.servers))*(32<<20) {
			t.Error("the memory grows")
		}
		if perServer := float64(len(s.servers)); goroutinesAfter > goroutines*5/4+perServer*50 {
			t.Error("the number of goroutines grows")
		}
		if isSoak() && delayed > all/100 { // a short run may consist of one pause of the disk
			t.Error("more than one event in a hundred was sequenced later than 1 s")
		}
		s.check(l, subscribers)
	})
}

// sum returns the sum of a metric over all servers.
func (s *site) sum(name string) (sum float64) {
	s.t.Helper()
	for _, n := range s.servers {
		v, err := n.metric(name)
		s.must(err)
		sum += v
	}
	return sum
}

// sequenced returns how many events were sequenced in all, and how many of them later than
// 1 s.
func (s *site) sequenced() (late, all float64) {
	s.t.Helper()
	for _, n := range s.servers {
		counts, err := n.metrics("moderato_event_sequencing_delay_seconds_count", `moderato_event_sequencing_delay_seconds_bucket{le="1"}`)
		s.must(err)
		late, all = late+counts[0]-counts[1], all+counts[0]
	}
	return late, all
}
