package background

import (
	"context"
	"errors"
	"maps"
	"slices"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/moderato-live/moderato/server/instant"
	"github.com/moderato-live/moderato/server/store"
	"github.com/moderato-live/moderato/server/uid"
)

const (
	// channelsAtOnce is how many channels a sweeper works on at once.
	channelsAtOnce = 8
	// channelTime is how long it works on one channel before it comes to it again. The
	// next sweep waits for it.
	channelTime = time.Second
	// findBatch is how many rows are found at once, and maxFinds how often a sweep
	// looks for those of other channels.
	findBatch = 1000
	maxFinds  = 8
	// manyOfChannel is how many rows of a channel are enough for one sweep: the next
	// look leaves them out.
	manyOfChannel = 20
	// atOnce is how many rows of a channel are handled in one transaction, which keeps
	// other changes of the channel waiting.
	atOnce = 100
)

// FindLapsed finds the rows of a table of which a column is at or before an instant,
// and which match a condition, by their channels. It reads them in the order of the
// column, which has an index. If one channel has many, it looks for those of other
// channels too, so that no channel hides another.
func FindLapsed(ctx context.Context, s *store.Store, table, column, condition string, now instant.Instant) (map[uid.ID][]uid.ID, error) {
	lapsed := map[uid.ID][]uid.ID{}
	var found []any // channels of which enough rows are found
	for range maxFinds {
		query := "SELECT channel_id, user_id FROM " + table + " WHERE " + column + " <= ? AND " + condition
		args := []any{now}
		if len(found) > 0 {
			query += " AND channel_id NOT IN (" + store.Placeholders(len(found)) + ")"
			args = append(args, found...)
		}
		batch := map[uid.ID][]uid.ID{}
		rows := 0
		err := store.QueryEach(ctx, s.Read, query+" ORDER BY "+column+store.Limit(findBatch), args, func(scan func(...any) error) error {
			var channelID, userID uid.ID
			err := scan(&channelID, &userID)
			batch[channelID] = append(batch[channelID], userID)
			rows++
			return err
		})
		if err != nil {
			return nil, err
		}
		maps.Copy(lapsed, batch)
		before := len(found)
		for channelID, users := range batch {
			if len(users) >= manyOfChannel {
				found = append(found, channelID)
			}
		}
		if rows < findBatch || len(found) == before {
			break
		}
	}
	return lapsed, nil
}

// Handler handles the rows of some users in a channel, and returns how many there were.
type Handler func(ctx context.Context, channelID uid.ID, users []uid.ID) (handled int, err error)

// handleAll handles the rows of a channel in small transactions, until ctx ends.
func handleAll(ctx context.Context, channelID uid.ID, users []uid.ID, handle Handler) (handled int, err error) {
	for some := range slices.Chunk(users, atOnce) {
		n, err := handle(ctx, channelID, some)
		handled += n
		if err != nil {
			return handled, err
		}
	}
	return handled, nil
}

// EachChannel handles what was found of each channel, several channels at once and
// each for a bounded time: a channel whose changes have to wait, or that fails, holds
// up no other. It reports whether anything was handled.
func EachChannel(ctx context.Context, lapsed map[uid.ID][]uid.ID, handle Handler) (progress bool, err error) {
	var group errgroup.Group
	group.SetLimit(channelsAtOnce)
	var mu sync.Mutex
	for channelID, users := range lapsed {
		group.Go(func() error {
			bounded, cancel := context.WithTimeout(ctx, channelTime)
			defer cancel()
			n, failed := handleAll(bounded, channelID, users, handle)
			if ctx.Err() == nil && errors.Is(failed, context.DeadlineExceeded) {
				failed = nil // it is this channel's turn again at the next sweep
			}
			mu.Lock()
			defer mu.Unlock()
			progress = progress || n > 0
			err = errors.Join(err, failed)
			return nil
		})
	}
	_ = group.Wait()
	return progress, err
}
