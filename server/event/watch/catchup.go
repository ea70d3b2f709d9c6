package watch

import (
	"context"
	"slices"
	"strconv"
	"strings"

	"github.com/moderato-live/moderato/internal/fair"
	"github.com/moderato-live/moderato/internal/uid"
	"github.com/moderato-live/moderato/server/event/outbox"
	"github.com/moderato-live/moderato/server/rpc/eventtype"
	"github.com/moderato-live/moderato/server/store"
)

const (
	// catchUpsAtOnce is how many statements that read events which are no longer in the
	// ring run concurrently, for all listeners of a process. Listeners take turns by
	// owner.
	catchUpsAtOnce = 4
	// rangesAtOnce bounds the ranges that one statement reads: SQLite accepts 500 parts.
	rangesAtOnce = 100
	// window is how many positions one statement searches for some types of every
	// channel.
	window = 20_000
	// leastOfRange is the minimum number of positions to read from a range at a time.
	leastOfRange = 4
)

// Selection holds the channels and types that a listener wants and is permitted to
// receive. It is immutable once it is in use.
type Selection struct {
	// Channels are the ids of the channels; nil, unlike an empty list, is every channel.
	Channels []uid.ID
	Types    []eventtype.Type
}

// catchUp reads the events of a selection between two positions. It reads only the
// index ranges that hold them, one for each channel and type. The cost of a listener
// depends on its selection, not on the size of the platform.
type catchUp struct {
	store     *store.Store
	gate      *fair.Gate
	selection *Selection
	upTo      int64
	ranges    []*eventRange
}

// eventRange is the range of events of one type in one channel.
type eventRange struct {
	channelID uid.ID
	kind      eventtype.Type
	read      int64   // the range was read up to this position
	positions []int64 // positions that were read and not yet returned
	ended     bool    // the range has no more events
}

func newCatchUp(s *store.Store, gate *fair.Gate, selection *Selection, after, upTo int64) *catchUp {
	c := &catchUp{store: s, gate: gate, selection: selection, upTo: upTo}
	for _, channelID := range selection.Channels {
		for _, kind := range selection.Types {
			c.ranges = append(c.ranges, &eventRange{channelID: channelID, kind: kind, read: after})
		}
	}
	return c
}

// next returns the next events, by position. It returns none when there are no more.
func (c *catchUp) next(ctx context.Context) ([]*outbox.Event, error) {
	for {
		if err := c.fill(ctx); err != nil {
			return nil, err
		}
		positions := c.take()
		if len(positions) == 0 {
			return nil, nil
		}
		page, err := c.readAt(ctx, positions)
		// The page is empty if all of its events were removed since.
		if err != nil || len(page) > 0 {
			return page, err
		}
	}
}

// fill reads more positions of the ranges that have none left to return.
func (c *catchUp) fill(ctx context.Context) error {
	limit := pageSize
	if len(c.ranges) > 0 {
		limit = max(leastOfRange, pageSize/len(c.ranges))
	}
	c.ranges = slices.DeleteFunc(c.ranges, func(r *eventRange) bool { return r.ended && len(r.positions) == 0 })
	var empty []*eventRange
	for _, r := range c.ranges {
		if len(r.positions) == 0 {
			empty = append(empty, r)
		}
	}
	for some := range slices.Chunk(empty, rangesAtOnce) {
		if err := c.readRanges(ctx, some, limit); err != nil {
			return err
		}
	}
	return nil
}

// readRanges reads the next positions of some ranges in one statement.
func (c *catchUp) readRanges(ctx context.Context, ranges []*eventRange, limit int) error {
	slot, err := c.gate.Acquire(ctx)
	if err != nil {
		return err
	}
	defer slot.Release()
	index := c.store.ByIndex("event_channel_id_type_position")
	parts := make([]string, len(ranges))
	var args []any
	for i, r := range ranges {
		number := strconv.Itoa(i)
		parts[i] = "SELECT * FROM (SELECT " + number + " AS part, position FROM events" + index +
			" WHERE channel_id = ? AND type = ? AND position > ? AND position <= ? ORDER BY position" + store.Limit(limit) + ") p" + number
		args = append(args, r.channelID, r.kind, r.read, c.upTo)
	}
	err = store.QueryEach(ctx, c.store.Read, strings.Join(parts, " UNION ALL "), args, func(scan func(...any) error) error {
		var part int
		var position int64
		err := scan(&part, &position)
		if err == nil {
			ranges[part].positions = append(ranges[part].positions, position)
		}
		return err
	})
	if err != nil {
		return c.store.Classify(err)
	}
	for _, r := range ranges {
		slices.Sort(r.positions)
		if r.ended = len(r.positions) < limit; !r.ended {
			r.read = r.positions[len(r.positions)-1]
		}
	}
	return nil
}

// take returns the next positions, up to the position to which every range was read.
func (c *catchUp) take() []int64 {
	horizon := c.upTo
	var next []int64
	for _, r := range c.ranges {
		if !r.ended {
			horizon = min(horizon, r.read)
		}
		next = append(next, r.positions...)
	}
	slices.Sort(next)
	next = next[:min(len(next), pageSize)]
	if end, _ := slices.BinarySearch(next, horizon+1); end < len(next) {
		next = next[:end]
	}
	if len(next) == 0 {
		return nil
	}
	last := next[len(next)-1]
	for _, r := range c.ranges {
		end, _ := slices.BinarySearch(r.positions, last+1)
		r.positions = r.positions[end:]
	}
	return next
}

// readTypes reads the next events of some types in all channels. It also returns the
// position up to which it searched: if the page is not full, it has all such events up
// to there.
func readTypes(ctx context.Context, s *store.Store, types []eventtype.Type, after, upTo int64) (page []*outbox.Event, searched int64, err error) {
	if len(types) == 0 {
		return nil, upTo, nil // the listener wants live events only
	}
	searched = min(upTo, after+window)
	page, err = outbox.ReadTypes(ctx, s, types, after, searched, pageSize)
	return page, searched, err
}

// readAt reads the events at some positions, by position.
func (c *catchUp) readAt(ctx context.Context, positions []int64) ([]*outbox.Event, error) {
	slot, err := c.gate.Acquire(ctx)
	if err != nil {
		return nil, err
	}
	defer slot.Release()
	return outbox.ReadAt(ctx, c.store, positions)
}
