package standing

import (
	"encoding/binary"
	"math/bits"
	"math/rand/v2"
	"sync/atomic"
	"unsafe"

	"github.com/google/uuid"
)

const (
	// groupSize is the number of slots in a group: one for each byte of a control word.
	groupSize = 8
	// A shard is rebuilt when 7 of 8 slots are in use. It then grows by a fifth, so between
	// 73 and 87 % of the slots are in use while a table grows.
	maxUsedOf8 = 7
	growth     = 5
	// minRemoved is the number of removed entries below which a shard is not rebuilt for
	// them.
	minRemoved = 64
)

// table is a hash table of entries with two times and some flags. Its keys are ids, each in
// a scope: a number, such as that of a channel. One goroutine at a time may write, while
// any number read without locks.
//
// The table is safe under the Go memory model because a slot is given a key only once: the
// writer writes the key, and then publishes the slot with an atomic store to its control
// word. Everything else in a slot is atomic. An entry that is removed keeps its slot until
// its shard is rebuilt, as a copy that readers see once it is complete.
type table struct {
	shards []shard
	// seeds are the hashes of the scopes, and entries that ended at expired or before are
	// forgotten when a shard is rebuilt. Only the writer uses them.
	seeds   []uint64
	expired int64
	// loading makes shards grow faster, so that less is copied, until trim is called.
	loading bool
}

// shard is a part of a table, which grows by itself. So growth copies little at a time.
type shard struct {
	current atomic.Pointer[segment]
	// used is the number of slots with a key, and removed how many of them were removed.
	used, removed int
}

// segment holds the slots of a shard in groups. The bytes of control are the tags of the
// slots of a group: 0 if the slot has no key, and otherwise 8 bits of the key's hash. So a
// lookup usually reads a slot only if it has the key, and one cache line of it.
type segment struct {
	control []atomic.Uint64
	slots   []slot
}

// slot is an entry. Each word holds a time in milliseconds, above 20 bits of labels. The
// labels of the first word and 12 of those of the second are the scope, which never
// changes. The other labels are flags.
type slot struct {
	high, low     uint64
	first, second atomic.Uint64
}

const (
	labelBits = 20
	labelMask = 1<<labelBits - 1
	scopeBits = 12 // in the second word
	scopeMask = 1<<scopeBits - 1
	flagMask  = labelMask &^ scopeMask
	// forever is the latest time.
	forever = 1<<(64-labelBits) - 1
)

// edit is a change of an entry: each word loses some bits and gets others.
type edit struct{ clearFirst, setFirst, clearSecond, setSecond uint64 }

const timeMask uint64 = 1<<64 - 1<<labelBits

var removal = edit{clearFirst: timeMask, clearSecond: timeMask | flagMask}

func editFirst(time int64) edit {
	return edit{clearFirst: timeMask, setFirst: uint64(time) << labelBits}
}

func editSecond(time int64) edit {
	return edit{clearSecond: timeMask, setSecond: uint64(time) << labelBits}
}

func (c edit) apply(e *slot) {
	if c.clearFirst|c.setFirst != 0 {
		e.first.Store(e.first.Load()&^c.clearFirst | c.setFirst)
	}
	if c.clearSecond|c.setSecond != 0 {
		e.second.Store(e.second.Load()&^c.clearSecond | c.setSecond)
	}
}

// newTable returns a table with 2^bits shards.
func newTable(shardBits int) *table {
	t := &table{shards: make([]shard, 1<<shardBits)}
	for i := range t.shards {
		t.shards[i].current.Store(newSegment(1))
	}
	return t
}

func newSegment(groups int) *segment {
	return &segment{make([]atomic.Uint64, groups), make([]slot, groups*groupSize)}
}

// secrets make hashes unpredictable, so that nobody can choose ids that collide.
var secrets = [4]uint64{rand.Uint64() | 1, rand.Uint64() | 1, rand.Uint64() | 1, rand.Uint64() | 1}

// hash returns the hash of an id in a scope, given the hash of the scope.
func hash(high, low, seed uint64) uint64 {
	h := fold(high^secrets[0], low^secrets[1]^seed)
	return fold(h^secrets[2], secrets[3]^seed)
}

func fold(a, b uint64) uint64 {
	high, low := bits.Mul64(a, b)
	return high ^ low
}

func words(id uuid.UUID) (high, low uint64) {
	return binary.LittleEndian.Uint64(id[8:]), binary.LittleEndian.Uint64(id[:8])
}

// idOf is the inverse of words.
func idOf(high, low uint64) (id uuid.UUID) {
	binary.LittleEndian.PutUint64(id[:8], low)
	binary.LittleEndian.PutUint64(id[8:], high)
	return id
}

const (
	lowBits  = 0x0101010101010101
	lowSeven = 0x7f7f7f7f7f7f7f7f
)

// zeroBytes returns a word whose bytes are 0x80 where those of w are 0, and otherwise 0.
func zeroBytes(w uint64) uint64 { return ^((w&lowSeven + lowSeven) | w | lowSeven) }

// tagOf returns the tag of a hash in each byte.
func tagOf(h uint64) uint64 {
	tag := h & 0xff
	if tag == 0 {
		tag = 0xff
	}
	return tag * lowBits
}

func (t *table) shard(h uint64) *shard { return &t.shards[h>>8&uint64(len(t.shards)-1)] }

// find returns the slot of a key, or nil. The key may be removed, so that both times are 0
// and no flags are set.
func (t *table) find(h, high, low uint64, scope uint32) *slot {
	return t.shard(h).current.Load().find(h, high, low, scope)
}

