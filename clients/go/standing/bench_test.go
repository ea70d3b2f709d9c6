package standing

import (
	"encoding/binary"
	"math/rand/v2"
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"google.golang.org/protobuf/proto"

	platformv1 "github.com/moderato-live/moderato/gen/moderato/platform/v1"
)

const (
	benchChannels = 100
	benchBans     = 1_000_000
	benchChecks   = 1 << 16
	// partSize is the number of bans in a part of the snapshot of the benchmarks.
	partSize = 10_000
)

func randomID(r *rand.Rand) (id uuid.UUID) {
	binary.LittleEndian.PutUint64(id[:], r.Uint64())
	binary.LittleEndian.PutUint64(id[8:], r.Uint64())
	return id
}

// pair is what a check asks for.
type pair struct{ channel, user uuid.UUID }

// benchSnapshot returns channels, and the encoded parts of a snapshot with their bans.
func benchSnapshot(b *testing.B) (channels []uuid.UUID, parts [][]byte, banned []pair) {
	b.Helper()
	r := rand.New(rand.NewPCG(1, 2))
	for range benchChannels {
		channels = append(channels, randomID(r))
	}
	for n := 0; n < benchBans; n += partSize {
		channel := channels[n/partSize%benchChannels]
		bans := &platformv1.StandingsBans{ChannelId: channel[:]}
		for range partSize {
			user := randomID(r)
			banned = append(banned, pair{channel, user})
			bans.UserIds = append(bans.UserIds, user[:]...)
			bans.BannedAt = append(bans.BannedAt, 1_700_000_000_000)
		}
		part, err := proto.Marshal(&platformv1.WatchStandingsResponse{Snapshot: &platformv1.StandingsSnapshot{Bans: []*platformv1.StandingsBans{bans}}})
		if err != nil {
			b.Fatal(err)
		}
		parts = append(parts, part)
	}
	return channels, parts, banned
}

// benchState returns the state of a snapshot.
func benchState(b *testing.B, channels []uuid.UUID, parts [][]byte) *state {
	b.Helper()
	s := newState(channels)
	for _, part := range parts {
		var response platformv1.WatchStandingsResponse
		if err := proto.Unmarshal(part, &response); err != nil {
			b.Fatal(err)
		}
		if err := s.load(response.GetSnapshot()); err != nil {
			b.Fatal(err)
		}
	}
	s.finish()
	return s
}

// memory returns what a value takes in the heap, for each of the bans.
func memory(build func() any) float64 {
	used := func() uint64 {
		var m runtime.MemStats
		runtime.GC()
		runtime.GC()
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	before := used()
	value := build()
	after := used()
	runtime.KeepAlive(value)
	return float64(after-before) / benchBans
}

// BenchmarkSnapshot decodes and applies a snapshot of 1 million bans.
func BenchmarkSnapshot(b *testing.B) {
	channels, parts, _ := benchSnapshot(b)
	bytes := memory(func() any { return benchState(b, channels, parts) })
	b.ResetTimer()
	for b.Loop() {
		benchState(b, channels, parts)
	}
	b.ReportMetric(bytes, "B/ban")
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/benchBans, "ns/ban")
}

// BenchmarkChanges applies bans and unbans to 1 million bans, one in each response.
func BenchmarkChanges(b *testing.B) {
	channels, parts, banned := benchSnapshot(b)
	s := benchState(b, channels, parts)
	changes := make([]*platformv1.StandingChange, 1<<16)
	for i := range changes {
		p := banned[i*15]
		changes[i] = &platformv1.StandingChange{Kind: ban, ChannelId: p.channel[:], UserId: p.user[:]}
		if i%2 == 1 {
			changes[i] = &platformv1.StandingChange{Kind: unban, ChannelId: p.channel[:], UserId: changes[i-1].UserId}
		}
	}
	for i := 0; b.Loop(); i++ {
		if err := s.apply(changes[i%len(changes):][:1]); err != nil {
			b.Fatal(err)
		}
	}
}

// floor is a map with a lock, as a program would write it first.
type floor struct {
	mu   sync.RWMutex
	bans map[pair]time.Time
}

func (f *floor) isBanned(p pair) bool {
	f.mu.RLock()
	defer f.mu.RUnlock()
	until, ok := f.bans[p]
	return ok && (until.IsZero() || time.Now().Before(until))
}

func newFloor(banned []pair) *floor {
	f := &floor{bans: map[pair]time.Time{}}
	for _, p := range banned {
		f.bans[p] = time.Time{}
	}
	return f
}

// BenchmarkSnapshotFloor puts 1 million bans into a map.
func BenchmarkSnapshotFloor(b *testing.B) {
	_, _, banned := benchSnapshot(b)
	bytes := memory(func() any { return newFloor(banned) })
	b.ResetTimer()
	for b.Loop() {
		newFloor(banned)
	}
	b.ReportMetric(bytes, "B/ban")
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/benchBans, "ns/ban")
}

// BenchmarkCheck measures Check with 1 million bans in 100 channels, of users who are banned
// and who are not, against a map with a lock and sync.Map.
func BenchmarkCheck(b *testing.B) {
	channels, parts, banned := benchSnapshot(b)
	r := rand.New(rand.NewPCG(3, 4))
	hits, misses := make([]pair, benchChecks), make([]pair, benchChecks)
	for i := range hits {
		hits[i] = banned[r.IntN(len(banned))]
		misses[i] = pair{channels[r.IntN(len(channels))], randomID(r)}
	}
	c := &Client{clock: newClock()}
	c.current.Store(benchState(b, channels, parts))
	f := newFloor(banned)
	var sm sync.Map
	for _, p := range banned {
		sm.Store(p, time.Time{})
	}
	for _, way := range []struct {
		name  string
		check func(pair) bool
	}{
		{"Check", func(p pair) bool { return c.Check(p.channel, p.user).CanPost() }},
		{"RWMutex", func(p pair) bool { return !f.isBanned(p) }},
		{"syncMap", func(p pair) bool { _, ok := sm.Load(p); return !ok }},
	} {
		for _, load := range []struct {
			name    string
			pairs   []pair
			canPost bool
		}{{"banned", hits, false}, {"others", misses, true}} {
			b.Run(way.name+"/"+load.name, func(b *testing.B) {
				b.ReportAllocs()
				for i := 0; b.Loop(); i++ {
					if way.check(load.pairs[i%benchChecks]) != load.canPost {
						b.Fatal("the wrong verdict")
					}
				}
			})
			b.Run(way.name+"/"+load.name+"/parallel", func(b *testing.B) {
				b.ReportAllocs()
				b.RunParallel(func(pb *testing.PB) {
					for i := rand.IntN(benchChecks); pb.Next(); i++ {
						if way.check(load.pairs[i%benchChecks]) != load.canPost {
							b.Error("the wrong verdict")
						}
					}
				})
			})
		}
	}
}
