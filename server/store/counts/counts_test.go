package counts_test

import (
	"context"
	"math/rand/v2"
	"sync"
	"testing"

	"google.golang.org/protobuf/proto"

	"github.com/moderato-live/moderato/ent"
	optionsv1 "github.com/moderato-live/moderato/gen/moderato/options/v1"
	platformv1 "github.com/moderato-live/moderato/gen/moderato/platform/v1"
	"github.com/moderato-live/moderato/server/store"
	"github.com/moderato-live/moderato/server/store/counts"
	"github.com/moderato-live/moderato/test/storetest"
)

// TestContractBoundsCategories fails if the contract accepts a category whose buckets would
// collide with those of others.
func TestContractBoundsCategories(t *testing.T) {
	id := (*platformv1.CategoryRecord)(nil).ProtoReflect().Descriptor().Fields().ByName("id")
	bounds, _ := proto.GetExtension(id.Options(), optionsv1.E_Bounds).(*optionsv1.Bounds)
	if bounds.GetMin() < 1 || bounds.GetMax() < 1 || bounds.GetMax() > counts.MaxCategory {
		t.Errorf("got ids of categories from %d to %d, want 1 to at most %d", bounds.GetMin(), bounds.GetMax(), int64(counts.MaxCategory))
	}
}

func open(t *testing.T, url store.URL) *store.Store {
	t.Helper()
	storetest.Migrate(t, url)
	s, err := store.Open(context.Background(), url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return s
}

func move(t *testing.T, s *store.Store, from, to *counts.Bucket) {
	t.Helper()
	err := s.Write(context.Background(), func(ctx context.Context, tx *ent.Tx, _ store.Attempt) error {
		return counts.Move(ctx, tx, from, to)
	})
	if err != nil {
		t.Error(err)
	}
}

func read(t *testing.T, s *store.Store, categories []int64, liveOnly bool) int64 {
	t.Helper()
	n, err := counts.Read(context.Background(), s, categories, liveOnly)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func TestCountsFollowMovedChannels(t *testing.T) {
	storetest.EachKind(t, func(t *testing.T, url store.URL) {
		s := open(t, url)
		offline, live := counts.Bucket{Category: 7}, counts.Bucket{Category: 7, IsLive: true}
		move(t, s, nil, &offline)
		move(t, s, nil, &live)
		move(t, s, &offline, &live)
		move(t, s, nil, &counts.Bucket{})
		move(t, s, &live, &live)
		move(t, s, &live, nil)
		for _, c := range []struct {
			categories []int64
			liveOnly   bool
			want       int64
		}{
			{nil, false, 2}, {nil, true, 1}, {[]int64{7}, false, 1}, {[]int64{7}, true, 1},
			{[]int64{0}, false, 1}, {[]int64{0}, true, 0}, {[]int64{0, 7}, false, 2}, {[]int64{99}, false, 0},
		} {
			for _, compacted := range []string{"before", "after"} {
				if got := read(t, s, c.categories, c.liveOnly); got != c.want {
					t.Errorf("%s compacting, %v live only %t: %d, want %d", compacted, c.categories, c.liveOnly, got, c.want)
				}
				if err := (&counts.Compactor{Store: s}).Compact(context.Background()); err != nil {
					t.Fatal(err)
				}
			}
		}
	})
}

// TestCountsStayExactDuringCompaction moves channels and reads the counts while several
// compactors run, some of which are interrupted: the total number of channels must never
// change.
func TestCountsStayExactDuringCompaction(t *testing.T) {
	const channels, moves, categories = 40, 30, 3
	storetest.EachKind(t, func(t *testing.T, url store.URL) {
		s := open(t, url)
		for range channels {
			move(t, s, nil, &counts.Bucket{})
		}
		compacting, stop := context.WithCancel(context.Background())
		var compactors, movers sync.WaitGroup
		for range 2 {
			compactors.Go(func() {
				for compacting.Err() == nil {
					batch, cancel := context.WithCancel(compacting)
					if rand.IntN(4) == 0 {
						go cancel()
					}
					_ = (&counts.Compactor{Store: s}).Compact(batch) // an interrupted compaction fails
					cancel()
				}
			})
		}
		final := make([]counts.Bucket, channels)
		for i := range channels {
			movers.Go(func() {
				r := rand.New(rand.NewPCG(1, uint64(i)))
				for range moves {
					to := counts.Bucket{Category: r.Int64N(categories), IsLive: r.IntN(2) == 1}
					move(t, s, &final[i], &to)
					final[i] = to
				}
			})
		}
		for range 50 {
			if got := read(t, s, nil, false); got != channels {
				t.Errorf("while they move there are %d channels, want %d", got, channels)
			}
		}
		movers.Wait()
		stop()
		compactors.Wait()
		if err := (&counts.Compactor{Store: s}).Compact(context.Background()); err != nil {
			t.Fatal(err)
		}
		want := map[counts.Bucket]int64{}
		for _, b := range final {
			want[b]++
		}
		for category := range int64(categories) {
			live := want[counts.Bucket{Category: category, IsLive: true}]
			all := live + want[counts.Bucket{Category: category}]
			if got := read(t, s, []int64{category}, true); got != live {
				t.Errorf("category %d has %d live channels, want %d", category, got, live)
			}
			if got := read(t, s, []int64{category}, false); got != all {
				t.Errorf("category %d has %d channels, want %d", category, got, all)
			}
		}
	})
}
