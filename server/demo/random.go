package demo

import (
	"encoding/binary"
	"math/rand/v2"

	"github.com/moderato-live/moderato/internal/uid"
)

// seed is the seed of all random data.
const seed = 0x6d6f64657261746f

// Each kind of data has its own random stream, so that, for example, a new chat line
// does not change the ids of the users.
const (
	userStream uint64 = iota
	roleStream
	chatStream
	banStream
	feedStream // the first of the feeds' streams, one per channel
)

// These are beyond the streams of the feeds.
const (
	emoteStream uint64 = 1<<32 + iota
	crowdStream
)

func stream(n uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, n)) }

// randomID returns a random UUIDv4.
func randomID(r *rand.Rand) uid.ID {
	var id uid.ID
	binary.BigEndian.PutUint64(id[:8], r.Uint64())
	binary.BigEndian.PutUint64(id[8:], r.Uint64())
	id[6] = id[6]&0x0f | 0x40
	id[8] = id[8]&0x3f | 0x80
	return id
}

func pick[T any](r *rand.Rand, from []T) T { return from[r.IntN(len(from))] }

// between returns a number from low to high, inclusive.
func between(r *rand.Rand, low, high int) int { return low + r.IntN(high-low+1) }

// deck deals its cards in random order, and repeats none before all are dealt.
type deck[T any] struct{ cards, left []T }

func (d *deck[T]) deal(r *rand.Rand) T {
	if len(d.left) == 0 {
		d.left = append(d.left, d.cards...)
		r.Shuffle(len(d.left), func(i, j int) { d.left[i], d.left[j] = d.left[j], d.left[i] })
	}
	last := len(d.left) - 1
	card := d.left[last]
	d.left = d.left[:last]
	return card
}