func (s *segment) find(h, high, low uint64, scope uint32) *slot {
	tag := tagOf(h)
	control := s.control
	group, _ := bits.Mul64(h, uint64(len(control)))
	for {
		word := control[group].Load()
		for match := zeroBytes(word ^ tag); match != 0; match &= match - 1 {
			found := &s.slots[group*groupSize+uint64(bits.TrailingZeros64(match))/8]
			if found.high == high && found.low == low && found.isOf(scope) {
				return found
			}
		}
		if zeroBytes(word) != 0 {
			return nil
		}
		if group++; group == uint64(len(control)) {
			group = 0
		}
	}
}

func (s *slot) isOf(scope uint32) bool {
	return uint32(s.first.Load()&labelMask) == scope&labelMask && uint32(s.second.Load()&scopeMask) == scope>>labelBits
}

func (s *slot) scope() uint32 {
	return uint32(s.first.Load()&labelMask) | uint32(s.second.Load()&scopeMask)<<labelBits
}

// isRemoved reports whether the entry was removed.
func (s *slot) isRemoved() bool {
	return s.first.Load()>>labelBits == 0 && s.second.Load()&^scopeMask == 0
}

// update changes the entry of a key. If there is none, update adds one with both times 0
// and no flags, or does nothing if add is false.
func (t *table) update(h, high, low uint64, scope uint32, add bool, change edit) {
	s := t.shard(h)
	entry := s.current.Load().find(h, high, low, scope)
	if entry == nil {
		if !add {
			return
		}
		if slots := len(s.current.Load().slots); (s.used+1)*groupSize > slots*maxUsedOf8 {
			t.rebuild(s)
		}
		s.used++
		s.removed++ // until it is changed
		entry = s.current.Load().add(h, high, low, uint64(scope)&labelMask, uint64(scope)>>labelBits)
	}
	t.change(s, entry, change)
	t.compact(s)
}

// removeAll removes the entries that match selects.
func (t *table) removeAll(match func(*slot) bool) {
	for i := range t.shards {
		s := &t.shards[i]
		s.current.Load().each(func(e *slot) {
			if match(e) {
				t.change(s, e, removal)
			}
		})
		t.compact(s)
	}
}

// change changes an entry, and counts whether it is removed.
func (t *table) change(s *shard, e *slot, change edit) {
	before := e.isRemoved()
	change.apply(e)
	switch after := e.isRemoved(); {
	case after && !before:
		s.removed++
	case before && !after:
		s.removed--
	}
}

// compact rebuilds a shard if most of its entries are removed.
func (t *table) compact(s *shard) {
	if s.removed >= minRemoved && s.removed*2 > s.used {
		t.rebuild(s)
	}
}

// expire counts the entries of a shard that ended before a time as removed, which later
// rebuilds forget.
func (t *table) expire(i int, before int64) {
	t.expired = before
	s := &t.shards[i%len(t.shards)]
	s.removed = 0
	s.current.Load().each(func(e *slot) {
		if t.isExpired(e) {
			s.removed++
		}
	})
	t.compact(s)
}

// isExpired reports whether an entry is removed, or ended and need not be kept.
func (t *table) isExpired(e *slot) bool {
	return max(timeOf(e.first.Load()), timeOf(e.second.Load())) <= t.expired && e.second.Load()&flagMask == 0
}

// timeOf returns the time of a word.
func timeOf(word uint64) int64 { return int64(word >> labelBits) }

// add adds a key that the segment does not have.
func (s *segment) add(h, high, low, first, second uint64) *slot {
	group, _ := bits.Mul64(h, uint64(len(s.control)))
	word := s.control[group].Load()
	for zeroBytes(word) == 0 {
		if group++; group == uint64(len(s.control)) {
			group = 0
		}
		word = s.control[group].Load()
	}
	at := bits.TrailingZeros64(zeroBytes(word)) / 8
	added := &s.slots[group*groupSize+uint64(at)]
	added.high, added.low = high, low
	added.first.Store(first)
	added.second.Store(second)
	s.control[group].Store(word | tagOf(h)&(0xff<<(8*at)))
	return added
}

// live returns the number of entries that are not removed.
func (t *table) live() int {
	n := 0
	for i := range t.shards {
		n += t.shards[i].used - t.shards[i].removed
	}
	return n
}

// bytes returns the memory of the slots.
func (t *table) bytes() int64 {
	const groupBytes = 8 + groupSize*int64(unsafe.Sizeof(slot{}))
	var n int64
	for i := range t.shards {
		n += int64(len(t.shards[i].current.Load().control)) * groupBytes
	}
	return n
}

// trim rebuilds all shards, without the room that loading leaves.
func (t *table) trim() {
	t.loading = false
	for i := range t.shards {
		t.rebuild(&t.shards[i])
	}
}

// rebuild replaces the slots of a shard by a copy without expired entries, with room for a
// fifth more; while the table is loaded, for as many again.
func (t *table) rebuild(s *shard) {
	old, kept := s.current.Load(), 0
	old.each(func(e *slot) {
		if !t.isExpired(e) {
			kept++
		}
	})
	room := kept / growth
	if t.loading {
		room = kept
	}
	next := newSegment((kept+room)/maxUsedOf8 + 1)
	old.each(func(e *slot) {
		if !t.isExpired(e) {
			next.add(hash(e.high, e.low, t.seeds[e.scope()]), e.high, e.low, e.first.Load(), e.second.Load())
		}
	})
	s.used, s.removed = kept, 0
	s.current.Store(next)
}

// each calls f with each slot that has a key.
func (s *segment) each(f func(*slot)) {
	for group := range s.control {
		for used := ^zeroBytes(s.control[group].Load()) & (lowBits << 7); used != 0; used &= used - 1 {
			f(&s.slots[group*groupSize+bits.TrailingZeros64(used)/8])
		}
	}
}
