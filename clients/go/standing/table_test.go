package standing

import (
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/google/uuid"
)

// model is what a table holds, in a map.
type model map[modelKey]modelEntry

type modelKey struct {
	id    uuid.UUID
	scope uint32
}

type modelEntry struct {
	first, second int64
	flags         uint64
}

// TestTableIsLikeAMap changes a table and a map at random, through growth, removal, expiry
// and shrinking, and compares them.
func TestTableIsLikeAMap(t *testing.T) {
	t.Parallel()
	for seed := range uint64(4) {
		r := rand.New(rand.NewPCG(seed, 1))
		s := newState(nil)
		scopes := make([]uint32, 5)
		for i := range scopes {
			scopes[i] = s.number(randomID(r))
		}
		// A number that needs both words.
		s.users.seeds = append(s.users.seeds, make([]uint64, 1<<labelBits)...)
		scopes = append(scopes, uint32(len(s.users.seeds)-1))
		ids := make([]uuid.UUID, 20+r.IntN(30_000))
		for i := range ids {
			ids[i] = randomID(r)
		}
		m := model{}
		for range 60_000 {
			key := modelKey{ids[r.IntN(len(ids))], scopes[r.IntN(len(scopes))]}
			e := m[key]
			change, add := edit{}, true
			switch time := 1 + r.Int64N(forever); r.IntN(5) {
			case 0:
				change, e.first = editFirst(time), time
			case 1:
				change, e.second = editSecond(time), time
			case 2:
				flag := uint64(1) << (scopeBits + r.IntN(labelBits-scopeBits))
				change, e.flags = edit{setSecond: flag}, e.flags|flag
			case 3:
				change, e, add = removal, modelEntry{}, r.IntN(2) == 0
			case 4:
				change, e.first, add = editFirst(0), 0, r.IntN(2) == 0
			}
			m[key] = e
			high, low := words(key.id)
			s.users.update(hash(high, low, s.users.seeds[key.scope]), high, low, key.scope, add, change)
			if r.IntN(5000) == 0 {
				s.users.removeAll(func(e *slot) bool { return e.scope() == scopes[0] })
				for key := range m {
					if key.scope == scopes[0] {
						m[key] = modelEntry{}
					}
				}
			}
		}
		m.compare(t, s.users, ids, scopes)
		s.users.trim()
		m.compare(t, s.users, ids, scopes)
	}
}

// compare compares all keys.
func (m model) compare(t *testing.T, table *table, ids []uuid.UUID, scopes []uint32) {
	t.Helper()
	live := 0
	for _, id := range ids {
		for _, scope := range scopes {
			var got modelEntry
			high, low := words(id)
			if e := table.find(hash(high, low, table.seeds[scope]), high, low, scope); e != nil {
				got = modelEntry{timeOf(e.first.Load()), timeOf(e.second.Load()), e.second.Load() & flagMask}
			}
			if want := m[modelKey{id, scope}]; got != want {
				t.Fatalf("%v in %d: got %+v, want %+v", id, scope, got, want)
			}
			if got != (modelEntry{}) {
				live++
			}
		}
	}
	if table.live() != live {
		t.Errorf("the table counts %d entries, want %d", table.live(), live)
	}
}

// TestTableShrinks bans and unbans many users, and lets the bans of others end.
func TestTableShrinks(t *testing.T) {
	t.Parallel()
	const n, end = 25_000, 1_000_000_000
	r := rand.New(rand.NewPCG(5, 6))
	s := newState([]uuid.UUID{channel1})
	s.finish()
	empty := s.users.bytes()
	ids := make([]uuid.UUID, n)
	for i := range ids {
		ids[i] = randomID(r)
	}
	for _, what := range []string{"unbanned", "lapsed"} {
		for i := range ids {
			s.update(1, ids[i][:], true, editFirst(end))
		}
		if got := s.users.bytes(); got < n*32 {
			t.Errorf("%d bans take %d bytes", n, got)
		}
		if what == "unbanned" {
			for i := range ids {
				s.update(1, ids[i][:], false, editFirst(0))
			}
		} else {
			for range s.users.shards {
				s.sweep(end + expiryMargin.Milliseconds() - 1)
				s.sweepAt = 0
			}
			if got := s.users.live(); got != n {
				t.Errorf("%d of %d bans are kept within the margin", got, n)
			}
			for range s.users.shards {
				s.sweep(end + expiryMargin.Milliseconds())
				s.sweepAt = 0
			}
		}
		if got := s.users.live(); got != 0 {
			t.Errorf("%s: %d entries remain", what, got)
		}
		if got, most := s.users.bytes(), empty+int64(len(s.users.shards)*2*minRemoved*64); got > most {
			t.Errorf("%s: %d bytes remain, want at most %d", what, got, most)
		}
	}
}

