package jobs

import (
	"context"
	"errors"
	"maps"
	"slices"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/moderato-live/moderato/internal/instant"
	"github.com/moderato-live/moderato/internal/uid"
	"github.com/moderato-live/moderato/server/store"
)

const (
	// channelConcurrency is how many channels a sweep handles concurrently.
	channelConcurrency = 8
	// channelTime is how long a sweep works on one channel. The rest is left to the next
	// sweep, which waits for this one.
	channelTime = time.Second
	// findBatch is how many rows one query finds, and maxFinds is how many queries a
	// sweep runs to find rows of more channels.
	findBatch = 1000
	maxFinds  = 8
	// manyOfChannel is how many rows of a channel are enough for one sweep: further
	// queries leave the channel out.
	manyOfChannel = 20
	// rowsPerTransaction is how many rows of a channel are handled in one transaction. Other changes
	// of the channel wait for the transaction.
	rowsPerTransaction = 100
)

// FindLapsed returns, by channel, the users of the rows of a table that match a
// condition and in which a column is at or before now: see FindDue.
func FindLapsed(ctx context.Context, s *store.Store, table, column, condition string, now instant.Instant) (map[uid.ID][]uid.ID, error) {
	return FindDue[uid.ID](ctx, s, table, "user_id", column, condition, now)
}

// FindDue returns, by channel, the keys of the rows of a table that match a condition and in
// which a column is at or before now. It reads the rows in the order of the column, which
// must have an index. If a channel has many rows, it also looks for the rows of other
// channels, so that no channel hides another.
func FindDue[K any](ctx context.Context, s *store.Store, table, key, column, condition string, now instant.Instant) (map[uid.ID][]K, error) {
	due := map[uid.ID][]K{}
	var found []any // channels with enough rows for this sweep
	for range maxFinds {
		query := "SELECT channel_id, " + key + " FROM " + table + " WHERE " + column + " <= ? AND " + condition
		args := []any{now}
		if len(found) > 0 {
			query += " AND channel_id NOT IN (" + store.Placeholders(len(found)) + ")"
			args = append(args, found...)
		}
		batch := map[uid.ID][]K{}
		rows := 0
		err := store.QueryEach(ctx, s.Read, query+" ORDER BY "+column+store.Limit(findBatch), args, func(scan func(...any) error) error {
			var channelID uid.ID
			var k K
			err := scan(&channelID, &k)
			batch[channelID] = append(batch[channelID], k)
			rows++
			return err
		})
		if err != nil {
			return nil, err
		}
		maps.Copy(due, batch)
		before := len(found)
		for channelID, keys := range batch {
			if len(keys) >= manyOfChannel {
				found = append(found, channelID)
			}
		}
		if rows < findBatch || len(found) == before {
			break
		}
	}
	return due, nil
}

// Handler handles the rows with some keys in a channel, and returns how many it handled.
type Handler[K any] func(ctx context.Context, channelID uid.ID, keys []K) (handled int, err error)

// handleAll handles the rows of a channel in small transactions, until ctx ends.
func handleAll[K any](ctx context.Context, channelID uid.ID, keys []K, handle Handler[K]) (handled int, err error) {
	for some := range slices.Chunk(keys, rowsPerTransaction) {
		n, err := handle(ctx, channelID, some)
		handled += n
		if err != nil {
			return handled, err
		}
	}
	return handled, nil
}

// EachChannel handles the rows that were found for each channel. It handles several
// channels concurrently, each for a bounded time: a channel whose changes wait or fail
// does not delay the other channels. It reports whether any row was handled.
func EachChannel[K any](ctx context.Context, due map[uid.ID][]K, handle Handler[K]) (progress bool, err error) {
	return EachChannelWithin(ctx, channelTime, due, handle)
}

// EachChannelWithin is EachChannel with the time for a channel.
func EachChannelWithin[K any](ctx context.Context, limit time.Duration, due map[uid.ID][]K, handle Handler[K]) (progress bool, err error) {
	var group errgroup.Group
	group.SetLimit(channelConcurrency)
	var mu sync.Mutex
	for channelID, keys := range due {
		group.Go(func() error {
			bounded, cancel := context.WithTimeout(ctx, limit)
			defer cancel()
			n, failed := handleAll(bounded, channelID, keys, handle)
			if ctx.Err() == nil && errors.Is(failed, context.DeadlineExceeded) {
				failed = nil // the next sweep resumes this channel
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
