// Package tableindex keeps what is made of the rows of a table, such as matchers, in memory.
// The keys of all rows are in memory, and a job refreshes them. What is made of a row is made
// when it is needed, and the least recently used of it makes room.
package tableindex

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sync/semaphore"

	"github.com/moderato-live/moderato/internal/uid"
)

// refreshTimeout bounds a Refresh, for which a call may wait.
const refreshTimeout = 5 * time.Second

// Index holds the values of the rows of channels. It can be used concurrently.
type Index[K comparable, V any] struct {
	read   func(context.Context) (map[uid.ID][]K, error)
	load   func(context.Context, K) (value V, bytes int, err error)
	budget int

	refreshing *semaphore.Weighted // of one, so that no refresh replaces a later one

	channels atomic.Pointer[map[uid.ID]*channel[K, V]]
	clock    atomic.Int64 // counts the uses of values

	mu    sync.Mutex // guards the fields below, and those of channels and rows
	bytes int
}

type channel[K comparable, V any] struct {
	rows  []*Row[K, V]
	bytes int
}

// Row is a row of a channel.
type Row[K comparable, V any] struct {
	// Key identifies the row and its version.
	Key K

	value atomic.Pointer[V]
	used  atomic.Int64 // when the value was used
	bytes int
}

// New returns an empty Index. Its values have at most the given number of bytes together. The
// function read reads the keys of all rows, by channel. The function load reads a row and makes
// its value; it says how many bytes the value has.
func New[K comparable, V any](budget int, read func(context.Context) (map[uid.ID][]K, error), load func(context.Context, K) (value V, bytes int, err error)) *Index[K, V] {
	x := &Index[K, V]{read: read, load: load, budget: budget, refreshing: semaphore.NewWeighted(1)}
	x.channels.Store(&map[uid.ID]*channel[K, V]{})
	return x
}

// Refresh reads which rows there are. A key that was there before keeps its value. A job calls
// it at intervals, and a call that added a row after its commit.
func (x *Index[K, V]) Refresh(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, refreshTimeout)
	defer cancel()
	if err := x.refreshing.Acquire(ctx, 1); err != nil {
		return fmt.Errorf("wait for another refresh: %w", err)
	}
	defer x.refreshing.Release(1)
	keys, err := x.read(ctx)
	if err != nil {
		return err
	}
	x.replace(keys)
	return nil
}

// replace replaces the rows of all channels.
func (x *Index[K, V]) replace(keys map[uid.ID][]K) {
	x.mu.Lock()
	defer x.mu.Unlock()
	before, after := *x.channels.Load(), make(map[uid.ID]*channel[K, V], len(keys))
	x.bytes = 0
	for id, keys := range keys {
		known := map[K]*Row[K, V]{}
		if c := before[id]; c != nil {
			for _, row := range c.rows {
				known[row.Key] = row
			}
		}
		c := &channel[K, V]{}
		for _, key := range keys {
			row := known[key]
			if row == nil {
				row = &Row[K, V]{Key: key}
			}
			c.rows = append(c.rows, row)
			c.bytes += row.bytes
		}
		after[id] = c
		x.bytes += c.bytes
	}
	x.channels.Store(&after)
}

// HasRows reports whether there are rows.
func (x *Index[K, V]) HasRows() bool { return len(*x.channels.Load()) > 0 }

// Of returns the rows of a channel, in the order of their keys.
func (x *Index[K, V]) Of(channelID uid.ID) []*Row[K, V] {
	if c := (*x.channels.Load())[channelID]; c != nil {
		return c.rows
	}
	return nil
}

// Present returns the value of a row if it is in memory.
func (x *Index[K, V]) Present(row *Row[K, V]) (value V, ok bool) {
	if v := row.value.Load(); v != nil {
		row.used.Store(x.clock.Add(1))
		return *v, true
	}
	return value, false
}

// Get returns the value of a row of a channel. It makes the value if it is not in memory.
func (x *Index[K, V]) Get(ctx context.Context, channelID uid.ID, row *Row[K, V]) (V, error) {
	if v, ok := x.Present(row); ok {
		return v, nil
	}
	v, bytes, err := x.load(ctx, row.Key)
	if err != nil {
		return v, err
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	c := (*x.channels.Load())[channelID]
	if c == nil || !slices.Contains(c.rows, row) || row.value.Load() != nil { // it was removed, or another call made the value
		return v, nil
	}
	row.used.Store(x.clock.Add(1))
	row.value.Store(&v)
	x.add(c, row, bytes)
	for x.bytes > x.budget {
		c := x.largest()
		x.add(c, c.forget(), 0)
	}
	return v, nil
}

// add changes the size of a row's value to the given one.
func (x *Index[K, V]) add(c *channel[K, V], row *Row[K, V], bytes int) {
	grown := bytes - row.bytes
	row.bytes, c.bytes, x.bytes = bytes, c.bytes+grown, x.bytes+grown
}

// largest returns the channel whose values have the most bytes. So nobody uses up the memory
// for the values of other channels.
func (x *Index[K, V]) largest() (largest *channel[K, V]) {
	for _, c := range *x.channels.Load() {
		if largest == nil || c.bytes > largest.bytes {
			largest = c
		}
	}
	return largest
}

// forget drops the least recently used value, and returns its row.
func (c *channel[K, V]) forget() (oldest *Row[K, V]) {
	for _, row := range c.rows {
		if row.bytes > 0 && (oldest == nil || row.used.Load() < oldest.used.Load()) {
			oldest = row
		}
	}
	oldest.value.Store(nil)
	return oldest
}