// TestReadsDuringChanges reads while the table grows, shrinks and changes. A user who is
// always banned is never seen otherwise, and nobody else ever as banned.
func TestReadsDuringChanges(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(7, 8))
	s := newState([]uuid.UUID{channel1, channel2})
	banned, others, churn := make([]uuid.UUID, 500), make([]uuid.UUID, 500), make([]uuid.UUID, 5000)
	for _, ids := range [][]uuid.UUID{banned, others, churn} {
		for i := range ids {
			ids[i] = randomID(r)
		}
	}
	for i := range banned {
		s.update(1, banned[i][:], true, editFirst(forever))
	}
	var stop atomic.Bool
	var readers sync.WaitGroup
	for range 2 {
		readers.Go(func() {
			c := newClock()
			for i := 0; !stop.Load(); i++ {
				if got, _ := s.check(channel1, banned[i%len(banned)], c); got.Verdict != Banned {
					t.Errorf("a banned user is %s", got.Verdict)
					return
				}
				for _, p := range []pair{{channel1, others[i%len(others)]}, {channel2, banned[i%len(banned)]}} {
					if got, _ := s.check(p.channel, p.user, c); got.Verdict != Allowed {
						t.Errorf("another user is %s", got.Verdict)
						return
					}
				}
				s.check(channel1, churn[i%len(churn)], c)
			}
		})
	}
	for range 6 {
		for i := range churn {
			s.update(1, churn[i][:], true, editSecond(forever))
			s.update(2, churn[i][:], true, edit{setSecond: uint64(VIP) << rolesShift})
		}
		for i := range churn {
			s.update(1, churn[i][:], false, editSecond(0))
		}
		s.users.removeAll(func(e *slot) bool { return e.scope() == 2 })
	}
	stop.Store(true)
	readers.Wait()
}

// TestCheckDoesNotAllocate checks users with and without standings.
func TestCheckDoesNotAllocate(t *testing.T) {
	s := newState([]uuid.UUID{channel1})
	s.update(1, user1[:], true, editFirst(forever-1))
	c := &Client{clock: newClock()}
	c.current.Store(s)
	for _, user := range []uuid.UUID{user1, user2, channel1} {
		if n := testing.AllocsPerRun(1000, func() { c.Check(channel1, user) }); n != 0 {
			t.Errorf("Check allocates %v times", n)
		}
		if n := testing.AllocsPerRun(1000, func() { c.Check(channel2, user) }); n != 0 {
			t.Errorf("Check of an unknown channel allocates %v times", n)
		}
	}
}

// TestMemoryOfABan adds bans, and checks what they take while the table grows. The
// benchmark of snapshots measures the memory of 1 million.
func TestMemoryOfABan(t *testing.T) {
	t.Parallel()
	const most = 48
	r := rand.New(rand.NewPCG(9, 10))
	s := newState([]uuid.UUID{channel1})
	s.finish()
	for n := 1; n <= 150_000; n++ {
		id := randomID(r)
		s.update(1, id[:], true, editFirst(forever))
		if n >= 50_000 && n%10_000 == 0 {
			if got := float64(s.users.bytes()) / float64(n); got > most {
				t.Fatalf("each of %d bans takes %.1f bytes, want at most %d", n, got, most)
			}
		}
	}
}
